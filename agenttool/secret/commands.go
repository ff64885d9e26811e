package secret

import (
	"bytes"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// commandsList is the table of options and operands that hold a secret. Its first lines explain it.
//
//go:embed lists/commands.txt
var commandsList string

// KindArgument is a secret that a command line gives to a program.
const KindArgument = "argument"

// takes is one row of the table: what holds a secret in the words of a command.
type takes struct {
	sub    []string // subcommands that must come first, in this order
	holder []holder
}

// holder is one thing that holds a secret.
type holder struct {
	option string // "-p", "--password", "/p:"; "" for an operand or for what is piped in
	joined bool   // only in the option's own word
	apart  bool   // only in the next word
	split  string // the secret stands behind this text in the value; "" for all of the value
	named  bool   // the value is NAME=secret, and the name says so

	operand int    // 1 for the first; -1 for the last, 0 for none
	each    bool   // every operand NAME=secret
	pairs   bool   // every operand behind one that is NAME
	with    string // a letter among the short options that must be there

	piped bool // what is piped in, if with is one of the words or ""
}

// commandTable is the table by the name of the program.
var commandTable = sync.OnceValue(func() map[string][]takes {
	table := map[string][]takes{}
	for line := range strings.Lines(commandsList) {
		line = strings.TrimSpace(line)
		commands, holders, ok := cutLast(line)
		if line == "" || line[0] == '#' || !ok {
			continue
		}
		var all []holder
		for word := range strings.FieldsSeq(holders) {
			all = append(all, holderOf(word))
		}
		for command := range strings.SplitSeq(commands, ",") {
			words := strings.Fields(command)
			table[words[0]] = append(table[words[0]], takes{words[1:], all})
		}
	}
	return table
})

// cutLast cuts a row at the colon behind its commands.
func cutLast(line string) (commands, holders string, ok bool) { return strings.Cut(line, ": ") }

// holderOf reads one holder of a row.
func holderOf(word string) (h holder) {
	switch {
	case word[0] == '<':
		h.piped, h.with = true, word[1:]
	case word == "$*=":
		h.each = true
	case word == "$+":
		h.pairs = true
	case word[0] == '$':
		number, with, _ := strings.Cut(word[1:], "?")
		h.with = with
		digits := strings.TrimRight(number, "/")
		h.split = number[len(digits):]
		h.operand, _ = strconv.Atoi(digits)
	case strings.Contains(word, "!"):
		h.option, h.split, _ = strings.Cut(word, "!")
	case word[0] == '/':
		h.option, h.joined = word, true
	default:
		h.option = strings.TrimRight(word, "~^:%,=")
		switch sign := word[len(h.option):]; sign {
		case "":
		case "~":
			h.joined = true
		case "^":
			h.apart = true
		case "=":
			h.named = true
		default:
			h.split = sign
		}
	}
	return h
}

// commandForms are the forms of command lines. An option is looked for, and then the program before it: names of programs are words of every
// text, and options are rare. The commands that have no options are looked for by their names.
func commandForms() []form {
	var options, names []string
	for program, rules := range commandTable() {
		for _, rule := range rules {
			for _, h := range rule.holder {
				switch {
				case h.option != "":
					options = append(options, " "+h.option, `"`+h.option)
				case h.piped && h.with != "":
					options = append(options, " "+h.with)
				case h.with == "":
					words := append([]string{program}, rule.sub...)
					names = append(names, strings.Join(words, " "), strings.Join(words, `","`))
				default:
					options = append(options, " -"+h.with, `"-`+h.with, " -n"+h.with, " -c"+h.with)
				}
			}
		}
	}
	for _, all := range []*[]string{&options, &names} {
		slices.Sort(*all)
		*all = slices.Compact(*all)
	}
	return []form{
		{kind: KindArgument, literals: options, all: option, quick: isOption},
		{kind: KindArgument, literals: names, all: command, quick: func(b []byte, at, n int) bool { return commandEnds(b, at+n) }},
	}
}

// maxBefore bounds the text before an option that is searched for the program that it belongs to.
const maxBefore = 4 << 10

// programsBefore yields the places of the names of programs in the line before at, the nearest first.
func programsBefore(b []byte, at int) func(yield func(from, to int) bool) {
	return func(yield func(int, int) bool) {
		for i := at; i > 0 && at-i < maxBefore; {
			for i > 0 && !dashed[b[i-1]] {
				if i--; b[i] == '\n' && (i == 0 || b[i-1] != '\\') {
					return
				}
			}
			end := i
			for i > 0 && dashed[b[i-1]] {
				i--
			}
			if i < end && b[i] >= '0' && len(commandTable()[string(b[i:end])]) > 0 && !yield(i, end) {
				return
			}
			if i < end && i > 0 && b[i-1] == '\\' && len(commandTable()[string(b[i+1:end])]) > 0 && !yield(i+1, end) { // behind an escape of JSON
				return
			}
		}
	}
}

// option finds the secrets of the commands that have the option at b[at:at+n].
func option(b []byte, at, _ int, add func(start, end int)) {
	for from, to := range programsBefore(b, at) {
		command(b, from, to-from, add)
	}
}

// isOption reports whether a program that has options with secrets stands before an option.
func isOption(b []byte, at, _ int) bool {
	for range programsBefore(b, at) {
		return true
	}
	return false
}

// shellWord is a word of a command line, with the place of its text.
type shellWord struct {
	text       string
	start, end int
}

// Bounds of the command line that is read behind the name of a program.
const (
	maxCommand = 8 << 10
	maxWords   = 512
)

// command finds the secrets of a command line that begins with the name of a program at b[at:at+n].
func command(b []byte, at, n int, add func(start, end int)) {
	name := string(b[at : at+dashed.run(b[at:at+n], 0)]) // without the subcommands
	after := at + len(name)
	if !commandBegins(b, at) || !commandEnds(b, after) {
		return
	}
	quote := byte(0)
	if at > 0 && (b[at-1] == '"' || b[at-1] == '\'' || b[at-1] == '`') {
		quote = b[at-1]
	}
	if after < len(b) && b[after] == quote && quote != '`' {
		after++
	}
	words := wordsOf(b[:min(len(b), after+maxCommand)], after, quote)
	for _, rule := range commandTable()[name] {
		rule.secrets(words, func(w shellWord, start, end int) { add(w.start+start, w.start+end) })
		for _, h := range rule.holder {
			if h.piped && subEnd(rule.sub, words) >= 0 && (h.with == "" || slices.ContainsFunc(words, func(w shellWord) bool { return w.text == h.with })) {
				piped(b, at, after, add)
			}
		}
	}
}

// commandBegins reports whether a program's name may begin at i.
func commandBegins(b []byte, i int) bool {
	return alone(b, i) && (i == 0 || b[i-1] != '-' && b[i-1] != '.' && b[i-1] != '@' && b[i-1] != ':')
}

// Argument is a secret in one of the words of a command: its bytes from Start to End.
type Argument struct{ Word, Start, End int }

// Arguments returns the secrets in the words of a command, which may begin with wrappers such as sudo and env.
func Arguments(argv []string) (found []Argument) {
	for i, name := range argv[:min(len(argv), maxWords)] {
		rules := commandTable()[name[strings.LastIndexByte(name, '/')+1:]]
		if len(rules) == 0 {
			continue
		}
		words := make([]shellWord, 0, len(argv)-i-1)
		for at, text := range argv[i+1 : min(len(argv), maxWords)] {
			words = append(words, shellWord{text, i + 1 + at, 0})
		}
		for _, rule := range rules {
			rule.secrets(words, func(w shellWord, start, end int) { found = append(found, Argument{w.start, start, end}) })
		}
	}
	return found
}

// subEnd returns the index behind the subcommands; -1 if the words do not begin with them, but for options and their values.
func subEnd(sub []string, words []shellWord) int {
	next := 0
	for i, w := range words {
		switch {
		case next == len(sub):
			return i
		case w.text == sub[next]:
			next++
		case strings.HasPrefix(w.text, "-"), i > 0 && strings.HasPrefix(words[i-1].text, "-"):
		default:
			return -1
		}
	}
	if next == len(sub) {
		return len(words)
	}
	return -1
}

// secrets calls add for each secret in the words behind a program's name.
func (t takes) secrets(words []shellWord, add func(w shellWord, start, end int)) {
	from := subEnd(t.sub, words)
	if from < 0 {
		return
	}
	taken := map[int]bool{} // values of options
	for i := range words {
		for _, h := range t.holder {
			value, start, next := h.valueAt(words, i)
			if start < 0 {
				continue
			}
			taken[next] = next != i
			if cut, ok := h.secretIn(value.text[start:]); ok {
				add(value, start+cut, start+cut+len(secretPart(value.text[start+cut:], h)))
			}
		}
	}
	var operands []shellWord
	short := ""
	for i, w := range words[from:] {
		switch {
		case len(w.text) > 1 && w.text[0] == '-':
			if w.text[1] != '-' {
				short += w.text[1:]
			}
		case !taken[from+i]:
			operands = append(operands, w)
		}
	}
	for _, h := range t.holder {
		if h.with != "" && !h.piped && !strings.Contains(short, h.with) {
			continue
		}
		for i, w := range operands {
			last := h.operand == -1 && i == len(operands)-1
			paired := h.pairs && i > 0 && announces(operands[i-1].text)
			if !h.each && h.operand != i+1 && !last && !paired {
				continue
			}
			if cut, ok := h.secretIn(w.text); ok {
				add(w, cut, cut+len(secretPart(w.text[cut:], h)))
			}
		}
	}
}

// valueAt returns the word that has the value of the option, if the word i is that option, where the value begins in it, and the index of
// that word. start is -1 if it is not.
func (h holder) valueAt(words []shellWord, i int) (value shellWord, start, at int) {
	w := words[i]
	if h.option == "" || !strings.HasPrefix(w.text, h.option) {
		return w, -1, i
	}
	rest := w.text[len(h.option):]
	switch {
	case rest == "" && !h.joined && i+1 < len(words) && !strings.HasPrefix(words[i+1].text, "-"):
		return words[i+1], 0, i + 1
	case rest == "":
		return w, -1, i
	case rest[0] == '=':
		return w, len(h.option) + 1, i
	case h.apart, strings.HasPrefix(h.option, "--") || len(h.option) > 2 && h.option[0] == '-': // a longer option
		return w, -1, i
	}
	return w, len(h.option), i
}

// secretIn returns where the secret begins in a value, and whether there is one.
func (h holder) secretIn(value string) (start int, ok bool) {
	if h.named || h.each {
		name, _, has := strings.Cut(value, "=")
		if start = len(name) + 1; !has || !announces(name) {
			return 0, false
		}
	} else if h.split != "" {
		i := strings.Index(value, h.split)
		if start = i + len(h.split); i < 0 {
			return 0, false
		}
	}
	if start < len(value) && (value[start] == '\'' || value[start] == '"') {
		start++
	}
	return start, !noArgument(secretPart(value[start:], h))
}

// secretPart is the beginning of a text that is the secret: an option that holds a list ends at a comma, a login of a database at an @.
func secretPart(text string, h holder) string {
	switch {
	case len(h.split) > 1:
		text, _, _ = strings.Cut(text, ",")
	case h.split == "/":
		text, _, _ = strings.Cut(text, "@")
	}
	return text
}

// leastArgument is the smallest length of a secret in a place that a command has for one.
const leastArgument = 3

// noArgument reports whether what stands in such a place is no secret: a reference, a file, a word for the secret.
func noArgument(value string) bool {
	if len(value) < leastArgument || strings.ContainsRune("$<{[(%@`", rune(value[0])) || strings.Contains(value, "$(") {
		return true
	}
	if len(value) >= leastValue {
		return Placeholder([]byte(value))
	}
	switch strings.ToLower(value) {
	case "pass", "pwd", "pw", "user", "token", "xxx", "***", "key", "...", "null", "none", "true", "false":
		return true
	}
	return same([]byte(value))
}

// announces reports whether a name says that its value is a secret: password, db.password, API_KEY, apiToken.
func announces(name string) bool {
	if Variable(name) || Member([]byte(name[strings.LastIndexAny(name, ".:/")+1:])) {
		return true
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"pass", "password", "passwd", "secret", "token", "apikey", "api_key", "api-key", "_auth", "pwd", "_key"},
		func(end string) bool { return strings.HasSuffix(name, end) })
}

// wordsOf splits the rest of a command line into words, from i to the end of the command. quote is the one that encloses the line.
func wordsOf(b []byte, i int, quote byte) (words []shellWord) {
	for len(words) < maxWords {
		for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\\' && i+1 < len(b) && b[i+1] == '\n' || i > 0 && b[i] == '\n' && b[i-1] == '\\') {
			i++
		}
		start := i
		i = wordEnd(b, i, quote)
		if i == start {
			return words
		}
		words = append(words, unquoted(b, start, i))
	}
	return words
}

// wordEnd returns the end of a word of a shell.
func wordEnd(b []byte, i int, quote byte) int {
	for i < len(b) {
		switch c := b[i]; {
		case c == quote && quote != 0, c == '`', bytes.IndexByte([]byte(" \t\n;|&)"), c) >= 0:
			return i
		case c == '\'' || c == '"':
			end := bytes.IndexByte(b[i+1:], c)
			if end < 0 || bytes.IndexByte(b[i+1:i+1+end], '\n') >= 0 {
				return i
			}
			i += end + 2
		case c == '\\' && i+1 < len(b) && b[i+1] == '"' || c == '\\' && i+1 < len(b) && b[i+1] == 'n' && quote == '"':
			return i
		case c == '\\' && i+1 < len(b) && b[i+1] != '\n':
			i += 2
		case c == '\\':
			return i
		default:
			i++
		}
	}
	return i
}

// unquoted returns a word without the quotes around it, or around what stands behind its first sign.
func unquoted(b []byte, start, end int) shellWord {
	text := b[start:end]
	if len(text) > 1 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0] {
		return shellWord{string(text[1 : len(text)-1]), start + 1, end - 1}
	}
	if len(text) > 1 && (text[len(text)-1] == '\'' || text[len(text)-1] == '"') {
		end-- // the opening one stands within: what is found behind it begins one byte late at most
		text = b[start:end]
	}
	return shellWord{string(text), start, end}
}

// piped finds what echo or printf pipes into the command at b[at:], or what follows <<< behind it.
func piped(b []byte, at, after int, add func(start, end int)) {
	line := bytes.LastIndexByte(b[:at], '\n') + 1
	before := b[line:at]
	if bar := bytes.LastIndexByte(before, '|'); bar >= 0 && len(bytes.TrimSpace(before[bar+1:])) < 40 {
		from := 0
		for _, name := range []string{"echo ", "printf "} {
			if i := bytes.LastIndex(before[:bar], []byte(name)); i >= 0 {
				from = max(from, i+len(name))
			}
		}
		if from > 0 {
			words := wordsOf(b[:line+bar], line+from, 0)
			if len(words) > 0 {
				last := words[len(words)-1]
				text := strings.TrimSuffix(last.text, `\n`)
				_, behind, login := strings.Cut(text, ":")
				if login && string(b[at:min(len(b), at+8)]) == "chpasswd" {
					last.start += len(text) - len(behind)
					text = behind
				}
				if !noArgument(text) {
					add(last.start, last.start+len(text))
				}
			}
		}
	}
	rest := b[after:]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	if i := bytes.Index(rest, []byte("<<<")); i >= 0 {
		if words := wordsOf(b[:after+len(rest)], after+i+3, 0); len(words) > 0 && !noArgument(words[0].text) {
			add(words[0].start, words[0].start+len(words[0].text))
		}
	}
}

// commandEnds reports whether the name of a program may end before i.
func commandEnds(b []byte, i int) bool {
	return i >= len(b) || bytes.IndexByte([]byte(" \t\n\\\"';&|)`"), b[i]) >= 0
}
