package protect

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestProgramsOfConfigurations puts the keys that run programs aside, as git reads the file afterwards, and back.
func TestProgramsOfConfigurations(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // as git lists names
		left       []string
	}{
		{"harmless", "[core]\n\tbare = false\n\tfsmonitor = true\n[remote \"o\"]\n\turl = https://x/y\n\tfetch = +refs/*:refs/*\n", nil,
			[]string{"core.bare", "core.fsmonitor", "remote.o.fetch", "remote.o.url"}},
		{"one", "[core]\n\tbare = false\n\tfsmonitor = ./evil\n\tsymlinks = true\n", []string{"core.fsmonitor"}, []string{"core.bare", "core.symlinks"}},
		{"in the line of its section", "[core] pager = evil\n\tbare = true\n", []string{"core.pager"}, []string{"core.bare"}},
		{"two sections in a line", "[core][diff] external = evil\n[user] name = me\n", []string{"diff.external"}, []string{"user.name"}},
		{"continued", "[core]\n\tsshCommand = a \\\n  b \\\n  c\n\tbare = true\n", []string{"core.sshcommand"}, []string{"core.bare"}},
		{"without an end", "[alias]\n\tst = !evil", []string{"alias.st"}, nil},
		{"subsections", "[diff \"a.b c\"]\n\ttextconv = x\n\tbinary = true\n[filter.lfs]\n\tsmudge = y\n", []string{"diff.a.b c.textconv", "filter.lfs.smudge"},
			[]string{"diff.a.b c.binary"}},
		{"in other letters", "[CORE]\n\tHooksPath = x\n\tBare = true\n", []string{"core.hookspath"}, []string{"core.bare"}},
		{"included", "[include]\n\tpath = ../x\n[includeIf \"gitdir:/\"]\n\tpath = y\n", []string{"include.path", "includeif.gitdir:/.path"}, nil},
		{"a helper for a remote", "[remote \"o\"]\n\turl = ext::sh -c evil\n\tfetch = x\n[submodule \"s\"]\n\tupdate = !evil\n",
			[]string{"remote.o.url", "submodule.s.update"}, []string{"remote.o.fetch"}},
		{"quoted", "[core]\n\teditor = \"a # b\" # c\n\tbare = true ; editor = x\n", []string{"core.editor"}, []string{"core.bare"}},
		{"written elsewhere", "[core]\n\tworktree = /home/u\n[format]\n\toutputDirectory = /home/u/.bashrc.d\n\tsuffix = .sh\n[http]\n\tcookieFile = /home/u/.profile\n\tsaveCookies = true\n\tpostBuffer = 1\n",
			[]string{"core.worktree", "format.outputdirectory", "http.cookiefile"}, []string{"format.suffix", "http.postbuffer", "http.savecookies"}},
		{"any server", "[http]\n\tsslVerify = 0\n[http \"https://x\"]\n\tsslVerify = true\n", []string{"http.sslverify"}, []string{"http.https://x.sslverify"}},
		{"evaluated by a shell", "[mergetool \"vimdiff\"]\n\tlayout = $(evil)\n\thideResolved = true\n", []string{"mergetool.vimdiff.layout"}, []string{"mergetool.vimdiff.hideresolved"}},
		{"of programs beside git", "[annex]\n\tfreezecontent-command = evil\n[tig \"bind\"]\n\tgeneric = j !evil\n[delta]\n\tpager = evil\n[stgit]\n\teditor = evil\n[gitflow \"path\"]\n\thooks = x\n[color]\n\tpager = 1\n",
			[]string{"annex.freezecontent-command", "tig.bind.generic", "delta.pager", "stgit.editor", "gitflow.path.hooks"}, []string{"color.pager"}},
		{"a helper for a branch", "[branch \"b\"]\n\tremote = ext::evil\n\tpushRemote = origin\n[remote]\n\tpushDefault = ext::evil\n", []string{"branch.b.remote", "remote.pushdefault"}, []string{"branch.b.pushremote"}},
		{"carriage returns", "[core]\r\n\tsshCommand = a \\\r\n  b\r\n\tbare = true\r\n", []string{"core.sshcommand"}, []string{"core.bare"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if all := gitNamesOf(t, c.text); !slices.Equal(all, sorted(append(slices.Clone(c.want), c.left...))) {
				t.Fatalf("git reads %q", all)
			}
			without, names := withoutPrograms(c.text)
			lower := make([]string, len(names))
			for i, n := range names {
				lower[i] = strings.ToLower(n)
			}
			if !slices.Equal(lower, c.want) {
				t.Errorf("put aside %q, want %q", names, c.want)
			}
			if len(c.want) == 0 {
				return
			}
			if left := gitNamesOf(t, without); !slices.Equal(left, sorted(c.left)) {
				t.Errorf("git still reads %q, want %q:\n%s", left, c.left, without)
			}
			if again, _ := withoutPrograms(without); again != "" {
				t.Errorf("put aside twice:\n%s", again)
			}
			back, names := withPrograms(without)
			if !slices.Equal(gitNamesOf(t, back), gitNamesOf(t, c.text)) || len(names) != len(c.want) {
				t.Errorf("back: %q\n%s", names, back)
			}
		})
	}
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

// gitNamesOf are the names that git finds in a configuration.
func gitNamesOf(t *testing.T, text string) []string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := tempDir(t)
	write(t, dir, "config = "+text)
	out, err := exec.Command("git", "config", "--file", filepath.Join(dir, "config"), "--no-includes", "--name-only", "-z", "--list").Output()
	if err != nil {
		t.Fatalf("git refuses it: %v\n%s", err, text)
	}
	names := strings.Split(strings.Trim(string(out), "\x00"), "\x00")
	return slices.Compact(sorted(slices.DeleteFunc(names, func(n string) bool { return n == "" })))
}
