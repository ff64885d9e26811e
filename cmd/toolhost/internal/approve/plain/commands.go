package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

// Help says what can be typed.
const Help = `list                     the prompts that wait, and what became of others
live                     what waits, what runs, and what was denied
show N                   all of prompt N
N once [g1 ...]          allow prompt N this once, with suggested grants g1 ...
N session [r1 g1 ...]    allow it, and its suggested rules (the narrowest, or r1 ...) until the session ends
N project [r1 ...]       the same, kept in the settings of the project
N user [r1 ...]          the same, kept in your settings, for all projects
N deny [REASON]          deny it; the model is told the reason
N rule RULE              say what a rule of your own would cover; N session own (project, user) keeps it
N edit JSON              allow another input instead, this once: {"command":"make test"}
N code CODE              say the code that N's session shows in its terminal, where it wants one
help                     this text
quit                     end; prompts go on waiting`

// MaxLine is the length in bytes of the longest line that may be typed.
const MaxLine = 1 << 20

// Line takes a line that the person typed. It returns true for quit.
func (t *Talk) Line(line string) (quit bool) {
	if t.pasted(line) || strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\r' }) {
		t.problem("a line that was pasted, or holds control characters, answers nothing: type it")
		return false
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	number, err := strconv.Atoi(strings.TrimPrefix(first, "#"))
	switch word := strings.ToLower(first); {
	case word == "":
	case err == nil:
		t.answer(number, rest)
	case word == "quit" || word == "exit" || word == "q":
		return true
	case word == "list" || word == "l":
		t.list()
	case word == "live":
		t.look()
	case word == "show":
		t.showNumber(rest)
	case word == "help" || word == "?":
		t.help()
	case t.o.Bare && len(t.queue.Waiting) == 1:
		t.bare(t.queue.Waiting[0], word, rest)
	default:
		t.problem("%q is not known; help lists what can be typed", visible.Text(first))
	}
	return false
}

// unhurried is how long a prompt is there before a bare word answers it.
const unhurried = 300 * time.Millisecond

// bare runs an answer without a number.
func (t *Talk) bare(it *approve.Item, verb, rest string) {
	if t.o.Now().Sub(t.shown) < unhurried {
		t.problem("too quick: read the prompt, then answer")
		return
	}
	switch verb {
	case "y", "yes":
		verb = "once"
	case "n", "no":
		verb = "deny"
	}
	t.answer(it.Number, verb+" "+rest)
}

// The marks of a terminal around what is pasted.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// pasted reports whether a part of the line was pasted, and keeps whether more comes.
func (t *Talk) pasted(line string) bool {
	was := t.pasting
	if begin, end := strings.LastIndex(line, pasteBegin), strings.LastIndex(line, pasteEnd); begin != end {
		t.pasting = begin > end
		return true
	}
	return was
}

func (t *Talk) problem(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	t.say(record{Event: "error", Error: message}, "error: %s", message)
}

func (t *Talk) help() {
	if t.o.JSON {
		t.say(record{Event: "help", Message: Help}, "")
		return
	}
	t.print("%s", Help)
}

func (t *Talk) list() {
	now := t.o.Now()
	for _, it := range t.queue.Waiting {
		subject := it.Prompt.Subject()
		t.say(record{Event: "waiting", Number: it.Number, Session: it.Session, Decision: it.Prompt.ID(), Tool: it.Prompt.Tool, Subject: subject},
			"prompt %d waits: %s: %s (session %s, time left %s)", it.Number, visible.Text(it.Prompt.Tool), subject,
			visible.Text(t.queue.Session(it.Session).Short()), it.Left(now))
	}
	for _, d := range t.queue.Done {
		t.say(record{Event: "done", Number: d.Number, Session: d.Session, Decision: d.Decision, Tool: d.Tool, Subject: d.Subject, Message: d.How},
			"prompt %d has ended: %s: %s: %s", d.Number, d.Tool, d.Subject, d.How)
	}
	if len(t.queue.Waiting) == 0 {
		t.say(record{Event: "nothing_pending"}, "nothing is pending")
	}
}

func (t *Talk) showNumber(text string) {
	number, err := strconv.Atoi(text)
	if err != nil {
		t.problem("show takes the number of a prompt: show 1")
		return
	}
	it := t.find(number)
	switch {
	case it == nil:
	case t.o.JSON:
		t.asked(it)
	default:
		t.show(it, 1<<30)
	}
}

// find returns the waiting prompt of a number, or says why there is none.
func (t *Talk) find(number int) *approve.Item {
	if it := t.queue.Find(number); it != nil {
		return it
	}
	i := slices.IndexFunc(t.queue.Done, func(d approve.Done) bool { return d.Number == number })
	if i >= 0 {
		t.problem("prompt %d has ended: %s", number, t.queue.Done[i].How)
	} else {
		t.problem("there is no prompt %d: list says which wait", number)
	}
	return nil
}

// answer runs the text that was typed after a number.
func (t *Talk) answer(number int, text string) {
	it := t.find(number)
	if it == nil {
		return
	}
	verb, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	verb = strings.ToLower(verb)
	switch verb {
	case "code":
		t.code(it, rest)
		return
	case "rule":
		t.try(it, rest)
		return
	}
	scope := ""
	if slices.Contains([]string{"session", "project", "user"}, verb) {
		scope = verb
	}
	if why := t.queue.Refusal(it, scope, t.o.Now()); why != "" && (why != approve.NothingSuggested || rest != ownWord) {
		t.problem("prompt %d: %s", number, why)
		return
	}
	if verb != "deny" && t.cut[number] {
		t.problem("prompt %d: some lines that ask have not been printed: show %d prints them, and then it can be allowed", number, number)
		return
	}
	answer, err := t.read(it, verb, rest)
	if err != nil {
		t.problem("prompt %d: %v", number, err)
		return
	}
	t.queue.Send(it, answer)
	t.o.Send(answer)
}

// read makes an answer of a verb and its argument.
func (t *Talk) read(it *approve.Item, verb, rest string) (approve.Answer, error) {
	switch verb {
	case "once", "session", "project", "user":
		choice, err := t.pick(it, verb, rest)
		answer := approve.Allow(it, choice)
		if t.o.JSON {
			answer.Opens = nil // its reader may not know the member
		}
		return answer, err
	case "deny":
		if len([]rune(rest)) > approve.MaxReason {
			return approve.Answer{}, fmt.Errorf("the reason is longer than %d characters", approve.MaxReason)
		}
		return approve.Deny(it, rest), nil
	case "edit":
		return t.edit(it, rest)
	}
	return approve.Answer{}, fmt.Errorf("%q is no answer; one of once, session, project, user, deny, edit is", visible.Text(verb))
}

func (t *Talk) edit(it *approve.Item, text string) (approve.Answer, error) {
	input, err := approve.ParseInput(text)
	if err != nil {
		return approve.Answer{}, err
	}
	diff := approve.EditDiff(it.Prompt, input)
	if diff == "" {
		return approve.Answer{}, fmt.Errorf("nothing was changed")
	}
	if !t.o.JSON {
		t.print("prompt %d, changed:", it.Number)
		for _, line := range approve.DiffLines(diff) {
			t.print("%s", line.Text)
		}
	}
	answer := approve.Allow(it, approve.Choice{})
	answer.UpdatedInput, answer.Opens = input, nil
	return answer, nil
}

func (t *Talk) code(it *approve.Item, code string) {
	if !t.queue.NeedsCode(it) {
		t.problem("prompt %d: its session wants no code", it.Number)
		return
	}
	t.o.Code(it.Session, code)
}

// pick reads a choice of suggestions: r1 for rules, g1 for grants, own for the rule that was tried last. With a scope, no rule stands for
// the narrowest.
func (t *Talk) pick(it *approve.Item, scope, text string) (approve.Choice, error) {
	c := approve.Choice{Scope: scope}
	if text == ownWord && scope != "once" {
		return c, t.own(it, &c)
	}
	for _, word := range strings.Fields(text) {
		kind, number := word[0], 0
		if n, err := strconv.Atoi(word[1:]); err == nil {
			number = n
		}
		switch {
		case kind == 'r' && number >= 1 && number <= len(it.Prompt.Decision.SuggestedUpdates) && scope != "once":
			c.Updates = append(c.Updates, number-1)
		case kind == 'g' && number >= 1 && number <= len(it.Prompt.Grants):
			c.Grants = append(c.Grants, number-1)
		default:
			return c, fmt.Errorf("%q is none of its suggestions: r1, r2, … with a scope are rules, g1, g2, … are grants", visible.Text(word))
		}
	}
	if scope != "once" && len(c.Updates) == 0 {
		c.Updates = approve.Narrowest(it)
	}
	return c, nil
}

// look asks the sessions for their activity.
func (t *Talk) look() {
	var ids []string
	for _, s := range t.queue.Sessions() {
		ids = append(ids, s.ID)
	}
	t.o.Look(ids)
}

func (t *Talk) looked(e Looked) {
	var lines []string
	for _, line := range approve.Feed(&t.queue, e.All, t.o.Now()) {
		lines = append(lines, line.Text)
	}
	if t.o.JSON {
		t.say(record{Event: "live", Lines: lines}, "")
		return
	}
	for _, line := range lines {
		t.print("%s", line)
	}
}
