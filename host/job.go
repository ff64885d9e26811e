package host

import (
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/scheduler"
)

// Jobs are the jobs of all tools of a host.
type Jobs interface {
	// List says how those are that have not ended, oldest first.
	List() []agenttool.JobStatus

	// Close ends them all and waits until they are gone, within bounds. No more begin.
	Close()
}

// background is a job that outlives its call. The call's locks were given back: it is only known what it may write.
type background struct {
	job    agenttool.Job
	writes []agenttool.Lock
}

// follow keeps a job in mind until it has ended, and then announces that.
func (h *Host) follow(c *call, job agenttool.Job) {
	b := background{job: job}
	c.mu.Lock()
	b.writes = slices.DeleteFunc(slices.Clone(c.inv.Scheduler.ResourceLocks), func(l agenttool.Lock) bool { return !l.Write })
	c.mu.Unlock()
	h.mu.Lock()
	h.jobs = append(h.jobs, b)
	h.mu.Unlock()
	h.followed.Go(func() {
		<-job.Done()
		<-c.ended // its result comes first
		h.mu.Lock()
		h.jobs = slices.DeleteFunc(h.jobs, func(other background) bool { return other.job == job })
		h.mu.Unlock()
		h.announce(c, job.Final())
	})
}

// announce tells how a job ended, as the last step of its invocation.
func (h *Host) announce(c *call, p agenttool.Progress) {
	now := h.o.Now()
	c.mu.Lock()
	c.steps++
	p.SchemaVersion, p.InvocationID, p.Sequence = agenttool.SchemaVersion, c.inv.InvocationID, c.steps
	c.mu.Unlock()
	p.ProgressID, p.Timestamp = agenttool.ProgressID(h.o.IDs.New("prog_", now)), agenttool.Timestamp(now)
	_ = h.journal.append(true, h.journal.event(agenttool.Event{ // what cannot be recorded is not told either
		EventType: agenttool.EventProgress, Subject: c.req.name(), InvocationID: c.inv.InvocationID, ToolID: c.inv.ToolID,
	}, "phase", agenttool.PhaseExecute, "progress", p))
	if tell := c.req.Caller.Progress; tell != nil {
		tell(p)
	}
}

// disturbers are the jobs that may write what the call used.
func (c *call) disturbers() []string {
	c.mu.Lock()
	scheduled := c.inv.Scheduler
	c.mu.Unlock()
	if scheduled == nil {
		return nil
	}
	var ids []string
	h := c.host
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.jobs {
		if b.job != c.out.Job && conflicts(b.writes, scheduled.ResourceLocks) {
			ids = append(ids, b.job.ID())
		}
	}
	return ids
}

func conflicts(a, b []agenttool.Lock) bool {
	for _, x := range a {
		if slices.ContainsFunc(b, func(y agenttool.Lock) bool { return scheduler.Conflict(x, y) }) {
			return true
		}
	}
	return false
}

// disturbance says who may write beside a call.
func disturbance(jobs []string) string {
	if len(jobs) == 1 {
		return "job " + jobs[0] + " is still running and may write here"
	}
	return "jobs " + strings.Join(jobs, ", ") + " are still running and may write here"
}

// listJobs returns the jobs that have not ended.
func (h *Host) listJobs() []agenttool.JobStatus {
	if h.o.Jobs == nil {
		return []agenttool.JobStatus{}
	}
	return append([]agenttool.JobStatus{}, h.o.Jobs.List()...)
}

// jobsLimit is how long the end of the jobs may take until it is no longer waited for.
const jobsLimit = 10 * time.Second

// endJobs ends all jobs and waits until that is announced. It does not wait for a disk that stalls: what is left ends with the
// process.
func (h *Host) endJobs() {
	if h.o.Jobs == nil {
		return
	}
	announced := make(chan struct{})
	go func() {
		h.o.Jobs.Close()
		h.followed.Wait()
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
			if h.o.Store.Stalled() {
				return
			}
		case <-limit: // a process that waits inside the kernel: it is named when its session is looked at again
			return
		}
	}
}
