package classify

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
)

// runPieces make command lines whose programs are markers: m1, m2 and m3 write down that they ran.
var runPieces = []string{"m1 ", "m2 ", "m3", " m1", "\n", "\n", ";", "; ", "|", " && ", "||", "&", "'", `"`, `\`, "\\\n", "#", " # ", "<<E", "<<E",
	"<<'E'", "<<-E", `<<"E"`, "<<\\E", "E", "\nE\n", "\nE\n", "\n\tE\n", "$(", ")", ")", "`", "`", "(", "{ ", "; }", "$", "${x", "${x:-", "}", "((", "))",
	"$((", "[[ ", " ]]", "if ", "; then ", "; fi", "\t", "\v", "\f", "\u00a0", "<<<", "case x in ", "x) ", ";; ", "esac", "! ", "time ", "for i in 1; do ", "; done",
	"while m1; do ", "a=", "x", "1", "$'", `\'`, "f() ", "f", "function f ", "+", "<(", "{m1,", "m2}", "${#", "coproc ", "$\"", "~", "=~ ", "@(", "*", "?"}

// TestBashRunsNothingUnseen runs command lines of markers, and finds each of those that ran among the parts, unless
// the analysis refused the whole.
func TestBashRunsNothingUnseen(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	dir := t.TempDir()
	definitions := filepath.Join(dir, "markers")
	text := "note() { local IFS=$'\\x1f'; printf '%s\\x1f\\x1e' \"$*\" >&9; }\n" +
		"m1() { note m1 \"$@\"; }; m2() { note m2 \"$@\"; }; m3() { note m3 \"$@\"; }\n"
	if err := os.WriteFile(definitions, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(bashSeed, 4))
	compared := 0
	for range bashRuns {
		text := randomRun(random)
		tree := parse(text)
		if _, ok := unfit(text); !ok || tree.failed {
			continue
		}
		r := Command(text, testContext)
		if r.Commands == nil && slices.ContainsFunc(r.Reasons, func(r2 agenttool.Reason) bool { return !strings.Contains(r2.Text, "not a program") }) {
			continue
		}
		compared++
		for _, ran := range runMarkers(t, bash, dir, definitions, text) {
			if !slices.ContainsFunc(r.Parts, func(p agenttool.Part) bool { return mayBe(p.Argv, ran) }) {
				t.Errorf("%q runs %q, which is not among the parts %+v", text, ran, r.Parts)
			}
		}
	}
	if t.Logf("%d of %d command lines compared", compared, bashRuns); compared < bashRuns/50 {
		t.Errorf("only %d of %d command lines compared", compared, bashRuns)
	}
}

func runMarkers(t *testing.T, bash, dir, definitions, text string) [][]string {
	t.Helper()
	log := filepath.Join(dir, "log")
	f, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "--norc", "-c", "ulimit -u 200 -t 1; exec 9>"+log+"; . "+definitions+"; eval \"$1\"", "bash", text)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, []string{"PATH=/nonexistent", "HOME=/home/u"}, time.Second
	_ = cmd.Run() // most of them fail
	out, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var ran [][]string
	for record := range strings.SplitSeq(string(out), "\x1e") {
		if words := strings.Split(record, "\x1f"); len(words) > 1 {
			ran = append(ran, words[:len(words)-1])
		}
	}
	return ran
}

// mayBe reports whether a part may run with these words.
func mayBe(argv, ran []string) bool {
	for i, word := range argv {
		if begins, open := strings.CutSuffix(word, "…"); open {
			return i > 0 || i < len(ran) && strings.HasPrefix(ran[i], begins)
		}
		if i >= len(ran) || ran[i] != word {
			return false
		}
	}
	return len(argv) == len(ran)
}

func randomRun(random *rand.Rand) string {
	var b strings.Builder
	for range 2 + random.IntN(14) {
		b.WriteString(runPieces[random.IntN(len(runPieces))])
	}
	return b.String()
}

const (
	bashSeed = 1
	bashRuns = 12000
)
