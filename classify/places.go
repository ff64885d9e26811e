package classify

import (
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// places are the paths and hosts that the commands touch, each once.
type places struct {
	touched int // bytes of the paths and hosts
	reads   pathSet
	writes  pathSet
	hosts   []string
	locks   []agenttool.Lock
}

// access is the kind of use of a path.
type access uint8

const (
	contents access = iota // it is read
	names                  // its name and its attributes are read
	written                // it is made or changed
	follows                // git notes in it which branches its branches follow
)

// pathSet is a list of paths without duplicates.
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

// nameOf is the key of a path that is read, with any reader.
func nameOf(p agenttool.Path) agenttool.Path {
	return agenttool.Path{Spelling: p.Spelling, Absolute: p.Absolute}
}

// nameAndWriter is the key of a path that is written: rules for it differ with the writer.
func nameAndWriter(p agenttool.Path) agenttool.Path {
	return agenttool.Path{Spelling: p.Spelling, Absolute: p.Absolute, By: p.By}
}

func (rec *record) addLock(path string) {
	l := agenttool.Lock{Path: path, Write: true}
	if len(rec.locks) < maxPaths && !slices.Contains(rec.locks, l) {
		rec.locks = append(rec.locks, l)
	}
}

// host records a host that is named by itself, in a URL, or before a path: user@host:path.
func (rec *record) host(text string) {
	_, rest, isURL := strings.Cut(text, "://")
	if !isURL {
		rest = text
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	if name, port, ok := strings.Cut(rest, ":"); ok && !strings.Contains(port, ":") && !program.Digits(port) {
		rest = name
	}
	if rest == "" || rec.quiet > 0 || slices.Contains(rec.hosts, rest) {
		return
	}
	if rec.touched += len(rest); len(rec.hosts) >= maxHosts || rec.touched > maxTouched {
		rec.note(incomplete | reaches)
		return
	}
	rec.hosts = append(rec.hosts, rest)
}

// add appends a path; of those that are too many it is only known that they are there.
func (rec *record) add(how access, word program.Word, full string) {
	s, key := &rec.reads, nameOf
	if how == written || how == follows {
		s, key = &rec.writes, nameAndWriter
	}
	p := agenttool.Path{Spelling: word.Text, Absolute: full, Names: how == names, Follows: how == follows, Top: word.Top, Makes: word.Makes, By: rec.toucher(), Own: ownProcess(full, full)}
	if i := s.find(p, key); i >= 0 {
		was := &s.list[i]
		was.Names, was.Follows, was.Top, was.Makes = was.Names && p.Names, was.Follows && p.Follows, was.Top || p.Top, was.Makes || p.Makes
		return
	}
	if len(s.list) >= maxPaths || rec.touched > maxTouched {
		rec.note(incomplete)
		return
	}
	rec.touched += len(word.Text) + len(full)
	s.append(p, key)
}

// toucher returns the simple command of the current access, as an index plus 1; 0 for the shell itself.
func (rec *partList) toucher() int {
	if rec.redirects {
		return 0
	}
	return rec.part + 1
}

// notFirst returns the characters that must not begin a name, or the current command would not take it for an operand.
func (rec *partList) notFirst() string {
	if rec.part >= 0 && len(rec.parts[rec.part].Argv) > 0 && rec.parts[rec.part].Argv[0] == "find" {
		return "-(),!"
	}
	return "-"
}
