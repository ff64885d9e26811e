package main

import "fmt"

// subject is one search, as ours and as theirs.
type subject struct {
	name   string
	ask    request
	theirs [][]string // their command lines, without the program; the first is what ratios are taken to
	bounds bounds
}

// request is what the driver is asked.
type request struct {
	Do         string `json:"do"`
	Pattern    string `json:"pattern,omitempty"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	Limit      int    `json:"limit,omitempty"`
	Suffix     string `json:"suffix,omitempty"`
}

// bounds are the ratios of time that are aimed at; 0: none.
type bounds struct{ first, strict, watched float64 }

// texts are the patterns of one tree.
type texts struct {
	rare, fold, three, prefix, classes, anchored, common string
	short                                                string // as prefix, where its literal is in most files; "": none
	suffix                                               string // of names
}

// patternsOf returns what is searched for in the tree of that name. It is chosen for how often it is found.
func patternsOf(tree string) texts {
	t := texts{anchored: `^[a-z]+\s+[A-Z]\w+\s+=\s+\d+$`, common: "return", fold: "deprecated"}
	switch tree {
	case "linux":
		t.rare, t.three = "kmem_cache_alloc_bulk", "copy_page_range|mmap_read_trylock|folio_wait_stable"
		t.prefix, t.classes, t.suffix = `spin_lock_[a-z]+save\(`, `(\w{5}\s+){6}\w{5}`, ".h"
	default:
		t.rare, t.three = "ErrUnexpectedEOF", "ErrUnexpectedEOF|ReadCloser|StatusUnprocessableEntity"
		t.prefix, t.classes, t.suffix = `Err[A-Z][a-z]+\(`, `(\w{5}\s+){7}\w{5}`, "_test.go"
	}
	if tree == "mid" {
		t.short, t.prefix = t.prefix, `metav1\.[A-Z][a-z]+Options\{`
	}
	return t
}

// subjects returns all that is measured in a tree.
func (r *race) subjects() []subject {
	t := patternsOf(r.tree)
	all := []subject{
		r.list("list", "", bounds{.30, .05, .05}),
		r.list("glob *"+t.suffix, t.suffix, bounds{.30, .05, .05}),
		r.grep("rare literal", t.rare, bounds{.65, .15, .02}),
		r.grep("literal, ignoring case", t.fold, bounds{.65, .15, .08}),
		r.grep("three literals", t.three, bounds{.75, .15, .08}),
		r.grep("regex, literal prefix", t.prefix, bounds{.75, .15, .08}),
		r.grep("regex, no literal", t.classes, bounds{.60, .60, .60}),
		r.grep("regex, anchored", t.anchored, bounds{1, 1, 1}),
		r.grep("common literal, all lines", t.common, bounds{.45, .45, .45}),
		r.head("common literal, 250 lines", t.common, 250, bounds{}),
	}
	if t.short != "" {
		all = append(all, r.grep("regex, prefix of three letters", t.short, bounds{first: .75}))
	}
	all[3].ask.IgnoreCase = true
	all[3].theirs[0] = append([]string{r.rg, "-i"}, all[3].theirs[0][1:]...)
	return all
}

// list is the listing of all files, or of those whose names end with suffix.
func (r *race) list(name, suffix string, b bounds) subject {
	s := subject{name: name, ask: request{Do: "list", Suffix: suffix}, bounds: b}
	rg, fd := []string{r.rg, "--no-config", "--files"}, []string{r.fd, "--type", "f", "--color", "never"}
	if suffix != "" {
		rg, fd = append(rg, "-g", "*"+suffix), append(fd, "--glob", "*"+suffix)
	}
	s.theirs = [][]string{rg}
	if r.fd != "" {
		s.theirs = append(s.theirs, fd)
	}
	return s
}

func (r *race) grep(name, pattern string, b bounds) subject {
	return subject{name: name, ask: request{Do: "grep", Pattern: pattern}, bounds: b, theirs: [][]string{r.ripgrep(pattern)}}
}

// head is a search that ends after so many lines. Which ones ripgrep prints is chance.
func (r *race) head(name, pattern string, limit int, b bounds) subject {
	s := r.grep(name, pattern, b)
	s.ask.Limit = limit
	s.theirs[0] = append([]string{"sh", "-c", fmt.Sprintf(`"$@" | head -n %d`, limit), "sh"}, s.theirs[0]...)
	return s
}

// ripgrep is the command line that finds the same as ours.
func (r *race) ripgrep(pattern string) []string {
	return []string{r.rg, "--no-config", "--no-heading", "-n", "--color", "never", "--no-messages", "-e", inRust(pattern)}
}
