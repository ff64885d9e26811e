package files

import (
	"fmt"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
)

// A patch changes several files. Its format is that of the apply_patch tool that GPT models are trained on:
//
//	*** Begin Patch
//	*** Add File: notes.txt
//	+first line
//	*** Update File: main.go
//	*** Move to: cmd/main.go
//	@@ func main() {
//	 	context
//	-	old
//	+	new
//	*** Delete File: old.txt
//	*** End Patch

// patchKind is the action of a section of a patch on its file.
type patchKind uint8

const (
	patchUpdate patchKind = iota
	patchAdd
	patchDelete
)

// patchSection is the part of a patch about one file.
type patchSection struct {
	kind   patchKind
	path   string
	moveTo string // empty: it stays
	text   string // of an added file
	hunks  []hunk // of an updated file
}

// hunk replaces lines by others.
type hunk struct {
	below    []string // lines that stand above it, from the outermost
	old, new []string // with the lines of context
	atEnd    bool     // old ends the file
}

// The lines of a patch that are no content.
const (
	patchBegin  = "*** Begin Patch"
	patchEnd    = "*** End Patch"
	patchMove   = "*** Move to: "
	patchAtEnd  = "*** End of File"
	patchHeader = "@@"
)

var patchKinds = []struct {
	prefix string
	kind   patchKind
}{{"*** Update File: ", patchUpdate}, {"*** Add File: ", patchAdd}, {"*** Delete File: ", patchDelete}}

// maxSections is the number of files in a patch.
const maxSections = 100

// parsePatch reads a patch. Errors are of class invalid_arguments and name the line.
func parsePatch(text string) ([]patchSection, error) {
	lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(text), "\r\n", "\n"), "\n")
	if strings.TrimSpace(lines[0]) != patchBegin || strings.TrimSpace(lines[len(lines)-1]) != patchEnd || len(lines) < 2 {
		return nil, invalid("/patch", fmt.Sprintf("a patch begins with %q and ends with %q, each on a line of its own", patchBegin, patchEnd))
	}
	p := patchParser{lines: lines[:len(lines)-1], at: 1}
	for p.at < len(p.lines) {
		if err := p.section(); err != nil {
			return nil, err
		}
	}
	switch {
	case len(p.sections) == 0:
		return nil, invalid("/patch", "the patch changes no file")
	case len(p.sections) > maxSections:
		return nil, invalid("/patch", fmt.Sprintf("the patch changes %d files: at most %d in one call", len(p.sections), maxSections))
	}
	return p.sections, nil
}

// patchParser reads the lines of a patch.
type patchParser struct {
	lines    []string
	at       int
	sections []patchSection
}

func (p *patchParser) wrong(what string) error {
	line := ""
	if p.at < len(p.lines) {
		line = fmt.Sprintf(": %q", cut.Short(p.lines[p.at], 80))
	}
	return invalid("/patch", fmt.Sprintf("line %d of the patch %s%s; nothing was changed", p.at+1, what, line))
}

// section reads the part of the patch about one file.
func (p *patchParser) section() error {
	for _, k := range patchKinds {
		name, ok := strings.CutPrefix(p.lines[p.at], k.prefix)
		if !ok {
			continue
		}
		s := patchSection{kind: k.kind, path: strings.TrimSpace(name)}
		if s.path == "" {
			return p.wrong("names no file")
		}
		p.at++
		if err := p.body(&s); err != nil {
			return err
		}
		p.sections = append(p.sections, s)
		return nil
	}
	if strings.TrimSpace(p.lines[p.at]) == "" {
		p.at++
		return nil
	}
	return p.wrong("begins no file (*** Add File, *** Update File, *** Delete File)")
}

// body reads the lines of a section.
func (p *patchParser) body(s *patchSection) error {
	switch s.kind {
	case patchAdd:
		for ; p.more(); p.at++ {
			line, ok := strings.CutPrefix(p.lines[p.at], "+")
			if !ok {
				return p.wrong("does not begin with +, as each line of an added file does")
			}
			s.text += line + "\n"
		}
	case patchUpdate:
		if p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], patchMove) {
			s.moveTo = strings.TrimSpace(strings.TrimPrefix(p.lines[p.at], patchMove))
			p.at++
		}
		for p.more() {
			if err := p.hunk(s); err != nil {
				return err
			}
		}
		if len(s.hunks) == 0 && s.moveTo == "" {
			return p.wrong("changes nothing in " + s.path)
		}
	}
	return nil
}

// more reports whether the section goes on.
func (p *patchParser) more() bool {
	return p.at < len(p.lines) && (!strings.HasPrefix(p.lines[p.at], "*** ") || p.lines[p.at] == patchAtEnd)
}

// hunk reads one hunk of an update.
func (p *patchParser) hunk(s *patchSection) error {
	var h hunk
	for ; p.more() && strings.HasPrefix(p.lines[p.at], patchHeader); p.at++ {
		if above := strings.TrimSpace(strings.TrimPrefix(p.lines[p.at], patchHeader)); above != "" {
			h.below = append(h.below, above)
		}
	}
	begin := p.at
	for ; p.more() && !strings.HasPrefix(p.lines[p.at], patchHeader); p.at++ {
		line := p.lines[p.at]
		switch {
		case line == patchAtEnd:
			h.atEnd = true
		case line == "":
			h.old, h.new = append(h.old, ""), append(h.new, "")
		case line[0] == ' ':
			h.old, h.new = append(h.old, line[1:]), append(h.new, line[1:])
		case line[0] == '-':
			h.old = append(h.old, line[1:])
		case line[0] == '+':
			h.new = append(h.new, line[1:])
		default:
			return p.wrong("begins with none of space, - and +")
		}
	}
	if p.at == begin {
		return p.wrong("ends a hunk without lines")
	}
	if !p.more() && p.lines[p.at-1] == "" && len(h.old) > 0 && len(h.new) > 0 && h.old[len(h.old)-1] == "" && h.new[len(h.new)-1] == "" {
		h.old, h.new = h.old[:len(h.old)-1], h.new[:len(h.new)-1] // a line between two sections
	}
	s.hunks = append(s.hunks, h)
	return nil
}

// applyHunks returns the text with all hunks applied in their order. A hunk is looked for behind the one before it, below the lines
// that it names: as it is, then without regard to spaces at the ends of lines.
func applyHunks(text, name string, hunks []hunk) (string, error) {
	lines := strings.Split(text, "\n")
	ended := lines[len(lines)-1] == ""
	if ended {
		lines = lines[:len(lines)-1]
	}
	var out []string
	at := 0
	for i, h := range hunks {
		from := at
		for _, above := range h.below {
			found := seek(lines, []string{above}, from, false, strings.TrimSpace)
			if found < 0 {
				return "", missingHunk(name, i, "the line "+fmt.Sprintf("%q", cut.Short(above, 80))+" is not there")
			}
			from = found + 1
		}
		place := from
		if len(h.old) == 0 && len(h.below) == 0 {
			place = len(lines)
		} else if place = find(lines, h, from); place < 0 {
			return "", missingHunk(name, i, fmt.Sprintf("its %d old lines, from %q on, are not there in this order", len(h.old), cut.Short(first(h.old), 80)))
		}
		out = append(append(out, lines[at:place]...), h.new...)
		at = place + len(h.old)
	}
	out = append(out, lines[at:]...)
	joined := strings.Join(out, "\n")
	if len(out) > 0 && (ended || text == "") {
		joined += "\n"
	}
	return joined, nil
}

func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}

func missingHunk(name string, i int, why string) error {
	return agenttool.Failure(agenttool.InvalidArguments, "not_found",
		fmt.Sprintf("%s: hunk %d of the patch does not fit: %s; read the file again; nothing was changed", name, i+1, why))
}

// find returns where the old lines of a hunk begin, -1 if nowhere.
func find(lines []string, h hunk, from int) int {
	for _, same := range []func(string) string{strings.Clone, func(s string) string { return strings.TrimRight(s, " \t\r") }} {
		if at := seek(lines, h.old, from, h.atEnd, same); at >= 0 {
			return at
		}
	}
	return -1
}

// seek returns where lines hold the wanted ones from a place on, compared in some form; -1: nowhere.
func seek(lines, wanted []string, from int, atEnd bool, form func(string) string) int {
	if atEnd {
		from = max(from, len(lines)-len(wanted))
	}
	for at := from; at+len(wanted) <= len(lines); at++ {
		same := true
		for i := range wanted {
			if form(lines[at+i]) != form(wanted[i]) {
				same = false
				break
			}
		}
		if same {
			return at
		}
	}
	return -1
}
