package classify

import (
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// walk is the strict analysis: it simulates a command line and follows every possible outcome.
type walk struct {
	scratch
	shell
	extractor extractor

	function
	effort
	last []program.Word // of the simple command just analysed
}

var walks = sync.Pool{New: func() any { return new(walk) }}

// newWalk returns a walk at the beginning of a command line. The caller frees it.
func newWalk(in Context) *walk {
	w := walks.Get().(*walk)
	w.ctx, w.part, w.scope = in, -1, w.copied(&scope{workdir: workdir{start: in.Dir}})
	if in.Dir != "" {
		w.scope.dirs = []string{in.Dir}
	}
	return w
}

// function is the function or loop that a walk is in.
type function struct {
	eachName []string // variables of loops over names or lines

	away  *scope // the scope at break, continue and return
	calls []*syntax.FuncDecl
	local []string // variables that the current function gives back when it ends
}

// effort counts the work of a walk, which is bounded.
type effort struct {
	expanded int // words that braces made
	given    int // words of the simple commands, counted again for each program that runs another
	nested   int // programs that run one another
}
