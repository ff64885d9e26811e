package protect

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool/secret"
)

// keys makes a private key in PEM and in DER, and a certificate-like block.
func keys(t testing.TB) (inPEM, inDER, certificate string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	must(t, err)
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return block("PRIVATE "+"KEY", der), string(der), block("CERTIFICATE", bytes.Repeat(public, 9))
}

// put writes a file below a directory.
func put(t testing.TB, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, []byte(text), 0o600))
}

// token is a secret of a known form.
const token = "ghp_" + "q7Kx2mPz9LbV4tRw8NcY1sHd6FgJ3aQe5UiX"

// TestContents: what a file holds decides whether it is a secret, where the list says so, and the walk, the text of the path and a Below all
// say the same.
func TestContents(t *testing.T) {
	key, der, certificate := keys(t)
	keynote := "PK\x03\x04" + strings.Repeat("\x00\x01", 100)
	for _, c := range []struct {
		name, text string
		secret     bool
	}{
		{"id_rsa", key, true}, {"deep/down/id_ed25519", key, true}, {"server.key", key, true}, {"server.pem", key, true}, {"SERVER.PEM", key, true}, {"deploy_rsa", key, true},
		{"der.key", der, true}, {"chain.pem", certificate + key, true}, {"putty.ppk", "PuTTY-User-Key-File-3: ssh-ed25519\n", true}, {"AuthKey.p8", key, true},
		{"slides.key", keynote, false}, {"i18n/en.key", "hello = world\n", false}, {"cert.pem", certificate, false}, {"id_rsa.pub", "ssh-rsa AAAA", false}, {"empty.key", "", false},
		{"monkey", key, false}, {"node_modules/tls/test.pem", key, false}, {"testdata/id_rsa", key, false}, {"a/test/fixtures/k.key", key, false}, {"vendor/x/k.pem", key, false},
		{".npmrc", "registry=https://r/\n//r/:_authToken=" + token + "\n", true}, {"a/.npmrc", "registry=https://r/\n", false}, {"b/.npmrc", "//r/:_authToken=${NPM_TOKEN}\n", false},
		{".yarnrc.yml", "npmAuthToken: " + token + "\n", true}, {".pypirc", "[pypi]\npassword = Tr0ub4dor-and-3\n", true}, {".envrc", "export DB_PASSWORD=Tr0ub4dor-and-3\n", true},
		{"c/.envrc", "use flake\n", false}, {".netrc", "x", true}, {".git-credentials", "x", true}, {".aws/credentials", "x", true}, {"aws/credentials", "x", false},
		{"terraform.tfstate", "{}", true}, {"infra/prod.tfstate.backup", "{}", true}, {"prod.tfvars", `db_password = "Tr0ub4dor-and-3"`, true}, {"dev.tfvars", `region = "x"`, false},
		{".docker/config.json", `{"auths":{"r":{"auth":"bWU6VHIwdWI0ZG9yLWFuZC0z"}}}`, true}, {"credentials.json", `{"type":"x","private_key":"` + strings.ReplaceAll(key, "\n", `\n`) + `"}`, true},
		{"i18n/credentials.json", `{"title":"Credentials"}`, false}, {"test/.netrc", "x", false}, {"example/.npmrc", "//r/:_authToken=" + token, false}, {".env", "", true},
		{"node_modules/.env", "", true}, {".condarc", "channels:\n  - https://u:Tr0ub4dor-and-3@h/t\n", true}, {"kubeconfig", "client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFcEFJQkFBS0NBUUVB" + strings.Repeat("Qm9n", 40) + "\n", true},
	} {
		t.Run(strings.ReplaceAll(c.name, "/", "."), func(t *testing.T) {
			root := tempDir(t)
			put(t, root, c.name, c.text)
			file := filepath.Join(root, c.name)
			m := scanned(t, Options{Roots: []string{root}, ReadDeny: usualDeny()})
			masked := covers(m.Secrets, file)
			_, judged := m.Secret(file, 0, 0)
			dir, base := filepath.Split(file)
			below := m.Below(strings.TrimSuffix(dir, "/"))
			_, listed := below.Secret(base)
			list, err := CompileSecrets(usualDeny(), []string{root}, "")
			must(t, err)
			if denied := list.Denies(file); masked != c.secret || judged != c.secret || listed != c.secret || denied != c.secret {
				t.Errorf("masked %v, judged %v, listed %v, denied %v", masked, judged, listed, denied)
			}
			if c.secret && (!list.Names(file) || !m.Names(file)) {
				t.Error("not known by its name")
			}
		})
	}
}

// TestContentChanges: a file whose content decides is looked at again when it has changed, and only then; a directory above it cannot be
// renamed to a place where it would count no more.
func TestContentChanges(t *testing.T) {
	key, _, certificate := keys(t)
	root := tempDir(t)
	put(t, root, "tls/server.pem", certificate)
	put(t, root, "certs/own.pem", key)
	must(t, os.Symlink("certs/own.pem", root+"/link.pem"))
	c := NewCache(Options{Roots: []string{root}, ReadDeny: usualDeny()}, 0)
	defer c.Close()
	m := mapOf(t, c)
	if covers(m.Secrets, root+"/tls/server.pem") || !covers(m.Secrets, root+"/certs/own.pem") {
		t.Fatalf("%v", m.Secrets)
	}
	if _, pinned := m.Pinned(root + "/certs"); !pinned {
		t.Error("the directory of a key may become a directory of tests")
	}
	put(t, root, "tls/server.pem", certificate+key)
	if m, err := c.Map(t.Context()); err != nil || !covers(m.Secrets, root+"/tls/server.pem") {
		t.Errorf("what became a key is not masked: %v", err)
	}
	for name, want := range map[string]bool{"new.key": true, "new.txt": false, "test/new.key": false} {
		put(t, root, name, "")
		if m.MayBecome(filepath.Join(root, name)) != want {
			t.Errorf("an empty %s: want %v", name, want)
		}
	}
}

// TestContentKinds: every word for a content in the list is one, and the table of secrets knows what it means.
func TestContentKinds(t *testing.T) {
	conditional := 0
	for _, pattern := range DefaultReadDeny() {
		if name, word, ok := strings.Cut(pattern, "="); ok {
			conditional++
			if _, known := contentOf(word); !known || !strings.HasPrefix(name, "**/") {
				t.Errorf("%s: not understood", pattern)
			}
		}
	}
	if conditional < 40 {
		t.Errorf("%d names of projects", conditional)
	}
	if len(secret.All().Find([]byte(token))) != 1 {
		t.Error("the token of these tests is none")
	}
}

// TestGoTree: Go's own tree holds no file that its builds and tests read and that commands would not. testdata/secrets/packages.sh says the
// same of 200 packages of npm.
func TestGoTree(t *testing.T) {
	root := filepath.Join(build.Default.GOROOT, "src")
	if _, err := os.Stat(filepath.Join(root, "crypto")); err != nil {
		t.Skip("this installation of Go has no source")
	}
	m := scanned(t, Options{Roots: []string{root}, ReadDeny: usualDeny(), MaxTime: time.Minute})
	for _, e := range m.Secrets {
		if name, _ := filepath.Rel(root, e.Path); name != "crypto/x509/platform_root_key.pem" { // a key, which a test reads that a person sets up by hand
			t.Errorf("%s would not be read", name)
		}
	}
}
