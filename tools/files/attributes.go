package files

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/tools/search/ignore"
)

// lineEndAttribute returns the end of lines that git gives a file on checkout: "crlf", "lf", or "" if no attribute says.
// core.autocrlf does not count.
func lineEndAttribute(file string, read func(path string) []byte) string {
	a := attributesOf(file, read)
	return a.lineEnd()
}

// attributesOf looks the attributes of a file up as git does: in .gitattributes from its directory up to the top of the
// repository, and in info/attributes, which wins. The user's and the system's files of attributes do not count. file is
// an absolute path without links; read returns the text of a configuration file, nil if there is none.
func attributesOf(file string, read func(path string) []byte) attributes {
	a := attributes{values: map[string]string{}, macros: map[string][]attribute{}}
	top := filepath.Dir(file)
	for ; ; top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			break
		}
		if top == "/" {
			return a
		}
	}
	a.add(file, top, read(filepath.Join(gitDirOf(top, read), "info/attributes")), true)
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		a.add(file, dir, read(filepath.Join(dir, ".gitattributes")), dir == top)
		if dir == top {
			break
		}
	}
	a.resolve()
	return a
}

// gitDirOf returns the directory that holds what all work trees of a repository share. top is that of a work tree.
func gitDirOf(top string, read func(path string) []byte) string {
	dir := filepath.Join(top, ".git")
	if named, ok := bytes.CutPrefix(read(dir), []byte("gitdir: ")); ok {
		dir = absolute(top, string(bytes.TrimRight(named, "\r\n")))
		if common := read(filepath.Join(dir, "commondir")); common != nil {
			dir = absolute(dir, string(bytes.TrimRight(common, "\r\n")))
		}
	}
	return dir
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// attributes are those of one file, from the rules that were added.
type attributes struct {
	rules  [][]attribute // of the lines that match the file, those that win first
	macros map[string][]attribute
	values map[string]string
}

// attribute is an assignment: a name, and attributeSet, attributeUnset, attributeUnspecified or a text.
type attribute struct{ name, value string }

// The values of attributes without a text. No text in a file of attributes holds a NUL.
const (
	attributeSet         = "\x00set"
	attributeUnset       = "\x00unset"
	attributeUnspecified = "\x00unspecified"
)

// add adds the lines of the file of attributes in dir, whose rules lose against those that were added before. Macros
// count only in the files for all of the repository.
func (a *attributes) add(file, dir string, text []byte, macros bool) {
	below, _ := filepath.Rel(dir, file)
	lines := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
	for _, line := range slices.Backward(lines) {
		pattern, rest, ok := cutPattern(line)
		if !ok {
			continue
		}
		name, isMacro := strings.CutPrefix(pattern, "[attr]")
		assigned, valid := parseAttributes(rest)
		switch {
		case !valid || strings.HasPrefix(pattern, "!"): // git leaves out negated patterns
		case isMacro && name != "":
			if _, known := a.macros[name]; macros && !known && validAttribute(name) {
				a.macros[name] = assigned
			}
		case matchesPattern(pattern, below):
			a.rules = append(a.rules, assigned)
		}
	}
}

// cutPattern cuts the pattern off a line. A pattern in quotes is written as C does. ok is false for lines without one.
func cutPattern(line string) (pattern, rest string, ok bool) {
	line = strings.TrimLeft(line, attributeBlanks)
	if line == "" || line[0] == '#' || len(line) > maxAttributeLine {
		return "", "", false
	}
	if line[0] == '"' {
		if pattern, rest, ok = unquoteC(line); ok {
			return pattern, rest, true
		}
	}
	pattern, rest = cutBlank(line)
	return pattern, rest, true
}

const (
	attributeBlanks  = " \t\r\n"
	maxAttributeLine = 2048 // bytes; git ignores longer lines
)

func cutBlank(line string) (word, rest string) {
	line = strings.TrimLeft(line, attributeBlanks)
	if i := strings.IndexAny(line, attributeBlanks); i >= 0 {
		return line[:i], line[i:]
	}
	return line, ""
}

// unquoteC reads a string in quotes with the escapes that git writes.
func unquoteC(line string) (text, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			return b.String(), line[i+1:], true
		case c != '\\':
			b.WriteByte(c)
		case i+1 == len(line):
			return "", "", false
		default:
			i++
			if at := strings.IndexByte(`abfnrtv\"`, line[i]); at >= 0 {
				b.WriteByte("\a\b\f\n\r\t\v\\\""[at])
				continue
			}
			if i+2 >= len(line) || !octal(line[i], '3') || !octal(line[i+1], '7') || !octal(line[i+2], '7') {
				return "", "", false
			}
			b.WriteByte((line[i]-'0')<<6 | (line[i+1]-'0')<<3 | (line[i+2] - '0'))
			i += 2
		}
	}
	return "", "", false
}

func octal(c, most byte) bool { return '0' <= c && c <= most }

// parseAttributes parses the assignments of a line; valid is false if git leaves the line out.
func parseAttributes(text string) (all []attribute, valid bool) {
	for {
		word, rest := cutBlank(text)
		if word == "" {
			return all, true
		}
		text = rest
		a := attribute{name: word, value: attributeSet}
		switch {
		case word[0] == '-':
			a = attribute{word[1:], attributeUnset}
		case word[0] == '!':
			a = attribute{word[1:], attributeUnspecified}
		}
		if name, value, ok := strings.Cut(a.name, "="); ok {
			a.name = name
			if a.value == attributeSet {
				a.value = value
			}
		}
		if !validAttribute(a.name) {
			return nil, false
		}
		all = append(all, a)
	}
}

func validAttribute(name string) bool {
	return name != "" && name[0] != '-' && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// matchesPattern reports whether a pattern matches a file below its directory, by the rules of ignore files, which are
// those of attributes, too. A path that is below a matching directory does not match.
func matchesPattern(pattern, below string) bool {
	if strings.ContainsAny(pattern, "\n\x00") {
		return false
	}
	if strings.HasPrefix(pattern, "#") || strings.HasPrefix(pattern, "!") || strings.HasPrefix(pattern, "\ufeff") {
		pattern = `\` + pattern // these mean something at the beginning of an ignore file
	}
	if trimmed := strings.TrimRight(pattern, " "); trimmed != pattern {
		pattern = trimmed + strings.Repeat(`\ `, len(pattern)-len(trimmed))
	}
	dir, name := filepath.Split(below)
	return (*ignore.Rules)(nil).AddGit("", []byte(pattern)).Ignores(dir, name, false)
}

// resolve sets the values. The last assignment wins, and a macro counts only where its own name was not assigned later.
func (a *attributes) resolve() {
	if _, ok := a.macros["binary"]; !ok {
		a.macros["binary"] = []attribute{{"diff", attributeUnset}, {"merge", attributeUnset}, {"text", attributeUnset}}
	}
	for _, assigned := range a.rules {
		a.assign(assigned)
	}
}

func (a *attributes) assign(all []attribute) {
	for _, one := range slices.Backward(all) {
		if _, known := a.values[one.name]; known {
			continue
		}
		a.values[one.name] = one.value
		if one.value == attributeSet {
			a.assign(a.macros[one.name])
		}
	}
}

// lineEnd returns what git's conversion makes of the values.
func (a *attributes) lineEnd() string {
	text := a.values["text"]
	if text != attributeSet && text != attributeUnset && text != "input" && text != "auto" {
		text = a.values["crlf"] // its name before there was text
	}
	eol := a.values["eol"]
	switch {
	case text == attributeUnset:
		return ""
	case eol == "lf" || eol == "crlf":
		return eol
	case text == "input":
		return "lf"
	}
	return ""
}
