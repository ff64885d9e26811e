package ignore

import (
	"fmt"
	"strings"
	"testing"
)

// hostile are patterns that look at a name of 250 times "a" for long, and do not match it.
var hostile = []string{
	"*" + strings.Repeat("a?", 60) + "[b]", "*a*[b]", "*a*a*a*a*[b]", "?" + strings.Repeat("a", 100) + "*[b]a", "**/*a*[b]",
	"*[" + strings.Repeat("b", 200) + "]*[b]", "*" + strings.Repeat("[[:alnum:][:punct:]]", 10) + "*[b]",
	"*[a]" + strings.Repeat("*", 500) + "*[b]", "*a" + strings.Repeat("*\\a", 50) + "[b]", "*b[ab]",
}

// Whatever ignore files hold, one name takes no more than its steps, but for what one look at a pattern takes.
func TestStepsAreBounded(t *testing.T) {
	name := strings.Repeat("a", 250)
	for _, pattern := range hostile {
		text := []byte(strings.Repeat(pattern+"\n", maxGlobs/(len(pattern)+1)))
		var rules *Rules
		at := ""
		for range 4 {
			rules = rules.AddGit(at, text).AddPlain(at, text)
			at += "d/"
		}
		path := []byte(at + name)
		target := target{path: path, name: path[len(at):], bytes: setOf([]byte(name)), left: maxSteps}
		if rules.plain.decide(&target) != none || rules.git.decide(&target) != none {
			t.Errorf("%.30q… matches", pattern)
		}
		if target.left < -maxGlobs/2 || target.left > maxSteps*9/10 {
			t.Errorf("%.30q… leaves %d steps", pattern, target.left)
		}
	}
}

// Rules that are tried before the steps are used up count, and so do those for which nothing has to be tried; others
// match nothing.
func TestStepsUsedUp(t *testing.T) {
	costly := strings.Repeat(hostile[0]+"\n", 1000)
	name := strings.Repeat("a", 250)
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"a pattern before them", "?*\n" + costly, false},
		{"a pattern after them", costly + "?*\n", true},
		{"the name", name + "\n" + costly, true},
	} {
		if got := ask((*Rules)(nil).AddGit("", []byte(test.text)), name, false); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
		if !ask((*Rules)(nil).AddGit("", []byte("b?\n"+test.text)), "bb", false) {
			t.Errorf("%s: other names are lost", test.name)
		}
	}
}

// Large files and deep trees as somebody may have them are far from the limit.
func TestStepsSuffice(t *testing.T) {
	var b strings.Builder
	b.WriteString("*.?\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "/src/*/generated_%d_*.h\n*-%d.[ch]\n", i, i)
	}
	if !ask((*Rules)(nil).AddGit("", []byte(b.String())), "src/some/generated_x-y.z", false) {
		t.Error("4,000 patterns are too many")
	}
	rules, at := (*Rules)(nil).AddGit("", []byte("x?\n")), ""
	for range 2000 {
		at += "d/"
		rules = rules.AddGit(at, []byte("*.o\n/name\n"))
	}
	if !ask(rules, at+"xy", false) {
		t.Error("2,000 directories are too many")
	}
}
