package protect

import (
	"regexp"
	"slices"
	"strings"
)

// Upstreams returns the text of a git configuration with the branches of another text: the names of the remote and of the branch that
// each of them follows, which git notes when it makes, renames, pushes or removes a branch. All else is that of the old text. ok is
// false where the texts differ in anything else, or where a branch does not follow a remote that the old text has.
func Upstreams(old, changed string) (text string, ok bool) {
	before, ok := chunksOf(old)
	after, also := chunksOf(changed)
	if !ok || !also || !slices.Equal(othersOf(before), othersOf(after)) {
		return "", false
	}
	remotes, wanted := remotesOf(before), map[string]configChunk{}
	for _, c := range after {
		if c.branch == "" {
			continue
		}
		if _, twice := wanted[c.branch]; twice {
			return "", false
		}
		wanted[c.branch] = c
	}
	var b strings.Builder
	for _, c := range before {
		same := slices.Equal(wanted[c.branch].lines, c.lines)
		if c.branch == "" || same {
			b.WriteString(c.text())
		}
		if same {
			delete(wanted, c.branch)
		}
	}
	for _, c := range after {
		if _, added := wanted[c.branch]; !added {
			continue
		}
		if !c.follows(remotes) {
			return "", false
		}
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(c.text())
	}
	return b.String(), true
}

// configChunk is a header of a git configuration and the lines below it, or the lines above the first header.
type configChunk struct {
	branch string // of [branch "…"]; empty: another section
	header string
	lines  []string
}

func (c configChunk) text() string {
	if len(c.lines) == 0 {
		return c.header
	}
	return c.header + strings.Join(c.lines, "")
}

// The lines of a configuration as git writes it. Other ones, such as continued lines and values on the line of a header, are not understood here.
var (
	plainHeader  = regexp.MustCompile(`^\[[A-Za-z0-9.-]+( "[^"\\]*")?\]\n?$`)
	branchHeader = regexp.MustCompile(`^\[branch "([A-Za-z0-9][A-Za-z0-9._/+@-]*)"\]\n?$`)
	plainLine    = regexp.MustCompile(`^[ \t]*([A-Za-z][A-Za-z0-9-]*)( = [^\\]*)?\n?$`)
	emptyLine    = regexp.MustCompile(`^[ \t]*([#;].*)?\n?$`)
	followLine   = regexp.MustCompile(`^\t(remote|merge|rebase) = ([A-Za-z0-9._/+@-]+)\n$`)
)

// chunksOf parts a configuration at its headers. ok is false where a line is not understood.
func chunksOf(text string) (chunks []configChunk, ok bool) {
	at := configChunk{}
	for line := range strings.Lines(text) {
		switch {
		case strings.ContainsAny(line, "\x00\r") || strings.Count(line, `"`)%2 != 0:
			return nil, false
		case plainHeader.MatchString(line):
			chunks = append(chunks, at)
			at = configChunk{header: line}
			if m := branchHeader.FindStringSubmatch(line); m != nil {
				at.branch = m[1]
			}
		case plainLine.MatchString(line) || emptyLine.MatchString(line):
			at.lines = append(at.lines, line)
		default:
			return nil, false
		}
	}
	return append(chunks, at), true
}

// othersOf are the texts of the sections that are about no branch.
func othersOf(chunks []configChunk) (texts []string) {
	for _, c := range chunks {
		if c.branch == "" {
			texts = append(texts, c.text())
		}
	}
	return texts
}

// remotesOf are the names of the remotes that a configuration has.
func remotesOf(chunks []configChunk) (names []string) {
	for _, c := range chunks {
		name, found := strings.CutPrefix(strings.TrimSuffix(c.header, "\n"), `[remote "`)
		if found {
			names = append(names, strings.TrimSuffix(name, `"]`))
		}
	}
	return names
}

// follows reports whether a section says no more than which branch a branch follows, of this repository or of one of the remotes.
func (c configChunk) follows(remotes []string) bool {
	return !slices.ContainsFunc(c.lines, func(line string) bool {
		m := followLine.FindStringSubmatch(line)
		switch {
		case m == nil:
			return true
		case m[1] == "remote":
			return m[2] != "." && !slices.Contains(remotes, m[2])
		case m[1] == "merge":
			return !strings.HasPrefix(m[2], "refs/")
		default:
			return m[2] != "true" && m[2] != "false"
		}
	})
}
