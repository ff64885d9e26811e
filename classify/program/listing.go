package program

import (
	"slices"
	"strings"
)

// Listing describes the output of a command that prints names of files, one on each line.
type Listing struct {
	Names  []Word // each name is described by one of these: Text, Local, Pattern as in Word
	Null   bool   // there is a NUL after each, and no newline
	Index  bool   // they come from git's index, whether the files are there or not
	Passes bool   // it prints lines of its input as they are, and nothing else
}

// Lists says what a use prints. The words are those of the command line, from the program's name on.
func Lists(argv []Word, a *Args, u *Use) Listing {
	if !u.Understood || len(u.Writes)+len(u.Runs) > 0 {
		return Listing{}
	}
	for _, w := range argv {
		if !w.Static && !w.Name {
			return Listing{}
		}
	}
	switch argv[0].Text {
	case "find", "gfind":
		return findNames(argv)
	case "git":
		if len(argv) > 1 && argv[1].Text == a.Argv[0].Text {
			return gitNames(a)
		}
	case "rg":
		return rgNames(a)
	case "grep", "egrep", "fgrep":
		return grepNames(a)
	case "ls":
		return lsNames(a)
	case "head", "tail", "sort", "uniq", "tac", "cat", "shuf":
		return Listing{Passes: len(a.Operands) == 0 && a.only(passing[argv[0].Text])}
	}
	return Listing{}
}

// passing are the options that keep a program printing whole lines of its input.
var passing = map[string]string{
	"head": "-num --lines -n", "tail": "-num --lines -n",
	"sort": `--unique --reverse --numeric-sort --human-numeric-sort --key --version-sort --ignore-case --field-separator
		-u -r -n -h -k -V -f -t`,
	"uniq": "--repeated --unique -d -u", "tac": "", "cat": "", "shuf": "--head-count -n",
}

// only reports whether no other options were given than those of a list.
func (a *Args) only(list string) bool {
	known := strings.Fields(list)
	return !slices.ContainsFunc(a.Options, func(o GivenOption) bool { return !slices.Contains(known, o.Name) })
}

// foundBelow describes the names found below a directory, each with the directory in front.
func foundBelow(dir Word, name string) Word {
	return Word{Text: dir.Text}.matching(QuotePattern(strings.TrimRight(dir.Text, "/")) + "/**/" + name)
}

// here describes the names found below the working directory, with nothing in front.
func here() Word { return Word{Local: true}.matching("**/*") }

// belowAll describes the names found below directories, or below the working directory if there are none.
func belowAll(dirs []Word) []Word {
	if len(dirs) == 0 {
		return []Word{here()}
	}
	var all []Word
	for _, dir := range dirs {
		if dir.Text == "" || !dir.Static || strings.Trim(dir.Text, "/") == "" {
			return nil
		}
		all = append(all, foundBelow(dir, "*"))
	}
	return all
}

func findNames(argv []Word) Listing {
	f := &finder{words: argv[1:], use: &Use{}}
	if f.has("-L", "-H", "-follow", "-ls", "-printf", "-files0-from", "-delete") {
		return Listing{}
	}
	f.options()
	f.paths()
	null := f.has("-print0")
	if null && f.has("-print") {
		return Listing{}
	}
	if len(f.starts) == 0 {
		f.starts = []Word{Lit(".")}
	}
	for _, w := range f.words[f.next:] {
		if !w.Static {
			return Listing{}
		}
	}
	return Listing{Names: belowAll(f.starts), Null: null}
}

func gitNames(a *Args) Listing {
	switch a.Argv[0].Text {
	case "ls-files":
		for _, w := range a.Operands {
			if strings.Contains(w.Text, "..") || strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, ":") {
				return Listing{}
			}
		}
		if a.only("-z --cached --modified --others --exclude-standard --exclude --ignored --deduplicate") {
			return Listing{Names: []Word{here()}, Null: a.Has("-z"), Index: true}
		}
	case "grep":
		pattern := 1
		if a.Has("-e") {
			pattern = 0
		}
		if len(a.Operands) != pattern+afterDashes(a.Argv) || !a.Has("--name-only", "-l") {
			return Listing{}
		}
		if a.only(`--name-only -l --ignore-case --word-regexp --extended-regexp --fixed-strings --perl-regexp -I -i -w -E -F -P -e
			-n --line-number`) {
			return Listing{Names: []Word{here()}}
		}
	}
	return Listing{}
}

func rgNames(a *Args) Listing {
	if !a.Has("--files", "--files-with-matches", "--files-without-match") {
		return Listing{}
	}
	if !a.only(`--files --files-with-matches --files-without-match --glob --iglob --ignore-case --smart-case --fixed-strings
		--word-regexp --hidden --no-ignore --type --type-not --max-depth --sort --regexp --multiline --pcre2`) {
		return Listing{}
	}
	paths := a.Operands
	if !a.Has("--files", "--regexp") && len(paths) > 0 {
		paths = paths[1:]
	}
	return Listing{Names: belowAll(paths)}
}

func grepNames(a *Args) Listing {
	patterns := 1
	if a.Has("--regexp") {
		patterns = 0
	}
	if len(a.Operands) < patterns || a.Has("--file") {
		return Listing{}
	}
	files := a.Operands[patterns:]
	if !a.Has("--files-with-matches", "--files-without-match") {
		passes := a.only(`--regexp --ignore-case -y --invert-match --extended-regexp --fixed-strings --perl-regexp --word-regexp
			--line-regexp`)
		return Listing{Passes: passes && len(files) == 0}
	}
	if !a.only(`--files-with-matches --files-without-match --recursive --regexp --ignore-case -y --invert-match --extended-regexp
		--fixed-strings --perl-regexp --word-regexp --line-regexp --line-number --include --exclude --exclude-dir -I --no-messages`) {
		return Listing{}
	}
	if a.Has("--recursive") {
		return Listing{Names: belowAll(files)}
	}
	return Listing{Names: asNamed(files)}
}

// lsNames lists what ls prints of the working directory, or of files that are named: of a directory it prints what is in it, which a later
// program does not find by that name alone.
func lsNames(a *Args) Listing {
	if !a.only("-1 -t -r -S -U -d --directory --reverse") {
		return Listing{}
	}
	if len(a.Operands) == 0 {
		return Listing{Names: []Word{here()}}
	}
	for _, w := range a.Operands {
		if w.Static || strings.HasPrefix(w.Text, "/") || strings.Contains(w.Text, "..") {
			return Listing{}
		}
	}
	if w := a.Operands[0]; len(a.Operands) == 1 && w.Shape().Pattern != "" {
		flat := !a.Has("--directory")
		return Listing{Names: []Word{Word{Text: w.Text, Local: w.Local}.Shaped(Shape{Pattern: w.Shape().Pattern, Flat: flat})}}
	}
	return Listing{Names: []Word{here()}}
}

// asNamed returns words that stand for the printed form of names.
func asNamed(words []Word) []Word {
	var all []Word
	for _, w := range words {
		if w.Static && (w.Text == "" || w.Text == "-") {
			return nil
		}
		if w.Static {
			w = Word{Text: w.Text}.matching(QuotePattern(w.Text) + "*")
		}
		all = append(all, Word{Text: w.Text, Local: w.Local}.matching(w.Shape().Pattern))
	}
	return all
}
