package files

import (
	"path/filepath"

	"toolhost/agenttool"
	"toolhost/tools/keep"
)

// record keeps what a call replaces and removes, so that it can be put back. The zero value keeps nothing.
type record struct {
	call    *keep.Call
	mayLose bool // what cannot be kept is lost: a person or a rule let the call run as it is
}

func (s *session) record(r agenttool.Reporter, mayLose bool) record {
	if s.options.Keep == nil {
		return record{}
	}
	return record{s.options.Keep.Call(string(r.Invocation())), mayLose}
}

// close ends the record.
func (r record) close() { _ = r.call.Close() } // the file is changed by now, and what it was is kept

func (r record) begin() *keep.Step { return r.call.Begin() }

// made takes notice of a new file, and of as many directories above it that were made for it.
func (r record) made(path string, dirs int) {
	if dirs > 0 {
		r.made(filepath.Dir(path), dirs-1)
	}
	r.call.Made(path, -1)
}

// announce announces a change of the file that takes something away. It fails if that cannot be kept, unless the call may lose it.
func (t *target) announce(change func(path string, place int) error) error {
	if t.record.call == nil {
		return nil
	}
	err := change(t.path.Resolved, int(t.file.Fd()))
	if failed := agenttool.SystemFailure(t.path.Spelling+" was not changed, since undo could not bring back what it holds", err); failed != nil {
		return failed
	}
	if err != nil && !t.record.mayLose {
		return agenttool.Failure(agenttool.PolicyBlocked, "cannot_be_kept", t.path.Spelling+" was not changed, since undo could not bring back what it holds: "+
			err.Error()+"; a person can allow the call as it is").Because(err)
	}
	return t.refresh()
}

// end ends a change that announce has announced.
func (t *target) end(step *keep.Step, done bool) error {
	step.End(done)
	if t.record.call == nil || done {
		return nil
	}
	return t.refresh()
}

// refresh takes notice that the file got or lost a further name in the store, which changes its status.
func (t *target) refresh() error {
	now, err := stat(t.file)
	if err != nil {
		return err
	}
	was := t.stat
	was.Ctim, was.Nlink, was.Atim = now.Ctim, now.Nlink, now.Atim
	if was == now {
		t.stat = now
	}
	return nil
}
