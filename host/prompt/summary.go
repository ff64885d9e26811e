package prompt

import (
	"fmt"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/agenttool/visible"
)

// Summary is a prompt in a few words, safe to display.
type Summary struct {
	What    string   // the call in one line: "deletes build and all below"
	Why     string   // the reason why it asks
	Effects []Effect // the gravest first; never empty
}

// Effect is something that a call does to the world, or may do.
type Effect struct {
	Words string // those in capitals are known, others possible
	Grade Grade
}

// Grade says how much an effect matters.
type Grade uint8

// The grades.
const (
	Harmless Grade = iota
	Notable
	Grave
)

// Summary describes the call of the prompt in a few words.
func (p Prompt) Summary() Summary {
	if p.Facts == nil {
		p.Facts = &agenttool.Facts{}
	}
	does := what(p)
	return Summary{What: visible.Text(does), Why: visible.Text(why(p.Decision, does)), Effects: effects(p)}
}

// why is the reason of a decision that asks, without the remedies, which are offered beside it, and without the words of the summary.
func why(d agenttool.Decision, what string) string {
	if d.Reason == nil {
		return "the session does not say why"
	}
	detail := d.Reason.Detail
	if strings.HasSuffix(detail, " would allow it") {
		for _, remedy := range []string{"; a rule `", "; the rules `", "; mode "} {
			if i := strings.LastIndex(detail, remedy); i > 0 {
				detail = detail[:i]
			}
		}
	}
	if d.Reason.Type != "mode" && d.Reason.Type != "classifier" {
		return detail
	}
	subject, does := cutSubject(detail)
	if subject != "" && asks(d.Reason.Subcommands) < 2 {
		detail = "it " + does
	}
	switch {
	case d.Mode == "":
		return detail
	case subject != "" && strings.Contains(what, does):
		return "no rule allows it, and mode " + d.Mode + " asks"
	}
	return detail + "; no rule allows it"
}

// asks counts the commands that are not allowed.
func asks(subs []agenttool.Subcommand) (n int) {
	for _, sub := range subs {
		if sub.Behavior != agenttool.Allow {
			n++
		}
	}
	return n
}

// cutSubject splits "`git push` changes the repository" into its subject and its verb. Other sentences have no subject.
func cutSubject(sentence string) (subject, does string) {
	rest, quoted := strings.CutPrefix(sentence, "`")
	i := strings.LastIndex(rest, "` ")
	if !quoted || i <= 0 {
		return "", sentence
	}
	return rest[:i], rest[i+2:]
}

// effects are the effects of the call on the world, as far as its facts and its diff tell.
func effects(p Prompt) (all []Effect) {
	f := p.Facts
	add := func(is bool, grade Grade, words string) {
		if is {
			all = append(all, Effect{visible.Text(words), grade})
		}
	}
	change := changeIn(p)
	add(change.is(created), Notable, "NEW FILE")
	add(change.is(replaced), Grave, "REPLACES A FILE")
	add(f.Destructive == agenttool.Yes && !change.whole, Grave, "DESTRUCTIVE")
	add(f.MayRun != "", Grave, "MAY RUN ANY CODE")
	outside := 0
	for _, path := range f.Writes {
		if path.Root == "" && path.Resolved != "" {
			outside++
		}
	}
	add(p.Sandbox != nil && (p.Sandbox.Profile == "unconfined" || p.Sandbox.Profile != "" && p.Sandbox.Level == "none"), Grave, "NO SANDBOX")
	add(outside > 0, Grave, "WRITES OUTSIDE THE WORKSPACE")
	add(len(f.Writes) > outside && change.kind != created && change.kind != replaced, Notable, "WRITES "+count.Of(len(f.Writes)-outside, "path"))
	add(f.OpenWorld == agenttool.Yes && len(f.Hosts) > 0, Notable, "REACHES OUT to "+strings.Join(f.Hosts, ", "))
	add(f.OpenWorld == agenttool.Yes && len(f.Hosts) == 0, Notable, "REACHES OUT")
	possible := possible(f)
	add(possible != "", Notable, possible)
	add(len(all) == 0, Harmless, "only reads, no network")
	return all
}

// possible names the effects that a call may have because the opposite is not proved.
func possible(f *agenttool.Facts) string {
	var may []string
	for _, m := range []struct {
		word string
		is   bool
	}{
		{"destroy", f.Destructive == agenttool.Unknown},
		{"write", len(f.Writes) == 0 && f.ReadOnly != agenttool.Yes},
		{"reach out", f.OpenWorld == agenttool.Unknown},
		{"touch more paths", f.PathsComplete != agenttool.Yes && f.ReadOnly != agenttool.Yes},
	} {
		if m.is {
			may = append(may, m.word)
		}
	}
	if len(may) == 0 {
		return ""
	}
	return "may " + strings.Join(may, ", ")
}

// fileChange is the effect of a call of a file tool on its file, as its diff tells.
type fileChange struct {
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
func (c fileChange) is(kind changeKind) bool { return c.whole && c.kind == kind }

// changeIn reads the diff of a prompt. Its first line comes from toolhost, and every line of a file has a mark before it.
func changeIn(p Prompt) fileChange {
	diff, whole := changeOf(p.Decision)
	if diff == "" || !whole || !strings.HasPrefix(diff, "--- ") {
		return fileChange{}
	}
	c := fileChange{kind: edited, whole: true}
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
func (c fileChange) of(path string) string {
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
