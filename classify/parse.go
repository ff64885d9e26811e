package classify

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/agenttool/locale"
	"toolhost/agenttool/visible"
)

// Beyond these limits a command line is not analysed and its facts are unknown.
const (
	maxText         = 64 << 10  // bytes
	maxSteps        = 20_000    // nodes looked at, counted again for every turn of a loop that is followed
	maxDepth        = 200       // nesting, functions and shells in shells included
	maxBracket      = 300       // nesting that the parser is given, counted without regard to quotes
	maxProgramDepth = 20        // programs and shells that run one another
	maxTurns        = 20        // of a loop over known words; one over more is taken as a whole
	maxFields       = 1_000     // that the braces of one word may make
	maxBraceWords   = 4_000     // and those of the whole command line, before no more are expanded
	maxVars         = 200       // variables that are followed; beyond it all are forgotten, or may hold anything
	maxValue        = 4 << 10   // bytes of a variable that is followed
	maxFuncs        = 200       // functions that are followed; beyond it none is trusted
	maxCommandWords = 100_000   // words of the simple commands, counted again for each program that runs another
	maxParts        = 4_000     // simple commands
	maxPaths        = 2_000     // read, and as many written, that are named
	maxHosts        = 500       // that are named
	maxPathBytes    = 512 << 10 // bytes of the paths and hosts that are named
	maxReasonBytes  = 256 << 10 // bytes of the reasons of the parts
	maxWordBytes    = 256 << 10 // bytes of the words of all commands, before only names are kept
	maxReasons      = 64
	maxReason       = 300 // bytes of one
)

// unfit returns the reason why a text cannot be parsed at all.
func unfit(text string) (reason agenttool.Reason, ok bool) {
	switch {
	case len(text) > maxText:
		return agenttool.Reason{Text: fmt.Sprintf("the command line has more than %d bytes", maxText)}, false
	case !utf8.ValidString(text):
		at := 0
		for at < len(text) {
			r, n := utf8.DecodeRuneInString(text[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return reasonAt(text, at, "the command line is not text"), false
	}
	if at := strings.IndexByte(text, 0); at >= 0 {
		return reasonAt(text, at, "there is a NUL byte, at which bash would go on with other text"), false
	}
	if at := joinedComment(text); at >= 0 {
		return reasonAt(text, at, "a possible comment ends in a backslash, which continues no comment in bash"), false
	}
	if at := tooDeep(text); at >= 0 {
		return reasonAt(text, at, "the command line is nested too deeply"), false
	}
	return agenttool.Reason{}, true
}

// fit returns as much of an unfit text as the lenient analysis can look at.
func fit(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), maxText)], "\x00", ""), "?")
	var b strings.Builder
	for at := joinedComment(text); at >= 0; at = joinedComment(text) {
		end := at + strings.IndexByte(text[at:], '\n')
		b.WriteString(text[:at])
		b.WriteByte('\n')
		text = text[end+1:]
	}
	b.WriteString(text)
	return b.String()
}

// reasonAt gives a reason the position of a byte.
func reasonAt(text string, at int, reason string) agenttool.Reason {
	before := text[:at]
	line := strings.Count(before, "\n")
	return agenttool.Reason{Text: reason, Line: line + 1, Column: at - (strings.LastIndexByte(before, '\n') + 1) + 1}
}

// joinedComment returns where a comment, or text that looks like one, ends in a backslash; -1 if nowhere. After such a line the
// parser goes on with the command, while bash begins a new one.
func joinedComment(text string) int {
	for at := 0; ; at++ {
		next := strings.IndexByte(text[at:], '#')
		if next < 0 {
			return -1
		}
		at += next
		if at > 0 && strings.IndexByte(" \t\r\n;&|()<>`", text[at-1]) < 0 {
			continue
		}
		if end := strings.IndexByte(text[at:], '\n'); end > 0 && text[at+end-1] == '\\' {
			return at
		}
	}
}

// tooDeep returns where the brackets are nested beyond what the parser, which recurses, is given; -1 if nowhere.
func tooDeep(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(depth-1, 0)
		}
		if depth > maxBracket {
			return i
		}
	}
	return -1
}

// parseResult is a syntax tree. If failed, stmts are those before the fault; if doubtful as well, bash may read the whole text in
// another way.
type parseResult struct {
	stmts    []*syntax.Stmt
	failed   bool
	doubtful bool
	reason   agenttool.Reason
}

// understood parses a text, and doubts the tree if an outline that is read without the parser is not the same.
func understood(text string) parseResult {
	p := parse(text)
	if p.failed {
		return p
	}
	if reason, ok := disagrees(text, p.stmts); !ok {
		p.failed, p.doubtful, p.reason = true, true, reason
	} else if at := splitsBytes(text); at >= 0 {
		p.failed, p.doubtful, p.reason = true, true, reasonAt(text, at, "in another locale bash may read this in another way")
	}
	return p
}

// splitsBytes returns where a non-ASCII text may select a locale that takes a quote or a backslash for a part of the character
// before it; -1 if nowhere. The locales of the environment do not do that.
func splitsBytes(text string) int {
	if visible.ASCII(text) {
		return -1
	}
	for _, beginning := range [...]string{"LC_", "LANG"} {
		for at := strings.Index(text, beginning); at >= 0; {
			rest := text[at:]
			n := 0
			for n < len(rest) && isNameByte(rest[n]) {
				n++
			}
			value, assigned := strings.CutPrefix(rest[n:], "=")
			behind := strings.TrimLeft(value, localeBytes)
			value = value[:len(value)-len(behind)]
			assigned = assigned && (behind == "" || strings.IndexByte(" \t\n;&|)", behind[0]) >= 0)
			used := at > 0 && (text[at-1] == '$' || strings.HasSuffix(text[:at], "${"))
			if (!assigned || !locale.Plain(value)) && !used && locale.Variable(rest[:n]) {
				return at
			}
			next := strings.Index(rest[n:], beginning)
			if next < 0 {
				break
			}
			at += n + next
		}
	}
	return -1
}

// localeBytes are those of the name of a locale.
const localeBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@-"

// textParser is a parser with its input.
type textParser struct {
	*syntax.Parser
	from strings.Reader
}

var parsers = sync.Pool{New: func() any { return &textParser{Parser: syntax.NewParser(syntax.Variant(syntax.LangBash))} }}

// parse parses a text, whatever it is: a parser that panics has failed.
func parse(text string) (p parseResult) {
	defer func() {
		if recover() != nil {
			p.failed, p.reason = true, agenttool.Reason{Text: "the command line cannot be parsed"}
		}
	}()
	parser := parsers.Get().(*textParser)
	parser.from.Reset(text)
	for stmt, err := range parser.StmtsSeq(&parser.from) {
		if err != nil {
			p.failed, p.reason = true, parseReason(err)
			break
		}
		p.stmts = append(p.stmts, stmt)
	}
	parsers.Put(parser)
	return p
}

func parseReason(err error) agenttool.Reason {
	var fault syntax.ParseError
	var dialect syntax.LangError
	switch {
	case errors.As(err, &fault):
		return agenttool.Reason{Text: "the command line cannot be parsed: " + fault.Text,
			Line: int(fault.Pos.Line()), Column: int(fault.Pos.Col())}
	case errors.As(err, &dialect):
		return agenttool.Reason{Text: "the command line is not bash: " + dialect.Feature,
			Line: int(dialect.Pos.Line()), Column: int(dialect.Pos.Col())}
	}
	return agenttool.Reason{Text: "the command line cannot be parsed: " + err.Error()}
}

func isNameByte(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

const (
	globBytes  = "*?[]\\"
	splitBytes = " \t\n"
)

// joinedLines joins lines at a backslash that no other one escapes.
func joinedLines(text string) string {
	if !strings.Contains(text, "\\\n") {
		return text
	}
	var b strings.Builder
	rest := text
	for rest != "" {
		at := strings.IndexByte(rest, '\\')
		if at < 0 || at+1 >= len(rest) {
			break
		}
		b.WriteString(rest[:at])
		if pair := rest[at : at+2]; pair != "\\\n" {
			b.WriteString(pair)
		}
		rest = rest[at+2:]
	}
	b.WriteString(rest)
	return b.String()
}
