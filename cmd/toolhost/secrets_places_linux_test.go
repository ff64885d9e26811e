package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range secrets {
			if !yield(name) {
				return
			}
		}
	}) {
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
