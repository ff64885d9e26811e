package classify

import (
	"slices"
	"testing"

	"toolhost/agenttool"
)

// TestSingleQuotesInQuotedExpansions: in "${x:-'…'}" single quotes are characters like others, and what stands between them runs.
func TestSingleQuotesInQuotedExpansions(t *testing.T) {
	for _, text := range []string{
		`echo "${y:-'$(rm x)'}"`, `echo "${y:+'$(rm x)'}"`, "echo \"${y:='`rm x`'}\"", `x="${y:-'$(rm x)'}"`, "cat <<X\n${y:-'$(rm x)'}\nX",
		`[[ "${y:-'$(rm x)'}" ]]`, `echo "a${y+'b$(rm x)c'}d"`, `echo "${y:-{'$(rm x)'}}"`, `echo "${y:-$'$(rm x)'}"`,
		`echo "${y:-${z:-'$(rm x)'}}"`, `echo "${y:-'}"; rm x; echo "'}"`, "cat <<X\n${y:-'}\nX\nrm x\n'}\nX",
		`echo "${y#'$(rm x)'}"`, `echo "${y/'$(rm x)'/b}"`, `echo "${y:-"'a'"}"`, `echo "${y#"${z%$'$(rm x)'}"}"`, `echo $((${y:-'$"(rm x)'}))`,
		`echo $((${y:-'$(rm x)'}))`, "cat <<X\n${?%$'$(rm x)'}\nX", `x="${-#$'$(rm x)'}"`, `echo "${y:-$"$(rm x)"}"`,
	} {
		notReadOnly(t, text)
	}
	for _, text := range []string{
		`echo "${y:-'a b'}"`, `echo "${y#"a b"}"`, `echo ${y:-'$(rm x)'}`, `echo "${y:-$(echo '$(rm x)')}"`, `echo ${?%$'$(rm x)'}`, `echo "${y//\"/}"`,
	} {
		if f := Command(text, testContext); f.ReadOnly != agenttool.Yes {
			t.Errorf("%q is not called read-only: %v", text, f.Reasons)
		}
	}
}

// TestQuotesInQuotedExpansions: whatever the parameter and the operator are, what quotes hold in double quotes may run.
func TestQuotesInQuotedExpansions(t *testing.T) {
	for _, parameter := range []string{"x", "1", "?", "$", "!", "-", "@", "*", "#", "_", "a[0]", "a[@]", "!x", "#x"} {
		for _, operator := range []string{":-", "-", ":+", "+", ":=", ":?", "%", "%%", "#", "##", "/", "/#", "//", "/a/", ":", "^", ",,"} {
			for _, quoted := range []string{`'$(rm x)'`, `$'$(rm x)'`, `$"$(rm x)"`, "'`rm x`'"} {
				notReadOnly(t, `echo "${`+parameter+operator+quoted+`}"`)
				notReadOnly(t, "cat <<X\n${"+parameter+operator+quoted+"}\nX")
			}
		}
	}
}

// notReadOnly checks that a command line is not called read-only, and that the rm in it is seen, or not all is said to be seen.
func notReadOnly(t *testing.T, text string) {
	t.Helper()
	f := Command(text, testContext)
	if f.ReadOnly == agenttool.Yes {
		t.Errorf("%q is called read-only", text)
	}
	if !f.Unmentioned && !slices.Contains(mentioned(f), "rm x") {
		t.Errorf("%q mentions %q, and it is called all", text, mentioned(f))
	}
}
