package main

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxShown is how many differences of one search are printed.
const maxShown = 5

// check compares what ours find with what the first rival finds, and what an index finds with a search without one.
func (r *race) check(s subject, warm map[string]*driver) error {
	var theirs, full bytes.Buffer
	if _, err := spawn(r.dir, whole(s.theirs[0]), &theirs); err != nil {
		return err
	}
	limit := s.ask.Limit
	s.ask.Limit = 0
	if _, err := r.ask("first", s, warm, &full); err != nil {
		return err
	}
	r.compare(s.name, s.ask.Pattern, theirs.Bytes(), full.Bytes())
	s.ask.Limit = limit
	return r.compareWarm(s.name, s, warm, head(full.Bytes(), limit))
}

// head returns the first lines of an output; with 0 all.
func head(out []byte, limit int) []byte {
	if limit == 0 {
		return out
	}
	end := 0
	for i := 0; i < limit && end < len(out); i++ {
		end += bytes.IndexByte(out[end:], '\n') + 1
	}
	return out[:end]
}

// whole is a command line without a limit, that takes \r\n for the end of a line as ours does.
func whole(args []string) []string {
	if args[0] == "sh" {
		args = args[4:]
	}
	if slices.Contains(args, "-e") {
		args = slices.Insert(slices.Clone(args), 1, "--crlf")
	}
	return args
}

// digest is the same for outputs that have the same lines in any order.
type digest struct {
	sum   uint64
	lines int
}

func digestOf(seed maphash.Seed, out []byte) (d digest) {
	for line := range bytes.Lines(out) {
		d.sum += maphash.Bytes(seed, trimmed(line))
		d.lines++
	}
	return d
}

func trimmed(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// sorted returns the lines of an output in order.
func sorted(out []byte) (all [][]byte) {
	for line := range bytes.Lines(out) {
		all = append(all, trimmed(line))
	}
	slices.SortFunc(all, bytes.Compare)
	return all
}

// compare compares the lines of two outputs, in any order, but for differences that are known.
func (r *race) compare(name, pattern string, theirs, ours []byte) {
	seed := maphash.MakeSeed()
	if digestOf(seed, theirs) == digestOf(seed, ours) {
		return
	}
	all := unlike(theirs, ours)
	unknown := slices.DeleteFunc(all, func(line string) bool { return r.explained(pattern, line) })
	r.differ(name, unknown)
}

// unlike returns the lines that only one of two outputs has: "- " and what the first has, "+ " and what the second has.
func unlike(first, second []byte) (all []string) {
	a, b := sorted(first), sorted(second)
	for len(a) > 0 || len(b) > 0 {
		switch c := order(a, b); {
		case c == 0:
			a, b = a[1:], b[1:]
		case c < 0:
			all = append(all, "- "+string(a[0]))
			a = a[1:]
		default:
			all = append(all, "+ "+string(b[0]))
			b = b[1:]
		}
	}
	return all
}

// differ counts and prints a search that found something else.
func (r *race) differ(name string, lines []string) {
	if len(lines) == 0 {
		return
	}
	r.differing++
	fmt.Printf("differs: %s, %s: %d lines\n", r.tree, name, len(lines))
	for _, line := range lines[:min(len(lines), maxShown)] {
		fmt.Printf("  %.300q\n", line)
	}
}

// order compares the first lines; one that is not there comes last.
func order(a, b [][]byte) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return bytes.Compare(a[0], b[0])
}

// difference is one of those that are known: a kind, and the pattern to which it applies, or * for all.
type difference struct{ kind, pattern string }

// readKnown reads a table with the columns kind, pattern and reason.
func readKnown(name string) (all []difference, err error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case strings.HasPrefix(line, "# "):
		case len(columns) != 3:
			return nil, errors.New(name + ": a line has not three columns: " + line)
		default:
			all = append(all, difference{columns[0], columns[1]})
		}
	}
	return all, nil
}

// explained reports whether a line that only one of the two found is one of the differences that are known.
func (r *race) explained(pattern, line string) bool {
	for _, d := range r.known {
		if (d.pattern == "*" || d.pattern == pattern) && r.isOf(d.kind, line) {
			return true
		}
	}
	return false
}

// isOf reports whether a line, as unlike returns them, is of a kind of difference.
func (r *race) isOf(kind, line string) bool {
	path, _, _ := strings.Cut(line[2:], ":")
	switch kind {
	case "hidden": // only theirs, in a file whose name, or that of a directory above it, begins with a dot
		return line[0] == '-' && strings.Contains("/"+path, "/.")
	case "binary": // in a file with a NUL in it
		return r.holds(kind, path, func(content []byte) bool { return bytes.IndexByte(content, 0) >= 0 })
	case "legacy": // in a file that is not UTF-8
		return r.holds(kind, path, func(content []byte) bool { return !utf8.Valid(content) })
	case "secret": // only theirs, in a file that is a private key
		return line[0] == '-' && r.holds(kind, path, func(content []byte) bool {
			first, _, _ := bytes.Cut(content, []byte("\n"))
			return bytes.HasPrefix(first, []byte("-----BEGIN ")) && bytes.HasSuffix(bytes.TrimSpace(first), []byte("PRIVATE KEY-----"))
		})
	case "meaning": // of the pattern
		return true
	}
	return false
}

// holds reports whether the content of a file is of a kind, as is says.
func (r *race) holds(kind, path string, is func(content []byte) bool) bool {
	holds, known := r.contents[kind+" "+path]
	if !known {
		content, err := os.ReadFile(filepath.Join(r.dir, path))
		holds = err == nil && is(content)
		r.contents[kind+" "+path] = holds
	}
	return holds
}
