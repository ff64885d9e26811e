package job

import (
	"encoding/json"
	"strconv"
	"unicode"

	"golang.org/x/sys/unix"

	"toolhost/tools/job/proc"
)

func number(n int64) json.RawMessage { return json.RawMessage(strconv.FormatInt(n, 10)) }

// SignalName returns SIGTERM for 15, and the number as text for an unnamed signal.
func SignalName(s unix.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
}

// OneLine returns s without control characters and surrounding space, cut to 200 characters.
func OneLine(s string) string {
	return proc.OneLine(s, func(r rune) bool { return !unicode.IsControl(r) })
}
