package job

import (
	"slices"
	"syscall"
	"time"

	"toolhost/tools/job/proc"
)

// killWait is how long to wait for killed processes to end, which takes longer only inside the kernel.
const killWait = 5 * time.Second

// How long a job has to end by itself where a call or the session ends, and how long it is waited for after it was killed.
const (
	abortGrace = time.Second
	abortWait  = 400 * time.Millisecond
)

// maxGrace is the longest time that a job may take to end by itself.
const maxGrace = time.Minute

// endTime bounds the search for processes that start others faster than they are killed.
const endTime = 2 * time.Second

// endAll kills processes until find finds none.
func endAll(find func() []proc.Process) {
	for over := time.Now().Add(endTime); time.Now().Before(over); {
		left := find()
		if len(left) == 0 {
			break
		}
		for _, p := range left {
			_ = p.Signal(syscall.SIGKILL) // it may have ended already
		}
		time.Sleep(time.Millisecond) // a killed process takes a moment to end
	}
}

// names returns the names of processes, sorted, each process once.
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
