package host

import (
	"slices"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/scheduler"
)

// Jobs are the jobs of all tools of a host.
type Jobs interface {
	// List says how those are that have not ended, oldest first.
	List() []agenttool.JobStatus

	// Close ends all jobs and waits for their end, within bounds. No more begin.
	Close()
}

// background is a job that outlives its call. The call's locks were given back: it is only known what it may write.
type background struct {
	job    agenttool.Job
	writes []agenttool.Lock
}

// jobs are the jobs that outlive their calls.
type jobs struct {
	tools    Jobs // nil: there are none
	journal  *journal
	followed sync.WaitGroup // jobs whose end will be announced

	mu      sync.Mutex
	running []background
}

// follow keeps a job in mind until it has ended, and then announces that, as the last step of its invocation.
func (j *jobs) follow(c *call, job agenttool.Job) {
	c.leavesJob.Store(true)
	b := background{job: job}
	b.writes = slices.DeleteFunc(slices.Clone(c.rec.view().Scheduler.ResourceLocks), func(l agenttool.Lock) bool { return !l.Write })
	j.mu.Lock()
	j.running = append(j.running, b)
	j.mu.Unlock()
	j.followed.Go(func() {
		<-job.Done()
		<-c.ended // its result comes first
		j.mu.Lock()
		j.running = slices.DeleteFunc(j.running, func(other background) bool { return other.job == job })
		j.mu.Unlock()
		p := c.rec.step(job.Final())
		end := c.rec.event(agenttool.EventProgress, "phase", agenttool.PhaseExecute, "progress", p)
		_ = j.journal.append(true, end) // a failure is not sent either
		if c.req.Caller.Progress != nil {
			c.req.Caller.Progress(p)
		}
	})
}

// disturbance says which jobs, but for the call's own, may write files that the call used; empty: none.
func (j *jobs) disturbance(rec *record, own agenttool.Job) string {
	scheduled := rec.view().Scheduler
	if scheduled == nil {
		return ""
	}
	conflicts := func(b background) bool {
		return slices.ContainsFunc(b.writes, func(x agenttool.Lock) bool {
			return slices.ContainsFunc(scheduled.ResourceLocks, func(y agenttool.Lock) bool { return scheduler.Conflict(x, y) })
		})
	}
	var ids []string
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, b := range j.running {
		if b.job != own && conflicts(b) {
			ids = append(ids, b.job.ID())
		}
	}
	switch len(ids) {
	case 0:
		return ""
	case 1:
		return "job " + ids[0] + " is still running and may write here"
	}
	return "jobs " + strings.Join(ids, ", ") + " are still running and may write here"
}

// list returns the jobs that have not ended.
func (j *jobs) list() []agenttool.JobStatus {
	if j.tools == nil {
		return []agenttool.JobStatus{}
	}
	return append([]agenttool.JobStatus{}, j.tools.List()...)
}

// jobsLimit is how long the end of the jobs may take until it is no longer waited for.
const jobsLimit = 3 * time.Second

// end ends all jobs and waits until their ends are announced. It does not wait for a disk that stalls: jobs that are left end with
// the process.
func (j *jobs) end() {
	if j.tools == nil {
		return
	}
	announced := make(chan struct{})
	go func() {
		j.tools.Close()
		j.followed.Wait()
		close(announced)
	}()
	limit := time.After(jobsLimit)
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-announced:
			return
		case <-look.C:
			if j.journal.store.Stalled() {
				return
			}
		case <-limit: // a process that waits inside the kernel: it is named when its session is looked at again
			return
		}
	}
}
