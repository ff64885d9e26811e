package files

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

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
	below []string // lines that stand above it, from the outermost
	lines []string // each begins with a space, - or +
	old   []string // the lines that the file holds: those of context and those that go
	atEnd bool     // old ends the file
	hint  int      // the line of the file that a header "@@ -12,3 +12,4 @@" names; -1: none
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
	h := hunk{hint: -1}
	if ahead := p.lines[p.at:]; len(ahead) > 2 && strings.HasPrefix(ahead[0], "--- ") && strings.HasPrefix(ahead[1], "+++ ") && unifiedHeader().MatchString(ahead[2]) {
		p.at += 2 // the names of a unified diff
	}
	for ; p.more() && strings.HasPrefix(p.lines[p.at], patchHeader); p.at++ {
		if numbers := unifiedHeader().FindStringSubmatch(p.lines[p.at]); numbers != nil {
			h.hint, _ = strconv.Atoi(numbers[1]) // at most nine digits
			continue
		}
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
		case strings.HasPrefix(line, `\ No newline`):
			if p.at == begin || !strings.HasPrefix(p.lines[p.at-1], " ") {
				return p.wrong("changes whether the file ends with a line end, which only edit and write can")
			}
		case line == "":
			h.old, h.lines = append(h.old, ""), append(h.lines, " ")
		case line[0] == ' ', line[0] == '-':
			h.old, h.lines = append(h.old, line[1:]), append(h.lines, line)
		case line[0] == '+':
			h.lines = append(h.lines, line)
		default:
			return p.wrong("begins with none of space, - and +")
		}
	}
	if p.at == begin {
		return p.wrong("ends a hunk without lines")
	}
	if !p.more() && p.lines[p.at-1] == "" {
		h.old, h.lines = h.old[:len(h.old)-1], h.lines[:len(h.lines)-1] // a line between two sections
	}
	s.hunks = append(s.hunks, h)
	return nil
}

// unifiedHeader matches the header of a hunk in a unified diff. What may follow it is the line that diff takes for a heading.
var unifiedHeader = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@@ -([0-9]{1,9})(?:,[0-9]+)? \+[0-9]+(?:,[0-9]+)? @@`)
})

// applyHunks returns the text with all hunks applied in their order. A hunk is looked for behind the one before it, below the lines
// that it names: as it is, then without regard to spaces at the ends of lines. Lines of context stay as the text has them.
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
			if bare, closed := strings.CutSuffix(above, patchHeader); closed && found < 0 { // "@@ line @@"
				found = seek(lines, []string{bare}, from, false, strings.TrimSpace)
			}
			if found < 0 {
				return "", missingHunk(name, i, whyNotBelow(text, lines, above, at))
			}
			from = found + 1
		}
		place := from
		switch {
		case len(h.old) > 0:
			var several []int
			if place, several = find(lines, h, from); len(several) > 0 {
				return "", missingHunk(name, i, fmt.Sprintf(": its lines stand at lines %d and %d, and not at line %d: add lines around it",
					several[0]+1, several[1]+1, h.hint))
			}
			if place < 0 {
				return "", missingHunk(name, i, whyNotThere(text, lines, h, from))
			}
		case h.hint >= 0 && len(lines) > 0:
			return "", missingHunk(name, i, ": it only adds lines, and line numbers alone may be wrong: give a line beside them")
		case len(h.below) == 0:
			place = len(lines)
		}
		out = append(out, lines[at:place]...)
		at = place
		for _, line := range h.lines {
			switch line[0] {
			case ' ':
				out = append(out, lines[at])
				at++
			case '-':
				at++
			case '+':
				out = append(out, line[1:])
			}
		}
	}
	out = append(out, lines[at:]...)
	joined := strings.Join(out, "\n")
	if len(out) > 0 && (ended || text == "") {
		joined += "\n"
	}
	return joined, nil
}

// missingHunk is the error for a hunk that cannot be applied. why begins with a colon or a line end.
func missingHunk(name string, i int, why string) error {
	return agenttool.Failure(agenttool.InvalidArguments, "not_found",
		fmt.Sprintf("%s: nothing was changed, as hunk %d of the patch does not fit%s", name, i+1, why))
}

// whyNotBelow says why a line that a hunk names above it is not there from a line on.
func whyNotBelow(text string, lines []string, above string, from int) string {
	if before := seek(lines, []string{above}, 0, false, strings.TrimSpace); before >= 0 {
		return fmt.Sprintf(": %q stands at line %d, above the lines of the hunk before it or of its other headers", cut.Short(above, 80), before+1)
	}
	why := fmt.Sprintf(": the file does not hold the line after @@, %q", cut.Short(above, 80))
	if m, ok := explain([]byte(text), above, "", patchName, "\n", false); ok {
		why += "\n" + m.message(patchName)
	}
	return why
}

// patchName stands for the lines of a hunk in sentences about it.
const patchName = "the patch"

// whyNotThere says why the old lines of a hunk are not there from a line on.
func whyNotThere(text string, lines []string, h hunk, from int) string {
	if h.atEnd {
		h.atEnd, h.hint = false, -1
		if place, _ := find(lines, h, from); place >= 0 {
			return fmt.Sprintf(": its lines stand at line %d, and not at the end of the file", place+1)
		}
	}
	h.hint = -1
	if place, _ := find(lines, h, 0); place >= 0 {
		return fmt.Sprintf(": its lines stand at line %d only, above line %d where the headers or the hunk before it lead to; put hunks in the order of the file",
			place+1, from+1)
	}
	var now []string
	for _, line := range h.lines {
		if line[0] != '-' {
			now = append(now, line[1:])
		}
	}
	m, ok := explain([]byte(text), strings.Join(h.old, "\n"), strings.Join(now, "\n"), patchName, "\n", true)
	if !ok {
		return ": the file holds nothing like it: read it again"
	}
	return "\n" + m.message(patchName)
}

// find returns where the old lines of a hunk begin, -1 if nowhere. A hunk with the number of a line must stand there or at one place only; if
// it does not, several has two of the places.
func find(lines []string, h hunk, from int) (place int, several []int) {
	for _, same := range []func(string) string{func(s string) string { return s }, func(s string) string { return strings.TrimRight(s, " \t\r") }} {
		first := seek(lines, h.old, from, h.atEnd, same)
		if first < 0 {
			continue
		}
		if h.hint < 0 || first == h.hint-1 {
			return first, nil
		}
		if at, end := h.hint-1, h.hint-1+len(h.old); at >= from && end <= len(lines) && !h.atEnd && seek(lines[at:end], h.old, 0, false, same) == 0 {
			return at, nil
		}
		if second := seek(lines, h.old, first+1, h.atEnd, same); second >= 0 {
			return -1, []int{first, second}
		}
		return first, nil
	}
	return -1, nil
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
