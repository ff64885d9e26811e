package classify

import (
	"path"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// read records that a path is read.
func (w *walk) read(word program.Word) { w.visit(contents, word) }

// look records that the name and the attributes of a path are read.
func (w *walk) look(word program.Word) { w.visit(names, word) }

// visit records that a path is read. Of a word that is not known to its end it is the directory that is known, and perhaps a pattern.
func (w *walk) visit(how access, word program.Word) {
	if w.found.quiet > 0 || w.remoteDepth > 0 {
		return
	}
	if !word.Static {
		missing := w.addGlob(how, word)
		w.found.note(missing)
		if missing.has(incomplete | byPattern) {
			why := "`" + w.spelled(word) + "` may name a file outside the workspace"
			if word.Unquoted {
				why = w.wantsQuotes(word)
			}
			w.found.factAt("paths_complete", why, word)
		}
		slash := strings.Contains(word.Text, "/")
		if slash {
			w.specialFile(globDir(word.Text), word)
		}
		if word.Glob || slash {
			w.addPath(how, program.Lit(globDir(word.Text)))
		}
		return
	}
	if word.Text == "" || stream(word.Text) {
		return
	}
	w.specialFile(word.Text, word)
	if how == contents {
		w.readsEndless(word.Text, word)
	}
	w.addPath(how, word)
}

// specialFile notes a path that is no ordinary file: a device, or the kernel's information about the machine.
func (w *walk) specialFile(text string, at program.Word) {
	if strings.HasPrefix(text, "/") {
		w.found.kernelFile(text, at)
		return
	}
	for _, dir := range w.scope.dirs {
		if strings.Contains(text, "..") || dir == "/" || below(dir, "/dev") || below(dir, "/proc") || below(dir, "/sys") {
			w.found.kernelFile(strings.TrimSuffix(dir, "/")+"/"+text, at)
		}
	}
}

// kernelFile notes such a path by its whole name.
func (rec *record) kernelFile(full string, at program.Word) {
	clean := path.Clean(full)
	_, harmless := endlessDevices[clean]
	switch {
	case below(clean, "/dev") && (clean != "/dev" || !at.Static) && clean != "/dev/null" && !harmless:
		rec.strange("`"+clean+"` is a device, and the effect of reading it is not known", at)
	case (below(clean, "/proc") || below(clean, "/sys")) && !ownProcess(clean, full):
		rec.note(observes)
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
func (w *walk) write(word program.Word, cuts bool, by func(what string) string) {
	if word.Static && (stream(word.Text) || word.Text == "/dev/null" || word.Text == "/dev/tty") {
		return
	}
	w.found.note(writes | mayDestroy.when(cuts))
	if !word.Static {
		w.found.note(incomplete.when(w.remoteDepth == 0))
		w.found.factAt("read_only", "`"+w.spelled(word)+"` may name any file, and it is written: use a literal path", word)
		return
	}
	switch {
	case by != nil:
		w.found.factAt("read_only", by("writes "+word.Text), word)
	default:
		w.found.factAt("read_only", "the redirection writes "+word.Text, word)
	}
	w.addPath(written, word)
}

// listDir records that a directory is listed for a glob.
func (w *walk) listDir(word program.Word) {
	dir := globDir(word.Text)
	if w.found.quiet == 0 && w.remoteDepth == 0 {
		w.specialFile(dir, program.Lit(dir))
	}
	w.addPath(names, program.Lit(dir))
}

// addPath appends a path as it is in each directory that may be the working directory.
func (w *walk) addPath(how access, word program.Word) {
	if w.found.quiet > 0 || w.remoteDepth > 0 {
		return
	}
	text := word.Text
	if strings.HasPrefix(text, "/") {
		w.found.add(how, word, text)
		return
	}
	if len(w.scope.dirs) == 0 {
		w.found.note(incomplete)
		w.found.factAt("paths_complete", "`"+text+"` is relative to a directory that is not known", word)
		return
	}
	for _, dir := range w.scope.dirs {
		w.found.add(how, word, strings.TrimSuffix(dir, "/")+"/"+text)
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

func below(text, dir string) bool {
	return strings.HasPrefix(text, dir) && (len(text) == len(dir) || text[len(dir)] == '/')
}

// addGlob records the pattern of a word that is known by it alone, and returns the resulting findings.
func (w *walk) addGlob(how access, word program.Word) tally {
	shape := word.Shape()
	if shape.Pattern == "" || !cutNowhere(word) || w.found.toucher() == 0 && w.disk == nil || len(w.scope.dirs) == 0 {
		return incomplete
	}
	g := agenttool.Glob{
		Pattern: shape.Pattern, By: w.found.toucher(), Names: how == names,
		Without: shape.Without, Flat: shape.Flat, Index: w.namesFromIndex,
	}
	if word.Name && word.Text == "" {
		g.First = w.found.notFirst()
	}
	dirs := w.scope.dirs
	if strings.HasPrefix(g.Pattern, "/") {
		dirs = dirs[:1]
	}
	for _, dir := range dirs {
		at := g
		if !strings.HasPrefix(g.Pattern, "/") {
			at.Pattern = program.QuotePattern(strings.TrimSuffix(dir, "/")) + "/" + g.Pattern
		}
		switch {
		case slices.Contains(w.found.globs, at):
		case len(w.found.globs) >= maxGlobs:
			return incomplete
		default:
			w.found.globs = append(w.found.globs, at)
		}
	}
	return byPattern
}

const maxGlobs = 16

// cutNowhere reports whether the text of a word is still what its pattern begins with: a program may take the one apart.
func cutNowhere(word program.Word) bool {
	rest, ok := strings.CutPrefix(word.Shape().Pattern, program.QuotePattern(word.Text))
	return ok && (strings.HasPrefix(rest, "*") || strings.HasPrefix(rest, "/**/"))
}
