package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// commits are configurations of git, by what is special in them: the text of .gitconfig, then further files of the home.
var commits = []struct{ name, files string }{
	{"plain", "[user]\n\tname = Ada\n\temail = ada@example.com\n"},
	{"logins of a program", "[user]\n\tname = Ada\n\temail = ada@example.com\n[credential \"https://github.com\"]\n\thelper = \n\thelper = !/usr/bin/gh auth git-credential\n"},
	{"an alias named tokens", "[user]\n\tname = Ada\n\temail = ada@example.com\n[alias]\n\ttokens = log --grep token\n"},
	{"an include under a condition", "[user]\n\tname = Ada\n\temail = ada@example.com\n[includeIf \"gitdir:/**\"]\n\tpath = ~/.gitconfig-work\n-- .gitconfig-work --\n[user]\n\temail = work@example.com\n[http]\n\textraHeader = secret\n"},
	{"includes of includes", "[include]\n\tpath = .git.d/one\n-- .git.d/one --\n[include]\n\tpath = two\n-- .git.d/two --\n[user]\n\tname = Two\n\temail = two@example.com\n[credential]\n\thelper = store\n"},
	{"more than 64 KB", "[user]\n\tname = Ada\n\temail = ada@example.com\n" + strings.Repeat("# a password that is only a word in a comment\n", 2000)},
	{"another place", "-- .config/git/config --\n[user]\n\tname = Ada X\n\temail = x@example.com\n[credential]\n\thelper = store\n"},
	{"author and committer", "[user]\n\tname = Ada\n\temail = ada@example.com\n[author]\n\tname = Auth Or\n[committer]\n\temail = c@example.com\n[http]\n\tcookieFile = x\n"},
	{"hooks in the home", "[user]\n\tname = Ada\n\temail = ada@example.com\n[core]\n\thooksPath = ~/.githooks\n[credential]\n\thelper = store\n-- .githooks/commit-msg --\n#!/bin/sh\necho hooked >> \"$1\"\n"},
	{"odd quoting", "\ufeff[USER]Name = \"Ada \\\"B\\\" \\\\ \\t C\" ; password\r\n\tEMAIL=ada@example.com#x\n[credential]helper=store\n"},
	{"editors and pagers", "[user]\n\tname = Ada\n\temail = ada@example.com\n[core]\n\teditor = vim\n\tpager = less\n\texcludesFile = ~/.ignored\n[commit]\n\tcleanup = strip\n[credential]\n\tusername = ada\n-- .ignored --\n*.o\n"},
	{"large files", "[user]\n\tname = Ada\n\temail = ada@example.com\n[url \"https://tok:x@example.com/\"]\n\tinsteadOf = https://example.com/\n[url \"git@example.com:\"]\n\tpushInsteadOf = https://example.com/\n"},
}

// setHome writes the files of a configuration, and removes those of the one before.
func (a *escapeAttempt) setHome(files string) {
	a.t.Helper()
	for _, name := range []string{".gitconfig", ".gitconfig-work", ".git.d", ".config/git", ".githooks", ".ignored"} {
		removeForced(a.path("home/" + name))
	}
	for i, file := range strings.Split("-- .gitconfig --\n"+files, "-- .") {
		name, text, _ := strings.Cut(file, " --\n")
		if i == 0 || text == "" {
			continue
		}
		a.write("home/."+name, text)
		if strings.Contains(name, "hooks/") {
			if err := os.Chmod(a.path("home/."+name), 0o755); err != nil {
				a.t.Fatal(err)
			}
		}
	}
}

// TestCommitsAsOutside: with each configuration of a home a commit has the author and the message that it has outside, while the
// configuration changes within one session.
func TestCommitsAsOutside(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.env = append(a.env, "XDG_CONFIG_HOME="+a.path("home/.config")) // git's and toolhost's are side by side
	a.repository()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "safe.directory=*"}, args...)...)
		cmd.Dir, cmd.Env = a.path("ws"), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + a.home, "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	git("config", "--unset", "user.name")
	git("config", "--unset", "user.email")
	h := a.serving(false, "--allow", "Shell(git commit *)").confinedBy()
	const look = "--format=%an <%ae> %cn <%ce>%n%B"
	for _, c := range commits {
		a.setHome(c.files)
		git("commit", "--allow-empty", "-qm", "x")
		want := git("log", "-1", look)
		h.shell("git commit --allow-empty -qm x").worked()
		if got := git("log", "-1", look); got != want {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
	a.setHome("[user]\n\tname = Ada\n\temail = ada@example.com\n[include]\n\tpath = " + a.path("ws/evil") + "\n")
	a.write("ws/evil", "[user]\n\tname = Evil\n")
	r := h.shell("git commit --allow-empty -qm y").worked()
	if got := git("log", "-1", "--format=%an"); got != "Ada\n" || !strings.Contains(r.says(), "without include.path") {
		t.Errorf("a file of the workspace is included: %q: %s", got, r.says())
	}
	if r := h.shell("git commit --allow-empty -qm z").worked(); strings.Contains(r.says(), "without include.path") {
		t.Errorf("it is said again: %s", r.says())
	}
}

// registry is a private registry of each kind, with one package.
type registry struct {
	host string
	mu   sync.Mutex
	got  []string
}

const privatePackage = "toolhost-private-package"

// ownAddress is in the environment of a test process that has a network of its own: an address there that is no loopback. Some programs use no
// proxy for a loopback.
const ownAddress = "TOOLHOST_TESTS_ADDRESS"

// inOwnNetwork runs a test again in a network namespace that is made for it, with an address that leads nowhere else. It reports whether this
// is that run.
func inOwnNetwork(t *testing.T) bool {
	t.Helper()
	if os.Getenv(ownAddress) != "" {
		return true
	}
	if os.Getuid() != 0 {
		t.Skip("only root makes a network")
	}
	const address = "10.77.0.1"
	set := "ip link set lo up && ip address add " + address + "/32 dev lo && exec \"$0\" \"$@\""
	cmd := exec.Command("unshare", "--net", "sh", "-c", set, os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v", "-test.timeout", "10m")
	cmd.Env = append(os.Environ(), ownAddress+"="+address, apartVariable+"=")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("in a network of its own: %v", err)
	}
	return false
}

// newRegistry starts one, in the network of the test.
func newRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{}
	l, err := net.Listen("tcp", os.Getenv(ownAddress)+":0")
	if err != nil {
		t.Fatal(err)
	}
	r.host = l.Addr().String()
	files := r.files(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		r.mu.Lock()
		r.got = append(r.got, in.URL.Path)
		r.mu.Unlock()
		data, found := files[in.URL.Path]
		switch {
		case !found:
			http.NotFound(w, in)
		case strings.HasSuffix(in.URL.Path, "/") && strings.HasPrefix(in.URL.Path, "/pip"):
			w.Header().Set("Content-Type", "text/html")
			fallthrough
		default:
			_, _ = w.Write(data)
		}
	}))
	_ = server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	return r
}

// tarball is an archive as npm and cargo have them.
func tarball(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	_, _ = w.Close(), z.Close()
	return b.Bytes()
}

// zipped is an archive as go and pip have them.
func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (r *registry) files(t *testing.T) map[string][]byte {
	npm := tarball(t, map[string]string{"package/package.json": `{"name":"` + privatePackage + `","version":"1.0.0"}`})
	sum := sha512.Sum512(npm)
	python := strings.ReplaceAll(privatePackage, "-", "_")
	crate := tarball(t, map[string]string{
		privatePackage + "-1.0.0/Cargo.toml": "[package]\nname = \"" + privatePackage + "\"\nversion = \"1.0.0\"\nedition = \"2021\"\n",
		privatePackage + "-1.0.0/src/lib.rs": "",
	})
	crateSum := sha256.Sum256(crate)
	const module = "example.com/" + privatePackage
	mod := "module " + module + "\n"
	return map[string][]byte{
		"/npm/" + privatePackage: fmt.Appendf(nil, `{"name":%q,"dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":%[1]q,"version":"1.0.0","dist":{"tarball":"http://%s/npm/x.tgz","integrity":"sha512-%s"}}}}`,
			privatePackage, r.host, base64.StdEncoding.EncodeToString(sum[:])),
		"/npm/x.tgz":                   npm,
		"/pip/" + privatePackage + "/": fmt.Appendf(nil, `<!DOCTYPE html><html><body><a href="../%s-1.0.0-py3-none-any.whl">x</a></body></html>`, python),
		"/pip/" + python + "-1.0.0-py3-none-any.whl": zipped(t, map[string]string{
			python + ".py":                       "",
			python + "-1.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: " + privatePackage + "\nVersion: 1.0.0\n",
			python + "-1.0.0.dist-info/WHEEL":    "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
			python + "-1.0.0.dist-info/RECORD":   "",
		}),
		"/cargo/config.json":                           fmt.Appendf(nil, `{"dl":"http://%s/cargo/dl/{crate}-{version}.crate"}`, r.host),
		"/cargo/to/ol/" + privatePackage:               fmt.Appendf(nil, `{"name":%q,"vers":"1.0.0","deps":[],"cksum":"%s","features":{},"yanked":false}`+"\n", privatePackage, hex.EncodeToString(crateSum[:])),
		"/cargo/dl/" + privatePackage + "-1.0.0.crate": crate,
		"/go/" + module + "/@v/list":                   []byte("v1.0.0\n"),
		"/go/" + module + "/@v/v1.0.0.info":            []byte(`{"Version":"v1.0.0"}`),
		"/go/" + module + "/@v/v1.0.0.mod":             []byte(mod),
		"/go/" + module + "/@v/v1.0.0.zip":             zipped(t, map[string]string{module + "@v1.0.0/go.mod": mod, module + "@v1.0.0/x.go": "package x\n"}),
	}
}

// TestPrivateRegistries: packages come from the registry that the configuration of the home names, although that holds logins, and no other
// host is asked: none is granted, and a program that tried one would fail.
func TestPrivateRegistries(t *testing.T) {
	t.Parallel()
	if !inOwnNetwork(t) {
		return
	}
	for _, c := range []struct {
		name, program   string
		config, text    string // HOST is the registry's
		files           map[string]string
		command, rule   string
		fetched, others string
	}{
		{"npm", "npm", ".npmrc", "registry=http://me:SECRET@HOST/npm/\n//HOST/npm/:_authToken=SECRET\nfund=false\naudit=false\n",
			map[string]string{"ws/package.json": "{}"}, "npm install " + privatePackage, "npm install *", "/npm/x.tgz", ""},
		{"pip", "python3:pip", ".config/pip/pip.conf", "[global]\nindex-url = http://me:SECRET@HOST/pip/\ntrusted-host = ADDRESS\n", nil,
			"python3 -m pip install --target lib " + privatePackage, "python3 -m pip install *", "/pip/" + strings.ReplaceAll(privatePackage, "-", "_") + "-1.0.0-py3-none-any.whl", ""},
		{"cargo", "cargo", ".cargo/config.toml", "[registries.my]\nindex = \"sparse+http://me:SECRET@HOST/cargo/\"\ntoken = \"SECRET\"\n",
			map[string]string{"ws/Cargo.toml": "[package]\nname = \"m\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[dependencies]\n" + privatePackage + " = { version = \"1\", registry = \"my\" }\n", "ws/src/lib.rs": ""},
			"cargo fetch", "cargo fetch", "/cargo/dl/" + privatePackage + "-1.0.0.crate", ""},
		{"go", "go", ".config/go/env", "GOPROXY=http://me:SECRET@HOST/go\nGONOSUMDB=example.com\nGOFLAGS=-mod=mod\nGOAUTH=SECRET\n",
			map[string]string{"ws/go.mod": "module m\n\ngo 1.21\n"}, "go get example.com/" + privatePackage + "@latest", "go get *", "/go/example.com/" + privatePackage + "/@v/v1.0.0.zip", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			program, module, _ := strings.Cut(c.program, ":")
			if _, err := exec.LookPath(program); err != nil { // it may be the tester's own
				t.Skipf("%s is not installed", program)
			}
			if module != "" && exec.Command(program, "-c", "import "+module).Run() != nil {
				t.Skipf("%s has no %s", program, module)
			}
			a, r := approvals(t), newRegistry(t)
			a.env = append(a.env, "XDG_CONFIG_HOME="+a.path("home/.config"), "PATH="+os.Getenv("PATH"))
			if path, _ := exec.LookPath(program); c.name == "cargo" { // it may be that of rustup, which wants its own directory
				a.env = append(a.env, "RUSTUP_HOME="+filepath.Join(path, "../../../.rustup"))
			}
			for name, text := range c.files {
				a.write(name, text)
			}
			a.write("home/"+c.config, strings.NewReplacer("HOST", r.host, "ADDRESS", strings.Split(r.host, ":")[0]).Replace(c.text))
			a.write("home/.config/toolhost/settings.json", rules("allow Shell("+c.rule+") with host:"+r.host))
			h := a.serving(false).confinedBy()
			said := h.shell(c.command).worked().says()
			r.mu.Lock()
			defer r.mu.Unlock()
			if !strings.Contains(strings.Join(r.got, "\n")+"\n", c.fetched+"\n") {
				t.Errorf("the registry was asked for %v, and not for %s", r.got, c.fetched)
			}
			if strings.Contains(said, "SECRET") || !strings.Contains(said, "commands see "+a.path("home/"+c.config)+" without ") {
				t.Errorf("it says %s", said)
			}
		})
	}
}

// TestConfigIsWritten: a command that was allowed to write a file of configuration writes the person's own, in which every line stays; or it
// is told why it does not, and the file is as it was.
func TestConfigIsWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		program, file, text string
		command, rule       string
		added, says         string // added: what the file has then; says: why it has not
	}{
		{"git", ".gitconfig", "# mine\n[user]\n\tname = Ada\n[credential]\n\thelper = SECRET\n", "git config --global user.email a@b", "git config *", "", "change it with the edit tool"},
		{"git", ".config/git/config", "[credential]\n\thelper = SECRET\n", "git config --file ~/.config/git/config x.y z", "git config *", "", "change it with the edit tool"},
		{"python3", ".config/pip/pip.conf", "[global]\nindex-url = https://u:SECRET@h/simple\nkeyring-provider = subprocess\n", "python3 -m pip config --user set global.timeout 61", "python3 -m pip config *", "timeout = 61", ""},
		{"python3", ".config/pip/pip.conf", "[install]\nuser = true\n", "python3 -m pip config --user set global.timeout 61", "python3 -m pip config *", "timeout = 61", ""},
		{"go", ".config/go/env", "GOPROXY=https://u:SECRET@h\nGOAUTH=SECRET\n", "go env -w GOFLAGS=-v", "go env -w *", "GOFLAGS=-v", ""},
		{"npm", ".npmrc", "registry=https://u:SECRET@h/\n//h/:_authToken=SECRET\nmine=1\n", "npm config set fund false", "npm config set *", "", "errno"},
		{"bash", ".npmrc", "//h/:_authToken=SECRET\n", "bash -c 'echo fund=false >> ~/.npmrc'", "bash -c *", "", "ermission denied"},
		{"bash", ".yarnrc.yml", "npmAuthToken: SECRET\nnodeLinker: pnp\n", "bash -c 'echo enableTelemetry: false >> ~/.yarnrc.yml'", "bash -c *", "enableTelemetry: false", ""},
		{"bash", ".cargo/config.toml", "[registry]\ntoken = \"SECRET\"\n", "bash -c 'echo [term] >> ~/.cargo/config.toml'", "bash -c *", "[term]", ""},
		{"bash", ".config/uv/uv.toml", "index-url = \"https://u:SECRET@h\"\n", "bash -c 'echo offline = true >> ~/.config/uv/uv.toml'", "bash -c *", "offline = true", ""},
		{"bash", ".m2/settings.xml", "<settings><servers>SECRET</servers></settings>\n", "bash -c 'echo \"<!-- x -->\" >> ~/.m2/settings.xml'", "bash -c *", "<!-- x -->", ""},
		{"bash", ".gradle/gradle.properties", "signing.password=SECRET\n", "bash -c 'echo org.gradle.daemon=false >> ~/.gradle/gradle.properties'", "bash -c *", "org.gradle.daemon=false", ""},
	} {
		t.Run(c.command, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.program); err != nil {
				t.Skipf("%s is not installed", c.program)
			}
			a := approvals(t)
			a.env = append(a.env, "XDG_CONFIG_HOME="+a.path("home/.config"), "PATH="+os.Getenv("PATH"))
			a.write("home/"+c.file, c.text)
			a.write("home/.config/toolhost/settings.json", rules("allow Shell("+c.rule+") with write:"+a.path("home/"+c.file)))
			h := a.serving(true).confinedBy()
			m := h.shell(c.command)
			for n := 1; m.asksOrEnds("", n); n++ { // about the protected name
				h.decide(h.prompt("", n), "allow")
			}
			said := m.result().says()
			text, err := os.ReadFile(a.path("home/" + c.file))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(c.text) {
				if !strings.Contains(string(text), strings.TrimSpace(line)) {
					t.Errorf("%q is lost:\n%s\n%s", line, text, said)
				}
			}
			if added := c.added != "" && strings.Contains(string(text), c.added); added != (c.added != "") || !strings.Contains(said, c.says) {
				t.Errorf("%q was added: %v; it says\n%s\n%s", c.added, added, said, text)
			}
		})
	}
}

// TestModulesAreVerified: go fetches modules through the proxy of its own settings, and checks them against the checksum database.
func TestModulesAreVerified(t *testing.T) {
	t.Parallel()
	if !long() {
		t.Skip("the long form asks the module proxy: testdata/long.sh")
	}
	out, err := exec.Command("go", "env", "GOPROXY", "GOSUMDB").Output()
	if err != nil {
		t.Skip("go is not installed")
	}
	settings := strings.Split(strings.TrimSpace(string(out)), "\n")
	proxy, _, _ := strings.Cut(settings[0], ",")
	address, err := url.Parse(proxy)
	if err != nil || address.Host == "" || len(settings) < 2 || settings[1] == "off" {
		t.Skipf("go has no proxy, or no checksum database: %q", settings)
	}
	const module, version = "github.com/kr/text", "v0.2.0"
	client := http.Client{Timeout: 5 * time.Second}
	reply, err := client.Get(proxy + "/" + module + "/@v/" + version + ".info")
	if err == nil {
		reply.Body.Close()
	}
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Skipf("there is no network: the proxy of go does not answer: %v", err)
	}
	a := approvals(t)
	a.env = append(a.env, "PATH="+os.Getenv("PATH"), "GOPROXY="+proxy, "GOFLAGS=-modcacherw")
	grants := "host:" + address.Hostname()
	ips, _ := net.LookupHost(address.Hostname())
	for _, ip := range ips { // a proxy may have an address that no name leads to otherwise
		if !strings.Contains(ip, ":") {
			grants += ", host:" + ip + ":443"
		}
	}
	a.write(userSettings, rules("allow Shell(go *) with "+grants))
	a.write("ws/go.mod", "module example.com/m\n\ngo 1.21\n")
	a.write("ws/m.go", "package main\n\nimport _ \""+module+"\"\n\n//go:generate go run "+module+"/mc@"+version+"\n\nfunc main() {}\n")
	h := a.serving(false).confinedBy()
	for _, c := range []struct{ command, want string }{
		{"go get " + module + "@" + version, ""}, {"go mod tidy", ""}, {"go build ./... && go mod verify", "all modules verified"},
	} {
		if said := h.shell(c.command).worked().says(); !strings.Contains(said, c.want) {
			t.Errorf("%s: %s", c.command, said)
		}
	}
	h.shell("go generate ./...").worked()
	if err := os.Mkdir(a.path("home/go"), 0o755); err != nil {
		t.Fatal(err)
	}
	h = a.serving(true)
	m := h.shell("go install " + module + "/mc@" + version)
	for n := 1; m.asksOrEnds("", n); n++ { // it writes a directory of programs
		h.decide(h.prompt("", n), "allow")
	}
	m.worked()
	if !exists(a, "home/go/bin/mc") {
		t.Error("go install has installed nothing")
	}
	if sum, err := os.ReadFile(a.path("ws/go.sum")); err != nil || !strings.Contains(string(sum), module+" "+version+" h1:") {
		t.Errorf("go.sum: %q, %v", sum, err)
	}
	if exists(a, "home/go/pkg/sumdb") {
		t.Error("the person's notes on the database were made by a command")
	}
}
