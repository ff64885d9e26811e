package classify

import (
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// read records that a path is read.
func (w *walk) read(word program.Word) {
	if w.quiet > 0 {
		return
	}
	if !word.Static {
		w.note(tally{incomplete: true})
		if word.Glob {
			w.named(&w.reads, program.Lit(globDir(word.Text)))
		}
		return
	}
	switch text := word.Text; {
	case text == "" || stream(text):
		return
	case strings.HasPrefix(text, "/dev/") && !quietDevice(text):
		w.strange("what reading the device "+text+" does is not known", word)
	case below(text, "/proc"), below(text, "/sys"):
		if !strings.HasPrefix(text, "/proc/self/") {
			w.note(tally{observes: true})
		}
	}
	w.named(&w.reads, word)
}

// write records that a path is made or changed; cuts if what was in it may be lost.
func (w *walk) write(word program.Word, cuts bool) {
	if word.Static && (stream(word.Text) || word.Text == "/dev/null") {
		return
	}
	w.note(tally{writes: true, mayDestroy: cuts})
	if !word.Static {
		w.note(tally{incomplete: true})
		w.becauseAt("writes a file whose name is not known", word)
		return
	}
	w.becauseAt("writes "+word.Text, word)
	w.named(&w.writes, word)
}

// list records that a directory is listed for a glob.
func (w *walk) list(word program.Word) { w.named(&w.reads, program.Lit(globDir(word.Text))) }

// named appends a path as it is in each directory that may be the working directory.
func (w *walk) named(set *pathSet, word program.Word) {
	if w.quiet > 0 {
		return
	}
	text := word.Text
	if strings.HasPrefix(text, "/") {
		w.add(set, agenttool.Path{Spelling: text, Absolute: text})
		return
	}
	if len(w.scope.dirs) == 0 {
		w.note(tally{incomplete: true})
		return
	}
	for _, dir := range w.scope.dirs {
		w.add(set, agenttool.Path{Spelling: text, Absolute: strings.TrimSuffix(dir, "/") + "/" + text})
	}
}

// pathSet is a list of paths in which each is once.
type pathSet struct {
	list []agenttool.Path
	seen map[agenttool.Path]bool // of a long list
}

// add appends a path; of those that are too many it is only known that they are there.
func (w *walk) add(s *pathSet, p agenttool.Path) {
	switch {
	case s.seen[p] || s.seen == nil && slices.Contains(s.list, p):
		return
	case len(s.list) >= maxPaths:
		w.note(tally{incomplete: true})
		return
	case len(s.list) == 32:
		s.seen = make(map[agenttool.Path]bool, 64)
		for _, each := range s.list {
			s.seen[each] = true
		}
	}
	s.list = append(s.list, p)
	if s.seen != nil {
		s.seen[p] = true
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
	return ok && isDigits(fd)
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
