package settings

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"toolhost/agenttool"
)

// brought makes a place whose local file came with the project.
func brought(t testing.TB, local string) place {
	p := newPlace(t)
	p.write(p.Local, local)
	return p
}

func TestRemember(t *testing.T) {
	for _, c := range []struct {
		name    string
		trusted bool
		before  string
		want    []string
	}{
		{"nothing loosened before", false, `{"permissions": {"deny": ["Shell(d)"]}}`, []string{"Shell(new)"}},
		{"trusted before", true, loosens, []string{"Shell(x)", "Shell(new)"}},
		{"untrusted before", false, loosens, []string{"Shell(new)"}},
		{"there already, and untrusted", false, `{"permissions": {"allow": ["Shell(new)", "Shell(x)"]}}`, []string{"Shell(new)"}},
		{"there already", true, `{"permissions": {"allow": ["Shell(new)"]}}`, []string{"Shell(new)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := brought(t, c.before)
			if c.trusted {
				_, digest, err := Loosening(p.Options)
				p.must(err)
				p.must(Trust(p.Options, digest))
			}
			p.must(Remember(p.Options, p.Local, agenttool.Allow, "Shell(new)"))
			same(t, "allow", texts(p.load(), agenttool.Allow), c.want...)
			if content, err := os.ReadFile(p.Local); err != nil || !strings.Contains(string(content), "Shell(new)") {
				t.Errorf("it is not in the file: %s, %v", content, err)
			}
		})
	}
}

// TestRememberPinsNothingElse has a rule remembered beside what nobody trusts, and the files change afterwards.
func TestRememberPinsNothingElse(t *testing.T) {
	p := brought(t, `{"mode": "sandboxed", "permissions": {"allow": ["Shell(x)"]}}`)
	p.must(Remember(p.Options, p.Local, agenttool.Allow, "Shell(new)"))
	s := p.load()
	same(t, "allow", texts(s, agenttool.Allow), "Shell(new)")
	if s.Mode.Set || len(s.Untrusted) != 2 {
		t.Errorf("the rest was pinned: %+v, %v", s.Mode, s.Untrusted)
	}
	p.trust()
	if s := p.load(); s.Mode.V != "sandboxed" || len(texts(s, agenttool.Allow)) != 2 || len(s.Untrusted)+len(s.Problems) > 0 {
		t.Errorf("trusted: %+v, %v, %v", s.Mode, s.Untrusted, s.Problems)
	}
	p.must(Remember(p.Options, p.Local, agenttool.Allow, "Shell(more)"))
	if s := p.load(); len(texts(s, agenttool.Allow)) != 3 || len(s.Untrusted)+len(s.Problems) > 0 {
		t.Errorf("the rule took the trust: %v, %v", s.Untrusted, s.Problems)
	}
	p.write(p.Local, `{"permissions": {"allow": ["Shell(new)", "Shell(new) with write:/", "Shell"]}}`)
	same(t, "allow", texts(p.load(), agenttool.Allow), "Shell(new)")
	p.write(p.Project, `{"permissions": {"allow": ["Shell(new)"]}}`)
	if s := p.load(); len(texts(s, agenttool.Allow)) != 1 {
		t.Errorf("the word on one file counts for another: %v", s.Rules)
	}
}

func TestRevocationTakesAll(t *testing.T) {
	p := brought(t, loosens)
	p.trust()
	p.must(Remember(p.Options, p.Local, agenttool.Allow, "Shell(new)"))
	if found, err := Untrust(p.Options); !found || err != nil {
		t.Fatal(found, err)
	}
	if s := p.load(); len(s.Untrusted) != 2 || len(texts(s, agenttool.Allow)) != 0 {
		t.Errorf("trust that was taken back is there: %v", s.Rules)
	}
}

func TestForget(t *testing.T) {
	p := brought(t, `{"permissions": {"allow": ["Shell(x)", "Shell(y)"]}}`)
	_, digest, err := Loosening(p.Options)
	p.must(err)
	p.must(Trust(p.Options, digest))
	for i, left := range [][]string{{"Shell(y)"}, nil} {
		rule := []string{"Shell(x)", "Shell(y)"}[i]
		if removed, err := Forget(p.Options, p.Local, agenttool.Allow, rule); !removed || err != nil {
			t.Fatalf("%v, %v", removed, err)
		}
		s := p.load()
		same(t, "allow", texts(s, agenttool.Allow), left...)
		if len(s.Untrusted)+len(s.Problems) > 0 {
			t.Errorf("the rest is not trusted any more: %v, %v", s.Untrusted, s.Problems)
		}
	}
	if pins, err := Pins(p.Trust); len(pins) != 0 || err != nil {
		t.Errorf("nothing is left to trust, and %v, %v", pins, err)
	}
	p.write(p.Local, loosens)
	if removed, err := Forget(p.Options, p.Local, agenttool.Allow, "Shell(x)"); !removed || err != nil {
		t.Errorf("of what is not trusted: %v, %v", removed, err)
	}
}

// TestRememberBesideAnother has two sessions remember at once.
func TestRememberBesideAnother(t *testing.T) {
	p := brought(t, `{}`)
	var done sync.WaitGroup
	for _, rule := range []string{"Shell(a)", "Shell(b)", "Shell(c)", "Shell(d)"} {
		done.Go(func() {
			if err := Remember(p.Options, p.Local, agenttool.Allow, rule); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if s := p.load(); len(texts(s, agenttool.Allow)) != 4 {
		t.Errorf("%v, %v", s.Rules, s.Untrusted)
	}
}

// TestRememberWithoutStore has a person without a state directory, and one whose store is broken: a rule that needs the store is not
// written, as it would not count.
func TestRememberWithoutStore(t *testing.T) {
	for _, store := range []string{"", "broken"} {
		p := newPlace(t)
		if store == "" {
			p.Trust = ""
		} else {
			p.write(p.Trust, "broken")
		}
		p.must(Remember(p.Options, p.User, agenttool.Allow, "Shell(u)"))
		if err := Remember(p.Options, p.Local, agenttool.Allow, "Shell(l)"); err == nil {
			t.Error("a rule was kept that does not count, and nothing says so")
		}
		p.must(Remember(p.Options, p.Project, agenttool.Deny, "Shell(d)"))
		same(t, "allow", texts(p.load(), agenttool.Allow), "Shell(u)")
		same(t, "deny", texts(p.load(), agenttool.Deny), "Shell(d)")
		if left, _ := filepath.Glob(filepath.Dir(p.Local) + "/.*"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}
