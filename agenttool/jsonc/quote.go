package jsonc

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
)

// Quote encodes a string so that a person sees its content in the file: invisible characters are escaped.
func Quote(s string) string {
	var b strings.Builder
	for _, r := range string(agenttool.AppendString(nil, s)) {
		switch {
		case visible.Shows(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
