package permissions

import (
	"testing"

	"toolhost/agenttool"
)

// TestMayOpen: no home, no large part of the machine, nothing hidden, protected, secret or denied stays open.
func TestMayOpen(t *testing.T) {
	deny, err := suggested.Parse("Write(/srv/x/denied/**)", agenttool.Deny, agenttool.Origin{Source: agenttool.SourceUser})
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{
		Workspace: "/srv/x/ws", Secret: func(path string) bool { return path == "/srv/x/secret" },
		Guarded: func(path string) bool { return path == "/srv/x/home/.bashrc" },
	}.With(deny)
	for dir, want := range map[string]bool{
		"/srv/x/notes": true, "/srv/x/home/notes": true, "/srv/x/a*b": true,
		"/srv/x/home": false, "/srv": false, "/home/someone": false, "/srv/x/.ssh": false, "/srv/x/home/.config/y": false, "/srv/x": false, "notes": false,
		"/srv/x/secret": false, "/srv/x/denied": false, "/srv/x/denied/y": false, "/srv/x/a\nb": false, "/srv/x/repo.git/hooks/y": true,
	} {
		if got := p.MayOpen(dir); got != want {
			t.Errorf("%s: %v", dir, got)
		}
		for _, text := range Opening(dir) {
			if rule, err := suggested.Parse(text, agenttool.Allow, agenttool.Origin{}); want && (err != nil || p.With(rule).Writing(agenttool.Allow) != nil && rule.glob != escapeGlob(dir)+"/**") {
				t.Errorf("%s: %s: %v", dir, text, err)
			}
		}
	}
}

// TestReaches: at the wall a host is open by a rule that names it.
func TestReaches(t *testing.T) {
	var rules []Rule
	for _, r := range []struct {
		text string
		b    agenttool.Behavior
	}{
		{"Network(a.example.com)", agenttool.Allow}, {"Network(b.example.com:8443)", agenttool.Allow}, {"Network(*.below.example.com)", agenttool.Allow},
		{"Network(no.example.com)", agenttool.Allow}, {"Network(no.example.com)", agenttool.Deny}, {"Network(ask.example.com)", agenttool.Allow},
		{"Network(ask.example.com)", agenttool.Ask},
	} {
		rule, err := suggested.Parse(r.text, r.b, agenttool.Origin{Source: agenttool.SourceUser})
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, rule)
	}
	all, err := suggested.Parse("Network(*)", agenttool.Allow, agenttool.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{}.With(append(rules, all)...)
	for grant, want := range map[string]bool{
		"host:a.example.com": true, "host:a.example.com:8080": true, "host:A.example.com.": true, "host:b.example.com:8443": true, "host:b.example.com": false, "host:b.example.com:22": false,
		"host:x.below.example.com": false, "host:other.example.com": false, "host:no.example.com": false, "host:ask.example.com": false,
		"host:169.254.169.254": false, "host:xa.example.com": false, "host:a.example.com.evil.com": false, "write:/a.example.com": false,
	} {
		if got := p.Reaches(grant); got != want {
			t.Errorf("%s: %v", grant, got)
		}
	}
	if (Policy{}).Reaches("host:a.example.com") {
		t.Error("without rules a host is reached")
	}
}
