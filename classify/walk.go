package classify

import (
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/classify/program"
)

// walk is the strict analysis: it simulates a command line, follows every possible outcome, and writes down what it finds.
type walk struct {
	ctx    Context
	disk   *Disk  // nil if the caller does not look at it
	source string // the text that positions refer to: the command line, or a text in it that a shell runs
	found  record
	memory memory

	extractor extractor // of the lenient analysis, which runs before; it is here for its memory

	// The state of the shell, here and at the places where it may go on.
	scope         *scope
	exitScope     *scope             // at break, continue and return
	calls         []*syntax.FuncDecl // functions that are being called
	localNames    []string           // variables that the current function gives back when it ends
	loopVariables []string           // variables of loops over names or lines
	arrays        bool               // a variable may be an array

	// The pipeline around the command.
	ending         ending         // of the pipeline, behind the command that is looked at
	readEnd        ending         // how much the command reads
	lastCommand    []program.Word // the simple command just analysed
	printedNames   *listing       // its output, if it is names of files
	namesFromIndex bool           // names of files come from git's index
	remoteDepth    int            // while positive, what runs is not on this machine, and its paths are not those here

	// The work, which is bounded.
	steps        int // nodes looked at
	depth        int // nodes in one another
	braceWords   int // words that braces made
	commandWords int // words of the simple commands, counted again for each program that runs another
	programDepth int // programs that run one another
	codeDepth    int // depth of nested texts that are only searched for code that they may run
}

var walks = sync.Pool{New: func() any { return new(walk) }}

// newWalk returns a walk at the beginning of a command line. The caller frees it.
func newWalk(in Context) *walk {
	w := walks.Get().(*walk)
	w.ctx = in
	w.found.part = -1
	w.scope = w.memory.copyScope(&scope{start: in.Dir})
	if in.Dir != "" {
		w.scope.dirs = []string{in.Dir}
	}
	return w
}

// free gives the memory of a walk to the next one.
func (w *walk) free() {
	rec := &w.found
	if cap(w.memory.argvs)+cap(rec.parts)+cap(rec.reads.list) > 3*manyWords {
		return
	}
	clear(w.memory.argvs)
	clear(rec.parts)
	clear(rec.reads.list)
	w.memory.parsing.Free(0)
	parts, reads := rec.parts[:0], rec.reads.list[:0]
	*w = walk{memory: memory{w.memory.parsing, w.memory.argvs[:0], append(w.memory.scopes, w.scope)}}
	w.found.parts, w.found.reads.list = parts, reads
	walks.Put(w)
}

// memory is that of one analysis that the next one reuses. The result of an analysis never refers to it.
type memory struct {
	parsing program.Memory
	argvs   []program.Word // of simple commands; each expansion takes a part of it
	scopes  []*scope       // of subshells that ended
}

const manyWords = 64

// room returns an empty list with room for some words.
func (m *memory) room(n int) []program.Word {
	if cap(m.argvs)-len(m.argvs) < n {
		m.argvs = make([]program.Word, 0, max(n, manyWords)) // the words before keep theirs
	}
	at := len(m.argvs)
	m.argvs = m.argvs[:at+n]
	return m.argvs[at : at : at+n]
}

// copyScope returns a copy of a scope that holds until it is dropped.
func (m *memory) copyScope(of *scope) *scope {
	last := len(m.scopes) - 1
	if last < 0 {
		return of.clone()
	}
	c := m.scopes[last]
	m.scopes = m.scopes[:last]
	*c = *of
	c.own()
	return c
}

// dropScope takes back what copyScope returned.
func (m *memory) dropScope(c *scope) { m.scopes = append(m.scopes, c) }

// enter counts one node, and one level until leave. It reports whether the limits allow it.
func (w *walk) enter(at syntax.Pos) bool {
	w.depth++
	w.steps++
	if w.found.rejection != nil {
		return false
	}
	w.found.at = at
	switch {
	case w.steps > maxSteps:
		w.found.reject(w.found.reason("the command line is too long to be analysed"))
		return false
	case w.depth > maxDepth:
		w.found.reject(w.found.reason("the command line is nested too deeply"))
		return false
	}
	return true
}

func (w *walk) leave() { w.depth-- }

// maxSpelled is how much of a word a reason quotes.
const maxSpelled = 60

// spelled returns a word as the command line spells it, with its quotes and expansions; of a long one the beginning.
func (w *walk) spelled(word program.Word) string {
	if word.Static {
		return word.Text
	}
	source := w.source
	for line := 1; line < word.Line; line++ {
		_, rest, ok := strings.Cut(source, "\n")
		if !ok {
			return word.Text + "…"
		}
		source = rest
	}
	if word.Line == 0 || word.Column < 1 || word.Column > len(source) {
		return word.Text + "…"
	}
	source = source[word.Column-1:]
	if end := wordEnd(source); end > maxSpelled {
		return cut.Short(source, maxSpelled)
	} else if end > 0 {
		return source[:end]
	}
	return word.Text + "…"
}

// wordEnd returns where the first word of a text ends, as far as that is worth a reason: quotes and brackets in one another are
// only counted.
func wordEnd(text string) int {
	quote, depth := byte(0), 0
	for i := 0; i < len(text) && i <= maxSpelled; i++ {
		c := text[i]
		switch {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '(' || c == '{':
			depth++
		case depth > 0 && (c == ')' || c == '}'):
			depth--
		case depth == 0 && strings.IndexByte(" \t\n;&|<>)", c) >= 0:
			return i
		}
	}
	return min(len(text), maxSpelled+1)
}

// unknown records a construct that is not understood, and the reason. Later commands may then mean something else.
func (w *walk) unknown(reason string) {
	w.found.note(unknown | gap)
	w.found.fact("read_only", reason)
	w.scope.doubtLater(reason)
}

// begin opens the part of a simple command, which findings are about from here on. It returns the part around it, which the caller
// puts back.
func (w *walk) begin(argv []program.Word) (outer int) {
	rec := &w.found
	outer = rec.part
	if rec.quiet > 0 {
		return outer
	}
	c := rec.newPart(argv)
	c.WrappedBy, c.Variables = outer, w.scope.environment
	if w.scope.moved() {
		c.Dirs = w.scope.dirs
		if len(c.Dirs) == 0 {
			c.Dirs = []string{anywhere}
		}
	}
	rec.exportsVariables = rec.exportsVariables || w.scope.exportsVariable
	at := rec.placed(agenttool.Reason{Line: argv[0].Line, Column: argv[0].Column})
	c.Line, c.Column = at.Line, at.Column
	rec.parts = append(rec.parts, c)
	rec.part = len(rec.parts) - 1
	if w.scope.doubt != "" && w.scope.namesChanged == "" {
		rec.note(unknown)
		at.Fact = "read_only"
		at.Text = cut.Short("the text before it may change its meaning: "+w.scope.doubt, maxReason)
		rec.parts[rec.part].Reasons = []agenttool.Reason{at}
	}
	return outer
}

// changeNames notes that names may stand for other commands from here on.
func (w *walk) changeNames(reason string) {
	w.unknown(reason)
	w.scope.namesChanged = reason
}
