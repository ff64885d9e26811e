package config

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolhost/permissions/protect"
)

// place is a home directory and a workspace.
type place struct{ dir, home, ws string }

func newPlace(t testing.TB) place {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := place{dir, filepath.Join(dir, "home"), filepath.Join(dir, "ws")}
	p.write(t, "home/.keep", "")
	p.write(t, "ws/.keep", "")
	return p
}

func (p place) write(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (p place) read() *View {
	return Reader{Home: protect.NewHome(p.home), Writable: []string{p.ws}}.Read()
}

// file is the file of a view, by its name in the home directory.
func (p place) file(v *View, name string) File {
	i := slices.IndexFunc(v.Files, func(f File) bool { return f.Path == filepath.Join(p.home, name) })
	if i < 0 {
		return File{Hidden: "it is missing"}
	}
	return v.Files[i]
}

// settings are what git reads with a home directory.
func settings(t *testing.T, home, ws string) []string {
	t.Helper()
	cmd := exec.Command("git", "config", "--global", "--includes", "--list")
	cmd.Dir, cmd.Env = ws, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.Split(strings.TrimSpace(strings.ReplaceAll(string(out), home, "~")), "\n")
}

const me = "[user]\n\tname = A B\n\temail = a@b\n"

// TestGitViews: git reads of a view what it reads of the file, less the keys that are left out.
func TestGitViews(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, tt := range []struct {
		name, files string // files: "-- name --" begins one
		leftOut     string
		whole       bool
	}{
		{"plain", me, "", true},
		{"logins", me + "[credential \"https://github.com\"]\n\thelper = \n\thelper = !/usr/bin/gh auth git-credential\n", "credential.https://github.com.helper", false},
		{"an alias of a name", me + "[alias]\n\ttokens = log --oneline\n\tst = status -sb\n", "", false},
		{"an alias that runs a program", me + "[alias]\n\tx = !curl -H 'Authorization: x' y\n\tlg = log\n", "alias.x", false},
		{"large", me + strings.Repeat("# a long comment, of which there are many, about nothing\n", 4000), "", true},
		{"conditions", me + "[includeIf \"gitdir:~/work/\"]\n\tpath = .gitconfig-work\n[includeIf \"gitdir:/\"]\n\tpath = ~/.gitconfig-all\n-- .gitconfig-all --\n[user]\n\temail = all@b\n[http]\n\textraHeader = X: secret\n-- .gitconfig-work --\n[user]\n\temail = w@b\n", "", true},
		{"an include in the workspace", me + "[include]\n\tpath = ../ws/inc\n", "include.path", false},
		{"headers and cookies", me + "[http]\n\textraHeader = \"AUTHORIZATION: basic x\"\n\tcookieFile = ~/.c\n\tproxy = http://u:p@h:3\n[http \"https://x\"]\n\textraheader = x\n", "http.cookiefile http.extraheader http.https://x.extraheader http.proxy (the login in it)", false},
		{"addresses", me + "[url \"https://TOK:x@h/\"]\n\tinsteadOf = https://h/\n[url \"git@h:\"]\n\tinsteadOf = https://g/\n[url \"ssh://git@h/\"]\n\tinsteadOf = https://j/\n", "url.https://h/.insteadof", false},
		{"large file storage", me + "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n\tsmudge = git-lfs smudge -- %f\n[filter \"x\"]\n\tclean = x\n", "filter.x.clean", false},
		{"odd text", "\ufeff[user] name = \"A \\\"q\\\" \\\\ B\" ; token here\r\n\temail = a@b # x\n[Core]\n\tbare\n\tquotepath = off\n[a.B]\n\tc = 1\n[branch \"we\\\"ird\\\\x\"]\n\tremote = \"o\\tp\"\n", "a.b.c", false},
		{"programs", me + "[core]\n\teditor = vim\n\tpager = less\n\tsshCommand = ssh -i ~/.ssh/x\n\tfsmonitor = true\n\thooksPath = ~/hooks\n[diff]\n\texternal = x\n[gpg]\n\tformat = ssh\n\tprogram = x\n[gpg \"ssh\"]\n\tprogram = y\n[commit]\n\tgpgsign = true\n", "core.editor core.pager core.sshcommand diff.external gpg.program gpg.ssh.program", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.write(t, "ws/inc", "[user]\n\temail = evil@x\n")
			for i, file := range strings.Split(tt.files, "-- .") {
				name, text := "gitconfig", file
				if i > 0 {
					name, text, _ = strings.Cut(file, " --\n")
				}
				p.write(t, "home/."+name, text)
			}
			v := p.read()
			f := p.file(v, ".gitconfig")
			if got := strings.Join(f.LeftOut, " "); f.Hidden != "" || got != tt.leftOut || f.Whole != tt.whole {
				t.Fatalf("hidden %q, left out %q, whole %v; want %q, %v\n%s", f.Hidden, got, f.Whole, tt.leftOut, tt.whole, f.Text)
			}
			want := settings(t, p.home, p.ws)
			other := place{p.dir, filepath.Join(p.dir, "other"), p.ws}
			for _, f := range v.Files {
				rel, _ := filepath.Rel(p.home, f.Path)
				other.write(t, "other/"+rel, string(f.Text))
			}
			got := settings(t, other.home, p.ws)
			var missing []string
			for _, line := range want {
				if !slices.Contains(got, line) {
					key, _, _ := strings.Cut(line, "=")
					missing = append(missing, key)
				}
			}
			for _, line := range got {
				key, _, _ := strings.Cut(line, "=")
				if !slices.Contains(want, line) && !strings.Contains(tt.leftOut, key+loginMark) {
					t.Errorf("git reads %q, which is not in the file", line)
				}
			}
			for _, key := range missing {
				known := strings.Contains(tt.leftOut, logins().ReplaceAllString(key, "$1"))
				if !known && !strings.Contains(key, "extraheader") && tt.name != "an include in the workspace" {
					t.Errorf("git misses %s", key)
				}
			}
			all := strings.Join(got, "\n")
			for _, word := range []string{"secret", "TOK", "u:p", "AUTHORIZATION", "evil"} {
				if strings.Contains(all, word) {
					t.Errorf("the view has %q:\n%s", word, all)
				}
			}
		})
	}
}

// TestViews: of each format commands see addresses without logins and plain settings, and nothing that the list does not have.
func TestViews(t *testing.T) {
	for _, tt := range []struct{ name, text, want, leftOut string }{
		{".npmrc", "registry=https://u:SECRET@npm.example.com/x/\n@my:registry = https://npm.example.com/\n//npm.example.com/:_authToken=SECRET\n//h/:_password=\"SECRET\"\n_auth=SECRET\nsave-exact=true\nemail=SECRET\nunknown-key=SECRET\n//x/:_authToken=${NPM_TOKEN}\nproxy=http://${NPM_TOKEN}@h\nca[]=\"x\"\nfund\n; SECRET\n",
			"registry=https://npm.example.com/x/\n@my:registry=https://npm.example.com/\nsave-exact=true\nca[]=\"x\"\nfund\n",
			"//h/:_password //npm.example.com/:_authToken //x/:_authToken _auth email proxy registry (the login in it) unknown-key"},
		{".config/pip/pip.conf", "[global]\nindex-url = https://u:SECRET@pip.example.com/simple\nextra-index-url =\n    https://a.example.com/\n    https://SECRET@b.example.com/\ntimeout: 60\nkeyring-provider = SECRET\n  SECRET\n# SECRET\n[install]\nno_compile = SECRET\ntrusted-host = h\n",
			"[global]\nindex-url = https://pip.example.com/simple\nextra-index-url =\n    https://a.example.com/\n    https://b.example.com/\ntimeout: 60\n[install]\ntrusted-host = h\n",
			"global.extra-index-url (the login in it) global.index-url (the login in it) global.keyring-provider install.no-compile"},
		{".cargo/config.toml", "[registries.my]\nindex = \"sparse+http://u:SECRET@h/index/\"\ntoken = \"SECRET\"\n[registry]\ndefault = \"my\"\ntoken = \"SECRET\"\n[source.crates-io]\nreplace-with = \"my\"\n[env]\nX = \"SECRET\"\n[build]\njobs = 2\nrustflags = [\"-C\", \"x\"]\n[alias]\nb = \"build\"\n",
			"[alias]\nb = 'build'\n\n[build]\njobs = 2\nrustflags = ['-C', 'x']\n\n[registries]\n[registries.my]\nindex = 'sparse+http://h/index/'\n\n[registry]\ndefault = 'my'\n\n[source]\n[source.crates-io]\nreplace-with = 'my'\n",
			"env.X registries.my.index (the login in it) registries.my.token registry.token"},
		{".yarnrc.yml", "npmRegistryServer: https://yarn.example.com\nnpmAuthToken: SECRET\nnpmScopes:\n  my:\n    npmRegistryServer: https://u:SECRET@h\n    npmAuthToken: SECRET\nplugins:\n  - SECRET\nyarnPath: SECRET\nnodeLinker: node-modules\nlogFilters:\n  - 1: {2: SECRET}\n",
			"nodeLinker: node-modules\nnpmRegistryServer: https://yarn.example.com\nnpmScopes:\n    my:\n        npmRegistryServer: https://h\n",
			"logFilters npmAuthToken npmScopes.my.npmAuthToken npmScopes.my.npmRegistryServer (the login in it) plugins yarnPath"},
		{".config/uv/uv.toml", "keyring-provider = \"SECRET\"\n[[index]]\nname = \"my\"\nurl = \"https://u:SECRET@h/simple\"\ndefault = true\n[pip]\nindex-url = \"https://h/simple\"\n",
			"[[index]]\ndefault = true\nname = 'my'\nurl = 'https://h/simple'\n\n[pip]\nindex-url = 'https://h/simple'\n", "index.url (the login in it) keyring-provider"},
		{".config/go/env", "GOPROXY=https://u:SECRET@go.example.com,direct\nGOPRIVATE=example.com\nGOAUTH=SECRET\nMY_TOKEN=SECRET\n",
			"GOPROXY=https://go.example.com,direct\nGOPRIVATE=example.com\n", "GOAUTH GOPROXY (the login in it) MY_TOKEN"},
		{".gradle/gradle.properties", "org.gradle.jvmargs=-Xmx2g\nossrhPassword=SECRET\nsystemProp.https.proxyPassword=SECRET\nsystemProp.https.proxyHost=h\nuser: SECRET\n",
			"org.gradle.jvmargs=-Xmx2g\nsystemProp.https.proxyHost=h\n", "ossrhPassword systemProp.https.proxyPassword user"},
		{".m2/settings.xml", "<?xml version=\"1.0\"?>\n<!DOCTYPE s [<!ENTITY e \"SECRET\">]>\n<settings xmlns=\"x\">\n<!-- SECRET -->\n<servers><server><id>m</id><password>SECRET</password></server></servers>\n<mirrors><mirror><id>m</id><mirrorOf>*</mirrorOf><url>https://u:SECRET@h/m2?a=1&amp;b=2</url><password>SECRET</password></mirror></mirrors>\n<profiles><profile><id>p</id><properties><a>SECRET</a></properties><repositories><repository><id>r</id><url>https://r</url></repository></repositories></profile></profiles><activeProfiles><activeProfile>p</activeProfile></activeProfiles></settings>\n",
			"<settings><mirrors><mirror><id>m</id><mirrorOf>*</mirrorOf><url>https://h/m2?a=1&amp;b=2</url></mirror></mirrors><profiles><profile><id>p</id><repositories><repository><id>r</id><url>https://r</url></repository></repositories></profile></profiles><activeProfiles><activeProfile>p</activeProfile></activeProfiles></settings>\n",
			"mirrors.mirror.password mirrors.mirror.url (the login in it) profiles.profile.properties servers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.write(t, "home/"+tt.name, tt.text)
			f := p.file(p.read(), tt.name)
			if got := strings.Join(f.LeftOut, " "); string(f.Text) != tt.want || got != tt.leftOut || f.Whole || f.Hidden != "" {
				t.Errorf("hidden %q, whole %v, left out\n%s, want\n%s\n%s\nwant\n%s", f.Hidden, f.Whole, got, tt.leftOut, f.Text, tt.want)
			}
		})
	}
}

// TestHiddenFiles: what cannot be understood is hidden, with the reason, and nothing is waited for.
func TestHiddenFiles(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		make       func(t *testing.T, p place)
		why        string
	}{
		{"a pipe", ".gitconfig", func(t *testing.T, p place) {
			if err := syscall.Mkfifo(filepath.Join(p.home, ".gitconfig"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "no regular file"},
		{"a directory", ".npmrc", func(t *testing.T, p place) { p.write(t, "home/.npmrc/x", "") }, "no regular file"},
		{"huge", ".gitconfig", func(t *testing.T, p place) { p.write(t, "home/.gitconfig", strings.Repeat("#\n", 1<<20)) }, "larger than 1 MiB"},
		{"includes in a circle", ".gitconfig", func(t *testing.T, p place) {
			p.write(t, "home/.gitconfig", me+"[include]\npath=.a\n")
			p.write(t, "home/.a", "[include]\npath=.b\n")
			p.write(t, "home/.b", "[include]\npath=.a\n")
		}, "circle"},
		{"itself", ".gitconfig", func(t *testing.T, p place) { p.write(t, "home/.gitconfig", me+"[include]\npath=.gitconfig\n") }, "circle"},
		{"no syntax of git", ".gitconfig", func(t *testing.T, p place) { p.write(t, "home/.gitconfig", "[user\n") }, "does not understand"},
		{"no TOML", ".cargo/config.toml", func(t *testing.T, p place) { p.write(t, "home/.cargo/config.toml", "a = = 1") }, "no TOML"},
		{"no YAML", ".yarnrc.yml", func(t *testing.T, p place) { p.write(t, "home/.yarnrc.yml", "a: [") }, "no YAML"},
		{"no XML", ".m2/settings.xml", func(t *testing.T, p place) { p.write(t, "home/.m2/settings.xml", "<a><b></a>") }, "no XML"},
		{"YAML that grows", ".yarnrc.yml", func(t *testing.T, p place) {
			text := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
			for _, c := range "bcdefghij" {
				text += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 10), ",") + "]\n"
			}
			p.write(t, "home/.yarnrc.yml", text)
		}, "no YAML"},
		{"a link into the workspace", ".gitconfig", func(t *testing.T, p place) {
			p.write(t, "ws/gitconfig", me)
			if err := os.Symlink(filepath.Join(p.ws, "gitconfig"), filepath.Join(p.home, ".gitconfig")); err != nil {
				t.Fatal(err)
			}
		}, "where commands write"},
		{"a link through the workspace", ".gitconfig", func(t *testing.T, p place) {
			p.write(t, "home/dot", me)
			if err := os.Symlink(filepath.Join(p.home, "dot"), filepath.Join(p.ws, "l")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(p.ws, "l"), filepath.Join(p.home, ".gitconfig")); err != nil {
				t.Fatal(err)
			}
		}, "where commands write"},
		{"binary", ".gitconfig", func(t *testing.T, p place) { p.write(t, "home/.gitconfig", "a\x00b") }, "no text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			tt.make(t, p)
			begun := time.Now()
			f := p.file(p.read(), tt.file)
			if !strings.Contains(f.Hidden, tt.why) || f.Text != nil || f.Whole {
				t.Errorf("hidden %q, want %q: %s", f.Hidden, tt.why, f.Text)
			}
			if took := time.Since(begun); took > 2*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestFilesOfGit: what the configuration of git names is shown beside it, if it is harmless: hooks, lists of names, public keys.
func TestFilesOfGit(t *testing.T) {
	p := newPlace(t)
	p.write(t, "home/.gitconfig", me+"[core]\n\thooksPath = ~/.githooks\n\texcludesFile = ~/.ignored\n[user]\n\tsigningKey = ~/.ssh/id_x\n[commit]\n\ttemplate = ~/.message\n[blame]\n\tignoreRevsFile = ~/.netrc\n")
	p.write(t, "home/.githooks/pre-commit", "#!/bin/sh\n")
	p.write(t, "home/.ignored", "*.o\n")
	p.write(t, "home/.message", "password: x\n")
	p.write(t, "home/.netrc", "x\n")
	p.write(t, "home/.ssh/id_x", "-----BEGIN\n")
	p.write(t, "home/.ssh/id_x.pub", "ssh-ed25519 AAAA me\n")
	v := p.read()
	for name, want := range map[string]string{".ignored": "*.o\n", ".ssh/id_x.pub": "ssh-ed25519 AAAA me\n", ".message": "", ".ssh/id_x": "", ".netrc": ""} {
		if f := p.file(v, name); string(f.Text) != want {
			t.Errorf("%s: %q, %s", name, f.Text, f.Hidden)
		}
	}
	if len(v.Dirs) != 1 || v.Dirs[0] != filepath.Join(p.home, ".githooks") {
		t.Errorf("directories %v", v.Dirs)
	}
}

// TestStale: a view knows when a file that it was made of has changed, came or went.
func TestStale(t *testing.T) {
	p := newPlace(t)
	p.write(t, "home/.gitconfig", me+"[include]\npath=.more\n")
	for _, name := range []string{".more", ".npmrc", ".gitconfig"} {
		v := p.read()
		if v.Stale() {
			t.Errorf("%s: it is stale at once", name)
		}
		p.write(t, "home/"+name, me+"[x]\ny=z\n")
		if !v.Stale() {
			t.Errorf("%s: the change was not seen", name)
		}
	}
}

// FuzzViews: whatever a file holds, a word that stands behind names of secrets is in no view, and reading ends.
func FuzzViews(f *testing.F) {
	f.Add(".gitconfig", me+"[credential]\nhelper=store\n[a \"b\"]\nc\n")
	f.Add(".npmrc", "registry=http://a:b@c\n")
	f.Add(".config/pip/pip.conf", "[g]\nindex-url=x\n y\n")
	f.Add(".yarnrc.yml", "a: {b: c}\n")
	f.Add(".cargo/config.toml", "[a]\nb=1\n")
	f.Add(".m2/settings.xml", "<settings><mirrors><mirror><url>u</url></mirror></mirrors></settings>")
	f.Fuzz(func(t *testing.T, name, text string) {
		e := slices.IndexFunc(entries(), func(e entry) bool { return e.name == name })
		if e < 0 {
			t.Skip()
		}
		p := newPlace(t)
		p.write(t, "home/"+name, text)
		shown := p.file(p.read(), name)
		if shown.Whole && entries()[e].format != "plain" && secretWords().Match(shown.Text) {
			t.Errorf("a whole file with %q", secretWords().Find(shown.Text))
		}
		if logins().Match(shown.Text) && entries()[e].format != "git" {
			t.Errorf("a login is shown: %q", shown.Text)
		}
	})
}
