package classify

import (
	"path"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// read records that a path is read.
func (sh *shell) read(word program.Word) { sh.visit(contents, word) }

// look records that the name and the attributes of a path are read.
func (sh *shell) look(word program.Word) { sh.visit(names, word) }

func (sh *shell) visit(how access, word program.Word) {
	if sh.quiet > 0 || sh.remote > 0 {
		return
	}
	if !word.Static {
		missing := sh.match(how, word)
		sh.note(missing)
		if missing.has(incomplete | matched) {
			why := "`" + sh.spelled(word) + "` may name a file outside the workspace"
			if word.Unquoted {
				why = sh.wantsQuotes(word)
			}
			sh.factAt("paths_complete", why, word)
		}
		slash := strings.Contains(word.Text, "/")
		if slash {
			sh.special(globDir(word.Text), word)
		}
		if word.Glob || slash {
			sh.named(how, program.Lit(globDir(word.Text)))
		}
		return
	}
	if word.Text == "" || stream(word.Text) {
		return
	}
	sh.special(word.Text, word)
	if how == contents {
		sh.readsEndless(word.Text, word)
	}
	sh.named(how, word)
}

// special notes a path that is no ordinary file: a device, or the kernel's information about the machine.
func (sh *shell) special(text string, at program.Word) {
	if strings.HasPrefix(text, "/") {
		sh.kernel(text, at)
		return
	}
	for _, dir := range sh.scope.dirs {
		if strings.Contains(text, "..") || dir == "/" || below(dir, "/dev") || below(dir, "/proc") || below(dir, "/sys") {
			sh.kernel(strings.TrimSuffix(dir, "/")+"/"+text, at)
		}
	}
}

func (sh *shell) kernel(full string, at program.Word) {
	switch clean := path.Clean(full); {
	case below(clean, "/dev") && (clean != "/dev" || !at.Static) && !quietDevice(clean):
		sh.strange("`"+clean+"` is a device, and the effect of reading it is not known", at)
	case (below(clean, "/proc") || below(clean, "/sys")) && !ownProcess(clean, full):
		sh.note(observes)
	}
}

// ownProcess reports whether a path is one of those below /proc/self that tell of the command itself, spelt without
// detours: some of the names there are links.
func ownProcess(clean, full string) bool {
	if clean == "/proc/mounts" && full == clean { // a link to self/mounts
		return true
	}
	name, ok := strings.CutPrefix(clean, "/proc/self/")
	switch name {
	case "auxv", "cgroup", "cmdline", "comm", "environ", "io", "limits", "maps", "mountinfo", "mounts", "smaps", "stat", "statm",
		"status":
		return ok && !strings.Contains(full, "..")
	}
	return false
}

// write records that a path is made or changed; cuts if what was in it may be lost. The sentence that says so is made by the program
// that writes; nil: by a redirection.
func (sh *shell) write(word program.Word, cuts bool, by func(what string) string) {
	if word.Static && (stream(word.Text) || word.Text == "/dev/null" || word.Text == "/dev/tty") {
		return
	}
	sh.note(writes | mayDestroy.when(cuts))
	if !word.Static {
		sh.note(incomplete.when(sh.remote == 0))
		sh.factAt("read_only", "`"+sh.spelled(word)+"` may name any file, and it is written: use a literal path", word)
		return
	}
	switch {
	case by != nil:
		sh.factAt("read_only", by("writes "+word.Text), word)
	default:
		sh.factAt("read_only", "the redirection writes "+word.Text, word)
	}
	sh.named(written, word)
}

// list records that a directory is listed for a glob.
func (sh *shell) list(word program.Word) {
	dir := globDir(word.Text)
	if sh.quiet == 0 && sh.remote == 0 {
		sh.special(dir, program.Lit(dir))
	}
	sh.named(names, program.Lit(dir))
}

// named appends a path as it is in each directory that may be the working directory.
func (sh *shell) named(how access, word program.Word) {
	if sh.quiet > 0 || sh.remote > 0 {
		return
	}
	text := word.Text
	if strings.HasPrefix(text, "/") {
		sh.add(how, word, text)
		return
	}
	if len(sh.scope.dirs) == 0 {
		sh.note(incomplete)
		sh.factAt("paths_complete", "`"+text+"` is relative to a directory that is not known", word)
		return
	}
	for _, dir := range sh.scope.dirs {
		sh.add(how, word, strings.TrimSuffix(dir, "/")+"/"+text)
	}
}

// globDir returns the directory that is listed for a glob which begins with text.
func globDir(text string) string {
	switch i := strings.LastIndexByte(text, '/'); i {
	case -1:
		return "."
	case 0:
		return "/"
	default:
		return text[:i]
	}
}

// stream reports whether a path is one of the streams that the command has anyway.
func stream(text string) bool {
	switch text {
	case "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return true
	}
	fd, ok := strings.CutPrefix(text, "/dev/fd/")
	return ok && program.Digits(fd)
}

func quietDevice(text string) bool {
	switch text {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom":
		return true
	}
	return false
}

func below(text, dir string) bool {
	return strings.HasPrefix(text, dir) && (len(text) == len(dir) || text[len(dir)] == '/')
}

// match records the pattern of a word that is known by it alone, and returns the resulting findings.
func (sh *shell) match(how access, word program.Word) tally {
	shape := word.Shape()
	if shape.Pattern == "" || !cutNowhere(word) || sh.toucher() == 0 && sh.disk == nil || len(sh.scope.dirs) == 0 {
		return incomplete
	}
	g := agenttool.Glob{Pattern: shape.Pattern, By: sh.toucher(), Names: how == names, Without: shape.Without, Flat: shape.Flat, Index: sh.indexed}
	if word.Name && word.Text == "" {
		g.First = sh.notFirst()
	}
	dirs := sh.scope.dirs
	if strings.HasPrefix(g.Pattern, "/") {
		dirs = dirs[:1]
	}
	for _, dir := range dirs {
		at := g
		if !strings.HasPrefix(g.Pattern, "/") {
			at.Pattern = program.QuotePattern(strings.TrimSuffix(dir, "/")) + "/" + g.Pattern
		}
		switch {
		case slices.Contains(sh.globs, at):
		case len(sh.globs) >= maxGlobs:
			return incomplete
		default:
			sh.globs = append(sh.globs, at)
		}
	}
	return matched
}

const maxGlobs = 16

// cutNowhere reports whether the text of a word is still what its pattern begins with: a program may take the one apart.
func cutNowhere(word program.Word) bool {
	rest, ok := strings.CutPrefix(word.Shape().Pattern, program.QuotePattern(word.Text))
	return ok && (strings.HasPrefix(rest, "*") || strings.HasPrefix(rest, "/**/"))
}
