package classify

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toolhost/classify/program"
)

// TestDumpFacts writes all that is found out about many command lines, for testdata/classify/same.sh, which compares it with that of
// another commit. Without CLASSIFY_DUMP it looks at a few and writes nothing.
func TestDumpFacts(t *testing.T) {
	name, generated := os.Getenv("CLASSIFY_DUMP"), 300
	if name == "" {
		name = os.DevNull
	} else if n, err := strconv.Atoi(os.Getenv("CLASSIFY_DUMP_LINES")); err == nil {
		generated = n
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	for _, text := range dumpedLines(t) {
		dump(out, text)
	}
	l := lines{Rand: rand.New(rand.NewPCG(17, 2))}
	for range generated {
		dump(out, l.line())
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
}

// dumpedLines are the first columns of all corpora, with the texts of the tests, alone and as many others run them.
func dumpedLines(t *testing.T) []string {
	names, err := filepath.Glob("../testdata/classify/*.tsv")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	var list []string
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for row := range strings.Lines(string(data)) {
			command, _, _ := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
			list = append(list, unescapeRow.Replace(command))
		}
	}
	if os.Getenv("CLASSIFY_DUMP") == "" {
		return list[:200]
	}
	for _, tt := range factTests {
		list = append(list, tt.text)
	}
	plain := list
	for i, place := range around {
		for at := i % 5; at < len(plain); at += 5 {
			list = append(list, place.before+plain[at]+place.after)
		}
	}
	return list
}

// dump writes a text, and a digest of all facts of it: with a disk and without.
func dump(out *bufio.Writer, text string) {
	looked, ok := Looked(text, testContext, Disk{Prints: map[string]string{"git rev-parse --show-toplevel": "/w"}, PlainTags: true,
		Absent: func(string, program.ConditionalUse) bool { return true }})
	sum := sha256.New()
	fmt.Fprintf(sum, "%#v %#v %v %v %v", Command(text, testContext), looked, ok, Stateless(text), Plain(text))
	fmt.Fprintf(out, "%.8x %q\n", sum.Sum(nil), text)
}
