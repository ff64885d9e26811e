package proc

import (
	"slices"
	"strconv"
	"strings"
)

const (
	maxWalked = 64 // for more processes and threads, reading the whole table is cheaper than walking
	maxWalks  = 4
)

// Below returns the living descendants of root, without root, parents before their children.
//
// A process that loses its parent is adopted by an ancestor. If that ancestor is root or a descendant of root, Below
// finds all descendants, except processes that start during the call. Otherwise orphans are not below root any more.
// If processes are replaced faster than they can be read, it returns some that may already have ended.
func Below(root int) []Process {
	var before []Process
	for range maxWalks {
		now, ok := walk(root)
		if !ok {
			break
		}
		if before != nil && slices.EqualFunc(before, now, unmoved) {
			return living(now)
		}
		before = now
	}
	return living(append(sift(root), before...))
}

// unmoved compares the results of two walks. An orphan can only move during a walk if a process dies, which the next
// walk shows.
func unmoved(p, q Process) bool { return p.Same(q) && p.Dead == q.Dead && p.Parent == q.Parent }

// living returns the processes that are not dead, without duplicates.
func living(all []Process) []Process {
	seen := map[int]bool{}
	return slices.DeleteFunc(all, func(p Process) bool {
		twice := seen[p.PID]
		seen[p.PID] = true
		return p.Dead || twice
	})
}

// walk visits the children recursively. A child that has ended is included as dead. ok is false if there are too
// many, or the kernel provides no lists of children.
func walk(root int) (below []Process, ok bool) {
	top, ok := Read(root)
	all := []Process{top}
	for i := 0; ok && i < len(all); i++ {
		kids, listed := children(all[i])
		ok = (listed || gone(all[i])) && len(all)+len(kids) <= maxWalked
		if !ok {
			break
		}
		for _, kid := range kids {
			p, lives := Read(kid)
			if !lives {
				p = Process{PID: kid, Dead: true}
			}
			all = append(all, p)
		}
	}
	return all[1:], ok
}

// gone reports whether p has ended since it was read.
func gone(p Process) bool {
	now, ok := Read(p.PID)
	return !ok || !now.Same(p)
}

// children returns the ids of the children of all threads of p.
func children(p Process) (kids []int, ok bool) {
	tasks := processDir(p.PID) + "/task/"
	threads, whole := []int{p.PID}, true
	if p.threads > 1 {
		threads, whole = numbers(tasks, maxWalked)
	}
	for _, thread := range threads {
		var buf [4096]byte
		list, opened := readFile(tasks+strconv.Itoa(thread)+"/children", buf[:])
		whole = whole && opened && len(list) < len(buf)
		for field := range strings.FieldsSeq(string(list)) {
			if kid, err := strconv.Atoi(field); err == nil {
				kids = append(kids, kid)
			}
		}
	}
	return kids, whole
}

// sift finds the descendants of root in the whole process table.
func sift(root int) []Process {
	byParent := map[int][]Process{}
	for p := range All() {
		byParent[p.Parent] = append(byParent[p.Parent], p)
	}
	below := byParent[root]
	delete(byParent, root)
	for i := 0; i < len(below); i++ {
		pid := below[i].PID
		below = append(below, byParent[pid]...)
		delete(byParent, pid) // a number that was reused meanwhile cannot form a loop
	}
	return below
}
