package confine

import (
	"errors"
	"testing"

	"toolhost/agenttool"
	"toolhost/sandbox"
)

// TestNoSandboxForTheCause: that a machine holds no sandbox is not said where a failing disk or a shortage kept it from being tried.
func TestNoSandboxForTheCause(t *testing.T) {
	for want, found := range map[string]sandbox.Finding{
		"execution_failed/io_error":                   {Level: sandbox.None, Missing: []sandbox.Missing{{Level: sandbox.Full, Why: "mkdir /tmp/toolhost-probe-1: input/output error"}}},
		"dependency_unavailable/read_only_filesystem": {Level: sandbox.None, Missing: []sandbox.Missing{{Level: sandbox.Full, Why: "mkdir /tmp/toolhost-probe-1: read-only file system"}}},
		"dependency_unavailable/resource_exhausted":   {Level: sandbox.None, Momentary: true},
		"setup_required/sandbox_required":             {Level: sandbox.None, Missing: []sandbox.Missing{{Level: sandbox.Full, Why: "the kernel allows no namespaces"}}},
	} {
		var e *agenttool.Error
		if err := tooWeak(sandbox.Landlock, found); !errors.As(err, &e) || string(e.Class)+"/"+e.Code != want {
			t.Errorf("%+v: %v, want %s", found, err, want)
		}
	}
}
