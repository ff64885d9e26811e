package mcp

import "slices"

// maxAlone bounds the running calls whose clients have a question and that no request waits for.
const maxAlone = 64

// resultHandles notes the ways to the result of a call. flights.mu guards it.
type resultHandles struct {
	handed  bool // a client was given its state
	task    bool // a client was given a task for it
	waiting int  // requests
}

// join notes that a request waits for the call.
func (f *flights) join(one *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.waiting++
	f.found(one)
}

// leave notes that a request waits for the call no longer. It reports whether the call is still wanted: another request
// waits, or it is a task, or its client has a question and has not answered. If too many calls are alone, it returns the
// first of them, and the caller cancels that.
func (f *flights) leave(one *flight) (wanted bool, forsaken *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.waiting--
	if one.waiting > 0 || one.task {
		return true, nil
	}
	if one.handed && !one.over() {
		f.alone = append(f.alone, one)
	}
	if len(f.alone) > maxAlone {
		forsaken = f.alone[0]
		f.found(forsaken)
	}
	return one.handed && one.asking(), forsaken
}

// keepAsTask notes that a client was given a task for the call.
func (f *flights) keepAsTask(one *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.task = true
}

// found notes that a call is not alone any more, or has ended. f.mu is held.
func (f *flights) found(one *flight) {
	f.alone = slices.DeleteFunc(f.alone, func(other *flight) bool { return other == one })
}
