package main

import "strings"

// inRust spells a pattern of Go's so that ripgrep means the same: its classes and word boundaries are those of Unicode,
// ours those of ASCII, and what is a space differs by the vertical tab.
func inRust(pattern string) string {
	var b strings.Builder
	class := false // within brackets
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteString(escape(pattern[i], class))
			continue
		case c == '[' && class && strings.HasPrefix(pattern[i:], "[:"): // [[:alpha:]]
			end := strings.Index(pattern[i:], ":]") + 2
			b.WriteString(pattern[i : i+end])
			i += end - 1
			continue
		case c == '[' && class: // where a literal one must be escaped
			b.WriteByte('\\')
		case c == '[':
			class = true
		case c == ']' && class:
			class = false
		case (c == '&' || c == '~') && class: // set operators
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// escape spells one escaped character.
func escape(c byte, class bool) string {
	sets := map[byte]string{'w': "0-9A-Za-z_", 'd': "0-9", 's': `\t\n\f\r `}
	set, ok := sets[c|0x20]
	switch {
	case ok && class && c >= 'a':
		return set
	case ok && c >= 'a':
		return "[" + set + "]"
	case ok && !class:
		return "[^" + set + "]"
	case (c == 'b' || c == 'B') && !class:
		return `(?-u:\` + string(c) + ")"
	}
	return `\` + string(c)
}
