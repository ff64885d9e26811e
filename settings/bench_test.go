package settings

import (
	"fmt"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// manyRules is a file of 1,000 rules, every fourth with all that a rule can have.
func manyRules() string {
	var b strings.Builder
	b.WriteString("{\n  \"permissions\": {\n    \"allow\": [\n")
	for i := range 1000 {
		if i%4 == 0 {
			fmt.Fprintf(&b, "      {\"rule\": \"Shell(npm run test%d *)\", \"note\": \"why\", \"added\": \"2026-11-22T10:00:00Z\"}, // %d\n", i, i)
		} else {
			fmt.Fprintf(&b, "      \"Shell(go test ./pkg%d/...)\",\n", i)
		}
	}
	b.WriteString("    ]\n  }\n}\n")
	return b.String()
}

func BenchmarkReload1000Rules(b *testing.B) {
	p := newPlace(b)
	p.CheckRule = nil
	file := manyRules()
	p.write(p.User, file)
	w, err := Open(p.Options)
	p.must(err)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		p.write(p.User, file+strings.Repeat(" ", i%2))
		if s := w.Reload(); len(s.Rules) != 1000 {
			b.Fatal(len(s.Rules))
		}
	}
}

// BenchmarkStart is what a start costs: five small files, none of them trusted yet.
func BenchmarkStart(b *testing.B) {
	p := newPlace(b)
	for _, file := range []string{p.User, p.Project, p.Local, p.Managed} {
		p.write(file, wanting)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(p.Options); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStartWithoutFiles is what nearly every start costs.
func BenchmarkStartWithoutFiles(b *testing.B) {
	p := newPlace(b)
	for b.Loop() {
		if _, err := Load(p.Options); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddRule(b *testing.B) {
	p := newPlace(b)
	file := manyRules()
	for b.Loop() {
		e := editor{content: []byte(file)}
		if err := e.add(agenttool.Allow, "Shell(new)", p.Now()); err != nil {
			b.Fatal(err)
		}
	}
}
