package classify

import (
	"path"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// access is what is done to a path.
type access uint8

const (
	contents access = iota // it is read
	names                  // its name and its attributes are read
	written                // it is made or changed
)

// read records that a path is read.
func (w *walk) read(word program.Word) { w.visit(contents, word) }

// look records that the name and the attributes of a path are read.
func (w *walk) look(word program.Word) { w.visit(names, word) }

func (w *walk) visit(how access, word program.Word) {
	if w.quiet > 0 || w.remote > 0 {
		return
	}
	if !word.Static {
		missing := w.match(how, word)
		w.note(missing)
		if missing.incomplete || missing.matched {
			w.factAt("paths_complete", "`"+w.spelled(word)+"` may name a file outside the workspace", word)
		}
		slash := strings.Contains(word.Text, "/")
		if slash {
			w.special(globDir(word.Text), word)
		}
		if word.Glob || slash {
			w.named(how, program.Lit(globDir(word.Text)))
		}
		return
	}
	if word.Text == "" || stream(word.Text) {
		return
	}
	w.special(word.Text, word)
	if how == contents {
		w.readsEndless(word.Text, word)
	}
	w.named(how, word)
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
		w.strange("`"+clean+"` is a device, and what reading it does is not known", at)
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

// write records that a path is made or changed; cuts if what was in it may be lost. The sentence that says so is made by the program
// that writes; nil: by a redirection.
func (w *walk) write(word program.Word, cuts bool, by func(what string) string) {
	if word.Static && (stream(word.Text) || word.Text == "/dev/null") {
		return
	}
	w.note(tally{writes: true, mayDestroy: cuts})
	if !word.Static {
		w.note(tally{incomplete: w.remote == 0})
		w.factAt("read_only", "`"+w.spelled(word)+"` may name any file, and it is written: use a literal path", word)
		return
	}
	switch {
	case by != nil:
		w.factAt("read_only", by("writes "+word.Text), word)
	default:
		w.factAt("read_only", "the redirection writes "+word.Text, word)
	}
	w.named(written, word)
}

// list records that a directory is listed for a glob.
func (w *walk) list(word program.Word) {
	dir := globDir(word.Text)
	if w.quiet == 0 && w.remote == 0 {
		w.special(dir, program.Lit(dir))
	}
	w.named(names, program.Lit(dir))
}

// named appends a path as it is in each directory that may be the working directory.
func (w *walk) named(how access, word program.Word) {
	if w.quiet > 0 || w.remote > 0 {
		return
	}
	text := word.Text
	if strings.HasPrefix(text, "/") {
		w.add(how, word, text)
		return
	}
	if len(w.scope.dirs) == 0 {
		w.note(tally{incomplete: true})
		w.factAt("paths_complete", "`"+text+"` is relative to a directory that is not known", word)
		return
	}
	for _, dir := range w.scope.dirs {
		w.add(how, word, strings.TrimSuffix(dir, "/")+"/"+text)
	}
}

// pathSet is a list of paths in which each is once.
type pathSet struct {
	list []agenttool.Path
	seen map[agenttool.Path]int // where each is, of a long list
}

// all returns the paths in a list of their own; nil if there are none.
func (s *pathSet) all() []agenttool.Path { return append([]agenttool.Path(nil), s.list...) }

// find returns where a path is, -1 if it is not there.
func (s *pathSet) find(p agenttool.Path, key func(agenttool.Path) agenttool.Path) int {
	if s.seen == nil {
		p = key(p)
		return slices.IndexFunc(s.list, func(each agenttool.Path) bool { return key(each) == p })
	}
	if i, ok := s.seen[key(p)]; ok {
		return i
	}
	return -1
}

// append appends a path that is not there.
func (s *pathSet) append(p agenttool.Path, key func(agenttool.Path) agenttool.Path) {
	s.list = append(s.list, p)
	switch {
	case s.seen != nil:
		s.seen[key(p)] = len(s.list) - 1
	case len(s.list) > 32:
		s.seen = make(map[agenttool.Path]int, 64)
		for i, each := range s.list {
			s.seen[key(each)] = i
		}
	}
}

// nameOf is what makes a path that is read another one, whoever reads it.
func nameOf(p agenttool.Path) agenttool.Path {
	return agenttool.Path{Spelling: p.Spelling, Absolute: p.Absolute}
}

// nameAndWriter is what makes a path that is written another one: the rules for it differ with the writer.
func nameAndWriter(p agenttool.Path) agenttool.Path {
	return agenttool.Path{Spelling: p.Spelling, Absolute: p.Absolute, By: p.By}
}

// add appends a path; of those that are too many it is only known that they are there.
func (w *walk) add(how access, word program.Word, full string) {
	s, key := &w.reads, nameOf
	if how == written {
		s, key = &w.writes, nameAndWriter
	}
	p := agenttool.Path{Spelling: word.Text, Absolute: full, Names: how == names, Top: word.Top, By: w.toucher()}
	if i := s.find(p, key); i >= 0 {
		was := &s.list[i]
		was.Names, was.Top = was.Names && p.Names, was.Top || p.Top
		return
	}
	if len(s.list) >= maxPaths || w.touched > maxTouched {
		w.note(tally{incomplete: true})
		return
	}
	w.touched += len(word.Text) + len(full)
	s.append(p, key)
}

// toucher returns which simple command does what is recorded now, as an index plus 1; 0 if the shell itself does.
func (w *walk) toucher() int {
	if w.redirects {
		return 0
	}
	return w.part + 1
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
