package program

import (
	_ "embed"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed tools.txt
var toolTable string

// tool describes a program that runs code of the project (a build, the tests, a linter with plugins): the words that can make it
// run other code. The project's own code is not judged here; code that the line names itself is.
//
// Words can name code in three ways. Text that is code has blanks, quotes or other bytes that plain words do not have. Files
// outside the project have an absolute path, or one that begins with ~ or leads up. Programs have plain names: they are passed on
// as commands, for rules that forbid. Options and subcommands whose purpose is to name code do so with any value.
type tool struct {
	code     Words  // options that name code, and subcommands and operands that do
	config   Words  // options whose value is a file of settings
	text     Words  // options whose value is text that runs nothing: a message, a pattern
	data     Words  // options whose value is a path of data, wherever it is
	commands Words  // words after whose options a command stands, to the end: exec
	known    Words  // subcommands; nil: any plain word is fine
	modules  Words  // of -m, each a tool of that name
	scripts  bool   // a subcommand that is not known is a script of the project, or a program of it
	alone    bool   // without words it reads code from its input
	files    bool   // operands name files with code
	runs     bool   // operands are a command
	inner    Words  // operands of the subcommand tool
	foreign  string // there are operands that name code of others, NAME@VERSION or A:B:C, and with this subcommand by any address
	sql      bool   // operands behind the first are text for a database
	defines  bool   // -DNAME=VALUE sets a variable
}

// tools are the entries of the table by name, and their common parts by "define NAME". They are read at the first use.
var tools = sync.OnceValue(func() map[string]*tool {
	byName := map[string]*tool{}
	for text := range strings.SplitSeq(toolTable, "\n\n") {
		t, names := &tool{}, entryNames(text)
		for line := range strings.Lines(text) {
			if line[0] == '\t' {
				word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				t.say(word, rest, byName)
			}
		}
		if strings.HasPrefix(names, "define ") {
			byName[names] = t
			continue
		}
		for name := range strings.FieldsSeq(names) {
			byName[name] = t
		}
	}
	return byName
})

// say takes one line of the table.
func (t *tool) say(word, rest string, parts map[string]*tool) {
	switch word {
	case "also":
	case "foreign":
		t.foreign = rest
	case "like":
		for name, set := range parts["define "+rest].sets() {
			t.add(name, *set)
		}
	case "is":
		flags := map[string]*bool{
			"scripts": &t.scripts, "alone": &t.alone, "files": &t.files, "runs": &t.runs, "sql": &t.sql, "defines": &t.defines,
		}
		for flag := range strings.FieldsSeq(rest) {
			*flags[flag] = true
		}
	default:
		t.add(word, WordSet(rest))
	}
}

// sets are the lists of words by the names that the table gives them.
func (t *tool) sets() map[string]*Words {
	return map[string]*Words{
		"code": &t.code, "config": &t.config, "text": &t.text, "data": &t.data,
		"commands": &t.commands, "known": &t.known, "modules": &t.modules, "inner": &t.inner,
	}
}

func (t *tool) add(name string, words Words) {
	if len(words) == 0 {
		return
	}
	set := t.sets()[name]
	if *set == nil {
		*set = Words{}
	}
	maps.Copy(*set, words)
}

// takesData reports whether an option has a value that is not code.
func (t *tool) takesData(option string) bool {
	return t.text[option] || t.data[option] || t.config[option]
}

// NamedCode is the code that the words of one command line name.
type NamedCode struct {
	Why      string // it names code that is not read, and how; "" if it does not
	At       Word
	Commands [][]Word // commands that it runs
	Scripts  [][]Word // commands that it runs if the project has no script of that name
	Maybe    []Word   // values that may be names of programs
}

func (n *NamedCode) because(why string, at Word) {
	if n.Why == "" {
		n.Why, n.At = why, at
	}
}

// NamesCode returns the code that the words of a program name, for programs that otherwise run only code of the project. For other
// programs it is not ok.
func NamesCode(base string, argv []Word) (n NamedCode, ok bool) {
	t := tools()[base]
	if t == nil || len(argv) == 0 {
		return n, false
	}
	(&naming{tool: t, name: base, words: argv[1:], named: &n}).run()
	return n, true
}

// RunsProject reports whether NamesCode knows the program.
func RunsProject(base string) bool { return tools()[base] != nil }

// naming is the state of one NamesCode.
type naming struct {
	tool  *tool
	name  string
	words []Word // that were not looked at yet
	named *NamedCode

	sub         string // the subcommand
	options     Words  // those so far
	innerTool   bool   // there was an operand of the subcommand tool
	query       bool   // there was one for a database
	afterDashes bool   // the words are for the program that the tool runs
}

func (n *naming) run() {
	if n.tool.alone && len(n.words) == 0 {
		n.named.because(n.name+" reads code from its input", Word{})
	}
	defer func() {
		if n.tool.sql && !n.query {
			n.named.because(n.name+" reads commands from its input", Word{})
		}
	}()
	for len(n.words) > 0 && n.named.Why == "" {
		w := n.words[0]
		n.words = n.words[1:]
		switch {
		case w.Static && w.Text == "--" && !n.afterDashes:
			n.afterDashes = true
			if n.tool.commands["--"] {
				n.command()
			}
		case !w.Static && (w.Many && !w.Glob || w.Text == ""),
			!w.Static && strings.HasPrefix(w.Text, "-") && !strings.Contains(w.Text, "="):
			n.named.because(n.name+": a word that is not known may be an option that names code", w)
		case len(w.Text) > 1 && w.Text[0] == '-' && !n.afterDashes:
			n.option(w)
		default:
			n.operand(w)
		}
	}
}

// option judges an option, with its value.
func (n *naming) option(w Word) {
	name, _, has := strings.Cut(w.Text, "=")
	value := part(w, min(len(name)+1, len(w.Text)))
	t := n.tool
	short := name[:2]
	if n.options == nil {
		n.options = Words{}
	}
	n.options[name] = true
	switch {
	case t.defines && short == "-D" && has && !t.text[name]:
		n.variable(name[2:], value)
	case t.modules != nil && name[1] != '-' && !t.text[short] && strings.ContainsAny(name[1:], "mci"):
		n.module(w)
	case t.commands[name]:
		if !has && len(n.words) > 0 {
			n.text(n.words[0])
			n.words = n.words[1:]
			return
		}
		n.text(value)
	case n.codeOption(name):
		n.named.because(n.name+": the option "+name+" names code or a program", w)
	case t.text[name], t.data[name]:
		if !has && len(n.words) > 0 {
			value, n.words = n.words[0], n.words[1:]
		}
		mayLink := !value.Static || strings.Contains(value.Text, "ext") || strings.Contains(value.Text, "plugin")
		if strings.HasSuffix(name, "flags") && mayLink {
			n.named.because(n.name+": "+name+" may name a linker or a compiler", w)
		}
	case t.config[name]:
		if !has && len(n.words) > 0 {
			value, n.words = n.words[0], n.words[1:]
		}
		n.settings(w, value)
	case len(name) > 2 && name[1] != '-' && (t.text[short] || t.data[short]):
	case n.textGroup(name):
		n.words = n.words[min(1, len(n.words)):]
	case has:
		n.optionValue(value)
	case len(name) > 2 && name[1] != '-':
		n.optionValue(part(w, 2))
	case !plainText(w.Text):
		n.named.because(n.name+": "+spelled(w)+" is no plain word, and may be code", w)
	case len(n.words) > 0 && n.words[0].Static && !strings.HasPrefix(n.words[0].Text, "-") && plainName(n.words[0].Text):
		n.named.Maybe = append(n.named.Maybe, n.words[0]) // which may be its value
	}
}

// codeOption reports whether an option names code: by its name with one dash or two, by a beginning of it, or by its letter.
func (n *naming) codeOption(name string) bool {
	bare := strings.TrimLeft(name, "-")
	if n.tool.code[name] || n.tool.code["-"+bare] || n.tool.code["--"+bare] {
		return true
	}
	if !strings.HasPrefix(name, "--") {
		return len(name) > 2 && (n.signs(bare) || n.tool.code[name[:2]] && !n.tool.takesData(name))
	}
	if n.tool.takesData(name) || len(bare) < 2 || harmlessFlags[name] {
		return false
	}
	if n.signs(bare) {
		return true
	}
	for code := range n.tool.code {
		if strings.HasPrefix(code, name) { // an abbreviation
			return true
		}
	}
	return false
}

// signs reports whether a name looks like that of an option which names code.
func (n *naming) signs(bare string) bool {
	for _, sign := range []string{"plugin", "wrapper", "launcher", "exec", "command", "script", "eval", "hook", "preload", "loader"} {
		if strings.Contains(bare, sign) {
			return !n.tool.takesData("-" + bare)
		}
	}
	return false
}

// harmlessFlags are long options that name no code, although they look as if they did.
var harmlessFlags = WordSet(`--ignore-scripts --no-plugins --no-scripts --no-plugin --no-hooks --test --test-only --watch
	--no-script --skip-hooks`)

// textGroup reports whether the last of some grouped letters takes text: -am.
func (n *naming) textGroup(name string) bool {
	if len(name) < 3 || name[1] == '-' || strings.Trim(name[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return false
	}
	return n.tool.text["-"+name[len(name)-1:]] && n.name == "git"
}

// operand judges a subcommand or an operand.
func (n *naming) operand(w Word) {
	t := n.tool
	first := n.sub == "" && !n.afterDashes
	if first && w.Static {
		n.sub = w.Text
	}
	variable, value, assigns := strings.Cut(w.Text, "=")
	switch {
	case t.runs:
		n.words = append([]Word{w}, n.words...)
		n.command()
	case t.sql && !first:
		n.judgeQuery(w)
	case t.files && !n.options["--test"]:
		n.named.because(n.name+": "+spelled(w)+" is a file with code that is not read", w)
	case t.commands[w.Text] && w.Static && first:
		n.command()
	case t.foreign != "" && (strings.Contains(w.Text, "@") || strings.Count(w.Text, ":") > 1),
		t.foreign != "" && n.sub == t.foreign && !first && !ownPackage(w.Text):
		n.named.because(n.name+": "+spelled(w)+" is code of others", w)
	case t.inner != nil && n.sub == "tool" && !first && !n.innerTool:
		n.innerTool = true
		if !t.inner[w.Text] {
			n.named.because(n.name+" tool: "+spelled(w)+" is not known", w)
		}
	case t.code[w.Text] && w.Static && !n.afterDashes:
		n.named.because(n.name+": "+w.Text+" names code or a program", w)
	case first && w.Static && t.known != nil && !t.known[w.Text] && !t.scripts && !isPath(w.Text):
		n.named.because(n.name+": the subcommand "+w.Text+" is not known", w)
	case first && w.Static && t.scripts && !t.known[w.Text]:
		n.named.Scripts = append(n.named.Scripts, slices.Concat([]Word{w}, n.words))
		n.value(w)
	case assigns && plainVariable(variable):
		given := part(w, len(variable)+1)
		given.Text = value
		n.variable(variable, given)
	default:
		n.value(w)
	}
}

// variable judges a variable that is given to the build.
func (n *naming) variable(name string, value Word) {
	name, _, _ = strings.Cut(strings.TrimRight(name, ":+?"), ":") // NAME:=x of make, NAME:TYPE=x of cmake
	if why := VariableNamesCode(name, value); why != "" {
		n.named.because(why, value)
	}
	n.named.Maybe = append(n.named.Maybe, value)
}

// judgeQuery judges text for sqlite3: a line that begins with a dot is one of its own commands, and a few functions load or write files.
func (n *naming) judgeQuery(w Word) {
	n.query = true
	low := strings.ToLower(w.Text)
	if !w.Static || strings.Contains(low, "load_extension") || strings.Contains(low, "writefile") || strings.Contains(low, "edit(") ||
		strings.Contains(low, "fts3_tokenizer") || strings.Contains(low, "readfile") {
		n.named.because(n.name+": the query may load or run something", w)
	}
	for line := range strings.Lines(low) {
		if strings.HasPrefix(strings.TrimLeft(line, " \t\r\n"), ".") {
			n.named.because(n.name+": "+strings.TrimSpace(line)+" is a command of its own", w)
		}
	}
}

// command takes the rest as a command, behind options.
func (n *naming) command() {
	for len(n.words) > 0 && strings.HasPrefix(n.words[0].Text, "-") {
		w := n.words[0]
		n.words = n.words[1:]
		if w.Text == "--" {
			break
		}
		name, _, _ := strings.Cut(w.Text, "=")
		switch {
		case n.codeOption(name), !w.Static:
			n.named.because(n.name+": the option "+spelled(w)+" names code, or is not known", w)
			return
		case (n.tool.text[name] || n.tool.data[name]) && name == w.Text:
			n.words = n.words[min(1, len(n.words)):]
		}
	}
	if len(n.words) > 0 {
		n.named.Commands = append(n.named.Commands, n.words)
	}
	n.words = nil
}

// text takes a value that is a command line.
func (n *naming) text(w Word) {
	n.named.because(n.name+": "+spelled(w)+" is a command line", w)
}

// module takes the words behind python -m.
func (n *naming) module(w Word) {
	if w.Text != "-m" || len(n.words) == 0 || !n.words[0].Static || !n.tool.modules[n.words[0].Text] {
		n.named.because(n.name+": -m names a module, which is code that is not read", w)
		return
	}
	module := n.words[0].Text
	inner, ok := NamesCode(module, n.words)
	if !ok {
		inner, _ = NamesCode("plain-module", n.words)
	}
	if inner.Why != "" {
		n.named.because(inner.Why, inner.At)
	}
	n.named.Commands = append(n.named.Commands, inner.Commands...)
	n.named.Maybe = append(n.named.Maybe, inner.Maybe...)
	n.words = nil
}

// settings judges the name of a file of settings: one of the project, and no program by its name.
func (n *naming) settings(option, w Word) {
	ending := path.Ext(w.Text)
	switch {
	case !w.Static || outside(w.Text) || !plainText(w.Text):
		n.named.because(n.name+": "+option.Text+" names a file outside the project, or one that is not known", option)
	case strings.HasPrefix(path.Base(w.Text), "Makefile"):
	case !settingsEndings[strings.TrimPrefix(ending, ".")] && !hasPart(path.Base(w.Text), "config") && !hasPart(path.Base(w.Text), "rc"):
		n.named.because(n.name+": "+option.Text+" names a file that may be code: "+w.Text, option)
	}
}

var settingsEndings = WordSet("json jsonc json5 toml yaml yml ini cfg conf properties xml lock neon dist editorconfig")

// hasPart reports whether a file's name is one word, or has it as a part: eslint.config.js, .eslintrc.cjs.
func hasPart(base, word string) bool {
	for piece := range strings.SplitSeq(base, ".") {
		if strings.HasSuffix(piece, word) {
			return true
		}
	}
	return false
}

// value judges a word that is a value or an operand.
func (n *naming) value(w Word) {
	switch {
	case !plainText(w.Text):
		n.named.because(n.name+": "+spelled(w)+" is no plain word, and may be code", w)
	case outside(w.Text):
		n.named.because(n.name+": "+spelled(w)+" is outside the project, and may be code", w)
	case strings.HasPrefix(w.Text, "@"), w.Text == "-":
		n.named.because(n.name+": "+spelled(w)+" stands for words or code that are not read", w)
	}
}

// optionValue judges the value of an option, which may be the name of a program.
func (n *naming) optionValue(w Word) {
	n.value(w)
	if w.Static && plainName(w.Text) {
		n.named.Maybe = append(n.named.Maybe, w)
	}
}

// plainText reports whether a word can be no code: it has no byte that separates or quotes in any language.
func plainText(text string) bool {
	for i := range len(text) {
		c := text[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= 0x80
		if !letter && strings.IndexByte("_-./:,=@+%^~*?[]#", c) < 0 {
			return false
		}
	}
	return true
}

// plainName reports whether a word may be the name of a program.
func plainName(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+") == "" &&
		text[0] != '-' && strings.Trim(text, "0123456789.") != ""
}

func plainVariable(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:+?") == ""
}

// ownPackage reports whether an operand of go run is code of the project.
func ownPackage(text string) bool {
	return strings.HasPrefix(text, ".") || strings.HasSuffix(text, ".go") || !strings.Contains(text, "/")
}

func isPath(text string) bool {
	return strings.HasPrefix(text, ".") || strings.IndexByte(text, '/') >= 0
}

// outside reports whether a word names, or has among its parts, a path that leads out of the directory where the program runs.
func outside(text string) bool {
	for piece := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '=' || r == ':' || r == '%' || r == '^' }) {
		if strings.HasPrefix(piece, "/") || strings.HasPrefix(piece, "~") || slices.Contains(strings.Split(piece, "/"), "..") {
			return true
		}
	}
	return false
}
