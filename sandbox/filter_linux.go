package sandbox

import (
	"runtime"
	"sync"

	"toolhost/sandbox/seccomp"
)

// filters are the programs of a session, made when they are first needed.
type filters struct {
	mu   sync.Mutex
	made map[seccomp.Options]string
}

// program returns the filter for options.
func (f *filters) program(o seccomp.Options) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, ok := f.made[o]; ok {
		return p, nil
	}
	p, err := seccomp.Standard(o).Assemble(runtime.GOARCH)
	if err != nil {
		return "", err
	}
	if f.made == nil {
		f.made = map[seccomp.Options]string{}
	}
	f.made[o] = string(p)
	return f.made[o], nil
}
