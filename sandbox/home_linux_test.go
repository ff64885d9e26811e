package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/permissions/protect"
)

// credentialPaths are the names of testdata/secrets/home.txt, and files of which no list knows.
func credentialPaths(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile("../testdata/secrets/home.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"notes.txt", "Documents/taxes.pdf", ".config/no-such-program/token", ".bashrc", ".local/share/x/y", "src/other/key"}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			names = append(names, line)
		}
	}
	if len(names) < 134 {
		t.Fatalf("%d names", len(names))
	}
	return names
}

const canary = "CANARY-0d1f"

func plantIn(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(canary+" "+name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// homeBench is a bench with secrets as a session has them.
func homeBench(t testing.TB, change func(*Options)) *bench {
	return newBench(t, func(o *Options) {
		if change != nil {
			change(o)
		}
		o.Protected = protect.NewCache(protect.Options{Roots: o.Roots, Home: o.Home, ReadDeny: protect.DefaultReadDeny(), MaxTime: hang}, 0)
	})
}

// readAll tries every name of every file of the home directory, and what else leads there.
const readAll = `cat .link/notes.txt hard 2>/dev/null
	grep -rs CANARY "$HOME" /proc/self/root"$HOME" /proc/1/root"$HOME" "$HOME/../home" .
	while IFS= read -r name; do
		[ -e "$HOME/$name" ] && echo "CANARY: there is $name" >&2
		printf '%s\0' "$HOME/$name" "/proc/self/root$HOME/$name" "/proc/1/cwd/../home/$name"
	done < names | xargs -0 cat 2>/dev/null; true`

// TestHomeIsClosed: of a home directory commands see the tool chains, harmless configuration and what they were granted, at
// every level, and under no name anything else.
func TestHomeIsClosed(t *testing.T) {
	for _, level := range []Level{Full, LandlockNotify, Landlock} {
		for _, access := range []Access{ReadOnly, Workspace} {
			t.Run(fmt.Sprint(level, " ", access), func(t *testing.T) {
				t.Parallel()
				b := homeBench(t, func(o *Options) { o.Level = level })
				names := credentialPaths(t)
				plantIn(t, b.home, names...)
				b.write(t, "names", strings.Join(names, "\n")+"\n")
				if err := os.Symlink(b.home, filepath.Join(b.ws, ".link")); err != nil {
					t.Fatal(err)
				}
				line := readAll
				if level != Full { // names can be seen there
					line = strings.ReplaceAll(line, "[ -e", "false && [ -e")
				}
				if r := b.run(t, access, line); r.err != nil || strings.Contains(r.out, "CANARY") {
					t.Errorf("%v\n%.2000s", r.err, r.out)
				}
			})
		}
	}
}

// TestHomeShows: what work needs is there, with grants for more.
func TestHomeShows(t *testing.T) {
	for _, level := range []Level{Full, LandlockNotify, Landlock} {
		t.Run(string(level), func(t *testing.T) {
			b := homeBench(t, func(o *Options) {
				o.Level = level
				plantIn(t, o.Home, "dotfiles/gitconfig", ".cargo/bin/tool", "opt/x/bin/deep", "opt/x/lib/part", "tools/bin/own", "tools/lib/part", ".editorconfig",
					"notes/a", ".config/gh/hosts.yml", ".config/other", ".condarc")
				if err := os.WriteFile(filepath.Join(o.Home, ".gitignore"), []byte(canary+" password: x\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(o.Home, "dotfiles/gitconfig"), []byte("[user]\n\tname = "+canary+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				for link, target := range map[string]string{".gitconfig": "dotfiles/gitconfig", "tools/bin/linked": "../../opt/x/bin/deep"} {
					if err := os.Symlink(target, filepath.Join(o.Home, link)); err != nil {
						t.Fatal(err)
					}
				}
				o.Show = append(o.Show, filepath.Join(o.Home, "tools/bin"))
			})
			for _, tt := range []struct {
				name, file string
				profile    Profile
				want       bool
			}{
				{"a tool chain", ".cargo/bin/tool", Profile{}, true}, {"configuration by a link", ".gitconfig", Profile{}, true},
				{"a program of PATH", "tools/bin/own", Profile{}, true}, {"its library", "tools/lib/part", Profile{}, true},
				{"a program behind a link", "tools/bin/linked", Profile{}, true}, {"the library behind it", "opt/x/lib/part", Profile{}, true},
				{"configuration", ".editorconfig", Profile{}, true}, {"configuration with a password", ".gitignore", Profile{}, false},
				{"something else", "notes/a", Profile{}, false},
				{"something granted", "notes/a", Profile{Reveal: []string{filepath.Join(b.home, "notes")}}, true},
				{"something shown to the person", "notes/a", Profile{Read: []string{filepath.Join(b.home, "notes/a")}}, true},
				{"a secret in what was granted", ".config/gh/hosts.yml", Profile{Reveal: []string{filepath.Join(b.home, ".config")}}, false},
				{"its neighbour", ".config/other", Profile{Reveal: []string{filepath.Join(b.home, ".config")}}, true},
				{"a secret that was granted", ".config/gh/hosts.yml", Profile{Reveal: []string{filepath.Join(b.home, ".config/gh")}}, true},
				{"a secret in what was shown", ".config/gh/hosts.yml", Profile{Read: []string{b.home}}, false},
			} {
				t.Run(tt.name, func(t *testing.T) {
					tt.profile.Access = Workspace
					r := b.runProfile(t, tt.profile, `cat "$HOME/`+tt.file+`" 2>/dev/null`)
					if got := strings.Contains(r.out, canary); r.err != nil || got != tt.want {
						t.Errorf("read %v, %v", got, r.err)
					}
				})
			}
		})
	}
}

// TestHomePlaces: the home directory may lie anywhere.
func TestHomePlaces(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, o *Options)
		look   string // prints the canary if something of the home directory is seen
		wrote  string
	}{
		{"missing", func(_ *testing.T, o *Options) { o.Home = filepath.Join(o.Home, "none") }, `ls "$HOME"`, ""},
		{"none", func(_ *testing.T, o *Options) { o.Home = "" }, `true`, ""},
		{"the root directory", func(_ *testing.T, o *Options) { o.Home = "/" }, `true`, ""},
		{"a link", func(t *testing.T, o *Options) {
			real := o.Home + "-real"
			plantIn(t, real, "notes.txt")
			must(t, os.Remove(o.Home))
			must(t, os.Symlink(real, o.Home))
		}, `cat "$HOME/notes.txt" "$HOME-real/notes.txt"`, ""},
		{"above the workspace", func(t *testing.T, o *Options) {
			plantIn(t, o.Home, "notes.txt", "src/ws/own", "src/other/key")
			o.Roots = append(o.Roots, filepath.Join(o.Home, "src/ws"))
		}, `cat "$HOME/notes.txt" "$HOME/src/other/key"; echo x > "$HOME/src/ws/made"`, "src/ws/made"},
		{"in the workspace", func(t *testing.T, o *Options) {
			plantIn(t, o.Home, ".aws/credentials", ".codex/auth.json", ".zsh_history")
			o.Roots = []string{filepath.Dir(o.Home)}
		}, `cat "$HOME/.aws/credentials" "$HOME/.codex/auth.json" "$HOME/.zsh_history"; echo x > "$HOME/made"`, "made"},
		{"the workspace", func(t *testing.T, o *Options) {
			plantIn(t, o.Home, ".aws/credentials", ".codex/auth.json", ".zsh_history")
			o.Roots = append(o.Roots, o.Home)
		}, `cat "$HOME/.aws/credentials" "$HOME/.codex/auth.json" "$HOME/.zsh_history"; echo x > "$HOME/made"`, "made"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := ""
			b := homeBench(t, func(o *Options) {
				home = o.Home
				if tt.name == "in the workspace" {
					o.Dir, o.Cache = filepath.Join(t.TempDir(), "s"), t.TempDir()
					o.Hidden = nil
				}
				tt.change(t, o)
			})
			r := b.run(t, Workspace, `echo runs; { `+tt.look+`; } 2>/dev/null; true`)
			if r.err != nil || !strings.HasPrefix(r.out, "runs") || strings.Contains(r.out, canary) {
				t.Errorf("%q, %v", r.out, r.err)
			}
			if tt.wrote != "" {
				if _, err := os.Stat(filepath.Join(home, tt.wrote)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestHomeHint: a command that did not find a file of the home directory is told the grant that shows it.
func TestHomeHint(t *testing.T) {
	b := homeBench(t, func(o *Options) { plantIn(t, o.Home, "notes/a b.txt", "notes/c") })
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	must(t, err)
	defer null.Close()
	p, err := b.begin(t, Profile{Access: Workspace}, "true", [3]*os.File{null, null, null})
	must(t, err)
	<-p.Gone()
	for stderr, want := range map[string]string{
		"cat: " + b.home + "/notes/c: No such file or directory\n":                 "read:" + b.home + "/notes/c",
		"ls: cannot access '" + b.home + "/notes/a b.txt': No such file or dir...": "read:" + b.home + "/notes/a b.txt",
		"open ~/notes/c: no such file or directory":                                "read:" + b.home + "/notes/c",
		"cat: " + b.home + "/none: No such file or directory\n":                    "",
		"cat: /etc/none: No such file or directory\n":                              "",
	} {
		got := ""
		hints, _ := p.Explain(Failure{Stderr: stderr, Dir: b.ws})
		for _, v := range hints {
			if got += v.Grant; !strings.Contains(v.String(), "kept the command from reading") {
				t.Errorf("%s", v)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", stderr, got, want)
		}
	}
}

// TestDirectoriesInDirectories: directories that commands see empty may lie in each other, and commands run and see nothing of them.
func TestDirectoriesInDirectories(t *testing.T) {
	for _, c := range []struct{ name, home, runtime string }{
		{"runtime directory in the home", "home", "home/.run"},
		{"home in the runtime directory", "run/home", "run"},
		{"one directory is both", "home", "home"},
		{"runtime directory is a link into the home", "home", "link"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base := outsideScratch(t)
			home, runtime := filepath.Join(base, c.home), filepath.Join(base, c.runtime)
			for _, dir := range []string{home, filepath.Join(base, "home/.run")} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if c.runtime == "link" {
				if err := os.Symlink("home/.run", runtime); err != nil {
					t.Fatal(err)
				}
			}
			plantIn(t, home, "notes.txt", ".gitconfig")
			plantIn(t, runtime, "socket-of-the-user")
			b := newBench(t, func(o *Options) { o.Home, o.Runtime = home, runtime })
			line := fmt.Sprintf("echo ran; cat %[1]s/notes.txt %[2]s/socket-of-the-user 2>/dev/null; ls -A %[2]s", home, runtime)
			r := b.run(t, Workspace, line)
			if r.err != nil || !strings.HasPrefix(r.out, "ran") || strings.Contains(r.out, "notes") || strings.Contains(r.out, "socket") {
				t.Errorf("%q, %v", r.out, r.err)
			}
		})
	}
}

// outsideScratch is a directory that is in no directory of which every sandbox has its own.
func outsideScratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/lib", "toolhost-test-")
	if err != nil {
		t.Skip("only root makes directories outside of /tmp and homes: ", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
