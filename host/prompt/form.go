package prompt

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
	"toolhost/permissions"
)

// Form is a prompt as a text, for forms and chats that have no display of their own for it, and how who reads it may allow the call.
//
// The text is bounded and safe to display: text from others stands behind a mark, and characters that a terminal would act on or hide
// are escaped. A command, a path or a grant that is not shown whole cannot be allowed from the text. Denying is always possible.
type Form struct {
	Text    string
	Once    bool // it may be allowed this once
	Session bool // and for the session: the rules that this adds are in the text

	Opens []string // of the prompt's, if the text says that they stay open
}

// MaxText is about how many bytes a text has at most.
const MaxText = 16 << 10

// How much of a part is shown, in bytes.
const (
	maxHeadline = 160      // of a command in the first line: a longer one, or one of several lines, stands whole below it
	maxChange   = 80       // of a change in the first line
	maxQuote    = 12 << 10 // of one value, or of a diff
	maxFact     = 300      // of one circumstance
)

// Form writes the prompt as a text. The first three lines are the command or the changed file, the reason for the prompt, and the sandbox
// or the place: some clients show no more. The same prompt always gives the same text.
func (p Prompt) Form() Form {
	var t formText
	rest := t.headline(p)
	why := "it needs approval"
	if r := p.Decision.Reason; r != nil && r.Detail != "" {
		why = r.Detail
	}
	t.fact("Why you are asked", why)
	t.place(p)
	t.line("")
	t.input(p, rest)
	t.grants(p.Grants)
	if r := p.Decision.Reason; r != nil {
		t.fact("Rule", r.RuleRef)
	}
	t.fact("Note", strings.Join(warnings(p), "; "))
	switch {
	case t.hidden:
		t.line("It is too long to be shown here, and cannot be allowed here: look at it with toolhost approve, or deny.")
	case t.cut:
		t.line("Not all of it is shown here: look at it with toolhost approve, or deny.")
	}
	f := Form{Once: !t.hidden, Opens: t.opens(p.Opens)}
	if rules := sessionRules(p); rules != "" && !t.cut && t.left() > len(rules)+100 {
		t.line("Allowing it for this session adds:\n" + rules)
		f.Session = true
	}
	f.Text = strings.TrimSpace(t.String())
	return f
}

// formText is the text of a prompt while it is written. Every line of it is safe to look at.
type formText struct {
	strings.Builder
	cut    bool // something was left out
	hidden bool // and a user must see it whole to allow the call
}

// left is how many bytes there is room for.
func (t *formText) left() int { return MaxText - t.Len() }

func (t *formText) line(s string) {
	t.WriteString(s)
	t.WriteByte('\n')
}

// fact writes one circumstance on a line, nothing if it is empty.
func (t *formText) fact(name, value string) {
	shown := visible.Text(value)
	if len(shown) > maxFact {
		t.cut, shown = true, cut.Head(shown, maxFact)+" …"
	}
	if shown != "" {
		t.line(name + ": " + shown)
	}
}

// quoteMark begins each line of text from others, so that it cannot be taken for toolhost's words.
const quoteMark = "  │ "

// quote writes a text from others in at most n bytes. Of a longer text it shows the beginning and the end, which may matter as
// much.
func (t *formText) quote(s string, n int) {
	lines := visible.Lines(s)
	for i, line := range lines {
		lines[i] = quoteMark + line
	}
	all := strings.Join(lines, "\n")
	if len(all) < n {
		t.line(all)
		return
	}
	t.cut = true
	head, tail := cut.Head(all, n*2/3), cut.Tail(all, n/3)
	t.line(head)
	t.line(fmt.Sprintf("  [%d bytes are not shown here: toolhost approve shows all of it]", len(all)-len(head)-len(tail)))
	t.line(quoteMark + strings.TrimLeft(strings.TrimPrefix(tail, quoteMark), "│ "))
}

// Members of inputs. An input starts with the most important ones, in this order; a diff shows some better than they do; the others
// only say how long is waited, or stand elsewhere in the text.
var (
	mostImportant = []string{"command", "path"}
	shownByDiff   = []string{"content", "edits", "patch", "old_string", "new_string"}
	shownApart    = []string{"timeout_ms", "cwd"}
)

// headline writes the tool with its command or path. It returns the members of the input that remain to be shown: nil if it cannot
// tell them apart.
func (t *formText) headline(p Prompt) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	name := visible.Text(p.Tool)
	if json.Unmarshal(p.Input, &members) != nil || members == nil {
		t.line(name + " needs your approval:")
		return nil
	}
	for _, circumstance := range shownApart {
		delete(members, circumstance)
	}
	for _, member := range mostImportant {
		var text string
		if json.Unmarshal(members[member], &text) != nil || text == "" {
			continue
		}
		if lines := strings.Count(text, "\n") + 1; lines > 1 || len(text) > maxHeadline {
			first, _, _ := strings.Cut(text, "\n")
			t.line(name + quoteMark + visible.Text(cut.Head(first, maxHeadline)) + fmt.Sprintf(" … [all of it below: lines %d, bytes %d]", lines, len(text)))
			return members
		}
		delete(members, member)
		t.line(name + quoteMark + visible.Text(text) + changedLines(p.Decision))
		return members
	}
	t.files(name, p)
	return members
}

// files writes the tool with the files that it writes. A list that is too long cannot be allowed from the text.
func (t *formText) files(name string, p Prompt) {
	var names []string
	if p.Facts != nil {
		for _, w := range p.Facts.Writes {
			names = append(names, w.Spelling)
		}
	}
	if p.Tool != "edit" || len(names) == 0 {
		t.line(name + " needs your approval:")
		return
	}
	list := strings.Join(names, ", ")
	if len(list) > maxQuote {
		t.cut, t.hidden, list = true, true, cut.Head(list, maxQuote)+" …"
	}
	t.line(name + quoteMark + visible.Text(list) + changedLines(p.Decision))
}

// changedLines says how many lines a change adds and removes, or shows them if they are few and short; nothing if no diff is there.
func changedLines(d agenttool.Decision) string {
	diff, _ := changeOf(d)
	if shown := smallChange(diff); shown != "" {
		return shown
	}
	added, removed := 0, 0
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	if added+removed == 0 {
		return ""
	}
	return fmt.Sprintf(" [lines: +%d −%d]", added, removed)
}

// smallChange shows a change that removes at most one line and adds at most one, without the space around them; "" if it is another, or if
// it would not be seen.
func smallChange(diff string) string {
	_, hunk, found := strings.Cut(diff, "\n@@ ")
	_, hunk, _ = strings.Cut(hunk, "\n")
	if !found || strings.Contains(hunk, "\n@@ ") {
		return ""
	}
	sides := map[byte]string{}
	for line := range strings.Lines(hunk) {
		if line[0] != '-' && line[0] != '+' {
			continue
		}
		text := visible.Text(strings.TrimSpace(line[1:]))
		if sides[line[0]] != "" || text == "" {
			return ""
		}
		sides[line[0]] = text
	}
	removed, added := sides['-'], sides['+']
	if removed == added || len(removed)+len(added) > maxChange {
		return ""
	}
	shown := ""
	if removed != "" {
		shown = " −" + removed
	}
	if added != "" {
		shown += " +" + added
	}
	return shown
}

// place writes the sandbox and the directory of a command, or that it runs none.
func (t *formText) place(p Prompt) {
	var input struct {
		Cwd string `json:"cwd"`
	}
	_ = json.Unmarshal(p.Input, &input)
	input.Cwd = cmp.Or(input.Cwd, p.Dir)
	if p.Sandbox != nil {
		t.fact("Sandbox", p.Sandbox.Profile+" (level "+p.Sandbox.Level+"), in "+input.Cwd)
		return
	}
	t.fact("In", input.Cwd)
}

// input writes the members by their names, the most important first, and the diff in place of the text that it is made from. Of a diff
// that does not show all of the change, both are written. An input without members is written as it is.
func (t *formText) input(p Prompt, members map[string]json.RawMessage) {
	diff, whole := changeOf(p.Decision)
	if members == nil {
		t.quote(string(p.Input), maxQuote)
		t.hidden = t.hidden || t.cut
		return
	}
	if diff != "" {
		t.cut = t.cut || !whole
		t.quote(diff, max(min(maxQuote, t.left()-600), 200))
	}
	names := slices.Sorted(maps.Keys(members))
	rank := func(name string) int {
		if i := slices.Index(mostImportant, name); i >= 0 {
			return i
		}
		return len(mostImportant)
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	for _, name := range names {
		if !whole || !slices.Contains(shownByDiff, name) {
			t.member(name, members[name])
		}
	}
}

// member writes one member of the input. A short value is on one line with its name.
func (t *formText) member(name string, value json.RawMessage) {
	room := max(min(maxQuote, t.left()-1000), 200)
	runs, was := slices.Contains(mostImportant, name), t.cut
	t.cut = false
	defer func() {
		t.hidden = t.hidden || runs && t.cut
		t.cut = t.cut || was
	}()
	text := string(value)
	var s string
	if json.Unmarshal(value, &s) == nil {
		text = s
	}
	if t.left() < 800 {
		t.cut = true
		return
	}
	name = visible.Text(cut.Head(name, 64))
	if len(text) <= 100 && !runs {
		t.line("  " + name + ": " + visible.Text(text))
		return
	}
	t.line(name + ":")
	t.quote(text, room)
}

// grants writes the grants that the call gets if it is allowed, each on a line of its own.
func (t *formText) grants(grants []string) {
	if len(grants) == 0 {
		return
	}
	t.line("Allowing gives it:")
	for _, grant := range grants {
		line := quoteMark + visible.Text(grant)
		if t.left() < len(line)+500 {
			t.cut, t.hidden = true, true
			t.line("  [and more]")
			return
		}
		t.line(line)
	}
}

// Opening says what stays open if a call is allowed.
func Opening(of string) string {
	kind, dir := permissions.Opened(of)
	does := "makes "
	switch kind {
	case permissions.Pushes:
		return "it pushes to " + visible.Text(dir) + ": in mode sandboxed, further pushes of this session to it run unasked, but for those that force or delete"
	case permissions.Fetches:
		return "it fetches from " + visible.Text(dir) + ": in mode sandboxed, further fetches of this session from it run unasked"
	case permissions.Links:
		does = "installs "
	}
	return "it " + does + visible.Text(dir) + ", which then stays open for this session: calls read and write it unasked"
}

// opens writes a line for each path that stays open if the call is allowed. It returns them if all fit.
func (t *formText) opens(all []string) []string {
	text := "A yes keeps this open for the session:"
	for _, of := range all {
		text += "\n" + quoteMark + Opening(of)
	}
	if len(all) == 0 || t.cut || t.left() < len(text)+600 {
		return nil
	}
	t.line(text)
	return all
}

// warnings are facts that a user should know before allowing a call.
func warnings(p Prompt) []string {
	var notes []string
	said := p.Decision.Reason != nil && strings.Contains(p.Decision.Reason.Detail, "destroys")
	if f := p.Facts; f != nil && f.Destructive == agenttool.Yes && !said && !changeIn(p).is(created) {
		notes = append(notes, "it destroys something")
	}
	if p.Attempt > 1 {
		notes = append(notes, "it ran already")
	}
	if words := visible.Mixed(string(p.Input)); len(words) > 0 {
		notes = append(notes, "letters of several alphabets in "+strings.Join(words, ", "))
	}
	return notes
}

// sessionRules are the rules that allowing for the session adds, a line each; empty if there are none.
func sessionRules(p Prompt) string {
	narrowest := p.Decision.SuggestedRules()
	if narrowest < 0 {
		return ""
	}
	var rules []string
	for _, text := range p.Decision.SuggestedUpdates[narrowest].Rules {
		rules = append(rules, quoteMark+visible.Text(text))
	}
	return strings.Join(rules, "\n")
}
