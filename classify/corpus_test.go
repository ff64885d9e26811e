package classify

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// row is one line of a corpus: command TAB verdict TAB category TAB remark.
type row struct {
	file, command, verdict, category, remark string
}

var unescapeRow = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r")

func corpus(tb testing.TB) []row {
	tb.Helper()
	var rows []row
	for _, name := range []string{"../testdata/classify/own.tsv", "../testdata/classify/shell-readonly.tsv"} {
		f, err := os.Open(name)
		if err != nil {
			tb.Fatal(err)
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			cells := strings.Split(s.Text(), "\t")
			if len(cells) < 3 || cells[1] != "read_only" && cells[1] != "not_read_only" {
				tb.Fatalf("%s: bad row %q", name, s.Text())
			}
			r := row{file: filepath.Base(name), command: unescapeRow.Replace(cells[0]), verdict: cells[1], category: cells[2]}
			if len(cells) > 3 {
				r.remark = cells[3]
			}
			rows = append(rows, r)
		}
	}
	return rows
}

var testContext = Context{Dir: "/w", Home: "/home/u"}

func TestCorpus(t *testing.T) {
	firm, recognised := map[string]int{}, map[string]int{}
	for _, r := range corpus(t) {
		facts := Command(r.command, testContext)
		switch {
		case r.verdict == "not_read_only" && facts.ReadOnly == agenttool.Yes:
			t.Errorf("%s: %q (%s, %s) is called read-only", r.file, r.command, r.category, r.remark)
		case r.verdict != "read_only":
		case r.category == "debatable":
			if facts.ReadOnly != agenttool.Yes {
				t.Logf("debatable, not recognised: %q %v", r.command, facts.Reasons)
			}
		default:
			firm[r.file]++
			if facts.ReadOnly == agenttool.Yes {
				recognised[r.file]++
				continue
			}
			t.Logf("miss: %s: %q %v", r.file, r.command, facts.Reasons)
		}
	}
	for file, n := range firm {
		t.Logf("%s: %d of %d read-only rows recognised", file, recognised[file], n)
		if recognised[file]*100 < n*95 {
			t.Errorf("%s: %d of %d read-only rows recognised, want 95 %%", file, recognised[file], n)
		}
	}
}
