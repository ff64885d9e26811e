package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"toolhost/cmd/toolhost/testdata/sessiontest"
)

// window is a terminal of a tmux server of its own, with toolhost approve in it.
type window struct {
	t      *testing.T
	server string
	name   string
	code   string // the file that its exit code is written to
	record string // the file that all goes to which is written to the terminal
	told   int    // how much of that was looked at
	last   string // the key that was pressed last
}

// openTmux names a server that knows nothing of the person's.
func openTmux(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed: no terminal to drive")
	}
	server := fmt.Sprintf("toolhost-test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
	t.Cleanup(func() { _ = exec.Command("tmux", "-L", server, "kill-server").Run() })
	return server
}

// openWindow runs toolhost approve for the session whose id ends so, in a terminal of that size.
func openWindow(t *testing.T, server string, place sessiontest.Place, session string, width, height int, environ ...string) *window {
	t.Helper()
	dir := t.TempDir()
	w := &window{t: t, server: server, name: fmt.Sprintf("w%d", time.Now().UnixNano()), code: filepath.Join(dir, "code"), record: filepath.Join(dir, "record")}
	command := fmt.Sprintf("env %s %s approve --session %s; echo $? > %s", strings.Join(environ, " "), toolhostProgram(t), session, w.code)
	args := []string{"-f", "/dev/null", "new-session", "-d", "-s", w.name, "-x", fmt.Sprint(width), "-y", fmt.Sprint(height)}
	for _, variable := range place.Environ() {
		args = append(args, "-e", variable)
	}
	w.tmux(append(args, command)...)
	w.tmux("set-option", "-t", w.name, "remain-on-exit", "on", ";", "pipe-pane", "-t", w.name, "cat >> "+w.record)
	return w
}

func (w *window) tmux(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", w.server}, args...)...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// press presses keys, by tmux's names, each when the screen has been there for a moment.
func (w *window) press(keys ...string) {
	w.t.Helper()
	for _, k := range keys {
		time.Sleep(450 * time.Millisecond)
		w.tmux("send-keys", "-t", w.name, k)
		w.last = k
	}
}

func (w *window) screen() string { return w.tmux("capture-pane", "-p", "-t", w.name) }

// until waits until text is on the screen, and returns the screen.
func (w *window) until(text string) string {
	w.t.Helper()
	begun := time.Now()
	for {
		screen := w.screen()
		if strings.Contains(screen, text) {
			return screen
		}
		if time.Since(begun) > time.Minute {
			w.t.Fatalf("%q does not appear on the screen:\n%s", text, screen)
		}
		if key := w.last; key != "" && strings.Contains(screen, "too quick") { // on a machine that slept meanwhile; what was said is done
			w.press(key)
			w.last = ""
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// showed waits until text was on the screen since the last time, which is said of what stays there only for a moment.
func (w *window) showed(text string) {
	w.t.Helper()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		record, _ := os.ReadFile(w.record) // not there: nothing was written yet
		if plain := ansi.Strip(string(record[w.told:])); strings.Contains(plain, text) {
			w.told = len(record)
			return
		}
		if time.Since(begun) > time.Minute {
			w.t.Fatalf("%q did not appear on the screen:\n%s\n%q", text, w.screen(), record[w.told:])
		}
	}
}

// exits waits until the program has ended, as it should.
func (w *window) exits() {
	w.t.Helper()
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(20 * time.Millisecond) {
		if code, err := os.ReadFile(w.code); err == nil && len(code) > 0 {
			if string(code) != "0\n" {
				w.t.Errorf("exit code %s", code)
			}
			return
		}
	}
	w.t.Errorf("it goes on:\n%s", w.screen())
}

func TestTmuxAnswers(t *testing.T) {
	t.Parallel()
	server, place := openTmux(t), sessiontest.NewPlace(t)
	f := sessiontest.Start(t, place.Sockets(), "tmux1")
	w := openWindow(t, server, place, "tmux1", 80, 24)
	w.until("nothing waits for you")

	f.Ask("p1", "make", nil)
	w.until("| make")
	w.press("y")
	w.showed("IT HAS ENDED: you allowed it once")

	f.Ask("p2", "make test", nil)
	w.until("| make test")
	w.press("s")
	w.until("r1 allow  Shell(make test)")
	w.press("Enter")
	w.showed("IT HAS ENDED: you allowed it, and its rules for the session")

	f.Ask("p3", "rm x", nil)
	w.until("| rm x")
	w.press("N")
	w.until("Why not?")
	w.press("n", "o", "Space", "y", "Enter")
	w.showed("IT HAS ENDED: you denied it: no y")

	f.Ask("p4", "rm y", nil)
	w.until("| rm y")
	w.press("e")
	w.until("Change the command")
	w.press("BSpace", "z", "C-s")
	w.until("+rm z")
	w.press("y")
	w.showed("as you changed it")

	f.Ask("p5", "late", nil)
	w.until("| late")
	f.End("p5", "deny", "nobody answered the prompt within 10m")
	w.showed("IT HAS ENDED: denied: nobody answered the prompt within 10m")
	w.press("y")
	w.until("nothing waits for you")
	w.press("d")
	w.until("#5 shell  late")
	f.WantAnswers(
		`{"behavior":"allow","decision_id":"p1","scope":"once"}`,
		`{"accept_updates":[0],"behavior":"allow","decision_id":"p2","scope":"session"}`,
		`{"behavior":"deny","decision_id":"p3","feedback":"no y"}`,
		`{"behavior":"allow","decision_id":"p4","scope":"once","updated_input":{"command":"rm z"}}`,
	)
	w.press("q", "q")
	w.exits()
}

// TestTmuxRace has two viewers answer the same prompt: the session takes one, and the other hears of it.
func TestTmuxRace(t *testing.T) {
	t.Parallel()
	server, place := openTmux(t), sessiontest.NewPlace(t)
	f := sessiontest.Start(t, place.Sockets(), "tmux2")
	f.Ask("p1", "first", nil)
	f.Ask("p2", "second", nil)
	a, b := openWindow(t, server, place, "tmux2", 80, 24), openWindow(t, server, place, "tmux2", 80, 24)
	a.until("| first")
	b.until("| first")
	time.Sleep(450 * time.Millisecond)
	a.tmux("send-keys", "-t", a.name, "y", ";", "send-keys", "-t", b.name, "n")
	a.showed("IT HAS ENDED")
	b.showed("IT HAS ENDED")
	a.until("| second")
	b.until("| second")
	if got := f.Answers(); len(got) != 1 || !strings.Contains(got[0], `"decision_id":"p1"`) {
		t.Errorf("answers %s", got)
	}

	// One of the viewers dies: the other one can answer still.
	a.tmux("kill-session", "-t", a.name)
	b.press("n")
	b.showed("you denied it")
	f.WantAnswers(f.Answers()[0], `{"behavior":"deny","decision_id":"p2"}`)
}

func TestTmuxDiff(t *testing.T) {
	t.Parallel()
	server, place := openTmux(t), sessiontest.NewPlace(t)
	f := sessiontest.Start(t, place.Sockets(), "tmux3")
	var diff strings.Builder
	diff.WriteString("--- a/x\n+++ b/x\n@@ -0,0 +1,10000 @@\n")
	for i := range 10_000 {
		fmt.Fprintf(&diff, "+line %d\n", i+1)
	}
	f.Ask("p1", "", map[string]any{
		"tool": "write", "input": map[string]any{"path": "x", "content": "…"},
		"decision": map[string]any{"decision_id": "p1", "content_blocks": []any{map[string]any{"type": "diff", "diff": diff.String()}}},
	})
	w := openWindow(t, server, place, "tmux3", 80, 24)
	w.until(" lines more, some ask: space, then y")
	begun := time.Now()
	w.tmux("send-keys", "-t", w.name, "End")
	w.until("+line 10000")
	w.tmux("send-keys", "-t", w.name, "PPage")
	w.until("+line 9980")
	w.tmux("send-keys", "-t", w.name, "Home")
	w.until("why:")
	for range 100 {
		w.tmux("send-keys", "-t", w.name, "Space")
	}
	w.until("+line 1800")
	t.Logf("103 pages of 10,000 lines took %v, most of it tmux's", time.Since(begun))
	within(t, "scrolling", time.Since(begun), 15*time.Second, 5*time.Minute)
}

func TestTmuxLooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		width, height int
		environ       []string
		colour        bool
		key           string
	}{
		{"colour", 80, 24, nil, true, "y once"},
		{"NO_COLOR", 80, 24, []string{"NO_COLOR=yes"}, false, "y once"},
		{"small", 40, 10, nil, true, "y more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server, place := openTmux(t), sessiontest.NewPlace(t)
			f := sessiontest.Start(t, place.Sockets(), "tmux4")
			f.Ask("p1", "printf '\x1b]0;owned\a\x1b[31m'; echo \u202edone", map[string]any{"facts": map[string]any{"destructive": "yes"}})
			w := openWindow(t, server, place, "tmux4", c.width, c.height, c.environ...)
			w.until("DESTRUCTIVE")
			screen := w.until(c.key) // the last row
			if rows := strings.Split(strings.TrimRight(screen, "\n"), "\n"); len(rows) > c.height || !strings.Contains(rows[len(rows)-1]+rows[len(rows)-2], c.key) {
				t.Errorf("the keys are not in the last rows:\n%s", screen)
			}
			painted := w.tmux("capture-pane", "-e", "-p", "-t", w.name)
			if got := strings.Contains(painted, "[33m") || strings.Contains(painted, ";33m"); got != c.colour {
				t.Errorf("colour is %v:\n%q", got, painted)
			}
			if title := w.tmux("display-message", "-p", "-t", w.name, "#{pane_title}"); strings.Contains(title, "owned") {
				t.Errorf("the prompt changed the title to %q", title)
			}
			w.tmux("resize-window", "-t", w.name, "-x", "100", "-y", "30")
			w.until("printf '⟨ESC⟩]0;owned⟨BEL⟩⟨ESC⟩[31m'; echo ⟨U+202E⟩done") // whole
		})
	}
}

// TestTmuxPaste checks that what is pasted with the terminal's marks answers nothing.
func TestTmuxPaste(t *testing.T) {
	t.Parallel()
	server, place := openTmux(t), sessiontest.NewPlace(t)
	f := sessiontest.Start(t, place.Sockets(), "tmux5")
	f.Ask("p1", "make", nil)
	w := openWindow(t, server, place, "tmux5", 80, 24)
	w.until("| make")
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("y"), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(450 * time.Millisecond)
	w.tmux("load-buffer", text, ";", "paste-buffer", "-p", "-t", w.name)
	w.until("pasted text answers nothing")
	w.tmux("paste-buffer", "-p", "-t", w.name, ";", "paste-buffer", "-t", w.name) // again, and at once without marks
	w.until("too quick")
	f.WantAnswers()
	if !f.Asks("p1") {
		t.Error("the prompt has ended")
	}
}

// TestTmuxDumb checks that a terminal that cannot move its cursor is spoken to line by line.
func TestTmuxDumb(t *testing.T) {
	t.Parallel()
	server, place := openTmux(t), sessiontest.NewPlace(t)
	f := sessiontest.Start(t, place.Sockets(), "tmux6")
	f.Ask("p1", "make", nil)
	w := openWindow(t, server, place, "tmux6", 80, 50, "TERM=dumb")
	w.until("prompt 1, answers: 1 once")
	w.tmux("send-keys", "-t", w.name, "1 once", "Enter")
	w.until("prompt 1 has ended: you allowed it once")
	w.tmux("send-keys", "-t", w.name, "quit", "Enter")
	w.exits()
	f.WantAnswers(`{"behavior":"allow","decision_id":"p1","scope":"once"}`)
}

// TestTmuxSessionDies checks that the end of a session is shown, and that it answers nothing any more.
func TestTmuxSessionDies(t *testing.T) {
	t.Parallel()
	server, place := openTmux(t), sessiontest.NewPlace(t)
	f := sessiontest.Start(t, place.Sockets(), "tmux7")
	f.Ask("p1", "make", nil)
	w := openWindow(t, server, place, "tmux7", 80, 24)
	w.until("| make")
	f.Stop()
	w.showed("IT HAS ENDED: the session has ended")
	w.press("y")
	w.until("0 sessions")
	f.WantAnswers()
}
