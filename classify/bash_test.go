package classify

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// bashPieces make words whose expansion is a matter of quoting, braces, tildes and variables. None runs anything.
var bashPieces = []string{"a", "b", "xy", "{", "}", "{a,b}", ",", "..", "1", "3", "{1..3}", "~", "/", "=", ":", "$x", "${x}", "$y",
	"'", `"`, `\`, `\\`, "$'", `\x41`, `\n`, `\'`, "$", "#", "[", "]", "!", "^", "-", " ", "\t", "\\\n", "é", "$e", "${x:-q}", "@", "+", "%"}

// TestWordsAreThoseOfBash compares words that are called static with those that bash makes of the same text.
func TestWordsAreThoseOfBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	if out, err := exec.Command(bash, "-c", "echo $BASH_VERSINFO").Output(); err != nil || strings.TrimSpace(string(out)) < "5" {
		t.Skip("bash is older than 5")
	}
	random := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	var texts []string
	var wants [][]string
	for len(texts) < bashWords {
		text := randomText(random)
		if fields, ok := staticFields(text); ok {
			texts, wants = append(texts, text), append(wants, fields)
		}
	}
	var script strings.Builder
	for _, text := range texts {
		fmt.Fprintf(&script, "(eval %s)\nprintf '\\1\\1\\n'\n", single("x=ab; y='c d'; e=\nprintf '<%s>\\1' "+text))
	}
	cmd := exec.Command(bash, "--norc", "--noprofile", "-s")
	cmd.Dir, cmd.Env, cmd.Stdin = dir, []string{"HOME=/home/u", "LC_ALL=C.UTF-8"}, strings.NewReader(script.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(string(out), "\x01\x01\n")
	if len(answers) != len(texts)+1 {
		t.Fatalf("bash gave %d answers for %d words", len(answers)-1, len(texts))
	}
	for i, text := range texts {
		if want := bashFields(wants[i]); answers[i]+"\x01\x01" != want+"\x01\x01" && answers[i] != "" {
			t.Errorf("%q is taken for %q, bash makes %q", text, want, answers[i])
		}
	}
}

const bashWords = 1500

func randomText(random *rand.Rand) string {
	var b strings.Builder
	b.WriteString("w ")
	for range 1 + random.IntN(7) {
		b.WriteString(bashPieces[random.IntN(len(bashPieces))])
	}
	return b.String()
}

func single(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func bashFields(fields []string) string {
	var b strings.Builder
	for _, f := range fields {
		b.WriteString("<" + f + ">\x01")
	}
	return b.String()
}

// staticFields returns the words that a text makes if all are known and nothing of it is refused.
func staticFields(text string) ([]string, bool) {
	text = "x=ab; y='c d'; e=\nprintf '<%s>\\1' " + text
	tree := parse(text)
	if _, ok := unfit(text); !ok || tree.failed || len(tree.stmts) != 4 {
		return nil, false
	}
	call, ok := tree.stmts[3].Cmd.(*syntax.CallExpr)
	if !ok || len(tree.stmts[3].Redirs) > 0 {
		return nil, false
	}
	w := newWalk(testContext)
	w.stmts(tree.stmts[:3])
	var fields []string
	for _, word := range w.fields(call.Args)[2:] {
		if !word.Static {
			return nil, false
		}
		fields = append(fields, word.Text)
	}
	return fields, !w.found.tally.has(unknown) && w.found.rejection == nil
}
