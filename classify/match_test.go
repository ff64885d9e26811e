package classify

import (
	"fmt"
	"strings"
	"testing"
)

// TestGlobs: the patterns of the names that are read are told if they are all that is not known of the paths.
func TestGlobs(t *testing.T) {
	for text, want := range map[string]string{
		"wc -l src/*.go":                              "/w/src/*.go@1",
		"cat a*/\"b*\"/**/c?":                         `/w/a*/b\*/*/c*@1`,
		"cat ~/*.txt":                                 "/home/u/*.txt@1",
		"bash -c 'cat *'":                             "/w/*@2",
		"cat x '*' \"$(cat *)\"":                      "",
		"cat a[bc]":                                   "/w/a*@1",
		"cat $x*":                                     "",
		"wc -l *.md":                                  "", // --files0-from=…
		"cat < *.md":                                  "",
		"cat *.go | xargs rm":                         "",
		"tee *.md":                                    "",
		"cat * $x":                                    "",
		"cd sub; cat *":                               "/w/sub/*@2 /w/*@2",
		"shopt -s dotglob; cat *":                     "",
		"for x in 1; do cat *; done":                  "/w/*@1",
		"f=*.go; cat $f":                              "",
		"cat *; shopt -s globstar":                    "",
		"bash -O dotglob -c 'cat *'":                  "",
		`for f in *.md; do cat "$f"; done`:            "/w/*.md@1",
		`for f in *.go; do cat "$f"; done > out/a`:    "/w/*.go@1",
		`for f in *.md; do cat "$f"x; done`:           "",
		`for f in *.md; do cat "${f%.md}"; done`:      "",
		`for f in *.md; do f=x$f; cat "$f"; done`:     "",
		`for f in *.md *.go; do cat "$f"; done`:       "/w/*.md@1 /w/*.go@2",
		`for f in *.md; do cd sub; cat "$f"; done`:    "",
		`for f in *.md; do [ -e "$f" ]; done`:         "/w/*.md@1n",
		`find . -name '*.go' -exec grep -l x {} +`:    "/w/./**/*.go@2",
		`find src -type f -name 'a?' -exec cat {} \;`: "/w/src/**/a*@2",
		`find . -exec cat {} \; -name a`:              "/w/./**/*@2",
		`find . -name a -o -name b -exec cat {} +`:    "/w/./**/*@2",
		`find . -not -name a -exec cat {} +`:          "/w/./**/*@2",
		`find -L . -exec cat {} +`:                    "",
		`find a b -exec cat {} +`:                     "",
		`find . -exec cat {}.bak \;`:                  "",
	} {
		var got []string
		for _, g := range Command(text, testContext).Globs {
			got = append(got, fmt.Sprintf("%s@%d%s", g.Pattern, g.By, map[bool]string{true: "n"}[g.Names]))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
