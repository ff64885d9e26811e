package asked

import (
	"fmt"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/host/prompt"
)

// change is the effect of a call of a file tool on its file, as its diff tells.
type change struct {
	kind           changeKind
	whole          bool // the diff shows all of it
	added, removed int  // lines
	places         int
}

type changeKind uint8

const (
	unseen   changeKind = iota // there is no diff that shows all
	created                    // the file is new
	replaced                   // it gets another content as a whole
	edited
)

// is reports whether all of the change is known, and of that kind.
func (c change) is(kind changeKind) bool { return c.whole && c.kind == kind }

// changeIn reads the diff of a prompt. Its first line comes from toolhost, and every line of a file has a mark before it.
func changeIn(p prompt.Prompt) change {
	diff, whole := changeOf(p.Decision)
	if diff == "" || !whole || !strings.HasPrefix(diff, "--- ") {
		return change{}
	}
	c := change{kind: edited, whole: true}
	within := false // a place that changes
	for _, line := range strings.Split(diff, "\n")[min(2, strings.Count(diff, "\n")):] {
		added, removed := strings.HasPrefix(line, "+"), strings.HasPrefix(line, "-")
		switch {
		case added:
			c.added++
		case removed:
			c.removed++
		}
		if changes := added || removed; changes != within {
			within = changes
			if changes {
				c.places++
			}
		}
	}
	switch {
	case strings.HasPrefix(diff, "--- /dev/null\n"):
		c.kind = created
	case p.Tool == "write" && c.removed > 0:
		c.kind = replaced
	}
	return c
}

// of describes the change of a path.
func (c change) of(path string) string {
	lines := fmt.Sprintf("+%d −%d lines", c.added, c.removed)
	switch c.kind {
	case created:
		return "creates " + path + ", " + count.Of(c.added, "line")
	case replaced:
		return "replaces what is in " + path + ", " + lines
	case edited:
		return "edits " + count.Of(c.places, "place") + " in " + path + ", " + lines
	}
	return "writes " + path
}

// changeOf returns the diff of the call's change, and whether it shows the whole change.
func changeOf(d agenttool.Decision) (diff string, whole bool) {
	for _, block := range d.ContentBlocks {
		if block.Diff != "" {
			return block.Diff, !block.Partial
		}
	}
	return "", false
}
