package classify

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// settingsAmong gathers the commands that variables and options hold among the words of a wrapper: EDITOR=vi, ProxyCommand=nc.
func (g *extractor) settingsAmong(argv []string, at syntax.Pos) {
	for i, word := range argv[:min(len(argv), maxSplit)] {
		variable, value, ok := strings.Cut(word, "=")
		if ok && plainName(variable) {
			g.setting(variable, value)
		}
		switch {
		case variable == "--entrypoint":
			if !ok && i+1 < len(argv) {
				value = argv[i+1]
			}
			g.argv([]string{value, agenttool.Unread}, at)
		case ok && program.CommandVariable(variable):
			g.text(strings.TrimLeft(value, "!| "), at, false)
		}
	}
}

// byDescription gathers what a program runs by its description, and reports whether that is all that it runs of its words.
func (g *extractor) byDescription(name string, argv []string, at syntax.Pos) bool {
	spec := program.Lookup(name)
	if b := builtins()[name]; b != nil {
		spec = &b.spec
	}
	if spec == nil || g.programDepth >= maxProgramDepth {
		return false
	}
	if name == "command" && len(argv) > 1 && strings.HasPrefix(argv[1], "-") && strings.ContainsAny(argv[1], "vV") {
		return true // it only looks
	}
	g.steps += 1 + len(argv)/64
	defer g.memory.parsing.Free(g.memory.parsing.Mark())
	_, use := g.memory.parsing.Parse(spec, g.asWords(name, argv))
	g.programDepth++
	for _, c := range use.Runs {
		g.runsCommand(c, argv, at)
	}
	g.programDepth--
	return use.Understood && (len(use.Runs) > 0 || !slices.Contains(use.Effects, program.RunsCode))
}

// asWords returns words as descriptions take them. Line is the index of each, plus 1.
func (g *extractor) asWords(name string, argv []string) []program.Word {
	words := g.memory.room(len(argv))[:len(argv)]
	for i, text := range argv {
		known, _, cut := strings.Cut(text, agenttool.Unread)
		words[i] = program.Word{Text: known, Static: !cut, Many: cut && !g.staysOneWord(&argv[i]), Line: i + 1}
	}
	words[0] = program.Word{Text: name, Static: true, Line: 1}
	return words
}

// staysOneWord reports whether an unknown word of the current command is known to stay one word.
func (g *extractor) staysOneWord(word *string) bool {
	for i := range min(len(g.words), 64) {
		if &g.words[i] == word {
			return g.singleWords>>i&1 == 1
		}
	}
	return false
}

// runsCommand gathers one command that a program runs, whose words came from argv.
func (g *extractor) runsCommand(c program.Command, argv []string, at syntax.Pos) {
	if c.Shell != nil {
		text := shellOf(c, argv)
		g.text(text, at, true)
		if from := c.Shell.Line - 1; from > 0 && takesArguments(text) {
			g.behindWrapper(argv[from:], at)
		}
		return
	}
	inner := spelledAgain(c.Argv, argv)
	if c.More { // words that are not known may follow
		if len(inner) > 0 {
			g.mention(inner)
		}
		inner = append(inner[:len(inner):len(inner)], agenttool.Unread)
	}
	g.argv(inner, at)
}

// shellOf returns the text that a word is for a shell: the word itself, a part of it, or that word and all after it.
func shellOf(c program.Command, argv []string) string {
	text := *c.Shell
	at := text.Line - 1
	switch {
	case text.Static || at < 0 || at >= len(argv):
		return text.Text
	case c.Joined:
		return strings.Join(argv[at:], " ")
	case strings.HasPrefix(argv[at], text.Text):
		return argv[at]
	}
	return text.Text + agenttool.Unread
}

// takesArguments reports whether a text for a shell has $@, $1 or their like, which the words after it may become.
func takesArguments(text string) bool {
	for at := strings.IndexByte(text, '$'); at >= 0 && at+1 < len(text); {
		text = text[at+1:]
		if strings.IndexByte("@*{0123456789", text[0]) >= 0 {
			return true
		}
		at = strings.IndexByte(text, '$')
	}
	return false
}

// spelledAgain returns words as argv spells them, as a part of it if they are one.
func spelledAgain(words []program.Word, argv []string) []string {
	from := 0
	if len(words) > 0 {
		from = words[0].Line - 1
	}
	if from > 0 && from+len(words) <= len(argv) && !slices.ContainsFunc(words, replaces(argv)) &&
		words[len(words)-1].Line == from+len(words) {
		return argv[from : from+len(words) : from+len(words)]
	}
	list := make([]string, len(words))
	for i, w := range words {
		switch {
		case !replaces(argv)(w):
			list[i] = argv[w.Line-1]
		case w.Static:
			list[i] = w.Text
		default:
			list[i] = w.Text + agenttool.Unread
		}
	}
	return list
}

// replaces returns a function that reports whether a word differs from its source in argv.
func replaces(argv []string) func(program.Word) bool {
	return func(w program.Word) bool {
		if w.Line < 1 || w.Line > len(argv) {
			return true
		}
		known, _, cut := strings.Cut(argv[w.Line-1], agenttool.Unread)
		return w.Text != known || w.Static == cut
	}
}

// behindWrapper gathers the words after the first; a command begins at one of them.
func (g *extractor) behindWrapper(argv []string, at syntax.Pos) {
	for i := 1; i < len(argv) && g.steps <= maxLooks && len(g.mentions) < maxMentions; i++ {
		if text := unglued(argv[i]); strings.ContainsAny(text, " \n;|&") {
			g.text(text, at, false)
		}
		rest := suffix(argv, i)
		if rest == nil {
			continue
		}
		g.mention(rest)
		if strings.Contains(rest[0], agenttool.Unread) && rest[0] != agenttool.Unread {
			g.mention(append([]string{agenttool.Unread}, rest[1:]...)) // it may become several words
		}
		base := path.Base(rest[0])
		g.destroys(base, rest, at)
		if c := carries(base); c.Text != "" || c.Within || g.runners[base] {
			g.behind(rest, at)
		}
	}
	g.incomplete = g.incomplete || len(g.mentions) >= maxMentions
}

// suffix returns the words from one on as a command, nil if that is an option alone.
func suffix(argv []string, i int) []string {
	switch word := unglued(argv[i]); {
	case word == "" || word[0] == '-':
		return nil
	case word != argv[i]:
		return append([]string{word}, argv[i+1:min(len(argv), i+maxSplit)]...)
	}
	return argv[i:]
}

// maxSplit is how many words of one command are taken from a text that cannot be parsed.
const maxSplit = 64

// commandPart returns the index of the word before the first that may be a part of a command, -1 if there is none.
func commandPart(carried program.CarriedCode, argv []string) int {
	if len(carried.Behind) > 0 || carried.Never {
		return indexOf(argv, carried.Behind...)
	}
	return 0
}

// startsOthers reports whether a program runs commands that are among its words, or in text among them.
func startsOthers(name string) bool {
	c := carries(name)
	return c.Command || c.Text == program.ShellText
}

// indexOf returns the index of the first word that is one of those, or may be, or before one that begins with one and =; -1 if
// there is none.
func indexOf(argv []string, names ...string) int {
	for i, word := range argv {
		for _, name := range names {
			switch rest, ok := strings.CutPrefix(word, name); {
			case word == name, strings.HasPrefix(word, agenttool.Unread):
				return i
			case ok && rest[0] == '=':
				return max(i-1, 0)
			}
		}
	}
	return -1
}

// unglued returns the value of an option that stands in the same word, or the word if there is none: --split-string=rm,
// -Srm, -vS'rm x'.
func unglued(word string) string {
	if !strings.HasPrefix(word, "-") || len(word) < 3 {
		return word
	}
	if _, value, ok := strings.Cut(word, "="); ok {
		return value
	}
	if at := strings.IndexByte(word, 'S'); at > 0 && at < 5 && word[1] != '-' {
		return word[at+1:]
	}
	if !strings.HasPrefix(word, "--") && strings.ContainsAny(word, splitBytes) {
		return word[2:]
	}
	return word
}
