package shell

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolhost/tools/job"
)

// The line stands in no argument: a search through the arguments of all processes, which is how people find their servers, does not find the
// shell that searches, and pkill does not end it.
func TestLineIsInNoArgument(t *testing.T) {
	if _, err := exec.LookPath("pgrep"); err != nil {
		t.Skip("pgrep is not installed")
	}
	b := newBench(t, Options{})
	for _, tt := range []struct{ name, command, stdout string }{
		{"alone", "pgrep -f no-such-server-5199", ""},
		{"pgrep in a list", "pgrep -f 'no-such-server --port 5199' && echo RUNNING; echo done", "done\n"},
		{"pgrep in a substitution", `[ -n "$(pgrep -f 'no-such-server --port 5199')" ] && echo RUNNING; echo done`, "done\n"},
		{"pgrep timed", "time pgrep -f no-such-server-5199", ""},
		{"pkill", "pkill -f 'no-such-server --port 5199'; echo after", "after\n"},
		{"ps and grep", "ps ax -o args | grep -c '[n]o-such-server'", "0\n"},
		{"after cd", "cd . && pkill -f 'no-such-server --port 5199'; echo after", "after\n"},
		{"several lines", "# no-such-server --port 5199\npkill -f 'no-such-server --port 5199'\necho after", "after\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r := b.run(t, cmd(tt.command)); r.Stdout != tt.stdout {
				t.Errorf("stdout %q, want %q; stderr %q, %v", r.Stdout, tt.stdout, r.Stderr, r.err)
			}
		})
	}
}

// The command sees what it would see of a shell whose line is an argument: no more descriptors, the same names and numbers.
func TestLineFromDescriptor(t *testing.T) {
	b := newBench(t, Options{})
	for _, tt := range []struct{ name, command, stdout, stderr string }{
		{"no descriptor is left", "for f in /proc/self/fd/*; do [ -e $f ] && echo ${f##*/}; done", "0\n1\n2\n", ""},
		{"no descriptor is left after cd", "cd .; for f in /proc/self/fd/*; do [ -e $f ] && echo ${f##*/}; done", "0\n1\n187\n2\n", ""},
		{"stdin is empty", "cat; echo $?", "0\n", ""},
		{"names", `echo $0 $# "$@" $LINENO ${BASH_SOURCE[0]-none} $SHLVL`, "bash 0 1 none 1\n", ""},
		{"the line itself", "echo \"$BASH_EXECUTION_STRING\" # x", "echo \"$BASH_EXECUTION_STRING\" # x\n", ""},
		{"number of a line", "echo a\n\nnosuchprogram", "a\n", "bash: line 3: nosuchprogram: command not found\n"},
		{"lines before a syntax error run", "echo a\nif", "a\n", "bash: eval: line 3: syntax error: unexpected end of file\n"},
		{"verbose", "set -v\necho a", "a\n", "echo a\n"},
		{"here-document", "cat <<E\n$((1+1)) é \\$x\nE", "2 é $x\n", ""},
		{"replaced by a program", "echo a; exec echo b", "a\nb\n", ""},
		{"ends on an error", "set -e; false; echo no", "", ""},
		{"bytes", "printf %s '\x01\x7f\\  \t' | od -An -tx1", " 01 7f 5c 20 20 09\n", ""},
		{"long", "x='" + strings.Repeat("é", 60_000) + "'; echo ${#x}", "60000\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r := b.run(t, cmd(tt.command)); r.Stdout != tt.stdout || r.Stderr != tt.stderr {
				t.Errorf("stdout %q, stderr %q; want %q, %q", r.Stdout, r.Stderr, tt.stdout, tt.stderr)
			}
		})
	}
}

// A line that is nothing but cd moves the session, although it is plain.
func TestPlainLineMoves(t *testing.T) {
	b := newBench(t, Options{})
	if err := os.Mkdir(filepath.Join(b.dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"cd sub", "cd 'sub'", "pushd sub"} {
		if r := b.run(t, cmd(line)); r.Dir != filepath.Join(b.dir, "sub") {
			t.Errorf("%s moves to %q", line, r.Dir)
		}
	}
}

// Lines of everyday work print and end as if they stood behind bash -c. They only read.
func TestLineIsLikeAnArgument(t *testing.T) {
	f, err := os.Open("../../testdata/classify/readers.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": "package a\n\nfunc A() {}\n", "b.go": "package a // TODO\n", "a.txt": "one\ntwo\n", "src/c.c": "int main;\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	compared := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") || varies.MatchString(line) || testing.Short() && len(line)%5 != 0 {
			continue
		}
		script := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(script, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		want := printedBy(t, dir, line, "")
		if got := printedBy(t, dir, job.ReadLine(false), script); got != want {
			if printedBy(t, dir, line, "") != want { // counters of the machine
				continue
			}
			t.Errorf("%s\ngot  %q\nwant %q", line, got, want)
		}
		compared++
	}
	if compared < 20 {
		t.Errorf("compared %d lines", compared)
	}
}

// varies are lines whose output differs each time, or that start programs which take long and show nothing of the shell.
var varies = regexp.MustCompile(`\b(npm|npx|node|python3?|go|cargo|pip3?|make|gcc|cmake|ldd|man|help|ps|top|pgrep|date|uptime|free|df|du|vmstat|lsof|ss|netstat|stat|env|printenv|set|jobs|time)\b|/proc|\$\$|RANDOM|SECONDS|PPID|<\(|-P`)

// printedBy runs bash -c with an argument, and a file as descriptor 3, if there is one. It returns all that bash prints, and its status.
func printedBy(t *testing.T, dir, argument, script string) string {
	t.Helper()
	c := exec.Command("bash", "--noprofile", "--norc", "-c", "--", argument, "bash")
	c.Dir, c.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if script != "" {
		f, err := os.Open(script)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c.ExtraFiles = []*os.File{f}
	}
	err := c.Run()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String() + "|" + strings.ReplaceAll(errs.String(), "bash: eval: ", "bash: -c: ") + "|" + c.ProcessState.String()
}
