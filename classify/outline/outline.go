// Package outline reads where the commands, words, quotes, substitutions and here-documents of a bash command line begin and end. It is
// a second opinion: it shares nothing with the parser whose syntax tree is analysed, and follows bash itself, byte by byte. A tree
// is believed only where both find the same outline.
//
//	o := outline.Read("echo $(date) # now", nil)
//	o.Doubt // "": it is sure
//
// It is conservative: where versions of bash, options, or its own small grammar may differ, it has a doubt, and says which and where.
// It takes time and memory in proportion to the text.
package outline

import "strings"

// Mark says what begins or ends at a byte of a text.
type Mark uint16

// The marks. A substitution is one of $(…), `…`, ${…}, $((…)), $[…], <(…) and >(…); an arithmetic command counts as one.
const (
	Word       Mark = 1 << iota // a word begins: of a command, a redirection, a loop, an array, a pattern, or an assignment
	End                         // a word ended before this byte
	Name                        // the word is the name of a simple command
	Function                    // the name of a function that is defined
	Open                        // a substitution begins
	Close                       // its closing byte, the first one of ))
	Parameter                   // $x without braces
	Quote                       // a quotation begins, at its $ if it has one, or is closed
	Operator                    // | |& || && between commands, ;; and its like between cases
	Separator                   // ;
	Background                  // &
	Group                       // the parentheses of a subshell or an array
	Keyword                     // of a compound command
	Redirect                    // the operator of a redirection
)

// Document is a here-document: text[Begin:End] is its body, without the line that ends it.
type Document struct {
	Operator   int // where << is
	Begin, End int
	Quoted     bool // nothing is expanded in it
}

// Outline is the result of reading a text.
type Outline struct {
	Marks     []Mark // one for each byte, and one for the end of the text
	Documents []Document
	Doubt     string // why the outline may be wrong; "" if it is not
	At        int    // where the doubt arose
}

// maxDepth is how deep commands, words and substitutions may be in one another.
const maxDepth = 250

// Read reads a text. It reuses the memory of the outline used, which is lost; nil: none.
func Read(text string, used *Outline) Outline {
	r := &reader{text: text, end: len(text)}
	if used != nil {
		r.outline.Marks, r.outline.Documents = used.Marks[:0], used.Documents[:0]
	}
	if cap(r.outline.Marks) <= len(text) {
		r.outline.Marks = make([]Mark, len(text)+1)
	}
	r.outline.Marks = r.outline.Marks[:len(text)+1]
	clear(r.outline.Marks)
	r.at = strings.Index(text, "\r\n")
	if r.at >= 0 {
		r.doubt("a carriage return before a newline is a byte of the line to bash")
		return r.outline
	}
	r.at = strings.IndexAny(text, "\x01\x7f")
	if r.at >= 0 {
		r.doubt("bash uses this byte as a mark of its own, and may lose it or add another")
		return r.outline
	}
	r.at = 0
	r.list()
	switch {
	case r.at < len(text):
		r.doubt("a command ends where none can")
	case len(r.waiting) > 0:
		r.doubt("a here-document has no body")
	}
	return r.outline
}

// reader goes through the bytes and lines of one text, or of a beginning of it.
type reader struct {
	text    string
	at      int       // the next byte
	end     int       // of what is read now: the whole text, the inner part of backquotes, or the body of a here-document
	depth   int       // commands, words and substitutions in one another
	waiting []waiting // here-documents whose bodies begin behind the next newline
	around  nesting
	outline Outline
}

// nesting says what stands around the text that is read. A substitution begins another one.
type nesting struct {
	substitutions int
	expressions   int  // arithmetic ones, in the innermost substitution
	inExpression  bool // there is an arithmetic one around the innermost substitution, or farther out
	hasDocument   bool // the substitution that is read has a here-document: see separated
	documentsWait bool // outside the substitution that is read, for the end of the line
}

// doubt ends the reading. The first one counts.
func (r *reader) doubt(why string) {
	if r.outline.Doubt == "" {
		r.outline.Doubt, r.outline.At = why, min(r.at, len(r.text))
	}
}

// more reports whether there is text, and no doubt.
func (r *reader) more() bool { return r.at < r.end && r.outline.Doubt == "" }

// peek returns the byte n behind the next one, 0 beyond the end.
func (r *reader) peek(n int) byte {
	if r.at+n < r.end {
		return r.text[r.at+n]
	}
	return 0
}

func (r *reader) mark(at int, m Mark) { r.outline.Marks[at] |= m }

// take marks the next bytes and goes behind them.
func (r *reader) take(n int, m Mark) {
	r.mark(r.at, m)
	r.at += n
}

// deeper counts one level, which the caller takes back, and doubts if they are too many.
func (r *reader) deeper() bool {
	r.depth++
	if r.depth > maxDepth {
		r.doubt("it is nested too deeply")
		return false
	}
	return true
}

// joined reports whether a backslash joins the next line to this place.
func (r *reader) joined() bool { return r.peek(0) == '\\' && r.peek(1) == '\n' }

// blanks goes to the next token of the line: behind blanks, joined lines and a comment.
func (r *reader) blanks() {
	for r.more() {
		switch c := r.text[r.at]; {
		case c == ' ' || c == '\t':
			r.at++
		case c == '\\' && r.peek(1) == '\n':
			r.at += 2
		case c == '#':
			for r.at < r.end && r.text[r.at] != '\n' {
				r.at++
			}
			return
		default:
			return
		}
	}
}

// gap goes to the next token of any line. The bodies of here-documents are behind the first newline.
func (r *reader) gap() {
	for r.blanks(); r.peek(0) == '\n' && r.more(); r.blanks() {
		r.at++
		if r.around.documentsWait {
			r.doubt("a here-document waits outside for the end of this line")
		}
		r.bodies()
	}
}

// kinds of bytes.
const (
	plain    = iota
	blank    // and the newline
	operator // ends a word
	special  // begins or ends something in a word
)

var kinds = func() (table [256]uint8) {
	for _, c := range " \t\n" {
		table[c] = blank
	}
	for _, c := range "|&;()<>" {
		table[c] = operator
	}
	for _, c := range "\\'\"$`" {
		table[c] = special
	}
	return table
}()
