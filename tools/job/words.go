package job

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"
)

func number(n int64) json.RawMessage { return json.RawMessage(strconv.FormatInt(n, 10)) }

// SignalName returns SIGTERM for 15, and the number as text for an unnamed signal.
func SignalName(s unix.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
}

// maxLine is the maximum length of a line of foreign text, in characters.
const maxLine = 200

// OneLine returns s without control characters and surrounding space, cut to maxLine characters.
func OneLine(s string) string {
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
