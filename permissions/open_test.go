package permissions

import (
	"strings"
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
		Home: "/srv/x/home",
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

// TestShown: a rule that allows to read a directory shows it to commands, unless a rule denies or asks about a part, or it is wide or hidden.
func TestShown(t *testing.T) {
	for _, c := range []struct {
		allow, deny, ask string
		want             string
	}{
		{allow: "Read(/srv/x/lib/**)", want: "/srv/x/lib"},
		{allow: "Read(/srv/x/lib)"}, {allow: "Read(/srv/x/lib/*)"}, {allow: "Read(/srv/x/*/**)"}, {allow: "Write(/srv/x/lib/**)"},
		{allow: "Read(/srv/**)"}, {allow: "Read(/srv/x/**)"}, {allow: "Read(/srv/x/ws/sub/**)"}, {allow: "Read(lib/**)"}, {allow: "Read(/srv/x/.lib/**)"}, {allow: "Read(/srv/x/secret/**)"},
		{allow: "Read(/srv/x/lib/**)", deny: "Read(/srv/x/lib/no)"}, {allow: "Read(/srv/x/lib/**)", deny: "Read(/srv/X/Lib/**)"}, {allow: "Read(/srv/x/lib/**)", deny: "Read(/srv/x/li*)"},
		{allow: "Read(/srv/x/lib/**)", deny: "Read(/**/no)"}, {allow: "Read(/srv/x/lib/**)", deny: "Read"}, {allow: "Read(/srv/x/lib/**)", ask: "Read(/srv/x/lib/a*)"},
		{allow: "Read(/srv/x/lib/**)", ask: "Read"}, {allow: "Read(/srv/x/lib/**)", deny: "Read(/srv/x/other/**)", want: "/srv/x/lib"},
	} {
		p := Policy{Workspace: "/srv/x/ws", Secret: func(path string) bool { return path == "/srv/x/secret" }}
		for behavior, text := range map[agenttool.Behavior]string{agenttool.Allow: c.allow, agenttool.Deny: c.deny, agenttool.Ask: c.ask} {
			if text == "" {
				continue
			}
			rule, err := suggested.Parse(text, behavior, agenttool.Origin{Source: agenttool.SourceUser})
			if err != nil {
				t.Fatal(err)
			}
			p = p.With(rule)
		}
		if got := strings.Join(p.Shown(), " "); got != c.want {
			t.Errorf("%+v: %q", c, got)
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

// TestFetchRule: a rule lets git fetch from the user's repository that it names, and calls read nothing there besides. So does one for pushes.
func TestFetchRule(t *testing.T) {
	for _, b := range []agenttool.Behavior{agenttool.Deny, agenttool.Ask} {
		if _, err := suggested.Parse("Fetch(/srv/o.git)", b, agenttool.Origin{}); err == nil {
			t.Errorf("a rule that would %s fetches is none", b)
		}
	}
	if _, err := suggested.Parse("Fetch", agenttool.Allow, agenttool.Origin{}); err == nil {
		t.Error("a rule allows to fetch from everywhere")
	}
	fetch := func(dir string, upstream, cloned bool) Request {
		f := agenttool.Facts{
			Parts: []agenttool.Part{{Argv: []string{"git", "fetch"}, Exact: true, WrappedBy: -1}}, PartsComplete: agenttool.Yes,
			Reads: []agenttool.Path{{Spelling: dir, Absolute: dir, Resolved: dir, Upstream: upstream, Cloned: cloned}},
		}
		f.HostsComplete, f.OpenWorld = agenttool.Yes, agenttool.Yes
		return Request{Tool: "shell", RunsCode: true, Facts: &f}
	}
	for _, c := range []struct {
		rule string
		r    Request
		want agenttool.Behavior
	}{
		{"", fetch("/srv/o.git", true, true), agenttool.Allow},
		{"", fetch("/srv/o.git", true, false), agenttool.Ask},
		{"", fetch("/srv/o.git", false, true), agenttool.Ask},
		{"Fetch(/srv/o.git)", fetch("/srv/o.git", true, false), agenttool.Allow},
		{"Fetch(/srv/o.git)", fetch("/srv/p.git", true, false), agenttool.Ask},
		{"Fetch(/srv/o.git)", fetch("/srv/o.git", false, false), agenttool.Ask},
		{"Push(/srv/o.git)", fetch("/srv/o.git", true, false), agenttool.Allow},
	} {
		p := Policy{Mode: Sandboxed, Workspace: "/srv/ws", Confines: true}
		if c.rule != "" {
			rule, err := suggested.Parse(c.rule, agenttool.Allow, agenttool.Origin{Source: agenttool.SourceSession})
			if err != nil {
				t.Fatal(err)
			}
			p = p.With(rule)
		}
		if d := p.Decide(c.r); d.Behavior != c.want {
			t.Errorf("%s: %+v: %s, %s", c.rule, c.r.Facts.Reads, d.Behavior, d.Reason.Detail)
		}
	}
}

// TestPushRule: a rule lets pushes to a repository run in mode sandboxed, if the line sends and records commits and nothing else.
func TestPushRule(t *testing.T) {
	for _, text := range []string{"Push", "Push()"} {
		if _, err := suggested.Parse(text, agenttool.Allow, agenttool.Origin{}); err == nil {
			t.Errorf("%s is a rule", text)
		}
	}
	for _, b := range []agenttool.Behavior{agenttool.Deny, agenttool.Ask} {
		if _, err := suggested.Parse("Push(/srv/o.git)", b, agenttool.Origin{}); err == nil {
			t.Errorf("a rule that would %s pushes is none", b)
		}
	}
	rule, err := suggested.Parse("Push(/srv/o.git)", agenttool.Allow, agenttool.Origin{Source: agenttool.SourceSession})
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{Mode: Sandboxed, Workspace: "/srv/ws", Confines: true}.With(rule)
	push := agenttool.Part{Argv: []string{"git", "push", "origin"}, Exact: true, WrappedBy: -1, Destructive: agenttool.No}
	with := func(change func(*agenttool.Facts)) Request {
		f := agenttool.Facts{
			Parts: []agenttool.Part{push}, PartsComplete: agenttool.Yes, Remotes: []agenttool.GitRemote{{Push: true}},
			Writes: []agenttool.Path{{Spelling: "/srv/o.git", Absolute: "/srv/o.git", Resolved: "/srv/o.git", Upstream: true}},
		}
		f.HostsComplete, f.OpenWorld = agenttool.Yes, agenttool.Yes
		change(&f)
		return Request{Tool: "shell", RunsCode: true, Facts: &f}
	}
	for name, c := range map[string]struct {
		change func(*agenttool.Facts)
		want   agenttool.Behavior
	}{
		"a push":             {func(*agenttool.Facts) {}, agenttool.Allow},
		"another repository": {func(f *agenttool.Facts) { f.Writes[0].Resolved = "/srv/p.git" }, agenttool.Ask},
		"not fetched before": {func(f *agenttool.Facts) { f.Writes[0].Upstream = false }, agenttool.Ask},
		"two repositories": {func(f *agenttool.Facts) {
			f.Writes = append(f.Writes, agenttool.Path{Absolute: "/srv/p.git", Resolved: "/srv/p.git", Upstream: true})
		}, agenttool.Ask},
		"a host beside it":              {func(f *agenttool.Facts) { f.Hosts = []string{"example.com"} }, agenttool.Ask},
		"an unknown host":               {func(f *agenttool.Facts) { f.HostsComplete = agenttool.Unknown }, agenttool.Ask},
		"a force":                       {func(f *agenttool.Facts) { f.Destructive, f.Parts[0].Destructive = agenttool.Yes, agenttool.Yes }, agenttool.Ask},
		"a program that the line names": {func(f *agenttool.Facts) { f.Parts[0].Destructive = agenttool.Unknown }, agenttool.Ask},
		"commits of another repository": {func(f *agenttool.Facts) {
			add := agenttool.Part{Argv: []string{"git", "add", "."}, Exact: true, WrappedBy: -1, Destructive: agenttool.No, Dirs: []string{"/srv/ws/other"}}
			f.Parts = append([]agenttool.Part{add}, f.Parts...)
		}, agenttool.Ask},
		"commits of its own": {func(f *agenttool.Facts) {
			add := agenttool.Part{Argv: []string{"git", "add", "."}, Exact: true, WrappedBy: -1, Destructive: agenttool.No}
			f.Parts = append([]agenttool.Part{add}, f.Parts...)
		}, agenttool.Allow},
		"a script beside it": {func(f *agenttool.Facts) {
			f.Parts = append(f.Parts, agenttool.Part{Argv: []string{"sh", "x"}, Exact: true, WrappedBy: -1})
		}, agenttool.Ask},
		"unknown words":   {func(f *agenttool.Facts) { f.Parts[0].Exact = false }, agenttool.Ask},
		"unknown parts":   {func(f *agenttool.Facts) { f.PartsComplete = agenttool.Unknown }, agenttool.Ask},
		"an option first": {func(f *agenttool.Facts) { f.Parts[0].Argv = []string{"git", "-c", "x=y", "push"} }, agenttool.Ask},
	} {
		if d := p.Decide(with(c.change)); d.Behavior != c.want {
			t.Errorf("%s: %s, %s", name, d.Behavior, d.Reason.Detail)
		}
	}
	writes := agenttool.Facts{Writes: []agenttool.Path{{Absolute: "/srv/o.git/refs/x", Resolved: "/srv/o.git/refs/x"}}}
	writes.PathsComplete, writes.OpenWorld = agenttool.Yes, agenttool.No
	if d := p.Decide(Request{Tool: "write", Facts: &writes}); d.Behavior != agenttool.Ask || p.Writes("write:/srv/o.git/refs/x") {
		t.Error("the rule lets files of the repository be written")
	}
}
