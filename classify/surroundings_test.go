package classify

import (
	"testing"

	"toolhost/agenttool"
)

func TestPagersWaitOnlyForATerminal(t *testing.T) {
	tests := []struct {
		text string
		want agenttool.Fact
	}{
		{"less f", agenttool.Yes},
		{"man ls", agenttool.Yes},
		{"less f | head", agenttool.No},
		{"head f | less", agenttool.Yes},
		{"cat <(less f)", agenttool.No},
		{"echo $(less f)", agenttool.No},
		{"man ls > /dev/null", agenttool.No},
		{"less f > out", agenttool.No},
		{"less f &> out", agenttool.No},
		{"less f 2> out", agenttool.Yes},
		{"less f 2>&1 | cat", agenttool.No},
		{"less f > /dev/tty", agenttool.Yes},
		{"less f >&2 | cat", agenttool.Yes},
		{"(less f; ls) | cat", agenttool.No},
		{"{ less f; } > out; less f", agenttool.Yes},
		{"bash -c 'less f' | cat", agenttool.No},
		{"f() { less x; }; f", agenttool.Yes},
		{"ls | xargs less", agenttool.Yes},
	}
	for _, tt := range tests {
		if got := Command(tt.text, testContext); got.Interactive != tt.want {
			t.Errorf("%q: interactive %v, want %v: %v", tt.text, got.Interactive, tt.want, got.Reasons)
		}
	}
}

// TestRedirectFromALoop: bash opens connections for /dev/tcp/…, so a redirection from a name that is not known may be one,
// unless the name cannot begin with a slash.
func TestRedirectFromALoop(t *testing.T) {
	tests := []struct {
		text string
		want agenttool.Fact
	}{
		{`for f in *.go; do wc -l < "$f"; done`, agenttool.No},
		{`for f in ?/* [ab]*; do wc -l < "$f"; done`, agenttool.No},
		{`for f in src/*.go b.txt; do wc -l < "$f"; done`, agenttool.No},
		{`for f in *.go /dev/t*; do wc -l < "$f"; done`, agenttool.Unknown},
		{`for f in /*; do wc -l < "$f"; done`, agenttool.Unknown},
		{`for f in "$x"*; do wc -l < "$f"; done`, agenttool.Unknown},
		{`for f in $x*; do wc -l < "$f"; done`, agenttool.Unknown},
		{`for f in *.go; do f=$x; wc -l < "$f"; done`, agenttool.Unknown},
		{`for f in *.go; do wc -l < "/dev$f"; done`, agenttool.Unknown},
		{`for f in *.go; do wc -l < "$x$f"; done`, agenttool.Unknown},
		{`for f in *.go; do wc -l < ${f#x}; done`, agenttool.Unknown},
		{`for f in /dev/tcp/h/1; do wc -l < "$f"; done`, agenttool.Yes},
		{`find . | while read -r f; do wc -l < "$f"; done`, agenttool.Unknown}, // a name may hold a line /dev/tcp/…
	}
	for _, tt := range tests {
		if got := Command(tt.text, testContext); got.OpenWorld != tt.want {
			t.Errorf("%q: open_world %v, want %v: %v", tt.text, got.OpenWorld, tt.want, got.Reasons)
		}
	}
}

// TestGitWhereItIs: git -C with the text of the working directory goes nowhere, and anywhere else it goes is foreign.
func TestGitWhereItIs(t *testing.T) {
	tests := []struct {
		text string
		want agenttool.Fact
	}{
		{"git -C /w log", agenttool.Yes},
		{"git -C /w/ log", agenttool.Yes},
		{"git -C . log", agenttool.Yes},
		{"git -C /w/sub log", agenttool.Unknown},
		{"git -C /w/sub/.. log", agenttool.Unknown}, // where sub may be a link
		{"git -C /w -C sub log", agenttool.Unknown},
		{"cd sub; git -C /w log", agenttool.Yes},
		{"git -C sub log", agenttool.Unknown},
		{"git log -C /w", agenttool.Yes},
	}
	for _, tt := range tests {
		if got := Command(tt.text, testContext); got.ReadOnly != tt.want {
			t.Errorf("%q: read_only %v, want %v: %v", tt.text, got.ReadOnly, tt.want, got.Reasons)
		}
	}
}
