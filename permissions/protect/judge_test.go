package protect

import (
	"path"
	"strings"
	"sync"
	"testing"
)

// judged is a Map made by hand: a workspace with a repository in it.
var judged = sync.OnceValue(func() *Map {
	deny, err := compileDeny(DefaultReadDeny(), tops{[]string{"/Home/Me/ws"}, "/Home/Me"})
	if err != nil {
		panic(err)
	}
	return &Map{
		Roots: []string{"/Home/Me/ws"}, inner: []string{"/Home/Me/ws"}, deny: deny,
		Sealed: []Entry{{"/Home/Me/ws/Repo/.git/hooks", VCSHooks, Dir}},
		names:  map[string]Rule{"/home/me/ws/repo/.git/hooks": VCSHooks, "/home/me/ws/repo/.git/config": VCSConfig},
		dirs:   map[string]struct{}{"/home/me/ws": {}, "/home/me/ws/repo": {}, "/home/me/ws/repo/.git": {}},
	}
})

// FuzzJudge: a spelling that a file system may take for the same name is judged the same, and so is all below it.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{"Repo/.git/hooks/x", "Repo/.GIT/Config", ".bashrc", "Repo/.vscode/a", "a/.vscode",
		".env", "Repo//.env/../.envrc", "", "../x",
		".ſsh", "Repo/node_modules/.npmrc", ".config/fish/x", "\xff/.git"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, rel string) {
		m := judged()
		file := "/Home/Me/ws/" + rel
		rule, ok := m.Judge(file)
		if ok != (rule != "") {
			t.Errorf("%q: %q, %v", rel, rule, ok)
		}
		for _, other := range []string{file + "/", path.Clean(file), strings.ReplaceAll(file, "/", "//"),
			"/Home/Me/ws/./" + rel} {
			if again, _ := m.Judge(other); again != rule {
				t.Errorf("Judge(%q) = %q, Judge(%q) = %q", file, rule, other, again)
			}
		}
		if file = path.Clean(file); !strings.HasPrefix(file, "/Home/Me/ws/") {
			if ok {
				t.Errorf("%q lies outside the root and is judged", file)
			}
			return
		}
		inside := strings.TrimPrefix(file, "/Home/Me/ws/")
		if again, _ := m.Judge("/Home/Me/ws/" + fold(inside)); again != rule {
			t.Errorf("%q: %q, folded %q", file, rule, again)
		}
		if again, _ := m.Judge(file + "/more"); ok && again != rule {
			t.Errorf("%q: %q, below it %q", file, rule, again)
		}
		if _, asks := Asks(file, "/Home/Me/ws"); ok && !asks && endsSealed(inside) {
			t.Errorf("%q is sealed, and the file tools write it unasked", file)
		}
		secret, denied := m.Secret(file, 0, 0)
		if _, below := m.Secret(file+"/more", 0, 0); denied && !below || denied != (secret != "") {
			t.Errorf("%q: secret %q %v, below it %v", file, secret, denied, below)
		}
	})
}

// endsSealed says whether the path ends with a name of the table: below a file's name Judge goes on and Asks does not.
func endsSealed(rel string) bool {
	components := strings.Split(fold(rel), "/")
	_, whole := match(components, func(n Name, _, end int) bool { return n.Hold == Seals && end == len(components) })
	return whole
}

func BenchmarkJudge(b *testing.B) {
	m := judged()
	b.Run("ordinary", func(b *testing.B) {
		for b.Loop() {
			m.Judge("/Home/Me/ws/Repo/internal/server/handlers/user_test.go")
		}
	})
	b.Run("hook", func(b *testing.B) {
		for b.Loop() {
			m.Judge("/Home/Me/ws/Repo/.git/hooks/pre-commit")
		}
	})
	b.Run("secret", func(b *testing.B) {
		for b.Loop() {
			m.Secret("/Home/Me/ws/Repo/internal/server/handlers/user_test.go", 1, 2)
		}
	})
	b.Run("asks", func(b *testing.B) {
		for b.Loop() {
			Asks("/Home/Me/ws/Repo/internal/server/handlers/user_test.go", "/Home/Me/ws")
		}
	})
}
