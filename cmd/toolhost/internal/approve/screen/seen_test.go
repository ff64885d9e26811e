package screen

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// echoes is a command whose last line is not to be missed, with the decisions about its parts if they are known.
func echoes(decided bool) (command, more string) {
	var subs []string
	for i := range 60 {
		command += fmt.Sprintf("echo step %d\n", i+1)
		subs = append(subs, fmt.Sprintf(`{"argv":["echo","step","%d"],"line":%d,"column":1,"wrapped_by":-1,"behavior":"allow","reason":"it only reads"}`, i+1, i+1))
	}
	command += "rm -rf /home/important"
	subs = append(subs, `{"argv":["rm","-rf","/home/important"],"line":61,"column":1,"wrapped_by":-1,"behavior":"ask","reason":"`+"`rm -rf /home/important` deletes files"+`"}`)
	if !decided {
		subs = nil
	}
	return command, `{"decision":{"decision_id":"p1","behavior":"ask","reason":{"type":"classifier","detail":"it deletes files","subcommands":[` + strings.Join(subs, ",") + `]},
		"suggested_updates":[{"behavior":"allow","rules":["Shell(rm -rf /home/important)"]}]}}`
}

const removal = "| rm -rf /home/important"

// TestNothingIsAllowedUnseen tries every way to allow a call whose removal stands behind 60 echoes, on windows of several sizes: none counts
// before the removal has been on the screen.
func TestNothingIsAllowedUnseen(t *testing.T) {
	for _, key := range []string{"y", "1", "s", "p", "u", "g", "e", "R"} {
		for _, size := range [][2]int{{80, 24}, {40, 15}, {30, 8}} {
			t.Run(fmt.Sprintf("%s at %dx%d", key, size[0], size[1]), func(t *testing.T) {
				in(t, size[0], size[1], func(r *run) {
					r.session("ses_1", "")
					command, more := echoes(false)
					r.ask("p1", command, more)
					seen := ""
					for range 100 {
						r.keys(key)
						seen += r.text()
						if len(r.answers) > 0 || r.m.dialog != nil {
							break
						}
					}
					if !strings.Contains(seen, removal) {
						t.Errorf("%d answers and dialog %v, and the removal was never on the screen", len(r.answers), r.m.dialog)
					}
				})
			})
		}
	}
}

// TestAskingLinesComeFirst shows that a removal behind 60 lines that are allowed is on the first screen, and that one y is enough then.
func TestAskingLinesComeFirst(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 15}} {
		in(t, size[0], size[1], func(r *run) {
			r.session("ses_1", "")
			command, more := echoes(true)
			r.ask("p1", command, more)
			r.wait(time.Second)
			r.sees(removal)
			r.keys("y")
			r.answered(`{"decision_id":"p1","behavior":"allow","scope":"once"}`)
		})
	}
}

// glimpses are ways to have a line on the screen for too short a time to count.
var glimpses = []struct {
	name string
	play func(r *run)
}{
	{"the end and back at once", func(r *run) {
		r.wait(time.Second)
		r.tell(key("end"), key("home"))
	}},
	{"through all pages in a moment", func(r *run) {
		r.wait(time.Second)
		for range 30 {
			r.tell(key("space"))
			r.wait(20 * time.Millisecond)
		}
		r.tell(key("home"))
	}},
	{"the end, without the middle", func(r *run) { r.keys("end") }},
	{"behind a dialog", func(r *run) {
		r.wait(time.Second)
		r.tell(key("end"), key("?"))
		r.wait(time.Minute)
		r.tell(key("esc"), key("home"))
	}},
	{"on a window that is too small", func(r *run) {
		r.wait(time.Second)
		r.tell(key("end"), tea.WindowSizeMsg{Width: 20, Height: 5})
		r.wait(time.Minute)
		r.tell(tea.WindowSizeMsg{Width: 80, Height: 24}, key("home"))
	}},
	{"before a prompt of the same number of rows", func(r *run) {
		r.reads()
		command, more := echoes(false)
		r.ask("p2", strings.Replace(command, "important", "also-dear", 1), strings.Replace(more, "p1", "p2", 1))
		r.keys("tab")
	}},
}

func TestGlimpsesDoNotCount(t *testing.T) {
	for _, c := range glimpses {
		t.Run(c.name, func(t *testing.T) {
			in(t, 80, 24, func(r *run) {
				r.session("ses_1", "")
				command, more := echoes(false)
				r.ask("p1", command, more)
				c.play(r)
				r.wait(time.Second)
				r.tell(key("y"))
				r.wait(time.Second)
				r.answered()
			})
		})
	}
}
