package permissions

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"toolhost/agenttool"
)

// parsePathPattern reads the pattern of a rule about paths.
func parsePathPattern(spec, home string) (string, error) {
	if strings.Contains("/"+spec+"/", "/../") {
		return "", fmt.Errorf("a pattern cannot hold .. as a component")
	}
	if rest, ok := strings.CutPrefix(spec, "~/"); ok || spec == "~" {
		if home == "" {
			return "", fmt.Errorf("there is no home directory for ~")
		}
		spec = filepath.Join(escapeGlob(home), strings.TrimPrefix(rest, "~"))
	}
	for strings.HasPrefix(spec, "./") {
		spec = strings.TrimLeft(spec[2:], "/")
	}
	for strings.Contains(spec, "//") {
		spec = strings.ReplaceAll(spec, "//", "/")
	}
	if spec == "." || spec == "" {
		spec = "**"
	}
	if len(spec) > 1 {
		spec = strings.TrimSuffix(spec, "/")
	}
	switch {
	case strings.HasPrefix(spec, "!"):
		return "", fmt.Errorf("a pattern cannot be negated")
	case !doublestar.ValidatePattern(spec):
		return "", fmt.Errorf("the pattern is malformed: a bracket or brace is open")
	}
	return spec, nil
}

// leads returns the pattern with the links in its literal beginning resolved, nil if there are none. Allow rules are resolved only
// outside the workspace: commands can make links inside it.
func (p Parser) leads(r *Rule) []string {
	relative := !filepath.IsAbs(r.glob)
	if p.Resolve == nil || relative && (p.Workspace == "" || r.Behavior == agenttool.Allow) {
		return nil
	}
	glob := r.glob
	if relative {
		glob = joinGlob(p.Workspace, glob)
	}
	base, rest := doublestar.SplitPattern(glob)
	if !strings.ContainsAny(rest, `*?[{\`) { // the whole is literal, and its last name may be a link
		base, rest = filepath.Join(base, rest), ""
	}
	led := p.Resolve(base)
	if led == "" || led == base || p.Workspace != "" && r.Behavior == agenttool.Allow && agenttool.Within(p.Workspace, base) {
		return nil
	}
	return []string{joinGlob(led, rest)}
}

// joinGlob returns the pattern below a directory.
func joinGlob(dir, glob string) string {
	if glob == "" {
		return escapeGlob(dir)
	}
	return strings.TrimSuffix(escapeGlob(dir), "/") + "/" + glob
}

// pathPattern is an absolute pattern, compiled. The zero value matches every path.
type pathPattern struct {
	glob    string
	plain   string // the path itself, if it holds no wildcards
	prefix  string // beginning of every path that matches
	literal string // substring of every path that matches
}

// compileGlob compiles an absolute pattern, "" for all.
func compileGlob(glob string) pathPattern {
	if glob == "" || glob == "/" || glob == "/**" {
		return pathPattern{}
	}
	p := pathPattern{glob: glob}
	if !strings.ContainsAny(glob, `*?[{\`) {
		p.plain, p.prefix = glob, glob
		return p
	}
	if at := strings.IndexAny(glob, `*?[{\`); at >= 0 {
		p.prefix = glob[:at]
	}
	if !strings.ContainsAny(glob, `?[{\`) {
		for piece := range strings.SplitSeq(strings.Trim(glob, "/"), "*") {
			if piece = strings.Trim(piece, "/"); len(piece) > len(p.literal) {
				p.literal = piece
			}
		}
	} else if end := strings.LastIndexAny(glob, `*?[]{},\`); end >= 0 {
		p.literal = strings.Trim(glob[end+1:], "/")
	}
	return p
}

// match reports whether the pattern names an absolute, clean path or one of its parent directories.
func (p *pathPattern) match(path string) bool {
	switch {
	case p.glob == "":
		return true
	case p.plain != "":
		return agenttool.Within(p.plain, path)
	case !strings.HasPrefix(path, p.prefix) && !strings.HasPrefix(path+"/", p.prefix), !strings.Contains(path, p.literal):
		return false
	}
	return matchGlob(p.glob, path) || matchGlob(p.glob+"/**", path)
}

func matchGlob(pattern, path string) bool {
	ok, err := doublestar.Match(pattern, path)
	return err == nil && ok
}

// escapeGlob returns a pattern that matches exactly path.
func escapeGlob(path string) string {
	if !strings.ContainsAny(path, `*?[]{}\,`) {
		return path
	}
	var b strings.Builder
	for _, c := range path {
		if strings.ContainsRune(`*?[]{}\,`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
