package history

import (
	"bytes"
	"fmt"
	"path/filepath"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/persist"
)

// Job is a job of a session, as the log tells of it.
type Job struct {
	Session string
	Call    string // the client's id of the call that started it
	How     string // it ended; "" if the log does not say that it has
	Output  string // the file with all of its output; "" if there is none
}

// Job finds a job by its id. It returns false if the log does not tell of it.
func (l Log) Job(id string) (j Job, found bool, err error) {
	log, err := l.Open()
	if err != nil {
		return j, false, err
	}
	defer log.Close()
	r := Reader{}
	task := agenttool.AppendString([]byte(`"task_id":`), id)
	for entry, err := range persist.Scan(log) {
		if err != nil {
			return j, found, fmt.Errorf("%w: toolhost log verify says more", err)
		}
		if bytes.Contains(entry.Event, task) {
			found = true
			j.progress(entry.Event)
		}
		items, err := r.Add(entry)
		if err != nil {
			return j, found, err
		}
		for _, item := range items {
			if c := item.Call; c != nil && c.Outcome.Job == id && c.Tool == "toolhost.shell" { // others name jobs that they look at
				found = true
				j.Call = c.Subject
				if c.Outcome.State == agenttool.JobEnded {
					j.How = howEnded(c.Outcome.ExitCode, c.Outcome.Signal)
				}
				j.output(l, string(c.Invocation)+".output")
			}
		}
	}
	j.Session = l.Session
	return j, found, nil
}

// progress reads an event about the job.
func (j *Job) progress(event []byte) {
	var e struct {
		Subject string `json:"subject"`
		Data    struct {
			Progress struct {
				Status   string `json:"status"`
				ExitCode *int   `json:"exit_code"`
				Signal   string `json:"signal"`
			} `json:"progress"`
		} `json:"data"`
	}
	if json.Unmarshal(event, &e) != nil {
		return
	}
	j.Call = e.Subject
	switch p := e.Data.Progress; {
	case p.Status == "canceled" && p.ExitCode == nil && p.Signal == "":
		j.How = "it was ended with its session"
	case agenttool.ProgressEnds(p.Status):
		j.How = howEnded(p.ExitCode, p.Signal)
	}
}

// output notes the file of a payload if it is there.
func (j *Job) output(l Log, file string) {
	for _, dir := range l.Dirs() {
		if path := filepath.Join(dir, "results", file); isFile(path) {
			j.Output = path
		}
	}
}

func howEnded(exit *int, signal string) string {
	switch {
	case signal != "":
		return signal
	case exit != nil:
		return fmt.Sprintf("exit status %d", *exit)
	}
	return "exit status unknown"
}

// WithJob finds the session in dir that was used last among those that have a job of this name and match; nil: all match. It reads some of the
// past only, as much as the other questions about it.
func WithJob(dir, job string, match func(id string) bool) (j Job, found bool, err error) {
	sessions, err := recent(dir)
	if err != nil {
		return j, false, err
	}
	left := int64(readBytes)
	seen := map[string]bool{}
	for _, s := range sessions {
		l := OfSession(dir, s.ID)
		if s.Bytes == 0 || seen[l.Session] || match != nil && !match(l.Session) && !match(string(s.ID)) {
			continue
		}
		seen[l.Session] = true
		if left -= s.Bytes; left < 0 && match == nil {
			break
		}
		if j, found, err := l.Job(job); found || err != nil && match != nil {
			return j, found, err
		}
	}
	return j, false, nil
}
