package rap

import (
	"fmt"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
)

func eventOf(a address, text string, final bool) eventMessage {
	return eventMessage{Type: "subscription_event", Group: a.Group, Call: a.ID, Text: text, Associative: true, Final: final}
}

// jobEnded gets the progress of a call and notes the end of its job, which may come before the call's result.
func (c *call) jobEnded(p agenttool.Progress) {
	if p.TaskID == "" || !agenttool.ProgressEnds(p.Status) {
		return
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if c.ended == nil {
		c.ended = &p
		c.stopLocked()
	}
}

// follow posts the progress of a job until it has ended, or until the runtime wants no more messages.
func (c *call) follow() {
	s := c.server
	s.mu.Lock()
	if c.ended != nil || c.canceled != "" { // before it was known to be followed
		c.stopLocked()
	}
	s.mu.Unlock()
	limit := time.After(followTime)
	var ticks <-chan time.Time
	if s.o.ProgressEvery > 0 {
		ticker := time.NewTicker(s.o.ProgressEvery)
		defer ticker.Stop()
		ticks = ticker.C
	}
	told := int64(0)
	for {
		select {
		case <-s.run.ctx.Done():
			return
		case <-limit:
			c.finish(fmt.Sprintf("[job %s is followed no longer; shell_output shows what it does]", c.job))
			return
		case <-ticks:
			told = c.tellProgress(told)
		case <-c.over:
			c.lastWord()
			return
		}
	}
}

// tellProgress says how far a job is, if it has said anything since, and returns how many bytes it had said.
func (c *call) tellProgress(told int64) int64 {
	s := c.server
	for _, job := range s.o.Host.Status().Jobs {
		if job.ID != c.job || job.Bytes == told || s.outbox.waiting(c.Group) > maxQueued {
			continue
		}
		text := fmt.Sprintf("[job %s is %s: %d lines, %d bytes of output so far]", job.ID, job.State, job.Lines, job.Bytes)
		if job.LastLine != "" {
			text += "\n" + visible.Text(job.LastLine)
		}
		s.outbox.post(c, eventOf(c.address, text, false), nil)
		return job.Bytes
	}
	return told
}

// lastWord posts the end of a job, unless the runtime wants no more messages.
func (c *call) lastWord() {
	c.server.mu.Lock()
	ended, muted := c.ended, c.muted
	c.server.mu.Unlock()
	switch {
	case muted:
		c.retire()
	case ended == nil:
		c.finish(fmt.Sprintf("[job %s ends: %s]", c.job, c.canceled))
	default:
		c.finish(c.tail() + ending(c.job, *ended))
	}
}

// finish sends the last event of a job.
func (c *call) finish(text string) {
	c.server.outbox.post(c, eventOf(c.address, text, true), func(outcome) { c.retire() })
}

// tail is the last output of a job, empty if it cannot be had.
func (c *call) tail() string {
	input, _ := json.Marshal(map[string]any{"job": c.job, "tail": 100}) // strings and numbers
	done, err := c.own("shell_output", string(input))
	if err != nil || done.Result.IsError {
		return ""
	}
	if text := resultOf(c.address, done).Text; text != "" {
		return text + "\n"
	}
	return ""
}

// ending says how a job ended, in the words of the protocol's example.
func ending(job string, p agenttool.Progress) string {
	text := "[" + p.Status + ": job " + job
	var signal string
	if json.Unmarshal(p.Extra["signal"], &signal) == nil && signal != "" {
		text += ", signal " + signal
	}
	if text += "]"; p.Extra["exit_code"] != nil {
		text += "\n[exit code: " + string(p.Extra["exit_code"]) + "]"
	}
	return text
}

// kill ends the job of a canceled call, which would run unseen.
func (c *call) kill(job string) {
	input, _ := json.Marshal(map[string]string{"job": job})
	if done, err := c.own("shell_kill", string(input)); err != nil {
		c.server.o.log("job %s of a canceled call may go on: %v", visible.Text(job), err)
	} else if done.Result.Error != nil {
		c.server.o.log("job %s of a canceled call may go on: %s", visible.Text(job), visible.Text(done.Result.Error.Message))
	}
}
