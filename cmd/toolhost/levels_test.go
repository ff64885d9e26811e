package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"toolhost/sandbox"
)

// keepLevel puts into a directory for state what this machine holds, as toolhost keeps it there. To find it anew takes longer than most
// calls, and each state would.
func keepLevel(t testing.TB, state string) {
	t.Helper()
	if level := foundLevel(); level != nil {
		dir := filepath.Join(state, "toolhost")
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, levelName), level, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

const levelName = "sandbox-level.json"

// foundLevel is what toolhost keeps of the level, nil for nothing.
var foundLevel = sync.OnceValue(func() []byte {
	dir, err := sharedDir()
	if err != nil {
		return nil
	}
	sandbox.ProbeOnce(dir)
	level, _ := os.ReadFile(filepath.Join(dir, levelName))
	return level
})

// findLevel is the argument by which the test binary finds the level that its account holds where it is started, and keeps it in a directory.
// toolhost keeps the strongest level only: each start where less is held would find that anew.
const findLevel = "find-level"

func runFindLevel(dir string) int {
	found, path := sandbox.ProbeNow(dir), filepath.Join(dir, levelName)
	if found.Momentary {
		return exitFailed
	}
	sandbox.Remember(sandbox.Finding{Level: sandbox.Full}, dir) // for its key: a finding counts for this account on this machine
	var kept struct {
		Key string
		sandbox.Finding
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err == nil {
		kept.Finding = found
		text, err = json.Marshal(kept)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	return exitOK
}
