package classify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

// factTests are command lines with some of their facts: "name=value", paths as "reads=absolute", "writes=…", "commands=nil".
var factTests = []struct {
	name, text, want string
}{
	{"empty", "", "read_only=yes destructive=no open_world=no concurrency_safe=yes paths_complete=yes"},
	{"blank", " \n\t", "read_only=yes"},
	{"comment", "# rm x", "read_only=yes"},
	{"unparsable", "ls &&", "read_only=unknown destructive=unknown open_world=unknown concurrency_safe=unknown"},
	{"NUL", "ls\x00rm x", "read_only=unknown open_world=unknown"},
	{"not UTF-8", "ls \xff", "read_only=unknown"},
	{"carriage return", "ls\r", "read_only=unknown"},
	{"carriage return in quotes", "echo 'a\r'", "read_only=yes"},
	{"too long", "echo " + strings.Repeat("x", maxText), "read_only=unknown destructive=unknown"},
	{"too deep", strings.Repeat("(", 300) + "echo" + strings.Repeat(")", 300), "read_only=unknown"},
	{"brackets beyond measure", strings.Repeat("(", 30000), "read_only=unknown"},
	{"zsh", "echo ${(f)x}", "read_only=unknown"},

	{"unknown program", "frobnicate", "read_only=unknown open_world=unknown concurrency_safe=unknown"},
	{"write", "echo x > f", "read_only=no destructive=unknown concurrency_safe=no writes=/w/f paths_complete=yes"},
	{"append", "echo x >> f", "read_only=no destructive=no writes=/w/f"},
	{"read", "cat < in", "read_only=yes reads=/w/in paths_complete=yes"},
	{"home", "cat ~/x < $HOME/y", "reads=/home/u/y,/home/u/x paths_complete=yes"},
	{"dynamic path", `cat < "$x"`, "read_only=yes paths_complete=unknown"},
	{"glob", "cat src/*.go", "read_only=yes reads=/w/src paths_complete=unknown"},
	{"glob of names", "echo src/*.go", "read_only=yes reads=/w/src paths_complete=yes"},
	{"network", "cat < /dev/tcp/host/80", "read_only=yes open_world=yes hosts=host"},
	{"network written", "echo > /dev/tcp/host/80", "read_only=no open_world=yes destructive=unknown"},
	{"host of a URL", "curl https://u:p@example.com:8080/x?y=a@b", "open_world=yes hosts=example.com:8080"},
	{"devices", "cat < /dev/watchdog", "read_only=unknown"},
	{"processes", "cat < /proc/1/maps", "observes_host=yes"},
	{"processes behind a detour", "cat /proc/self/../1/environ", "observes_host=yes"},
	{"processes behind a link", "cat /proc/self/root/proc/1/environ", "observes_host=yes"},
	{"processes from elsewhere", "cat ../proc/1/environ //proc/1/maps", "observes_host=yes"},
	{"processes in a directory", "cd /proc/1 && cat environ", "observes_host=yes"},
	{"processes of a glob", "cat /proc/*/environ", "observes_host=yes"},
	{"processes of names", "echo /proc/*", "observes_host=yes"},
	{"some process", `cat "/proc/$x/environ"`, "observes_host=yes"},
	{"sockets", "cat /proc/self/net/tcp", "observes_host=yes"},
	{"the process itself", "cat /proc/self/status", "observes_host=no"},
	{"a service", "systemctl status x", "read_only=yes open_world=yes"},
	{"services", "systemctl --user list-units", "open_world=yes"},
	{"a getline in a getline", `gawk 'BEGIN{getline x[(getline y)] < "/inet/tcp/0/127.0.0.1/9999"; print}'`, "open_world=yes"},
	{"a getline in the field of a getline", `awk '{getline $(getline) < "/etc/passwd"; print}' f`, "reads=/etc/passwd,/w/f"},
	{"a filter that imports", "gojq -n '# x \\\n1\nimport \"secret\" as $x {search:\"/any/dir\"}; $x'",
		"read_only=yes paths_complete=unknown"},
	{"an expression that is a file", "yq a.yml b.yml", "reads=/w/a.yml,/w/b.yml"},
	{"configuration that includes", "git config -l --includes --file c", "paths_complete=unknown"},
	{"a manual", "git help log", "interactive=yes"},

	{"programs that go installs", "go install ./cmd/x", "read_only=no writes=/home/u/go/bin paths_complete=unknown"},
	{"what a makefile installs", "make -j4 install PREFIX=$HOME/.local", "writes=/home/u/.local/bin,/home/u/.local/lib,/home/u/.local/include,/home/u/.local/share/man paths_complete=unknown"},
	{"what a makefile installs by default", "make install", "writes= paths_complete=unknown"},
	{"a prefix without installing", "make PREFIX=/opt all", "writes="},
	{"a package from a directory", "npm install --no-fund ~/pad ../q lodash", "reads=/home/u/pad,/w/../q writes=/home/u/pad,/w/../q paths_complete=unknown"},
	{"a package of a URL", "npm install file:../q.tgz", "reads=/w/../q.tgz writes="},
	{"an editable package", "pip install -e ./lib -r req.txt", "reads=/w/./lib"},
	{"branches that a remote has lost", "git remote prune origin", "read_only=no destructive=yes"},

	{"cd", "cd sub && cat < f", "reads=/w/sub,/w/sub/f"},
	{"cd that may fail", "cd sub; cat < f", "reads=/w/sub,/w/sub/f,/w/f"},
	{"cd in a subshell", "(cd sub); cat < f", "reads=/w/sub,/w/f"},
	{"cd twice", "cd a && cd b && cat < f", "reads=/w/a,/w/a/b,/w/a/b/f"},
	{"cd or", "cd a || cat < f", "reads=/w/a,/w/f"},
	{"not cd", "! cd a && cat < f", "reads=/w/a,/w/a/f,/w/f"},
	{"cd upward", "cd .. && cat < f", "reads=/,/f"},
	{"cd home", "cd && cat < f", "reads=/home/u,/home/u/f"},
	{"cd somewhere", `cd "$x" && cat < f`, "paths_complete=unknown"},
	{"cd somewhere, absolute path", `cd "$x" && cat < /f`, "reads=/f paths_complete=unknown"},
	{"parents are not cleaned away", "cat < a/../f", "reads=/w/a/../f"},

	{"endless", "while true; do echo; done", "long_running=yes read_only=yes"},
	{"endless with a way out", "while true; do echo; break; done", "long_running=unknown"},
	{"finite", "for i in 1 2; do echo $i; done", "long_running=no"},
	{"waits", "read x", "interactive=yes concurrency_safe=no"},
	{"reads what it is given", "echo a | while read x; do echo; done", "interactive=no"},
	{"select", "select x in a b; do echo $x; done", "interactive=yes"},
	{"background", "echo &", "read_only=yes concurrency_safe=unknown"},

	{"commands", "echo a; echo b | wc -l", "commands=echo a;echo b;wc -l"},
	{"commands with quotes", `echo "a b" 'c'`, "commands=echo a b c"},
	{"commands in a loop", "for i in a b; do echo $i; done", "commands=echo a;echo b"},
	{"commands behind a wrapper", "command echo a", "commands=command echo a;echo a"},
	{"commands of an unknown program", "frobnicate -x", "commands=frobnicate -x"},
	{"commands with a dynamic word", "echo $x", "commands=nil"},
	{"commands after what voids", "PATH=.; echo", "commands=nil"},
	{"commands with a variable set", "PATH=. echo", "commands=nil"},
	{"commands in a coprocess", "coproc echo", "commands=nil"},
	{"commands of an eval", `eval "echo x"`, "commands=eval echo x"},
}

func TestFacts(t *testing.T) {
	conform.Held(t, "AT-190", "AT-191", "AT-192", "AT-193")
	for _, tt := range factTests {
		t.Run(tt.name, func(t *testing.T) {
			f := Command(tt.text, testContext)
			got := map[string]string{
				"read_only": f.ReadOnly.String(), "destructive": f.Destructive.String(), "open_world": f.OpenWorld.String(),
				"concurrency_safe": f.ConcurrencySafe.String(), "interactive": f.Interactive.String(),
				"long_running": f.LongRunning.String(), "observes_host": f.ObservesHost.String(),
				"paths_complete": f.PathsComplete.String(), "hosts": strings.Join(f.Hosts, ","),
				"reads": absolute(f.Reads), "writes": absolute(f.Writes), "commands": argvs(f.Commands),
			}
			for _, want := range splitWant(tt.want) {
				name, value, _ := strings.Cut(want, "=")
				if got[name] != value {
					t.Errorf("%.200q: %s is %q, want %q: %v", tt.text, name, got[name], value, f.Reasons)
				}
			}
			if f.ReadOnly != agenttool.Yes && len(f.Reasons) == 0 {
				t.Errorf("%.200q: no reason", tt.text)
			}
		})
	}
}

// splitWant splits at blanks, but for commands, which take the rest.
func splitWant(want string) []string {
	before, commands, ok := strings.Cut(want, "commands=")
	list := strings.Fields(before)
	if ok {
		list = append(list, "commands="+commands)
	}
	return list
}

func absolute(paths []agenttool.Path) string {
	var list []string
	for _, p := range paths {
		list = append(list, p.Absolute)
	}
	return strings.Join(list, ",")
}

func argvs(commands [][]string) string {
	if commands == nil {
		return "nil"
	}
	var list []string
	for _, argv := range commands {
		list = append(list, strings.Join(argv, " "))
	}
	return strings.Join(list, ";")
}

func TestReasonsHaveTheirPlace(t *testing.T) {
	tests := []struct {
		name, text string
		want       string
	}{
		{"program", "echo a\n  frobnicate x", "2:3"},
		{"redirect", "echo a > f", "1:10"},
		{"syntax", "echo\necho )", "2:6"},
		{"NUL", "echo\nab\x00", "2:3"},
		{"inside a text", "echo; bash -c 'echo\n\n\n  frobnicate'", "1:15"},
		{"destructive", "echo;\nrm x", "2:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, r := range Command(tt.text, testContext).Reasons {
				got = append(got, fmt.Sprintf("%d:%d", r.Line, r.Column))
			}
			if !slices.Contains(got, tt.want) {
				t.Errorf("%q: reasons at %v, want one at %s", tt.text, got, tt.want)
			}
		})
	}
}

// TestBuiltinsAreUnderstood: the shell's own commands have descriptions without a fault.
func TestBuiltinsAreUnderstood(t *testing.T) {
	for _, line := range []string{
		"pwd -P", `printf '%s\n' a b`, "type -a ls go", "hash -t ls", "help -d cd", "jobs -l %1", "wait 1", "read -r -n 1 -t 1 -d x -u 0 line < f", "mapfile -t -n 3 -s 1 lines < f", "dirs -v", "ulimit -a",
		"history 5", "cd sub && popd", "command -v ls", "umask -S",
	} {
		f := Command(line, Context{Dir: "/w", Home: "/h"})
		for _, r := range f.Reasons {
			if strings.Contains(r.Text, "does not know") {
				t.Errorf("%s: %s", line, r.Text)
			}
		}
	}
}
