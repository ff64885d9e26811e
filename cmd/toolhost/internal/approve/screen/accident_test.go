package screen

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolhost/cmd/toolhost/internal/approve"
)

// accidents are keys that nobody meant as an answer to the prompt on the screen.
var accidents = []struct {
	name string
	play func(r *run)
}{
	{"before the prompt was on the screen for a moment", func(r *run) {
		r.wait(299 * time.Millisecond)
		r.tell(key("y"))
		r.wait(time.Second)
	}},
	{"a key that is held down", func(r *run) {
		for range 200 {
			r.tell(key("y"))
			r.wait(30 * time.Millisecond)
		}
	}},
	{"a word that is typed at once", func(r *run) {
		r.wait(time.Second)
		r.types("yes please")
		r.wait(time.Second)
	}},
	{"a paste", func(r *run) {
		r.wait(time.Second)
		r.tell(tea.PasteMsg{Content: "y\n"})
		r.wait(time.Second)
	}},
	{"a key right after a paste", func(r *run) {
		r.wait(time.Second)
		r.tell(tea.PasteMsg{Content: "\x1b[201~"}, key("y"))
		r.wait(time.Second)
	}},
	{"a paste into the list of rules", func(r *run) {
		r.keys("s")
		r.wait(time.Second)
		r.tell(tea.PasteMsg{Content: "\r"})
		r.wait(time.Second)
	}},
	{"keys and enter without time to read the rules", func(r *run) {
		r.wait(time.Second)
		r.tell(key("s"), key("enter"))
		r.wait(time.Second)
	}},
	{"a paste of a rule with its end", func(r *run) {
		r.keys("R")
		r.wait(time.Second)
		r.tell(tea.PasteMsg{Content: "\nShell(rm *)\r"}, key("enter"), key("enter"))
		r.wait(time.Second)
	}},
	{"enter twice on a rule of one's own", func(r *run) {
		r.keys("R")
		r.wait(time.Second)
		r.tell(key("enter"), key("enter"), key("y"))
		r.wait(time.Second)
	}},
	{"y and s are letters while a rule is written", func(r *run) {
		r.keys("R", "y", "s", "1")
		r.wait(time.Second)
	}},
	{"a rule that the session refuses", func(r *run) {
		r.keys("R", "backspace", "enter", "enter", "enter")
	}},
	{"a rule that covers nothing", func(r *run) {
		r.keys("R", "ctrl+u")
		r.types("Shell(make *)")
		r.keys("enter", "enter", "enter")
	}},
	{"enter right after another scope was chosen", func(r *run) {
		r.keys("s")
		r.wait(time.Second)
		r.tell(key("u"), key("enter"))
		r.wait(time.Second)
		r.tell(key("tab"), key("enter"))
		r.wait(time.Second)
	}},
	{"a window that is too small to read", func(r *run) {
		r.wait(time.Second)
		r.tell(tea.WindowSizeMsg{Width: 20, Height: 5})
		r.wait(time.Second)
		r.tell(key("y"))
		r.wait(time.Second)
	}},
	{"a window that was too small a moment ago", func(r *run) {
		r.tell(tea.WindowSizeMsg{Width: 20, Height: 5})
		r.wait(time.Second)
		r.tell(tea.WindowSizeMsg{Width: 80, Height: 24}, key("y"))
		r.wait(time.Second)
	}},
	{"the next prompt slides under the finger", func(r *run) {
		r.ask("p2", "rm -rf x", "")
		r.wait(time.Second)
		r.tell(approve.Ended{Session: "ses_1", ID: "p1", How: "allowed by the client"}, key("y"))
		r.wait(otherShown)
		r.tell(key("y"))
		r.wait(time.Second)
	}},
	{"it ends while a key is pressed", func(r *run) {
		r.wait(time.Second)
		r.tell(key("y"), approve.Ended{Session: "ses_1", ID: "p1", How: "it expired"})
		r.wait(time.Second)
	}},
	{"words typed as a reason when the prompt ends", func(r *run) {
		r.ask("p2", "rm -rf x", "")
		r.keys("r", "a")
		r.tell(approve.Ended{Session: "ses_1", ID: "p1", How: "it expired"})
		for range 20 {
			r.keys("y")
		}
		r.keys("enter")
		r.sees("it has ended: it expired")
	}},
}

func TestNothingIsAnsweredByAccident(t *testing.T) {
	for _, c := range accidents {
		t.Run(c.name, func(t *testing.T) {
			in(t, 80, 24, func(r *run) {
				r.session("ses_1", "")
				r.ask("p1", "go test ./...", "")
				c.play(r)
				r.answered()
			})
		})
	}
}
