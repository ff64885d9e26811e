package shell

import (
	"encoding/json"
	"strconv"
	"time"

	"toolhost/agenttool"
)

const (
	progressEvery = 250 * time.Millisecond // at most, while there is output
	stillRunning  = 5 * time.Second        // between reports of a command that says nothing
)

// progress reports the steps of one execution. A silent command does not fill the session's log.
type progress struct {
	out, errs int64     // bytes at the last report
	at        time.Time // of the last report
}

// step reports how far x is.
//
// Agent Tool v0.2.0, "tool_progress" of shell commands (AT-241).
func (p *progress) step(x *execution) {
	out, errs := x.streams[0].glimpse(), x.streams[1].glimpse()
	now, message := time.Now(), out.last
	switch {
	case out.bytes != p.out:
	case errs.bytes != p.errs:
		message = errs.last
	case now.Sub(p.at) < stillRunning:
		return
	}
	*p = progress{out: out.bytes, errs: errs.bytes, at: now}
	x.report.Progress(agenttool.Progress{
		Status:    "running",
		Message:   oneLine(message),
		ElapsedMS: now.Sub(x.started).Milliseconds(),
		BytesRead: out.bytes + errs.bytes,
		LineCount: out.lines + errs.lines,
		Extra: agenttool.Extra{
			"stdout_bytes": number(out.bytes),
			"stderr_bytes": number(errs.bytes),
			"timeout_ms":   number(x.call.input.TimeoutMS),
		},
	})
}

func number(n int64) json.RawMessage { return json.RawMessage(strconv.FormatInt(n, 10)) }
