package match

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const corpusSize = 25 << 20

// corpus is Go source text, all in one.
func corpus(b *testing.B) []byte {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("go env: ", err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	var text []byte
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || len(text) > corpusSize {
			return err
		}
		file, err := os.ReadFile(path)
		text = append(text, file...)
		return err
	})
	if len(text) < corpusSize {
		b.Skip("no source of Go at " + root)
	}
	return text
}

var benchmarks = []struct {
	name, pattern string
}{
	{"prefix", `[A-Za-z]+_[a-z]+_IRQ`},
	{"words", `\w{5}\s+\w{5}`},
	{"words7", `(\w{5}\s+){6}\w{5}`},
	{"fold", `(?i)err.*not found`},
	{"func", `^\s*(func|static)\s+\w+\(`},
	{"phone", `\b\d{3}-\d{4}\b`},
	{"alternation", `(foo|bar|baz|qux)[0-9]+x`},
	{"anchored", `^[a-z]+\s+[A-Z]\w+\s+=\s+\d+$`},
	{"literal", `SetFinalizer`},
	{"literals", `TODO|FIXME|XXX`},
	{"foldliterals", `(?i)todo|fixme|xxx`},
	{"call", `[a-z]+_[0-9]+\(.*\) \{$`},
	{"struct", `struct\s+\w+\s+\*\w+;`},
	{"common", `return`},
	{"dot", `.`},
	{"equals", `=\s*\d+$`},
	{"unicode", `\pL{12}`},
}

func BenchmarkLines(b *testing.B) {
	text := corpus(b)
	for _, bm := range benchmarks {
		p, err := Compile(bm.pattern, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(bm.name+"/match", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			m := p.Matcher()
			for b.Loop() {
				b.ReportMetric(float64(len(inPieces(m, text))), "lines")
			}
		})
		b.Run(bm.name+"/regexp", func(b *testing.B) {
			small := text[:bytes.LastIndexByte(text[:len(text)/16], '\n')+1]
			b.SetBytes(int64(len(small)))
			for b.Loop() {
				naive(p.re, small)
			}
		})
	}
}

// inPieces hands the text over in pieces, as a search of files does.
func inPieces(m *Matcher, text []byte) (all []span) {
	for from := 0; from < len(text); {
		to := min(lineEnd(text, min(len(text), from+128<<10))+1, len(text))
		all = append(all, lines(m, text[from:to])...)
		from = to
	}
	return all
}
