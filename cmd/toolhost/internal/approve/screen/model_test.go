package screen

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"toolhost/cmd/toolhost/internal/approve"
)

var errLost = errors.New("no prompt waits for an answer: it was answered by another viewer")

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name string
		more string // of the prompt
		keys []string
		want string
	}{
		{"once", "", []string{"y"}, `{"decision_id":"p1","behavior":"allow","scope":"once"}`},
		{"once by number", "", []string{"1"}, `{"decision_id":"p1","behavior":"allow","scope":"once"}`},
		{"deny", "", []string{"n"}, `{"decision_id":"p1","behavior":"deny"}`},
		{"session", "", []string{"s", "enter"}, `{"decision_id":"p1","behavior":"allow","scope":"session","accept_updates":[0]}`},
		{"project", "", []string{"p", "enter"}, `{"decision_id":"p1","behavior":"allow","scope":"project","accept_updates":[0]}`},
		{"user", "", []string{"u", "enter"}, `{"decision_id":"p1","behavior":"allow","scope":"user","accept_updates":[0]}`},
		{"session, then rather the user", "", []string{"s", "tab", "tab", "enter"}, `{"decision_id":"p1","behavior":"allow","scope":"user","accept_updates":[0]}`},
		{"a grant", `{"suggested_grants":["host:a.example","host:b.example"]}`, []string{"g", "j", "j", "space", "enter"},
			`{"decision_id":"p1","behavior":"allow","scope":"once","grants":["host:b.example"]}`},
		{"a rule and a grant", `{"suggested_grants":["host:a.example"]}`, []string{"s", "j", "space", "enter"},
			`{"decision_id":"p1","behavior":"allow","scope":"session","grants":["host:a.example"],"accept_updates":[0]}`},
		{"nothing chosen", `{"suggested_grants":["host:a.example"]}`, []string{"g", "enter"}, ``},
		{"deny with a reason", "", []string{"N", "n", "o", "t", "space", "y", "enter"}, `{"decision_id":"p1","behavior":"deny","feedback":"not y"}`},
		{"no reason after all", "", []string{"r", "x", "esc"}, ``},
		{"edit", "", []string{"e", "space", "-", "v", "ctrl+s", "y"}, `{"decision_id":"p1","behavior":"allow","scope":"once","updated_input":{"command":"go test ./... -v"}}`},
		{"edit that changes nothing", "", []string{"e", "ctrl+s", "y"}, ``},
		{"edit to nothing", "", []string{"e", "ctrl+u", "ctrl+s", "y"}, ``},
		{"back from the review", "", []string{"e", "x", "ctrl+s", "esc", "backspace", "y", "ctrl+s", "enter"},
			`{"decision_id":"p1","behavior":"allow","scope":"once","updated_input":{"command":"go test ./...y"}}`},
		{"JSON", `{"tool":"other","input":{"a":1}}`, []string{"e", "up", "end", "backspace", "2", "ctrl+s", "y"}, `{"decision_id":"p1","behavior":"allow","scope":"once","updated_input":{"a":2}}`},
		{"JSON that is none", `{"tool":"other","input":{"a":1}}`, []string{"e", "x", "ctrl+s", "y"}, ``},
		{"other keys", "", []string{"x", "Y", "o", "enter", "space", "?", "y", "esc"}, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 80, 24, func(r *run) {
				r.session("ses_1", "")
				r.ask("p1", "go test ./...", c.more)
				r.keys(c.keys...)
				if c.want == "" {
					r.answered()
				} else {
					r.answered(c.want)
				}
			})
		})
	}
}

// TestArmed shows that the key counts right after the moment that the test above waits for.
func TestArmed(t *testing.T) {
	in(t, 80, 24, func(r *run) {
		r.session("ses_1", "")
		r.ask("p1", "go test ./...", "")
		r.wait(301 * time.Millisecond)
		r.tell(key("y"))
		r.wait(60 * time.Millisecond)
		r.answered(`{"decision_id":"p1","behavior":"allow","scope":"once"}`)
	})
}

func TestSelection(t *testing.T) {
	in(t, 80, 24, func(r *run) {
		r.session("ses_1", "")
		r.ask("p1", "first", "")
		r.ask("p2", "second", "")
		r.ask("p3", "third", "")
		r.sees("▸ #1")
		r.wait(time.Minute)
		r.sees("▸ #1") // no prompt takes the place of one that waits
		r.keys("j")
		r.sees("▸ #2")
		r.tell(approve.Ended{Session: "ses_1", ID: "p1", How: "allowed by the client"})
		r.wait(time.Minute)
		r.sees("▸ #2") // nor does the end of another one
		r.keys("n")
		r.sees("IT HAS ENDED: you denied it")
		r.wait(mineShown)
		r.sees("▸ #3")
		r.keys("y")
		r.wait(mineShown)
		r.sees("nothing waits for you")
		r.answered(`{"decision_id":"p2","behavior":"deny"}`, `{"decision_id":"p3","behavior":"allow","scope":"once"}`)
		r.keys("d")
		r.sees("#1 shell  first")
		r.sees("allowed by the client")
		r.sees("you allowed it once")
	})
}

// TestLastOfSeveral checks that the screen goes on to a prompt that waits after the last of the list was answered, however it ends.
func TestLastOfSeveral(t *testing.T) {
	for _, keys := range [][]string{{"n"}, {"y"}, {"r", "x", "enter"}} {
		in(t, 80, 24, func(r *run) {
			r.session("ses_1", "")
			r.ask("p1", "first", "")
			r.ask("p2", "second", "")
			r.ask("p3", "third", "")
			r.keys("k")
			r.sees("▸ #3")
			r.keys(keys...)
			r.tell(approve.Ended{Session: "ses_1", ID: "p3", How: "denied: answered with toolhost approve"})
			r.wait(mineShown)
			r.sees("▸ #2")
			r.misses("HAS ENDED")
			r.keys("n")
			r.wait(mineShown)
			r.sees("▸ #1")
		})
	}
}

// TestAllEdits has the edits of the session run from now on, if the prompt offers that.
func TestAllEdits(t *testing.T) {
	const offers = `{"decision":{"decision_id":"p1","reason":{"type":"mode","detail":"it writes x"},"suggested_updates":[{"behavior":"allow","rules":["Write(x)"]},
		{"op":"set_mode","destination":"session","mode":"accept_edits"}]}}`
	in(t, 80, 24, func(r *run) {
		r.session("ses_1", "")
		r.ask("p1", "tee x", offers)
		r.keys("a")
		r.sees("accept_edits from now on, for this session")
		r.keys("enter")
		r.answered(`{"decision_id":"p1","behavior":"allow","scope":"session","accept_updates":[1]}`)
	})
	in(t, 80, 24, func(r *run) {
		r.session("ses_1", "")
		r.ask("p1", "curl x", "")
		r.misses("all edits")
		r.keys("a")
		r.sees("no edit that mode accept_edits would run")
		r.answered()
	})
}

// TestMode changes the mode of a session: a stricter one at once, a looser one with the code that the session shows.
func TestMode(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
		want string
	}{
		{"stricter", []string{"/", "down", "down", "enter"}, "plan="},
		{"looser", []string{"/", "up", "up", "enter", "A", "B", "enter"}, "sandboxed= sandboxed=AB"},
		{"a wrong code", []string{"/", "up", "up", "enter", "X", "enter"}, "sandboxed= sandboxed=X"},
		{"rather not", []string{"/", "up", "esc"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 80, 24, func(r *run) {
				r.session("ses_1", "")
				r.ask("p1", "first", "")
				r.keys(c.keys...)
				if got := strings.Join(r.codes, " "); got != c.want {
					t.Errorf("sent %q, want %q:\n%s", got, c.want, r.text())
				}
				r.answered()
			})
		})
	}
}

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(r *run)
		sees string
	}{
		{"another viewer was first", func(r *run) {
			r.tell(approve.Ended{Session: "ses_1", ID: "p1", How: "allowed: answered by another viewer"})
		},
			"IT HAS ENDED: allowed: answered by another viewer"},
		{"another viewer was first while we answered", func(r *run) {
			r.refuse = errLost
			r.keys("y")
			r.tell(approve.Ended{Session: "ses_1", ID: "p1", How: "denied: answered by another viewer"})
		}, "IT HAS ENDED: denied: answered by another viewer"},
		{"our answer is not valid", func(r *run) {
			r.refuse = errors.New("updated_input: the command is empty")
			r.keys("y")
		}, "Your answer did not count: updated_input"},
		{"the session ends", func(r *run) { r.tell(approve.Closed{Session: "ses_1", Why: "the session has ended"}) }, "IT HAS ENDED: the session has ended"},
		{"nobody takes it back", func(r *run) { r.wait(10*time.Minute + overdueForTests) }, "IT HAS ENDED: nobody answered in time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 80, 24, func(r *run) {
				r.session("ses_1", "")
				r.ask("p1", "first", "")
				c.play(r)
				r.sees(c.sees)
			})
		})
	}
}

const overdueForTests = 7 * time.Second

// TestRulesAreSeenBeforeTheyAreSent checks that enter sends nothing that was not on the screen.
func TestRulesAreSeenBeforeTheyAreSent(t *testing.T) {
	in(t, 40, 10, func(r *run) {
		r.session("ses_1", "")
		r.ask("p1", "git push origin main", pushPrompt)
		r.reads()
		r.keys("u")
		screens := r.text()
		for range 10 {
			r.keys("enter")
			if len(r.answers) > 0 {
				break
			}
			screens += r.text()
		}
		for _, part := range []string{"r1 allow  Shell(git push origin", "main)", "allow  Shell(rm -rf 'a b')", "g1 grant  host:github.com:443"} {
			if !strings.Contains(screens, part) {
				t.Errorf("%q was not shown before it was sent:\n%s", part, screens)
			}
		}
		r.answered(`{"decision_id":"p1","behavior":"allow","scope":"user","accept_updates":[0]}`)
	})
}

func TestReadOnly(t *testing.T) {
	in(t, 80, 24, func(r *run) {
		r.session("ses_1", `,"approvals":{"may_answer":false,"why":"you have no terminal"}`)
		r.ask("p1", "first", "")
		r.sees("READ ONLY: it cannot be answered from here: you have no terminal")
		r.misses("y once")
		r.keys("y", "n", "s", "e", "g", "r", "a", "enter")
		r.answered()
	})
}

func TestScopesOfTheSession(t *testing.T) {
	in(t, 80, 24, func(r *run) {
		r.session("ses_1", `,"approvals":{"may_answer":true,"scopes":["once","session"]}`)
		r.ask("p1", "first", "")
		r.misses("p project")
		r.keys("u")
		r.sees("takes no answers for the user")
		r.answered()
	})
}

func TestCode(t *testing.T) {
	in(t, 80, 24, func(r *run) {
		r.session("ses_1", `,"approvals":{"may_answer":false,"needs_code":true}`)
		r.ask("p1", "first", "")
		r.keys("y")
		r.sees("Which code does session ses_1 show?")
		r.keys("A", "B", "enter")
		r.session("ses_1", `,"approvals":{"may_answer":false,"needs_code":true,"why":"wrong code"}`)
		r.sees("not taken: wrong code")
		r.keys("C", "enter")
		r.session("ses_1", `,"approvals":{"may_answer":true,"needs_code":true,"scopes":["once"]}`)
		r.keys("y")
		r.answered(`{"decision_id":"p1","behavior":"allow","scope":"once"}`)
		if got := strings.Join(r.codes, " "); got != "AB ABC" {
			t.Errorf("codes %q", got)
		}
	})
}

func TestOnceEnds(t *testing.T) {
	in(t, 80, 24, func(r *run) {
		r.m.o.Once = true
		r.session("ses_1", "")
		r.ask("p1", "first", "")
		r.refuse = errLost
		r.keys("y")
		if r.quit {
			t.Error("it ended although the answer did not count")
		}
		r.refuse = nil
		r.keys("y")
		if !r.quit {
			t.Error("it goes on after an answer")
		}
	})
}

func TestRings(t *testing.T) {
	in(t, 80, 24, func(r *run) {
		r.session("ses_1", "")
		r.ask("p1", "first", "")
		if r.raw != "" {
			t.Errorf("it wrote %q unasked", r.raw)
		}
		r.m.o.Ring = "\a"
		r.ask("p2", "secret words", "")
		if r.raw != "\a" {
			t.Errorf("it wrote %q, want a bell", r.raw)
		}
	})
}

// TestNothingOfAPromptActs checks that no member of a prompt or session reaches the terminal as a control character.
func TestNothingOfAPromptActs(t *testing.T) {
	const evil = "\x1b]0;title\a\u202e\u200b\u009b2J\r"
	evilJSON, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	e := string(evilJSON)
	in(t, 80, 24, func(r *run) {
		r.session("ses_1", `,"workspace":`+e+`,"mode":`+e+`,"warnings":[`+e+`]`)
		r.tell(approve.Trouble{Text: evil})
		r.ask("p1", evil, `{"tool":`+e+`,"dir":`+e+`,"input":{"a":`+e+`,`+e+`:1},"sandbox":{"level":`+e+`,"profile":`+e+`,"grants":[`+e+`]},
			"facts":{"hosts":[`+e+`],"writes":[{"spelling":`+e+`,"resolved":`+e+`}],"reasons":[{"text":`+e+`}]},"suggested_grants":[`+e+`],
			"decision":{"decision_id":"p1","reason":{"type":`+e+`,"detail":`+e+`,"rule_ref":`+e+`,"subcommands":[{"argv":[`+e+`],"behavior":`+e+`,"rule":`+e+`,"source":`+e+`,"where":`+e+`,"reason":`+e+`}]},
			"suggested_updates":[{"behavior":`+e+`,"rules":[`+e+`]}],"content_blocks":[{"type":"diff","diff":`+e+`}],"blocked_path":`+e+`}}`)
		screens := ""
		for _, k := range []string{"x", "space", "space", "space", "space", "?", "space", "esc", "w", "esc", "g", "esc", "e", "esc", "r", "esc", "d", "esc"} {
			r.keys(k)
			screens += r.content()
		}
		r.tell(approve.Ended{Session: "ses_1", ID: "p1", How: evil})
		screens += r.content()
		own := ansi.Strip(screens)
		for _, bad := range []string{"\x1b", "\a", "\u202e", "\u200b", "\u009b", "\r"} {
			if strings.Contains(own, bad) {
				t.Errorf("%q is on the screen", bad)
			}
		}
		if !strings.Contains(own, "⟨ESC⟩]0;title⟨BEL⟩⟨U+202E⟩") {
			t.Errorf("what was escaped is not to be seen:\n%s", own)
		}
	})
}
