package screen

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolhost/cmd/toolhost/internal/approve"
)

var update = flag.Bool("update", false, "rewrite testdata")

func TestMain(m *testing.M) {
	time.Local = time.UTC // screens show local times
	flag.Parse()
	os.Exit(m.Run())
}

const pushPrompt = `{"dir":"/home/me/app/tools","attempt":2,"suggested_grants":["host:github.com:443"],
	"facts":{"read_only":"no","destructive":"yes","open_world":"yes","paths_complete":"yes","hosts":["github.com"],
		"writes":[{"spelling":"build","absolute":"/home/me/app/build","resolved":"/data/build"}],
		"reasons":[{"text":"rm -r deletes","line":1,"column":24}]},
	"decision":{"decision_id":"p1","expires_at":"2000-01-01T00:10:00Z","blocked_path":"/data/build",
		"reason":{"type":"subcommand_results","detail":"one of its commands asks: git push","rule_ref":"user:Shell(git push *)","subcommands":[
			{"argv":["git","push","origin","main"],"line":1,"column":1,"wrapped_by":-1,"behavior":"ask","rule":"Shell(git push *)","source":"user_settings","where":"/home/me/.config/toolhost/settings.json:12","reason":"a rule asks"},
			{"argv":["sudo","rm","-rf","a b"],"line":1,"column":24,"wrapped_by":-1,"behavior":"allow","rule":"Shell(sudo *)","source":"cli_arg","reason":"a rule allows it"},
			{"argv":["rm","-rf","a b"],"line":1,"column":29,"wrapped_by":1,"behavior":"deny","reason":"nothing allows it"}]},
		"suggested_updates":[{"op":"add_rules","destination":"session","behavior":"allow","rules":["Shell(git push origin main)","Shell(rm -rf 'a b')"]}]}}`

const writePrompt = `{"tool":"edit","input":{"path":"main.go","old_string":"a","new_string":"b"},"sandbox":{},
	"facts":{"read_only":"no","destructive":"no","open_world":"no","paths_complete":"yes","writes":[{"spelling":"main.go","absolute":"/home/me/app/main.go","resolved":"/home/me/app/main.go","root":"/home/me/app"}]},
	"decision":{"decision_id":"p1","expires_at":"2000-01-01T00:10:00Z","reason":{"type":"mode","detail":"it writes main.go"},
		"suggested_updates":[{"op":"add_rules","destination":"session","behavior":"allow","rules":["Write(main.go)"]}],
		"content_blocks":[{"type":"diff","diff":"--- a/main.go\n+++ b/main.go\n@@ -1,3 +1,3 @@\n package main\n-var a = 1\n+var b = 1\n \tx\n"}]}}`

// busySession is the activity of a session.
const busySession = `{"calls":[{"invocation_id":"i1","tool_id":"toolhost.shell","subject":"go test ./...","status":"awaiting_approval","elapsed_ms":9000},
	{"invocation_id":"i2","tool_id":"toolhost.grep","subject":"TODO \u001b[2J","status":"running","elapsed_ms":65000},
	{"invocation_id":"i3","tool_id":"toolhost.shell","subject":"npm run dev","status":"running","elapsed_ms":4000000}],
	"jobs":[{"invocation_id":"i3","job":"j1","command":"npm run dev","state":"running","age_ms":4000000},
		{"invocation_id":"i4","job":"j2","command":"python3 -i","state":"waiting_for_input","age_ms":2000},
		{"invocation_id":"i5","job":"j3","command":"make","state":"ended","age_ms":1}],
	"denied":[{"at":"2000-01-01T00:00:00Z","tool":"shell","subject":"sudo rm -rf /","why":"denied by Shell(sudo *) (/home/me/.config/toolhost/settings.json:12)"},
		{"at":"2000-01-01T00:00:05Z","tool":"write","subject":".git/hooks/pre-commit","why":"a person said no"}]}`

// goldens are whole screens.
var goldens = []struct {
	name          string
	width, height int
	play          func(r *run)
}{
	{"shell", 80, 24, func(r *run) { r.ask("p1", "git push origin main && sudo rm -rf 'a b'", pushPrompt) }},
	{"shell_scrolled", 80, 24, func(r *run) {
		r.ask("p1", "git push origin main && sudo rm -rf 'a b'", pushPrompt)
		r.keys("space")
	}},
	{"shell_40x10", 40, 10, func(r *run) { r.ask("p1", "git push origin main && sudo rm -rf 'a b'", pushPrompt) }},
	{"edit_diff", 80, 24, func(r *run) {
		r.ask("p1", "", writePrompt)
		r.keys("end")
	}},
	{"several", 80, 24, func(r *run) {
		for i := range 9 {
			r.ask(fmt.Sprintf("p%d", i), fmt.Sprintf("make target-%d", i), "")
		}
		r.keys("k", "k")
	}},
	{"long_command", 80, 24, func(r *run) {
		r.ask("p1", "ls"+strings.Repeat(" ", 3000)+"\n\n\n\n\n; "+strings.Repeat("echo harmless\n", 1234)+"rm -rf ~", "")
	}},
	{"hidden_characters", 80, 24, func(r *run) { r.ask("p1", "echo a\u202e\x1b[2J p\u0430ypal.com\r ls\u200b", "") }},
	{"rules", 80, 24, func(r *run) {
		r.ask("p1", "git push origin main", pushPrompt)
		r.keys("s", "down")
	}},
	{"rules_40x10", 40, 10, func(r *run) {
		r.ask("p1", "git push origin main", pushPrompt)
		r.reads()
		r.keys("u")
	}},
	{"reason", 80, 24, func(r *run) {
		r.ask("p1", "git push origin main", "")
		r.keys("N", "p", "r", "o", "d")
	}},
	{"edit", 80, 24, func(r *run) {
		r.ask("p1", "printf 'a\tb'\n# "+strings.Repeat("long ", 30)+"\u200b", "")
		r.keys("e")
	}},
	{"review", 80, 24, func(r *run) {
		r.ask("p1", "make\nmake install\n", "")
		r.keys("e", "backspace", "backspace", "'", "ctrl+s")
	}},
	{"help_40x10", 40, 10, func(r *run) {
		r.ask("p1", "make", "")
		r.keys("?")
	}},
	{"idle", 80, 24, func(r *run) {
		r.ask("p1", "make", "")
		r.session("ses_2", `,"approvals":{"may_answer":false,"why":"the peer is inside a job"},"warnings":["settings: /home/me/app/.toolhost/settings.json:12: unknown key \"alow\", did you mean allow?","b","c"]`)
		r.keys("n")
		r.wait(mineShown)
	}},
	{"ended", 80, 24, func(r *run) {
		r.ask("p1", "make", "")
		r.ask("p2", "make install", "")
		r.tell(approve.Ended{Session: "ses_1", ID: "p1", How: "denied: answered by the client"})
	}},
	{"code_40x10", 40, 10, func(r *run) {
		r.session("ses_1", `,"approvals":{"may_answer":false,"needs_code":true}`)
		r.ask("p1", "make", "")
		r.keys("c", "A")
	}},
	{"own", 80, 24, func(r *run) {
		r.ask("p1", "go test ./... && rm -rf /home/important", "")
		r.keys("R")
	}},
	{"own_40x15", 40, 15, func(r *run) {
		r.ask("p1", "go test ./... && rm -rf /home/important", "")
		r.reads()
		r.keys("R")
	}},
	{"own_wrong", 80, 24, func(r *run) {
		r.ask("p1", "go test ./... && rm -rf /home/important", "")
		r.keys("R", "backspace")
	}},
	{"own_scope", 80, 24, func(r *run) {
		r.ask("p1", "go test ./... && rm -rf /home/important", "")
		r.keys("R", "enter", "p")
	}},
	{"own_scope_40x15", 40, 15, func(r *run) {
		r.ask("p1", "go test ./... && rm -rf /home/important", "")
		r.reads()
		r.keys("R", "enter")
	}},
	{"feed", 80, 24, func(r *run) {
		r.activity = busySession
		r.ask("p1", "go test ./...", "")
		r.wait(75 * time.Second)
		r.keys("f")
	}},
	{"feed_40x15", 40, 15, func(r *run) {
		r.activity = busySession
		r.ask("p1", "go test ./...", "")
		r.keys("f")
	}},
	{"too_small", 20, 4, func(r *run) { r.ask("p1", "make", "") }},
}

// TestGolden compares whole screens with testdata; -update rewrites them.
func TestGolden(t *testing.T) {
	for _, c := range goldens {
		t.Run(c.name, func(t *testing.T) {
			in(t, c.width, c.height, func(r *run) {
				r.session("ses_1", "")
				c.play(r)
				golden(t, c.name, trimmed(r.text()))
			})
		})
	}
}

// trimmed is a screen without blanks at the ends of its rows.
func trimmed(screen string) string {
	rows := strings.Split(screen, "\n")
	for i, row := range rows {
		rows[i] = strings.TrimRight(row, " ")
	}
	return strings.Join(rows, "\n") + "\n"
}

// TestEverySize checks that no size of the window breaks the screen, and that it comes back whole. What must hold of each
// screen is checked by look. testdata/long.sh takes three times as many sizes.
func TestEverySize(t *testing.T) {
	wider, higher := 5, 4
	if os.Getenv("TOOLHOST_LONG") != "" {
		wider, higher = 3, 2
	}
	in(t, 80, 24, func(r *run) {
		r.session("ses_1", `,"warnings":["a warning that is so long that it does not fit into any row of a narrow window, whatever is done","b"]`)
		r.ask("p1", "git push origin main && sudo rm -rf 'a b'", pushPrompt)
		for _, k := range []string{"x", "?", "s", "r", "R", "e", "d", "w", "f"} {
			r.keys(k)
			for width := 1; width < 130; width += wider {
				for height := 1; height < 40; height += higher {
					r.tell(tea.WindowSizeMsg{Width: width, Height: height})
				}
			}
			r.tell(tea.WindowSizeMsg{Width: 80, Height: 24})
			r.keys("esc")
		}
		r.sees("git push origin main")
	})
}
