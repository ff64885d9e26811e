package classify

import (
	"os"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// truthColumns are those of testdata/classify/truth.tsv: the facts of commands as a person labels them. A ? says that the text of the
// command does not tell; what the paths are relative to is the working directory; what is left out is "-". The last column says "run"
// where TestTruthUnderStrace runs the command.
var truthColumns = strings.Fields(`command read_only destructive open_world concurrency_safe interactive long_running observes_host
	paths_complete hosts_complete reads writes hosts locks run`)

// truthRows returns the rows of the table without its head.
func truthRows(tb testing.TB) [][]string {
	tb.Helper()
	data, err := os.ReadFile("../testdata/classify/truth.tsv")
	if err != nil {
		tb.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(data)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(row) != len(truthColumns) {
			tb.Fatalf("truth.tsv: %d columns in %q, want %d", len(row), line, len(truthColumns))
		}
		rows = append(rows, row)
	}
	if !slices.Equal(rows[0], truthColumns) {
		tb.Fatalf("truth.tsv: the head is %q", rows[0])
	}
	return rows[1:]
}

// TestTruth compares all facts of mixed commands with what a person says of them.
func TestTruth(t *testing.T) {
	rows := truthRows(t)
	if len(rows) < 80 {
		t.Fatalf("%d rows, want 80", len(rows))
	}
	for _, want := range rows {
		got := truthOf(unescapeRow.Replace(want[0]))
		for i, value := range got {
			if value != want[i+1] {
				t.Errorf("%s: %s is %q, want %q", want[0], truthColumns[i+1], value, want[i+1])
			}
		}
	}
}

// truthOf returns the facts of a command as the columns of a row, without the first and the last.
func truthOf(command string) []string {
	f := Command(command, testContext)
	var row, locks []string
	for _, fact := range []agenttool.Fact{f.ReadOnly, f.Destructive, f.OpenWorld, f.ConcurrencySafe, f.Interactive, f.LongRunning,
		f.ObservesHost, f.PathsComplete, f.HostsComplete} {
		row = append(row, strings.ReplaceAll(fact.String(), "unknown", "?"))
	}
	for _, l := range f.Locks {
		locks = append(locks, l.Path)
	}
	return append(row, truthCell(absolutes(f.Reads)), truthCell(absolutes(f.Writes)), truthCell(f.Hosts), truthCell(locks))
}

func absolutes(paths []agenttool.Path) []string {
	var list []string
	for _, p := range paths {
		list = append(list, p.Absolute)
	}
	return list
}

// truthCell writes a list as a cell: sorted, paths relative to the directory, "-" for none.
func truthCell(list []string) string {
	cell := make([]string, 0, len(list))
	for _, each := range list {
		if each = strings.TrimPrefix(each, testContext.Dir+"/"); !slices.Contains(cell, each) {
			cell = append(cell, each)
		}
	}
	if slices.Sort(cell); len(cell) == 0 {
		return "-"
	}
	return strings.Join(cell, " ")
}
