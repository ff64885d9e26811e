package classify

import (
	"math/rand/v2"
	"strings"
)

// lines makes command lines whose structure bash and the parser may see in two ways.
type lines struct {
	*rand.Rand
	b       strings.Builder
	depth   int
	waiting []document // here-documents whose bodies belong behind the next newline
}

type document struct {
	delimiter    string
	quoted, tabs bool
}

// programs of the lines. Some are known to only read.
var linePrograms = []string{"echo", "cat", "ls", "true", "wc", "m1", "m2", "m3", "rm"}

var linePlain = []string{"a", "b", "c1", "-n", "x=y", "é", "中", "表", "ソ", "a#b", "1", "E", "10", "=", ",", "%", "+", "-", ".", ":", "in", "do", "}", "]]", "esac", "if", "!"}

// lineBits are what is put anywhere into a line.
var lineBits = []string{"'", `"`, "`", `\`, "\\\n", "\n", "\nE\n", "\nE\n", "\n\tE\n", "E", "#", " #", "$", "${", "${x:-", "${x#", "${x%", "${x/", "${x", "}", "$(", "$((", "))", "(", ")",
	"<<E", "<<'E'", "<<-E", `<<\E`, "<<F", "\nF\n", "<", ">", "&", ";", ";;", "|", "&&", " m1 ", " m2\n", "rm x", "\nrm x\n", "{", " { ", "; }", "((", "[[ ", " ]]", "<(", "=(", "$'", `$"`, `\'`, `\"`,
	"!", "case x in ", "a) ", "esac", "f() ", "if ", "; then ", "; fi", "; do ", "; done", "coproc ", "time ", "\r", "\r\n", "\t", "\v", "\f", "\u00a0", "\u3000", "\u2028", "\u0085", "中\\", "表", "\x7f",
	"=~ ", "@(", "*(", "$[", "]", "[", "a[", "]=", "+=", "{a,", "~", "*", "?", "1>", "2>&1", "<<<", "|&", "&>", ">|", "\\\\", "\\`", "\\$", "function ", "-p ", "--", "EOF", "E)", "E`", "#{", "$#", "$$", "$-", "@", "^", "%"}

func (l *lines) one(list []string) string { return list[l.IntN(len(list))] }

// line makes one.
func (l *lines) line() string {
	l.b.Reset()
	l.depth, l.waiting = 0, nil
	switch l.IntN(8) {
	case 0:
		for range 2 + l.IntN(14) {
			l.b.WriteString(l.one(runPieces))
		}
	case 1:
		for range 2 + l.IntN(14) {
			l.b.WriteString(l.one(lineBits))
			if l.IntN(3) == 0 {
				l.b.WriteString(l.one(linePrograms) + " ")
			}
		}
	default:
		l.list()
		l.flush()
	}
	text := l.b.String()
	if l.IntN(5) < 3 {
		for range 1 + l.IntN(3) {
			text = l.mutated(text)
		}
	}
	return text
}

// mutated returns a text with one change.
func (l *lines) mutated(text string) string {
	from := l.IntN(len(text) + 1)
	to := min(from+l.IntN(4), len(text))
	switch l.IntN(6) {
	case 0:
		return text[:from] + text[to:]
	case 1:
		return text[:from] + l.one(lineBits) + text[to:]
	case 2: // the same once more
		to = min(from+l.IntN(12), len(text))
		return text[:to] + text[from:]
	default:
		return text[:from] + l.one(lineBits) + text[from:]
	}
}

// flush writes a newline and the bodies that wait for one.
func (l *lines) flush() {
	list := l.waiting
	l.waiting = nil
	if len(list) > 0 {
		l.b.WriteByte('\n')
	}
	for _, d := range list {
		for range l.IntN(4) {
			l.bodyLine(d)
		}
		if d.tabs {
			l.b.WriteString(strings.Repeat("\t", l.IntN(3)))
		}
		l.b.WriteString(d.delimiter + "\n")
	}
}

func (l *lines) bodyLine(d document) {
	switch l.IntN(9) {
	case 0:
		l.b.WriteString(l.one([]string{"${x:-", "${x#", "${x/", `"$(echo '`, "`", "$(cat <<F", "$((", "${x:-\"", "$(m1", "$("}))
	case 1:
		l.b.WriteString(l.one([]string{"}", `')"`, "`", ")", "))", "F", "\"}"}))
	case 2:
		l.b.WriteString(l.one([]string{d.delimiter + " ", " " + d.delimiter, d.delimiter + "\\", "\\", d.delimiter[:1] + "\\", "\t" + d.delimiter, d.delimiter + ")"}))
	case 3:
		l.b.WriteString(d.delimiter)
	default:
		if d.quoted {
			l.b.WriteString(l.one(lineBits))
		} else {
			l.inQuotes()
		}
	}
	l.b.WriteByte('\n')
}

// list writes commands, and what joins them.
func (l *lines) list() {
	l.depth++
	l.command()
	for range max(l.IntN(5)-2, 0) {
		switch l.IntN(9) {
		case 0:
			l.b.WriteString(" && ")
		case 1:
			l.b.WriteString(" || ")
		case 2:
			l.b.WriteString(" | ")
		case 3:
			l.b.WriteString(" |& ")
		case 4:
			l.b.WriteString(" & ")
		case 5:
			l.b.WriteString(" # a\\\n")
		case 6, 7:
			if len(l.waiting) > 0 {
				l.flush()
			} else {
				l.b.WriteByte('\n')
			}
		default:
			l.b.WriteString("; ")
		}
		l.command()
	}
	l.depth--
}

// inside writes commands in a substitution or a group: their here-documents end there.
func (l *lines) inside(open, end string) {
	outer := l.waiting
	l.waiting = nil
	l.b.WriteString(open)
	if l.depth > 4 {
		l.b.WriteString(l.one(linePrograms))
	} else {
		l.list()
	}
	l.flush()
	l.waiting = outer
	l.b.WriteString(end)
}

func (l *lines) command() {
	if l.depth > 4 {
		l.simple()
		return
	}
	switch l.IntN(26) {
	case 0:
		l.inside("( ", " )")
	case 1:
		l.inside("{ ", "; }")
	case 2:
		l.inside("if ", "; then true; else ")
		l.inside("", "; fi")
	case 3:
		l.inside("for x in 'b c'; do ", "; done")
	case 4:
		l.cases()
	case 5:
		l.inside(l.one([]string{"f() { ", "function f { ", "f () ( "}), l.one([]string{"; }; f a", "\n}\nf", " ); f"}))
	case 6:
		l.b.WriteString(l.one([]string{"! ", "time ", "time -p ", "coproc "}))
		l.simple()
	case 7:
		l.b.WriteString("[[ ")
		l.word()
		l.b.WriteString(l.one([]string{" == ", " =~ ", " < ", " && -n ", " || ! ", " -nt "}))
		l.word()
		l.b.WriteString(" ]]")
	case 8:
		l.b.WriteString("((1 + ")
		l.number()
		l.b.WriteString("))")
	case 9:
		l.b.WriteString(l.one([]string{"x=", "x+=", "declare y=", "export z=", "x=1 y="}))
		l.word()
	case 10:
		l.b.WriteString(l.one([]string{"x=(", "declare -a x=("}))
		l.word()
		l.b.WriteByte(' ')
		l.word()
		l.b.WriteByte(')')
	case 11:
		l.inside("while read -r x; do ", "; done")
	case 12:
		l.b.WriteString("for ((i = 0; i < 1; i++)); do ")
		l.inside("", "; done")
	default:
		l.simple()
	}
}

func (l *lines) cases() {
	l.b.WriteString("case ")
	l.word()
	l.b.WriteString(" in ")
	for range 1 + l.IntN(2) {
		l.b.WriteString(l.one([]string{"a) ", "(b) ", "a|b) ", "*) ", "'x y') ", "[a-c]) ", "esac) ", "\"$x\") "}))
		l.inside("", l.one([]string{" ;; ", "\n;;\n", " ;; ", " ;& "}))
	}
	l.b.WriteString("esac")
}

func (l *lines) simple() {
	l.b.WriteString(l.one(linePrograms))
	for range l.IntN(3) {
		l.b.WriteString(l.one([]string{" ", " ", " ", "\t", " \\\n"}))
		l.word()
	}
	switch l.IntN(10) {
	case 0:
		l.b.WriteString(l.one([]string{" 2>&1", " </dev/null", " 2>/dev/null", " >&2", " <<< "}))
		if strings.HasSuffix(l.b.String(), "<<< ") {
			l.word()
		}
	case 1, 2:
		for range 1 + l.IntN(2) {
			l.here()
		}
	}
}

// here writes the operator of a here-document.
func (l *lines) here() {
	delimiter := l.one([]string{"E", "E", "EOF", "F", "E.1"})
	switch l.IntN(6) {
	case 0:
		l.b.WriteString(" <<'" + delimiter + "'")
		l.waiting = append(l.waiting, document{delimiter, true, false})
	case 1:
		l.b.WriteString(" <<-" + delimiter)
		l.waiting = append(l.waiting, document{delimiter, false, true})
	case 2:
		l.b.WriteString(" <<\\" + delimiter)
		l.waiting = append(l.waiting, document{delimiter, true, false})
	default:
		l.b.WriteString(" << " + delimiter)
		l.waiting = append(l.waiting, document{delimiter, false, false})
	}
}

// word writes one of up to three parts.
func (l *lines) word() {
	l.depth++
	for range 1 + l.IntN(3)/2 {
		switch l.IntN(9) {
		case 0:
			l.b.WriteString("'" + strings.ReplaceAll(l.one(lineBits), "'", "") + l.one(linePlain) + "'")
		case 1:
			l.b.WriteByte('"')
			for range l.IntN(4) {
				l.inQuotes()
			}
			l.b.WriteByte('"')
		case 2:
			l.b.WriteString(l.one([]string{`$'a\'b'`, `$'\n'`, `$'\x41'`, `\ `, `\"`, `\'`, `\\`, "\\$", "{a,b}", "{1..3}", "*", "~", "$x", "${x}", "$1", "$#", "$$", "$?", `$'中\\'`, `""`}))
		case 3, 4:
			l.expansion(false)
		default:
			l.b.WriteString(l.one(linePlain))
		}
	}
	l.depth--
}

func (l *lines) inQuotes() {
	switch l.IntN(9) {
	case 0:
		l.b.WriteString(l.one([]string{`\"`, `\\`, "\\$", "\\`", `\a`, "'", "''", "#", " # ", "中\\\\", "ソ", "$", "$'", "$ ", "!", "\\\n", "\n", "(", ")", ";", "&"}))
	case 1, 2, 3:
		l.expansion(true)
	default:
		l.b.WriteString(l.one(linePlain) + " ")
	}
}

// expansion writes one, in double quotes or not.
func (l *lines) expansion(quoted bool) {
	if l.depth > 5 {
		l.b.WriteString("$x")
		return
	}
	l.depth++
	switch n := l.IntN(10); n {
	case 0, 1:
		l.inside("$(", ")")
	case 2:
		l.inside("`", "`")
	case 3:
		l.b.WriteString("$((")
		l.number()
		l.b.WriteString("))")
	case 4:
		if quoted {
			l.b.WriteString("$x")
		} else {
			l.inside(l.one([]string{"<(", "<(", ">("}), ")")
		}
	case 5:
		l.b.WriteString(l.one([]string{"${#x}", "${x[0]}", "${x[@]}", "${x:1}", "${x:1:2}", "${!x}", "${x^^}", "${x@Q}", "${#}", "${-}", "$-", "${x/a/b}", "$[1+2]"}))
	default:
		l.b.WriteString("${x" + l.one([]string{":-", "-", ":+", "#", "##", "%", "%%", "/", "//", ":=", "/#", "/%"}))
		if quoted {
			l.inQuotes()
		} else {
			l.word()
		}
		l.b.WriteByte('}')
	}
	l.depth--
}

func (l *lines) number() {
	switch l.IntN(5) {
	case 0:
		l.expansion(true)
	case 1:
		l.b.WriteString("(1 << 2)")
	default:
		l.b.WriteString(l.one([]string{"1", "2", "x", "16#ff", "x[0]", "1 ? 2 : 3", "x++", "3 # a"}))
	}
}
