package classify

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

var typical = []string{
	"git status --short && git diff --stat | tail -5",
	"grep -rn 'func main' --include='*.go' . | head -20",
	"sed -n '10,40p' main.go",
	"cd src && ls -la && cat go.mod",
	"find . -name '*.go' -not -path './vendor/*' | xargs wc -l | tail -1",
	"for f in a.txt b.txt; do echo \"== $f\"; head -3 \"$f\"; done 2>/dev/null",
}

func BenchmarkTypical(b *testing.B) {
	for i, text := range typical {
		b.Run(fmt.Sprint(i), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Command(text, testContext)
			}
		})
	}
}

func longPipeline() string { return strings.Repeat("grep -n foo | ", 10_000/14) + "wc -l" }

func BenchmarkLongPipeline(b *testing.B) {
	text := longPipeline()
	b.ReportAllocs()
	for b.Loop() {
		Command(text, testContext)
	}
}

// pathological texts grow in ways that a careless analysis follows.
func pathological() map[string]string {
	doubling := "x=aaaaaaaa"
	for range 40 {
		doubling += "; x=$x$x"
	}
	functions := "f0() { echo; }"
	for i := range 40 {
		functions += fmt.Sprintf("; f%d() { f%d; f%d; }", i+1, i, i)
	}
	starts := "find a b c d e f g h -exec "
	return map[string]string{
		"starts of finds":        strings.Repeat(starts, 18) + "echo {} \\;",
		"starts of xargs finds":  strings.Repeat("xargs "+starts, 9) + "echo {} \\;",
		"other starts of finds":  strings.Repeat("find a b c d -exec ", 18) + "echo {} +",
		"finds with an end each": strings.Repeat(starts, 9) + "echo" + strings.Repeat(" {} \\;", 9),
		"deep substitutions":     strings.Repeat("$(", 900) + "ls" + strings.Repeat(")", 900),
		"deep keywords":          strings.Repeat("if ", 20000),
		"deep backquotes":        strings.Repeat("`", 30000),
		"deep quotes":            strings.Repeat(`"$(`, 900),
		"deep braces":            strings.Repeat("{a,", 900) + strings.Repeat("}", 900),
		"many brace words":       "echo" + strings.Repeat(" {1..999}", 7000),
		"many products":          "echo" + strings.Repeat(" {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", 1500),
		"brace product":          "echo " + strings.Repeat("{a,b,c,d}", 100),
		"nested shells":          strings.Repeat("bash -c '", 3000),
		"nested wrappers":        strings.Repeat("env ", 15000) + "rm x",
		"nested finds":           strings.Repeat("find -exec ", 5000),
		"nested sudo shells":     strings.Repeat("sudo bash ", 5000),
		"many words":             "ls" + strings.Repeat(" a", 30000),
		"many globs":             "cat" + strings.Repeat(" a*", 20000),
		"many statements":        strings.Repeat("ls;", 20000),
		"many heredocs":          strings.Repeat("cat <<E\nx\nE\n", 5000),
		"nested loops":           strings.Repeat("for x in 1 2 3 4 5 6 7 8 9; do ", 100) + "echo $x" + strings.Repeat("; done", 100),
		"nested whiles":          strings.Repeat("while read x; do ", 100) + "y=$x" + strings.Repeat("; done", 100),
		"negations":              strings.Repeat("! ", 30000) + "ls",
		"doubling":               doubling,
		"doubling functions":     functions + "; f40",
		"evals":                  strings.Repeat("eval ", 12000) + "rm",
		"glued options":          "env" + strings.Repeat(" -Ssh", 10000),
		"texts in texts":         strings.Repeat("bash -c 'a b' ", 4000),
		"runners":                "f() { \"$@\"; };" + strings.Repeat("f ", 30000),
		"printed":                strings.Repeat("echo a | ", 5000) + "sh",
		"printed to many":        strings.Repeat("echo a | sh | ", 4500) + "sh",
		"strings of scripts":     "python3 -c 'system " + strings.Repeat("\"a\" ", 15000) + "'",
		"functions in functions": strings.Repeat("f() { ", 100) + strings.Repeat("ls;", 10000) + strings.Repeat("};", 100),
		"many sed":               strings.Repeat("sed s/a/b/ f;", 5000),
		"and chain":              strings.Repeat("ls && ", 10000) + "ls",
		"cd chain":               strings.Repeat("cd a && ", 7000) + "ls",
		"arithmetic":             "echo $((" + strings.Repeat("(", 900) + "1" + strings.Repeat(")", 900) + "))",
		"long sums":              "echo $((" + strings.Repeat("1+", 30000) + "1))",
		"variables":              strings.Repeat("a=b; if a; then c=d; fi; ", 2000),
	}
}

// TestPathologicalInputIsBounded finds what would hang. It is no measurement, as BenchmarkLongPipeline is: no input takes many times
// the processor time of one of plain commands that is as long, in the same run.
func TestPathologicalInputIsBounded(t *testing.T) {
	const many = 40
	plain := processorTime(t, func() { Command(strings.Repeat("ls -l a; ", maxText/9), testContext) })
	plain = max(plain, 50*time.Millisecond) // less than the clock can tell apart
	for name, text := range pathological() {
		t.Run(name, func(t *testing.T) {
			text = text[:min(len(text), maxText)]
			var facts agenttool.Facts
			took := processorTime(t, func() { facts = Command(text, testContext) })
			t.Logf("%v, plain commands %v", took, plain)
			if took > many*plain {
				t.Errorf("%d bytes took %v, plain commands %v", len(text), took, plain)
			}
			mentionsAreBounded(t, facts, len(text))
		})
	}
	if text := longPipeline(); len(text) < 9_900 {
		t.Errorf("the pipeline has %d bytes", len(text))
	}
}

// processorTime returns the processor time that this process takes while f runs. Other work on the machine counts little.
func processorTime(t *testing.T, f func()) time.Duration {
	t.Helper()
	var used [2]unix.Rusage
	for i := range used {
		if i == 1 {
			f()
		}
		if err := unix.Getrusage(unix.RUSAGE_SELF, &used[i]); err != nil {
			t.Fatal(err)
		}
	}
	return time.Duration(used[1].Utime.Nano() + used[1].Stime.Nano() - used[0].Utime.Nano() - used[0].Stime.Nano())
}

// TestReportsAreBounded: programs that run one another say the same words again and again.
func TestReportsAreBounded(t *testing.T) {
	var paths, functions strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&paths, " %d", i)
	}
	for i := range 4_000 {
		fmt.Fprintf(&functions, "f%d() { :; };", i)
	}
	for name, text := range map[string]string{
		"nested wrappers": strings.Repeat("env ", 19) + "ls" + strings.Repeat(" abcdefg", 7_900),
		"many wrappers":   strings.Repeat(strings.Repeat("env ", 19)+"ls;", 700),
		"many paths":      "cat" + paths.String(),
		"many values":     "x=" + strings.Repeat("a", 4_000) + ";" + strings.Repeat("echo $x$x$x$x;", 4_000),
		"many functions":  functions.String(),
		"starts of finds": strings.Repeat("find a b c d -exec ", 18) + "echo {} +",
		"long paths":      "x=" + strings.Repeat("a", 4_000) + ";for i in 1 2 3 4 5 6 7 8 9 0; do " + strings.Repeat("cat $x$x$x$i > $i$x$x;", 300) + "done",
		"many hosts":      "for i in 1 2 3 4 5 6 7 8 9 0; do" + strings.Repeat(" curl http://"+strings.Repeat("h", 90)+"$i/;", 300) + "done",
		"many reasons":    strings.Repeat("ls --"+strings.Repeat("x", 290)+"=$i;", 200),
	} {
		t.Run(name, func(t *testing.T) {
			report := Command(text[:min(len(text), maxText)], testContext)
			size := 0
			for _, list := range [][]any{{report}, {report.Mentions}} {
				data, err := json.Marshal(list)
				if err != nil {
					t.Fatal(err)
				}
				size += len(data)
			}
			if size > 2<<20 {
				t.Errorf("%d bytes make a report of %d", len(text), size)
			}
			if report.Commands != nil && name != "many paths" {
				t.Errorf("the list of %d commands is called whole", len(report.Commands))
			}
		})
	}
}

func TestTypicalCommandsAreCheap(t *testing.T) {
	for _, text := range typical {
		Command(text, testContext) // the descriptions are compiled at their first use
		if n := testing.AllocsPerRun(100, func() { Command(text, testContext) }); n > 100 {
			t.Errorf("%q: %v allocations, want at most 100", text, n)
		}
	}
}
