package protect

import (
	"fmt"
	"math/rand/v2"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// parts is what random names, patterns and roots are made of.
var parts = []string{".env", ".ENV", ".Env.local", ".env.example", "a", "b", "key", "x.pem", "X.PEM", "İ", "ß", "ſecret", "secret", "K", "\u200b",
	".\u200benv", "e\u200b", "[a]", "a]", "{", "dir", "\xff", "-"}

var patternParts = append([]string{"*", "**", "?", "*.pem", "[a-k]*", "{a,b}", "{.env,key}", "{dir/key,b}", `\[a]`, ".env*", "s*", "*K", "*ss*", "[!a]"}, parts...)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

// place is a random path of up to n components below one of the tops.
func place(r *rand.Rand, n int, tops ...string) string {
	at := pick(r, tops)
	for range r.IntN(n + 1) {
		at = path.Join(at, pick(r, parts))
	}
	return at
}

// randomMap is a Map as no scan may ever make one: its parts know nothing of one another.
func randomMap(r *rand.Rand) *Map {
	m := &Map{secrets: map[identity]Rule{{1, 1}: Secret, {1, 0}: Secret}}
	some := func(n int, add func()) {
		for range r.IntN(n + 1) {
			add()
		}
	}
	some(2, func() { m.Roots = append(m.Roots, place(r, 2, "/", "/dir")) })
	some(2, func() { m.reads = append(m.reads, place(r, 4, "/", "/dir")) })
	some(3, func() {
		rule := []Rule{Secret, Denied, SSH}[r.IntN(3)]
		m.Secrets = append(m.Secrets, Entry{Path: place(r, 4, "/", "/dir"), Rule: rule})
	})
	var patterns []string
	some(6, func() {
		var text []string
		some(3, func() { text = append(text, pick(r, patternParts)) })
		patterns = append(patterns, pick(r, []string{"", "!"})+pick(r, []string{"", "~/", "/", "**/", "/dir/"})+strings.Join(text, "/"))
	})
	m.deny = compiled(slices.Compact(patterns), tops{m.Roots, pick(r, []string{"", "/", "/dir", "/a/b"})})
	return m
}

// compiled leaves out what does not compile.
func compiled(patterns []string, where tops) *denyList {
	patterns = slices.DeleteFunc(patterns, func(p string) bool {
		_, err := compileDeny([]string{p}, where)
		return err != nil
	})
	list, _ := compileDeny(patterns, where)
	if len(list.rules) > 3 {
		list.except(fold("/dir/a/.env"))
	}
	return list
}

// sameAsSecret compares Below with Secret for one file.
func sameAsSecret(t *testing.T, m *Map, dir, name string) {
	t.Helper()
	b := m.Below(dir)
	if parent, name := path.Split(dir); name != "" {
		above := m.Below(path.Clean(parent))
		if child := above.Below(name); !reflect.DeepEqual(child, b) {
			t.Fatalf("%q: %+v from above, %+v", dir, child, b)
		}
	}
	for _, id := range []identity{{}, {1, 1}, {1, 0}, {7, 7}} {
		rule, secret := b.Secret(name)
		if !secret && !b.Granted(name) {
			rule, secret = m.Identity(id.dev, id.ino)
		}
		wantRule, want := m.Secret(strings.TrimSuffix(dir, "/")+"/"+name, id.dev, id.ino)
		if secret != want || secret && rule != wantRule {
			t.Fatalf("%q in %q as %v: %v %v, Secret says %v %v\nroots %q reads %q secrets %v rules %+v", name, dir, id, rule, secret, wantRule, want,
				m.Roots, m.reads, m.Secrets, m.deny.rules)
		}
	}
}

// spelled returns the paths that the Map knows, and one more.
func spelled(m *Map) []string {
	paths := slices.Concat([]string{"/dir/.env"}, m.Roots, m.reads)
	for _, entry := range m.Secrets {
		paths = append(paths, entry.Path)
	}
	for _, rule := range m.deny.rules {
		if rule.path != "" {
			paths = append(paths, rule.path)
		}
	}
	return slices.DeleteFunc(paths, func(p string) bool { return path.Base(p) == "/" })
}

// TestBelow: what Below says of a name, and Identity of the file, is what Secret says of both.
func TestBelow(t *testing.T) {
	for seed := range uint64(6_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := randomMap(r)
		for range 10 {
			dir, name := place(r, 4, "/", "/dir"), pick(r, parts)+pick(r, append(parts, "", "", ""))
			if known := spelled(m); r.IntN(2) == 0 {
				dir, name = path.Split(pick(r, known))
				dir = path.Clean(dir)
			}
			sameAsSecret(t, m, dir, name)
		}
	}
}

func FuzzBelow(f *testing.F) {
	f.Add("**/.env\n!**/*.example\n~/x", "/dir/.env", "a.env", uint64(1))
	f.Add("**/*.pem\n/dir/**/key", "/dir/a", "KEY", uint64(2))
	f.Add("/*/..", "/a", "b", uint64(0))
	f.Add("*", "\xfd", "\xff\xff\xff\x80\xff\xff\x80\x00\x00", uint64(176))
	f.Add("s*/{a,b/c}\n!keep/?", "/", "\u200b", uint64(3))
	f.Fuzz(func(t *testing.T, patterns, dir, name string, seed uint64) {
		if name == "" || name == "." || name == ".." || strings.Contains(name, "/") || len(patterns)+len(dir)+len(name) > 300 {
			return
		}
		m := randomMap(rand.New(rand.NewPCG(seed, 2)))
		m.deny = compiled(strings.Split(patterns, "\n"), tops{m.Roots, "/dir"})
		dir = path.Clean("/" + dir)
		sameAsSecret(t, m, dir, name)
		m.Roots = append(m.Roots, dir)
		sameAsSecret(t, m, dir, name)
	})
}

// TestBelowNothing: the zero value knows no secrets.
func TestBelowNothing(t *testing.T) {
	var b Below
	if rule, ok := b.Secret(".env"); ok || b.Granted(".env") {
		t.Errorf("secret %q", rule)
	}
}

func benchMap(b *testing.B) *Map {
	list, err := compileDeny(DefaultReadDeny(), tops{[]string{"/home/me/work/linux"}, "/home/me"})
	must(b, err)
	return &Map{Roots: []string{"/home/me/work/linux"}, deny: list}
}

func BenchmarkSecretName(b *testing.B) {
	m, dir := benchMap(b), "/home/me/work/linux/drivers/net/ethernet/intel"
	below := m.Below(dir)
	for _, name := range []string{"e1000_main.c", "Makefile", ".gitignore"} {
		b.Run("secret/"+name, func(b *testing.B) {
			for b.Loop() {
				m.Secret(dir+"/"+name, 0, 0)
			}
		})
		b.Run("below/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				below.Secret(name)
			}
		})
	}
}

func BenchmarkBelow(b *testing.B) {
	m := benchMap(b)
	for depth := range 3 {
		dir := "/home/me/work/linux" + strings.Repeat("/drivers", 3*depth)
		b.Run(fmt.Sprint(3*depth), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Below(dir)
			}
		})
		above := m.Below(path.Dir(dir))
		b.Run(fmt.Sprint(3*depth, "from above"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				above.Below(path.Base(dir))
			}
		})
	}
}
