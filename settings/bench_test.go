package settings

import (
	"fmt"
	"os"
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

// BenchmarkIndex reads the index of a large repository.
func BenchmarkIndex(b *testing.B) {
	p := newPlace(b)
	names := make([]string, 80_000)
	for i := range names {
		names[i] = fmt.Sprintf("some/directory/of/many/file%d.go", i)
	}
	index := fakeIndex(20, names...)
	index[8], index[9], index[10], index[11] = 0, 80_000>>16, 80_000>>8&0xff, 80_000&0xff
	p.mkdir(p.Workspace + "/.git")
	p.must(os.WriteFile(p.Workspace+"/.git/index", index, 0o600))
	p.write(p.Local, loosens)
	b.SetBytes(int64(len(index)))
	for b.Loop() {
		if v := tracked(p.Local); v.supplied {
			b.Fatal(v)
		}
	}
}
