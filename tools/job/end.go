package job

import (
	"context"
	"slices"
	"syscall"
	"time"

	"toolhost/sandbox"
	"toolhost/tools/job/proc"
)

// killWait is how long killed processes have to be gone, which takes longer only inside the kernel.
const killWait = 5 * time.Second

// maxGrace is the longest time that a job may take to end itself.
const maxGrace = time.Minute

// Kill ends the job: sig to all of it, then, when grace is over and something is left, SIGKILL. It returns the names of who
// was there, and reports whether nothing is left. When ctx ends it waits no longer, and sends no SIGKILL.
func (j *Job) Kill(ctx context.Context, sig syscall.Signal, grace time.Duration) (names []string, gone bool) {
	if j.over() {
		return nil, true
	}
	names = j.Running()
	j.because(reasonKilled)
	j.signal(sig)
	return names, j.end(ctx, min(grace, maxGrace))
}

// Terminate ends the job with SIGTERM and the usual grace.
func (j *Job) Terminate() (gone bool) { return j.terminate(j.jobs.o.Grace, reasonKilled) }

func (j *Job) terminate(grace time.Duration, why reason) (gone bool) {
	j.because(why)
	j.signal(syscall.SIGTERM)
	return j.end(context.Background(), grace)
}

// because notes why the job is ended. The first reason counts.
func (j *Job) because(why reason) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cause == byItself {
		j.cause = why
	}
}

// signal sends a signal to all of the job. What is stopped is continued, since it would not notice otherwise.
func (j *Job) signal(sig syscall.Signal) {
	j.process.Signal(sig)
	if sig != syscall.SIGSTOP && sig != syscall.SIGTSTP {
		j.process.Signal(syscall.SIGCONT)
	}
}

// end waits for grace, ends what is left then, and waits for its end.
func (j *Job) end(ctx context.Context, grace time.Duration) (gone bool) {
	if j.within(ctx, grace) || ctx.Err() != nil {
		return j.over()
	}
	j.process.Kill()
	return j.within(ctx, killWait)
}

// within reports whether nothing is left of the job when d is over.
func (j *Job) within(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-j.done:
	case <-timer.C:
	case <-ctx.Done():
	}
	return j.over()
}

// endSurvivors ends what has lost its supervisor: a command that is in no pid namespace can end that, and its processes are
// then known by their mark alone.
func (j *Job) endSurvivors() {
	confined := j.process.Confinement()
	namespace := confined.Level == sandbox.Full && confined.Profile != sandbox.Unconfined
	if ended := j.process.Ended(); namespace || ended != nil && ended.Alone {
		return
	}
	own := ownMark(j.jobs.o.Owner, j.id).String()
	endAll(func() []proc.Process {
		return proc.Marked(MarkName, func(value string) bool { return value == own })
	})
}

// endTime bounds how often it is looked for processes that start others faster than they are ended.
const endTime = 2 * time.Second

// endAll kills processes until find finds none.
func endAll(find func() []proc.Process) {
	for over := time.Now().Add(endTime); time.Now().Before(over); {
		left := find()
		if len(left) == 0 {
			break
		}
		for _, p := range left {
			_ = p.Signal(syscall.SIGKILL) // it may be gone by now
		}
		time.Sleep(time.Millisecond) // a killed process needs a moment until it notices
	}
}

// names are the names of processes, sorted, each process once.
func names(processes []proc.Process) []string {
	seen := map[int]string{}
	for _, p := range processes {
		seen[p.PID] = p.Name
	}
	var all []string
	for _, name := range seen {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
