package page

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
	"toolhost/host/prompt"
)

// Bounds of a prompt on the page. Longer ones are answered in the terminal.
const (
	maxPrompts = 20
	maxLines   = 5000
	maxBytes   = 1 << 20
	maxPiece   = 160 // bytes of a line, so that it fits on the screen of a phone
)

// line is a line of a prompt.
type line struct {
	Kind string `json:"k,omitempty"`
	Text string `json:"t"`
	Asks bool   `json:"a,omitempty"`
	More bool   `json:"m,omitempty"` // it goes on with the line above
}

// kinds are the names of the kinds of lines in the style of the page.
var kinds = map[approve.Kind]string{
	approve.Heading: "head", approve.Danger: "danger", approve.Warning: "warn", approve.Good: "good", approve.Faint: "faint",
	approve.Command: "code", approve.Added: "add", approve.Removed: "del", approve.Hunk: "hunk",
}

// sheet is a prompt as the page shows it.
type sheet struct {
	ID      string   `json:"id"`
	Version string   `json:"version"`
	Tool    string   `json:"tool"`
	Left    int      `json:"left_s,omitempty"`
	Age     int      `json:"age_s"`
	Rules   []string `json:"rules,omitempty"` // that a session keeps; none: it can be allowed once
	Lines   []line   `json:"lines,omitempty"` // empty: the page has them
	Card    int      `json:"card,omitempty"`  // how many of the lines are the card; details follow
	TooLong bool     `json:"too_long,omitempty"`

	asks []int // the numbers of its asking lines
}

// describe lays out a prompt.
func describe(p prompt.Prompt, s approve.Session) (sheet, error) {
	raw, err := agenttool.Encode(p)
	if err != nil {
		return sheet{}, err
	}
	in, err := approve.ParsePrompt(raw)
	if err != nil {
		return sheet{}, err
	}
	sh := sheet{ID: string(in.ID()), Tool: visible.Text(in.Tool)}
	if first := in.Decision.SuggestedRules(); first >= 0 {
		for _, rule := range in.Rules(first) {
			sh.Rules = append(sh.Rules, visible.Text(rule))
		}
	}
	sh.layOut(&approve.Item{Session: s.ID, Prompt: in}, s)
	encoded, err := json.Marshal(sh)
	sum := sha256.Sum256(encoded)
	sh.Version = hex.EncodeToString(sum[:16])
	return sh, err
}

// layOut makes the lines of a prompt.
func (sh *sheet) layOut(it *approve.Item, s approve.Session) {
	size, card := 0, len(approve.Card(it, s))
	for n, l := range approve.Describe(it, s) {
		if n == card {
			sh.Card = len(sh.Lines)
		}
		for i, piece := range pieces(l.Text) {
			if l.Asks {
				sh.asks = append(sh.asks, len(sh.Lines))
			}
			size += len(piece)
			sh.Lines = append(sh.Lines, line{kinds[l.Kind], piece, l.Asks, i > 0})
		}
		if len(sh.Lines) > maxLines || size > maxBytes {
			sh.TooLong, sh.Lines = true, sh.Lines[:min(len(sh.Lines), 100)]
			return
		}
	}
}

// pieces cuts a line into parts that fit on a screen.
func pieces(text string) (all []string) {
	for len(text) > maxPiece {
		at := maxPiece
		for at > 0 && !utf8.RuneStart(text[at]) {
			at--
		}
		all, text = append(all, text[:at]), text[at:]
	}
	return append(all, text)
}

// current are the prompts that wait, laid out, and how many there are.
func (p *Page) current() (all []sheet, waiting int) {
	open := p.o.Host.Prompts()
	s := p.o.Session()
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := map[string]sheet{}
	for _, asked := range open[:min(len(open), maxPrompts)] {
		id := string(asked.Decision.DecisionID)
		sh, known := p.sheets[id]
		if !known {
			var err error
			if sh, err = describe(asked, s); err != nil {
				continue // it can be answered in the terminal
			}
		}
		kept[id] = sh
		sh.Left, sh.Age = seconds(asked.Decision.ExpiresAt, p.o.Now(), 1), seconds(asked.AskedAt, p.o.Now(), -1)
		all = append(all, sh)
	}
	p.sheets = kept
	return all, len(open)
}

// seconds is the time from now to a timestamp, or with sign -1 from it until now.
func seconds(stamp string, now time.Time, sign int) int {
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return 0
	}
	return max(0, sign*int(at.Sub(now).Seconds()))
}

// unhurried is how long a browser has a prompt before an answer counts.
const unhurried = 300 * time.Millisecond

// reply is an answer as a browser sends it.
type reply struct {
	ID       string             `json:"id"`
	Version  string             `json:"version"`
	Behavior agenttool.Behavior `json:"behavior"`
	Scope    prompt.Scope       `json:"scope"`
	Reason   string             `json:"reason"`
	Seen     []int              `json:"seen"` // numbers of lines that were in view
}

// refuses says why a reply does not count, or is empty.
func (p *Page) refuses(b *browser, r reply) string {
	p.mu.Lock()
	sh, open := p.sheets[r.ID]
	p.mu.Unlock()
	b.mu.Lock()
	had, shown := b.served[r.ID]
	b.mu.Unlock()
	switch {
	case !open || !shown || r.Version != had.version || r.Version != sh.Version:
		return "the prompt has ended or changed: look at it again"
	case p.o.Now().Sub(had.at) < unhurried:
		return "too quick: read it, then answer"
	case len([]rune(r.Reason)) > approve.MaxReason:
		return "the reason is too long"
	case r.Behavior == agenttool.Deny && (r.Scope == "" || r.Scope == prompt.ScopeOnce):
		return ""
	case r.Behavior != agenttool.Allow || !slices.Contains(scopes, r.Scope):
		return "that is no answer that this page gives"
	case r.Reason != "":
		return "a reason goes with a denial"
	case r.Scope == prompt.ScopeSession && len(sh.Rules) == 0:
		return "no rule is suggested for this call: allow it once"
	case sh.TooLong:
		return "this prompt is too long for the page: allow it with toolhost approve in a terminal"
	}
	for _, n := range sh.asks {
		if !slices.Contains(r.Seen, n) {
			return "lines that ask have not been on the screen: read them, then allow it"
		}
	}
	return ""
}

// scopes are those that answers of the page may have.
var scopes = []prompt.Scope{prompt.ScopeOnce, prompt.ScopeSession}
