package shell

import (
	"strings"
	"unicode"
)

// maxLine is the number of characters after which a line of somebody else's making is cut.
const maxLine = 200

// holder is a process that outlived a command and can still write to its output.
type holder struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
}

// oneLine returns s without control characters and surrounding space, cut to maxLine characters.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.TrimSpace(s)
	if runes := []rune(s); len(runes) > maxLine {
		return string(runes[:maxLine-1]) + "…"
	}
	return s
}
