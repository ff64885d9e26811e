package config

import (
	"errors"
	"strings"
)

// lines makes the view of a file of lines KEY=VALUE, with comments after # and ;.
func lines(format, text string) (shown []byte, leftOut []string, err error) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.ContainsRune("#;!", rune(line[0])) {
			continue
		}
		if strings.HasPrefix(line, "[") || format != "npm" && strings.HasSuffix(line, `\`) {
			return nil, nil, errors.New("it is not understood: it has sections, or lines that go on")
		}
		name, value, set := strings.Cut(line, "=")
		if format == "gradle" && !set {
			name, value, set = strings.Cut(line, ":")
		}
		name = strings.TrimSpace(name)
		key := []string{strings.TrimSuffix(name, "[]")}
		if format == "gradle" {
			key = strings.Split(name, ".")
		}
		clean, ok := withoutLogin(value)
		if !ok || !shows(format, key) || secretVariable(value) {
			leftOut = append(leftOut, WithoutLogins(name))
			continue
		}
		if clean != value {
			leftOut = append(leftOut, name+loginMark)
		}
		if b.WriteString(name); set {
			b.WriteString("=" + strings.TrimSpace(clean))
		}
		b.WriteByte('\n')
	}
	return []byte(b.String()), leftOut, nil
}

// secretVariable reports whether a value takes a secret from the environment.
func secretVariable(value string) bool {
	for {
		_, rest, found := strings.Cut(value, "${")
		name, after, _ := strings.Cut(rest, "}")
		if !found {
			return false
		}
		if secretNames().MatchString(name) || strings.HasSuffix(strings.ToLower(strings.TrimRight(name, "?")), "auth") {
			return true
		}
		value = after
	}
}

// sections makes the view of a file with sections of KEY = VALUE, whose values go on in lines that are indented, as Python reads it.
func sections(format, text string) (shown []byte, leftOut []string, err error) {
	var b strings.Builder
	section, kept, key := "", false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.ContainsRune("#;", rune(trimmed[0])) {
			continue
		}
		clean, ok := withoutLogin(line)
		switch {
		case line[0] == ' ' || line[0] == '\t':
			if key == "" {
				return nil, nil, errors.New("it is not understood: a line is indented that continues none")
			}
			if !kept {
				continue
			}
			if !ok {
				leftOut = append(leftOut, key)
				continue
			}
		case line[0] == '[':
			end := strings.IndexByte(line, ']')
			if end < 0 {
				return nil, nil, errors.New("it is not understood: a section has no end")
			}
			section, key, clean = line[1:end], "", line[:end+1]
		default:
			at := strings.IndexAny(line, "=:")
			if at <= 0 || section == "" {
				return nil, nil, errors.New("it is not understood: a line is no setting of a section")
			}
			name := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(line[:at]), "_", "-"))
			key = section + "." + name
			if kept = ok && shows(format, []string{section, name}); !kept {
				leftOut = append(leftOut, key)
				continue
			}
		}
		if clean != line && line[0] != '[' {
			leftOut = append(leftOut, key+loginMark)
		}
		b.WriteString(clean + "\n")
	}
	return []byte(b.String()), leftOut, nil
}
