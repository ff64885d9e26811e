package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// takes looks at the words of a command that takes text in some language: of a shell, a script, a database, an editor.
func (g *extractor) takes(by program.Language, name string, argv []string, at syntax.Pos) {
	switch by {
	case program.ShellText:
		for _, whole := range argv[1:] {
			if word := unglued(whole); !strings.HasPrefix(word, "-") {
				g.text(word, at, false)
			}
		}
	case program.SubscriptText:
		for i, word := range argv[1:] {
			if g.evaluated(word, at); argv[i] == "-C" { // of mapfile
				g.text(word, at, true)
			}
		}
	case program.AliasText:
		for _, word := range argv[1:] {
			_, value, _ := strings.Cut(word, "=")
			g.text(value, at, false)
		}
	case program.GitText:
		g.git(argv, at)
	case program.FilterText:
		g.filter(name, argv, at)
	case program.ScriptText, program.QueryText, program.EditorText:
		for _, word := range argv[1:] {
			g.fed(by, word, at, false)
		}
	}
}

// fed looks at text that a program takes, as a word or on stdin.
func (g *extractor) fed(by program.Language, text string, at syntax.Pos, surely bool) {
	switch by {
	case program.ShellText:
		if surely {
			g.runsText(text, at)
			return
		}
		g.text(text, at, false)
	case program.ScriptText:
		g.script(text, at)
	case program.QueryText:
		g.add(destroysQuery(text), at)
	case program.EditorText:
		if _, command, ok := strings.Cut(text, "!"); ok {
			g.text(command, at, false)
		}
		g.script(text, at)
	}
}

// destroysQuery returns the destructive statement in the text of a database query.
func destroysQuery(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r < 0x80
	})
	for i, word := range words {
		after := ""
		if i+1 < len(words) {
			after = words[i+1]
		}
		switch {
		case word == "drop" && after != "", word == "truncate" && after != "", word == "delete" && after == "from",
			word == "flushall", word == "flushdb":
			return "the query removes data: " + word
		}
	}
	return ""
}

// script looks at a program in Python, Perl, JavaScript, Ruby or PHP: for calls that remove files, and if it runs
// commands at all, at its strings.
func (g *extractor) script(text string, at syntax.Pos) {
	for _, call := range removingCalls {
		if strings.Contains(text, call) {
			g.add("the script removes files: "+call, at)
			break
		}
	}
	for _, call := range runningCalls {
		if strings.Contains(text, call) {
			g.pieces(text, "'\"`{}", at)
			g.lists(text, at)
			return
		}
	}
}

// pieces looks at each piece of a text between some bytes.
func (g *extractor) pieces(text, between string, at syntax.Pos) {
	for _, piece := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(between, r) }) {
		if strings.Trim(piece, " ,;:()[]") != "" {
			g.text(piece, at, false)
		}
	}
}

// lists gathers the strings of a script between which there are only commas, as words of a command: ["git", "push"].
func (g *extractor) lists(text string, at syntax.Pos) {
	var argv []string
	for {
		open := strings.IndexAny(text, `'"`)
		if open < 0 {
			break
		}
		if strings.Trim(text[:open], " \t\n,") != "" {
			g.argv(argv, at)
			argv = nil
		}
		close := strings.IndexByte(text[open+1:], text[open])
		if close < 0 {
			break
		}
		argv = append(argv, text[open+1:open+1+close])
		text = text[open+1+close+1:]
	}
	g.argv(argv, at)
}

// git looks at settings whose values are commands, and at the commands of subcommands that run some.
func (g *extractor) git(argv []string, at syntax.Pos) {
	sub, rest := program.Subcommand(program.Lookup("git"), argv[1:])
	for i, word := range argv[1:] {
		switch {
		case strings.HasPrefix(word, "!"): // the body of an alias
			g.text(word[1:], at, false)
		case argv[i] == "-c":
			name, value, _ := strings.Cut(word, "=")
			g.gitSetting(name, value, at)
		case sub == "config" && i > 0 && strings.Contains(argv[i], "."):
			g.gitSetting(argv[i], word, at)
		}
	}
	words := argv[len(argv)-len(rest):]
	switch sub {
	case "bisect":
		g.argv(behindWord(words, "run"), at)
	case "submodule":
		g.text(strings.Join(behindWord(words, "foreach"), " "), at, true)
	case "rebase", "difftool", "filter-branch", "for-each-repo":
		g.wrapped(argv[len(argv)-len(rest)-1:], at)
	}
}

// behindWord returns the words behind one, without the options that follow it.
func behindWord(argv []string, name string) []string {
	at := slices.Index(argv, name) + 1
	for at > 0 && at < len(argv) && strings.HasPrefix(argv[at], "-") {
		at++
	}
	if at == 0 {
		return nil
	}
	return argv[at:]
}

// gitSetting looks at a setting of git, which may be a command or an alias.
func (g *extractor) gitSetting(name, value string, at syntax.Pos) {
	command, isShell := strings.CutPrefix(value, "!")
	if strings.HasPrefix(strings.ToLower(name), "alias.") && !isShell {
		command = "git " + value
	}
	g.text(command, at, false)
}

// filter looks at the commands in a script of sed or awk.
func (g *extractor) filter(name string, argv []string, at syntax.Pos) {
	spec := program.Lookup(name)
	if spec == nil || len(argv) > maxScanned {
		g.over = true
		return
	}
	defer g.memory.parsing.Free(g.memory.parsing.Mark())
	_, use := g.memory.parsing.Parse(spec, g.asWords(name, argv))
	for _, c := range use.Runs {
		if c.Shell != nil {
			g.text(c.Shell.Text, at, false)
		}
	}
	if use.Has(program.RunsCode) {
		g.generated(argv, at)
	}
}

// generated looks at the strings in a script of sed or awk, whose output may be commands.
func (g *extractor) generated(argv []string, at syntax.Pos) {
	for _, word := range argv[1:] {
		g.pieces(word, `/"|,#;{}()$`, at)
	}
}

// removingCalls are spellings of calls in scripts that remove files or data.
var removingCalls = []string{
	"rmtree", "os.remove", "os.unlink", "os.rmdir", "os.removedirs", ".unlink(", "unlink(", "unlink ", "unlinkSync",
	"fs.rm", "rmSync", "rmdir", "rimraf", "FileUtils.rm", "FileUtils.remove", "File.delete", "Dir.delete", ".rmtree",
	"remove_tree", "Deno.remove", "dropDatabase(", ".drop()", ".deleteMany(", ".deleteOne(",
}

// runningCalls are spellings of calls in scripts that run commands; the commands are among the script's strings.
var runningCalls = []string{
	"system", "popen", "Popen", "subprocess", "exec", "spawn", "`", "%x", "qx", "passthru", "Open3", "do shell script",
	"Deno.Command",
}
