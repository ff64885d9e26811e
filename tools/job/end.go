package job

import (
	"slices"
	"syscall"
	"time"

	"toolhost/tools/job/proc"
)

// killWait is how long killed processes have to be gone, which takes longer only inside the kernel.
const killWait = 5 * time.Second

// maxGrace is the longest time that a job may take to end itself.
const maxGrace = time.Minute

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
