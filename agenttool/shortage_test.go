package agenttool

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// TestForkRefused: a program that cannot be started for want of processes is a shortage, however the error is wrapped. EAGAIN of anything
// else is none.
func TestForkRefused(t *testing.T) {
	refused := &fs.PathError{Op: "fork/exec", Path: "/usr/bin/git", Err: syscall.EAGAIN}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"as it is":                 {refused, true},
		"wrapped":                  {fmt.Errorf("ask git: %w", refused), true},
		"below another path":       {&fs.PathError{Op: "open", Path: "/x", Err: refused}, true},
		"joined":                   {errors.Join(errors.New("other"), fmt.Errorf("ask git: %w", refused)), true},
		"a program that is absent": {&fs.PathError{Op: "fork/exec", Path: "/x", Err: syscall.ENOENT}, false},
		"a pipe that is full":      {&fs.PathError{Op: "write", Path: "/x", Err: syscall.EAGAIN}, false},
		"nothing":                  {nil, false},
	} {
		if got := IsShortage(c.err); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
