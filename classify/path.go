package classify

import (
	"path"
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
		if strings.Contains(word.Text, "/") {
			w.special(globDir(word.Text), word)
		}
		if word.Glob {
			w.named(&w.reads, program.Lit(globDir(word.Text)))
		}
		return
	}
	if word.Text == "" || stream(word.Text) {
		return
	}
	w.special(word.Text, word)
	w.named(&w.reads, word)
}

// special takes note of a path among those that are no files: devices, and what the kernel tells of the machine.
func (w *walk) special(text string, at program.Word) {
	if strings.HasPrefix(text, "/") {
		w.kernel(text, at)
		return
	}
	for _, dir := range w.scope.dirs {
		if strings.Contains(text, "..") || dir == "/" || below(dir, "/dev") || below(dir, "/proc") || below(dir, "/sys") {
			w.kernel(strings.TrimSuffix(dir, "/")+"/"+text, at)
		}
	}
}

func (w *walk) kernel(full string, at program.Word) {
	switch clean := path.Clean(full); {
	case below(clean, "/dev") && (clean != "/dev" || !at.Static) && !quietDevice(clean):
		w.strange("what reading the device "+clean+" does is not known", at)
	case (below(clean, "/proc") || below(clean, "/sys")) && !ownProcess(clean, full):
		w.note(tally{observes: true})
	}
}

// ownProcess reports whether a path is one of those below /proc/self that tell of the command itself, spelt without
// detours: some of the names there are links.
func ownProcess(clean, full string) bool {
	name, ok := strings.CutPrefix(clean, "/proc/self/")
	switch name {
	case "auxv", "cgroup", "cmdline", "comm", "environ", "io", "limits", "maps", "mountinfo", "mounts", "smaps", "stat", "statm",
		"status":
		return ok && !strings.Contains(full, "..")
	}
	return false
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
func (w *walk) list(word program.Word) {
	dir := globDir(word.Text)
	if w.quiet == 0 {
		w.special(dir, program.Lit(dir))
	}
	w.named(&w.reads, program.Lit(dir))
}

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
	case len(s.list) >= maxPaths || w.touched > maxTouched:
		w.note(tally{incomplete: true})
		return
	case len(s.list) == 32:
		s.seen = make(map[agenttool.Path]bool, 64)
		for _, each := range s.list {
			s.seen[each] = true
		}
	}
	w.touched += len(p.Spelling) + len(p.Absolute)
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
