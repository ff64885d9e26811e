package job

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// Final says how the job ended.
//
// Agent Tool v0.2.0, "tool_progress" of shell commands (AT-237 … AT-241).
func (j *Job) Final() agenttool.Progress {
	stats := j.log.Stats()
	e := j.Ending()
	p := agenttool.Progress{
		Status: "completed", TaskID: j.id, Message: stats.LastLine, ElapsedMS: time.Since(j.started).Milliseconds(),
		BytesRead: stats.Bytes, LineCount: stats.Lines, Extra: agenttool.Extra{
			"stdout_bytes": number(stats.Out), "stderr_bytes": number(stats.Err),
		},
	}
	j.mu.Lock()
	cause := j.cause
	j.mu.Unlock()
	switch {
	case e != nil && e.Signal != 0:
		p.Status, p.Extra["signal"] = "failed", agenttool.AppendString(nil, SignalName(e.Signal))
	case e != nil:
		p.Extra["exit_code"] = number(int64(e.Code))
		if e.Code != 0 {
			p.Status = "failed"
		}
	}
	if cause != byItself {
		p.Status, p.Extra["reason"] = "canceled", agenttool.AppendString(nil, string(cause))
	}
	if stats.Ref != nil {
		p.PartialResultRefs = []string{stats.Ref.URI}
	}
	return p
}

func number(n int64) json.RawMessage { return json.RawMessage(strconv.FormatInt(n, 10)) }

// SignalName returns SIGTERM for 15, and the number's text for what has no name.
func SignalName(s unix.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
}

// maxLine is the number of characters after which a line of somebody else's making is cut.
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
