package search

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"toolhost/agenttool"
	"toolhost/tools/search/engine"
	"toolhost/tools/search/match"
)

// offer finds the pattern that a search without results could have searched for instead.
type offer struct {
	pattern string
	options match.Options
	limits  limits
	groups  [][]attempt // by probe; nil until probes is called
}

// attempt is a pattern that a probe tries.
type attempt struct {
	match.Reading
	pattern *match.Pattern
}

// probes returns the searches for what would have matched: first for the pattern's other readings, then for all of them
// and the pattern itself in the other letter case. Each is one search for any of its patterns.
func (o *offer) probes() (probes []engine.Probe) {
	o.groups = nil
	add := func(readings []match.Reading, limit time.Duration, share float64) {
		group := compileAll(readings, o.options)
		if len(group) == 0 {
			return
		}
		if any, ok := anyOf(group, o.options); ok {
			o.groups = append(o.groups, group)
			probes = append(probes, engine.Probe{Pattern: any, Time: limit, Share: share})
			return
		}
		for _, a := range group { // together they are too large, or match across lines
			o.groups = append(o.groups, []attempt{a})
			probes = append(probes, engine.Probe{Pattern: a.pattern, Time: limit, Share: share})
		}
	}
	readings := match.OtherReadings(o.pattern, o.options)
	add(readings, o.limits.readings, 0)
	if !o.options.IgnoreCase {
		folded := []match.Reading{{Expr: o.pattern, IgnoreCase: true}}
		for _, r := range readings {
			r.IgnoreCase = true
			folded = append(folded, r)
		}
		add(folded, o.limits.letterCase, o.limits.letterCaseShare)
	}
	return probes
}

func compileAll(readings []match.Reading, o match.Options) (group []attempt) {
	for _, r := range readings {
		p, err := match.Compile(r.Expr, match.Options{IgnoreCase: o.IgnoreCase || r.IgnoreCase, Multiline: o.Multiline})
		if err == nil {
			group = append(group, attempt{r, p})
		}
	}
	return group
}

// anyOf returns the pattern that matches what any of the attempts matches.
func anyOf(group []attempt, o match.Options) (*match.Pattern, bool) {
	if len(group) == 1 {
		return group[0].pattern, true
	}
	if o.Multiline { // a line would not tell which of them matched
		return nil, false
	}
	var all []string
	for _, a := range group {
		flags := ""
		if a.IgnoreCase {
			flags = "i"
		}
		all = append(all, "(?"+flags+":"+a.Expr+")")
	}
	p, err := match.Compile(strings.Join(all, "|"), o)
	return p, err == nil
}

// note says which pattern would have matched, why the given one did not, and where the first match is. It is empty if none would match.
func (o *offer) note(found *engine.Probed) string {
	if found == nil {
		return ""
	}
	group := o.groups[found.Probe]
	chosen := group[0]
	for i := len(group) - 1; i >= 0 && len(group) > 1; i-- {
		if group[i].pattern.Matcher().Has(append(found.Line.Text, '\n')) {
			chosen = group[i]
		}
	}
	var words []string
	if chosen.Expr != o.pattern {
		words = append(words, match.Quote(chosen.Expr))
	}
	if chosen.IgnoreCase && !o.options.IgnoreCase {
		words = append(words, `"ignore_case": true`)
	}
	why := ""
	if chosen.Why != "" {
		why = " (" + chosen.Why + ")"
	}
	place := fmt.Sprintf("%s:%d", agenttool.PrintPath(found.Path), found.Line.Number)
	return fmt.Sprintf("%s would match, as in %s%s", strings.Join(words, " with "), place, why)
}

// maxNear is how many names in another spelling are shown.
const maxNear = 3

// nearNames names files below root that the patterns, which match none, would match in another letter case or Unicode
// form. It is empty if there are none.
func (s session) nearNames(ctx context.Context, root agenttool.Path, hidden, noIgnore bool, patterns []string, names naming) string {
	var exact, folded []glob
	for _, pattern := range patterns {
		e, err := parseGlob(pattern)
		f, also := parseGlob(foldName(pattern))
		if err == nil && also == nil {
			exact, folded = append(exact, e), append(folded, f)
		}
	}
	lastDir, lastFolded := "", ""
	near := func(dir, name string) bool {
		if dir != lastDir {
			lastDir, lastFolded = dir, foldName(dir)
		}
		return slices.ContainsFunc(folded, func(g glob) bool { return g.match(lastFolded, foldName(name)) }) &&
			!slices.ContainsFunc(exact, func(g glob) bool { return g.match(dir, name) }) // something else leaves it out
	}
	found := s.names(ctx, root, hidden, noIgnore, near, maxNear+1)
	if len(found) == 0 {
		return ""
	}
	what := "letter case"
	if norm.NFC.String(found[0]) != found[0] || slices.ContainsFunc(patterns, func(p string) bool { return norm.NFC.String(p) != p }) {
		what = "Unicode form or letter case"
	}
	more := ""
	if len(found) > maxNear {
		found, more = found[:maxNear], ", …"
	}
	for i, path := range found {
		found[i] = agenttool.PrintPath(names.path(path))
	}
	return fmt.Sprintf("in another %s: %s%s", what, strings.Join(found, ", "), more)
}

// linkName returns a remark if a name below root that patterns match is a link to a file, which grep does not follow unless a path names it.
// It is empty if there is none.
func (s session) linkName(ctx context.Context, root agenttool.Path, hidden, noIgnore bool, patterns []string, names naming) string {
	var all []glob
	for _, pattern := range patterns {
		g, err := parseGlob(pattern)
		if err != nil {
			return ""
		}
		all = append(all, g)
	}
	matches := func(dir, name string) bool {
		return slices.ContainsFunc(all, func(g glob) bool { return g.match(dir, name) })
	}
	for _, path := range s.names(ctx, root, hidden, noIgnore, matches, maxNear) {
		info, err := os.Lstat(agenttool.Join(root.Resolved, path))
		if err == nil && info.Mode()&os.ModeSymlink != 0 {
			return agenttool.PrintPath(names.path(path)) + " is a link, which is followed only if path names it"
		}
	}
	return ""
}

// names returns the first names below root, as glob lists them, that are wanted. It is empty if they cannot be listed.
func (s session) names(ctx context.Context, root agenttool.Path, hidden, noIgnore bool, want func(dir, name string) bool, most int) (found []string) {
	dir, err := openRootDir(s.ws, root)
	if err != nil {
		return nil
	}
	place, err := s.place(dir, root)
	if err != nil {
		dir.Close()
		return nil
	}
	place.Hidden, place.NoIgnore = hidden, noIgnore
	ctx, cancel := context.WithTimeout(ctx, s.limits.names)
	defer cancel()
	_, err = s.engine.List(ctx, place, want, func(f engine.FoundFile) bool {
		found = append(found, f.Path())
		return len(found) < most
	})
	if err != nil {
		return nil
	}
	return found
}

// foldName returns a name or pattern in one letter case and Unicode form.
func foldName(s string) string { return strings.ToLower(norm.NFC.String(s)) }
