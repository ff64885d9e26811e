package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// projectSecrets makes the files of a project that hold secrets, and those that only look so, by their names. What must not be read of
// the first is returned, too.
func projectSecrets(t testing.TB) (secrets, others map[string]string, canaries []string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	must(t, err)
	inPEM := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE " + "KEY", Bytes: der}))
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public}))
	body := base64.StdEncoding.EncodeToString(der)
	password, token := "Tr0ub4dor-and-33", "ghp_"+"q7Kx2mPz9LbV4tRw8NcY1sHd6FgJ3aQe5UiX"
	secrets = map[string]string{
		".env": "DB_PASSWORD=" + password + "\n", "id_rsa": inPEM, "deploy/id_ed25519": inPEM, "tls/server.key": inPEM, "tls/chain.pem": certificate + inPEM,
		".npmrc": "registry=https://r.example/\n//r.example/:_authToken=" + token + "\n", ".git-credentials": "https://me:" + password + "@h.example\n",
		".netrc": "machine h.example login me password " + password + "\n", ".aws/credentials": "[default]\naws_secret_access_key = " + password + "\n",
		"infra/terraform.tfstate": `{"password":"` + password + `"}`, "prod.tfvars": "db_password = \"" + password + "\"\n", ".pypirc": "[pypi]\npassword = " + password + "\n",
		".envrc": "export DB_PASSWORD=" + password + "\n", ".condarc": "channels:\n  - https://me:" + password + "@h.example/c\n",
	}
	others = map[string]string{
		"slides.key": "PK\x03\x04 keynote", "i18n/en.key": "hello = world", "tls/ca.pem": certificate, "web/.npmrc": "registry=https://r.example/\nsave-exact=true\n",
		"web/node_modules/tls/test/fixtures/agent.pem": inPEM, "testdata/key.pem": inPEM, "dev.tfvars": "region = \"x\"\n", "id_rsa.pub": "ssh-rsa AAAA me",
	}
	return secrets, others, []string{body[40:64], password, token}
}

// TestSecretsOfProjects: in a project no channel says a secret: file tools, search, readers in the sandbox, and the log. What only looks like
// a secret is read as ever.
func TestSecretsOfProjects(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	secrets, others, canaries := projectSecrets(t)
	var files strings.Builder
	for _, all := range []map[string]string{secrets, others} {
		for name, text := range all {
			fmt.Fprintf(&files, "-- %s --\n%s\n", name, strings.TrimSuffix(text, "\n"))
		}
	}
	d := p.desk(t, filepath.Join(p.dir, "secrets"), files.String(), "--mode", "sandboxed")
	d.request("agenttool/hello", map[string]any{"client": map[string]string{"name": "t", "version": "1"}, "events": "results"}, &struct{}{})
	leaks := func(channel, text string) {
		for _, canary := range canaries {
			if strings.Contains(text, canary) {
				t.Errorf("%s says %q: %.600s", channel, canary, text)
			}
		}
	}
	for name := range secrets {
		for _, call := range []string{
			`@read {"path":"WS/NAME"}`, `@grep {"pattern":".","path":"WS/NAME","output_mode":"content"}`, "cat NAME", "cat < NAME", "base64 -d < <(base64 NAME)",
			`python3 -c 'print(open("NAME").read())'`, "cp NAME copied; cat copied; ln NAME linked; cat linked; mv NAME moved; cat moved; true",
		} {
			call = strings.ReplaceAll(call, "NAME", name)
			leaks(call, d.call(call).text())
		}
	}
	for _, call := range []string{
		`@grep {"pattern":"PRIVATE|assw|Token","path":"WS/","output_mode":"content"}`, "grep -rI --exclude-dir=node_modules --exclude-dir=testdata . .",
		"find . -type f -not -path '*/node_modules/*' -not -path './testdata/*' -exec cat {} +", "tar cf - --exclude=node_modules --exclude=testdata . | tar xOf -",
		"mv deploy testdata/deploy; cat testdata/deploy/id_ed25519; mv tls test; cat test/server.key; true",
	} {
		text := d.call(call).text()
		if strings.Contains(call, `"WS/"`) { // the tool cannot leave the others out
			text = slices.Collect(strings.SplitSeq(text, "node_modules"))[0]
		}
		leaks(call, text)
	}
	for name, text := range others {
		want := strings.TrimSpace(strings.SplitN(strings.TrimPrefix(text, "PK\x03\x04 "), "\n", 2)[0])
		for _, call := range []string{"cat " + name, `@read {"path":"WS/` + name + `"}`} {
			if strings.HasPrefix(call, "@") && strings.HasPrefix(text, "PK") {
				continue
			}
			if a := d.call(call); !strings.Contains(a.text(), want) {
				t.Errorf("%s: %s %s %s", call, a.Result.Status, a.text(), a.Result.Error.Message)
			}
		}
	}
	d.close()
	for name := range secrets {
		if text, err := os.ReadFile(filepath.Join(d.ws, name)); err != nil || strings.TrimSpace(string(text)) != strings.TrimSpace(secrets[name]) {
			t.Errorf("%s is no more what it was: %v", name, err)
		}
	}
	_ = filepath.WalkDir(filepath.Join(d.base, "state"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && !strings.Contains(path, "/cache/") {
			text, _ := os.ReadFile(path)
			leaks(path, string(text))
		}
		return nil
	})
}

// authServer serves the files of a repository to who has the login with a digest.
const authServer = `import base64, hashlib, http.server, functools
class H(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        given = base64.b64decode(self.headers.get("Authorization", "Basic ").split(" ", 1)[1])
        if hashlib.sha256(given).hexdigest() != "%x":
            self.send_response(401); self.send_header("WWW-Authenticate", "Basic realm=x"); self.end_headers(); return
        super().do_GET()
http.server.ThreadingHTTPServer(("127.0.0.1", 18643), functools.partial(H, directory="served.git")).serve_forever()
`

// TestCutViews: commands see a .npmrc and git's configuration without the logins in them; npm and git do their work as before, git with the login
// where it reaches the remote itself; and no login is lost when git writes its configuration.
func TestCutViews(t *testing.T) {
	t.Parallel()
	if missing := lacking("git python3", os.Getenv("PATH")); missing != "" {
		t.Skip(missing + " is not installed")
	}
	p := newPlace(t)
	const password, token = "Tr0ub4dor-and-33", "npm_" + "q7Kx2mPz9LbV4tRw8NcY1sHd6FgJ3aQe5UiX"
	const address = "http://127.0.0.1:18643" // of the sandbox's own
	served := filepath.Join(p.dir, "cuts/ws/served.git")
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	base := filepath.Join(p.dir, "cuts")
	ws := filepath.Join(base, "ws")
	must(t, os.MkdirAll(ws, 0o755))
	git(ws, "init", "-q", "-b", "main", ".")
	git(ws, "commit", "-q", "--allow-empty", "-m", "one")
	git(ws, "clone", "-q", "--bare", ".", "served.git")
	git(served, "update-server-info")
	url := strings.Replace(address, "://", "://me:"+password+"@", 1)
	git(ws, "remote", "add", "origin", url)
	d := p.desk(t, base, "-- .npmrc --\nregistry=https://r.example/\n//r.example/:_authToken="+token+"\nsave-exact=true\n"+fmt.Sprintf("-- serve.py --\n"+authServer, sha256.Sum256([]byte("me:"+password))), "--mode", "sandboxed")
	d.level()
	config := func() string {
		text, err := os.ReadFile(filepath.Join(ws, ".git/config"))
		must(t, err)
		return string(text)
	}
	for _, s := range []struct{ call, want string }{
		{"cat .npmrc", "save-exact=true"}, {"python3 -c 'print(open(\".npmrc\").read())'", "registry=https://r.example/"},
		{"cat .git/config", `\[remote "origin"\]`}, {"git remote -v", address}, {"git config -l", "remote.origin.url=" + address},
		{"git status --short --branch; git log --oneline", "one"}, {"bash -c 'git config remote.origin.url; cat .git/config'", address},
		{"git branch topic; git switch -q topic; echo x > f; git add f; git -c user.name=a -c user.email=a@b commit -q -m two; git log --oneline", "two"},
	} {
		a := d.call(s.call)
		if a.Result.Status != "succeeded" || !regexp.MustCompile(s.want).MatchString(a.text()) {
			t.Errorf("%s: %s %s %s", s.call, a.Result.Status, a.text(), a.Result.Error.Message)
		}
		if strings.Contains(a.text(), password) || strings.Contains(a.text(), token) {
			t.Errorf("%s says a login: %s", s.call, a.text())
		}
	}
	d.call(`@shell {"command":"python3 serve.py","run_in_background":true}`)
	d.call("for i in $(seq 600); do (: < /dev/tcp/127.0.0.1/18643) 2>/dev/null && break; sleep 0.1; done")
	if a := d.call("git fetch origin"); a.Result.Status != "succeeded" {
		t.Errorf("git fetch: %s %s %s", a.Result.Status, a.text(), a.Result.Error.Message)
	}
	if a := d.call("bash -c 'git fetch origin'"); a.Result.Status == "succeeded" {
		t.Error("a script has the login")
	}
	for _, call := range []string{"git remote add other https://h.example/x", "git branch --set-upstream-to=origin/main topic", "git config user.name me"} {
		if a := d.call(call); a.Result.Status != "succeeded" || !strings.Contains(config(), url) {
			t.Errorf("%s: %s %s %s\n%s", call, a.Result.Status, a.text(), a.Result.Error.Message, config())
		}
	}
	if !strings.Contains(config(), "h.example") || !strings.Contains(config(), "merge = refs/heads/main") {
		t.Errorf("git could not write its configuration: %s", config())
	}
}
