package protect

import (
	"path"
	"strings"
)

// gitPaths are the paths that a git configuration file names: included files are configuration too, core.hooksPath names
// directories of hooks, other keys name programs and what chooses them. They are spelled as in the file.
type gitPaths struct {
	includes  []string
	hooks     []string // directories that hold hooks
	obeyed    []string // files that choose which programs run: attributes
	programs  []string // command lines that git runs
	worktrees []string // tops of work trees, relative to the git directory
}

// parseGitPaths reads a git configuration file as far as those go. It never fails, and finds rather more than git
// does: conditions of includeIf count as met, keys count whatever their section ("path" in one that begins with
// "include", "hookspath" in any), and a line that git would refuse does not end the file.
func parseGitPaths(text string) gitPaths {
	var found gitPaths
	eachGitVariable(text, func(header, key, value string) {
		section, sub := splitSection(header)
		switch {
		case value == "":
		case key == "hookspath", section == "init" && key == "templatedir":
			found.hooks = append(found.hooks, spellings(value)...)
		case key == "path" && strings.HasPrefix(header, "include"):
			found.includes = append(found.includes, spellings(value)...)
		case section == "core" && key == "attributesfile":
			found.obeyed = append(found.obeyed, spellings(value)...)
		case section == "core" && key == "worktree":
			found.worktrees = append(found.worktrees, spellings(value)...)
		case GitRuns(section, sub, key, value):
			found.programs = append(found.programs, value)
		}
	})
	return found
}

// pathsIn returns the words of a command line that may be paths of programs, or of scripts that programs run. Quotes and operators of the
// shell part words.
func pathsIn(command string) (words []string) {
	parted := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n\r'\"`;&|()<>{}=!", r) })
	for _, word := range parted {
		plain := !strings.ContainsFunc(word, func(r rune) bool {
			return !(r == '/' || r == '.' || r == '-' || r == '_' || r == '~' || r == '+' || r == '@' || r == ',' || r > 0x7f ||
				'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
		})
		if plain && !strings.HasPrefix(word, "-") && strings.Trim(word, "./~") != "" {
			words = append(words, word)
		}
	}
	return words
}

// eachGitVariable visits the variables of a git configuration file, with the header of their section.
func eachGitVariable(text string, visit func(section, key, value string)) {
	section := ""
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	for text != "" {
		text = strings.TrimLeft(text, " \t\n\r")
		if strings.HasPrefix(text, "[") {
			section, text = gitSection(text[1:])
			continue
		}
		var key, value string
		key, value, text = gitVariable(text)
		visit(section, key, value)
	}
}

// spellings are a value as newer versions of git read it, and as older ones do, which take any blank between words for a space.
func spellings(value string) []string {
	if !strings.ContainsAny(value, "\t\r") {
		return []string{value}
	}
	return []string{value, strings.NewReplacer("\t", " ", "\r", " ").Replace(value)}
}

// gitSection returns the lower-case header whose text follows "[", and the rest of the text.
func gitSection(text string) (section, rest string) {
	quoted := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n':
			return "", text[i:]
		case c == '"' && (i == 0 || text[i-1] != '\\'):
			quoted = !quoted
		case c == ']' && !quoted:
			return strings.ToLower(strings.TrimSpace(text[:i])), text[i+1:]
		}
	}
	return "", ""
}

// gitVariable returns the next key, in lower case, its value, and the text after its line. A comment yields a key that no caller
// looks for.
func gitVariable(text string) (key, value, rest string) {
	end := strings.IndexAny(text, "=\n#;")
	if end < 0 {
		return "", "", ""
	}
	key = strings.ToLower(strings.TrimSpace(text[:end]))
	if text[end] != '=' {
		_, rest, _ = strings.Cut(text[end:], "\n")
		return key, "", rest
	}
	value, rest = gitValue(text[end+1:])
	return key, value, rest
}

// gitValue unquotes a value up to the end of its line: quotes group, a backslash escapes or joins lines, comments and
// blanks around end it.
func gitValue(text string) (value, rest string) {
	var b strings.Builder
	quoted, kept := false, 0 // kept is the length up to the last byte that is no trailing blank
	text = strings.TrimLeft(text, " \t\r")
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			return b.String()[:kept], text[i+1:]
		case c == '"':
			quoted = !quoted
			kept = b.Len()
			continue
		case (c == '#' || c == ';') && !quoted:
			_, rest, _ = strings.Cut(text[i:], "\n")
			return b.String()[:kept], rest
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] == '\n' {
				continue
			}
			b.WriteByte(gitEscape(text[i]))
		default:
			b.WriteByte(c)
			if !quoted && (c == ' ' || c == '\t' || c == '\r') {
				continue
			}
		}
		kept = b.Len()
	}
	return b.String()[:kept], ""
}

func gitEscape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	}
	return c
}

// GitPath returns the absolute path that a value of git's path type means in dir, with ".." and links left in; "" if it cannot be
// computed.
func GitPath(value, dir, home string) string {
	value = strings.TrimPrefix(value, ":(optional)")
	switch {
	case strings.ContainsRune(value, 0) || value == "":
		return ""
	case path.IsAbs(value):
		return value
	case strings.HasPrefix(value, "~"):
		user, rest, _ := strings.Cut(value[1:], "/")
		if user != "" && user != path.Base(home) || home == "" {
			return ""
		}
		return home + "/" + rest
	case strings.HasPrefix(value, "%(prefix)"):
		return ""
	}
	return dir + "/" + value
}
