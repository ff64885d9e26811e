package settings

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"toolhost/agenttool"
)

// brought makes a place whose local file git tracks, with content in it.
func brought(t testing.TB, local string) place {
	p := repository(t)
	p.write(p.Local, local)
	p.git("add", "-f", ".")
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
		{"untrusted before", false, loosens, nil},
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

// TestRememberPinsNothingElse has the project's file change at the very moment at which a rule is remembered.
func TestRememberPinsNothingElse(t *testing.T) {
	p := brought(t, loosens)
	_, digest, err := Loosening(p.Options)
	p.must(err)
	p.must(Trust(p.Options, digest))
	before := p.load()
	p.must(AddRule(p.Local, agenttool.Allow, "Shell(new)", p.Now()))
	p.write(p.Project, loosens)
	p.must(Repin(p.Options, before, "Shell(new)"))
	if s := p.load(); len(s.Untrusted) == 0 {
		t.Error("what came in between was pinned")
	}
	p.must(os.Remove(p.Project))
	p.must(Repin(p.Options, before, "Shell(new)"))
	if s := p.load(); len(s.Untrusted) != 0 {
		t.Errorf("only the rule is new, and it was not pinned: %v", s.Untrusted)
	}
}

func TestRepinAfterRevocation(t *testing.T) {
	p := brought(t, loosens)
	_, digest, err := Loosening(p.Options)
	p.must(err)
	p.must(Trust(p.Options, digest))
	before := p.load()
	if _, err := Untrust(p.Options); err != nil {
		t.Fatal(err)
	}
	p.must(Repin(p.Options, before, "Shell(new)"))
	if s := p.load(); len(s.Untrusted) == 0 {
		t.Error("trust that was taken back came back")
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

// TestRememberNeedsNoStore has a person without a state directory, and one whose store is broken.
func TestRememberNeedsNoStore(t *testing.T) {
	for _, store := range []string{"", "broken"} {
		p := newPlace(t)
		if store == "" {
			p.Trust = ""
		} else {
			p.write(p.Trust, "broken")
		}
		p.must(Remember(p.Options, p.User, agenttool.Allow, "Shell(u)"))
		p.must(Remember(p.Options, p.Local, agenttool.Allow, "Shell(l)"))
		p.must(Remember(p.Options, p.Project, agenttool.Deny, "Shell(d)"))
		same(t, "allow", texts(p.load(), agenttool.Allow), "Shell(u)", "Shell(l)")
		same(t, "deny", texts(p.load(), agenttool.Deny), "Shell(d)")
		if left, _ := filepath.Glob(filepath.Dir(p.Local) + "/.*"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}
