package shell

import (
	"encoding/json"
	"strconv"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/tools/job"
)

// stillRunning is the time between reports of a silent command.
const stillRunning = 5 * time.Second

// maxSaid is the number of characters of the command in the first report.
const maxSaid = 200

// progress reports the progress of a command during the call. A silent command does not fill the session's log.
type progress struct {
	job     *job.Job
	command string
	report  agenttool.Reporter
	limit   int64 // timeout_ms

	bytes int64     // at the last report
	at    time.Time // of the last report
}

// step reports progress.
//
// Agent Tool v0.2.0, "tool_progress" of shell commands (AT-241).
func (p *progress) step() {
	stats, now := p.job.Log().Stats(), time.Now()
	if stats.Bytes == p.bytes && now.Sub(p.at) < stillRunning {
		return
	}
	extra := agenttool.Extra{"stdout_bytes": number(stats.Out), "stderr_bytes": number(stats.Err), "timeout_ms": number(p.limit)}
	if p.at.IsZero() { // once: for the log, which has the call's input only at its end
		extra["command"] = agenttool.AppendString(nil, cut.Characters(p.command, maxSaid))
	}
	p.bytes, p.at = stats.Bytes, now
	p.report.Progress(agenttool.Progress{
		Status:    "running",
		Message:   stats.LastLine,
		ElapsedMS: p.job.Age().Milliseconds(),
		BytesRead: stats.Bytes,
		LineCount: stats.Lines,
		TaskID:    p.job.ID(),
		Extra:     extra,
	})
}

func number(n int64) json.RawMessage { return json.RawMessage(strconv.FormatInt(n, 10)) }
