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
	b.writes = slices.DeleteFunc(slices.Clone(c.rec.view().Scheduler.ResourceLocks), func(l agenttool.Lock) bool { return !l.Write })
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
	p = c.rec.step(p)
	_ = h.journal.append(true, c.rec.event(agenttool.EventProgress, "phase", agenttool.PhaseExecute, "progress", p)) // a failure is not sent either
	if tell := c.req.Caller.Progress; tell != nil {
		tell(p)
	}
}

// disturbers are the jobs, but for the call's own, that may write files that the call used.
func (h *Host) disturbers(rec *record, own agenttool.Job) []string {
	scheduled := rec.view().Scheduler
	if scheduled == nil {
		return nil
	}
	var ids []string
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.jobs {
		if b.job != own && conflicts(b.writes, scheduled.ResourceLocks) {
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
