package session

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/host"
	"toolhost/persist"
	"toolhost/persist/redact"
)

// TestReloadsWhileCallsRun changes the rules a hundred times, in the long form a thousand times, while calls read a file that every second version denies. Each decision bears
// the number of the version that made it, and the call ends as that version says, for its reason.
func TestReloadsWhileCallsRun(t *testing.T) {
	const callers = 2
	changes := 100
	if os.Getenv("TOOLHOST_LONG") != "" {
		changes = 1000
	}
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(name, home)
	}
	ws, file := filepath.Join(home, "ws"), filepath.Join(home, "toolhost", "settings.json")
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(ws, "a"), "text\n")
	versions := []string{`{"permissions": {"deny": ["Read(other)"]}}`, `{"permissions": {"deny": ["Read(a)"]}}`} // by the number of the snapshot, modulo 2
	write(file, versions[1])
	var store *persist.Store
	s, err := New(Options{
		Workspace: ws, Sandbox: "none", Policy: policy.Flags{Mode: "default"}, MaxParallel: callers, MaxJobs: 1, Log: func(line string) { t.Log(line) },
		Store: func(root string, r *redact.Redactor) (*persist.Store, error) {
			store = persist.New(persist.Options{Dir: filepath.Join(home, "sessions"), Meta: Meta(root, "test"), Redactor: r})
			return store, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := map[agenttool.InvocationID]agenttool.Invocation{}
	failures := map[agenttool.InvocationID]*agenttool.Error{}
	var mu sync.Mutex
	over := make(chan struct{})
	var clients sync.WaitGroup
	for caller := range callers {
		clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				default:
				}
				done := make(chan host.Completion, 1)
				if err := s.Host.Invoke(host.Request{ID: fmt.Sprintf("c%d.%d", caller, n), Tool: "read", Input: []byte(`{"path": "a"}`)}, func(c host.Completion) { done <- c }); err != nil {
					t.Error(err)
					return
				}
				c := <-done
				mu.Lock()
				ended[c.Invocation.InvocationID], failures[c.Invocation.InvocationID] = c.Invocation, c.Result.Error
				mu.Unlock()
			}
		})
	}
	for n := range changes {
		write(file, versions[n%2])
		if err := s.Reload(); err != nil {
			t.Fatal(err)
		}
	}
	close(over)
	clients.Wait()
	log := store.Path()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	deciding := map[agenttool.InvocationID]agenttool.Decision{} // the last decision of each call
	text, err := os.ReadFile(filepath.Join(log, "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var l struct {
			Event agenttool.Event `json:"event"`
		}
		var data struct {
			Decision agenttool.Decision `json:"decision"`
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.Event.EventType == agenttool.EventPermissionDecided && json.Unmarshal(l.Event.Data, &data) == nil {
			deciding[data.Decision.InvocationID] = data.Decision
		}
	}
	both := map[agenttool.Behavior]int{}
	for id, call := range ended {
		d, e := deciding[id], failures[id]
		both[d.Behavior]++
		want := map[agenttool.Behavior]bool{agenttool.Deny: d.Snapshot%2 == 1, agenttool.Allow: d.Snapshot > 0 && d.Snapshot%2 == 0}
		switch {
		case !want[d.Behavior]:
			t.Errorf("snapshot %d decided %q, which is not what it says", d.Snapshot, d.Behavior)
		case d.Behavior == agenttool.Allow && call.Status != agenttool.StatusSucceeded:
			t.Errorf("snapshot %d allowed the call, and it was %s: %v", d.Snapshot, call.Status, e)
		case d.Behavior == agenttool.Deny && (e == nil || e.Code != "denied_by_rule" || !strings.Contains(e.Message, "Read(a)")):
			t.Errorf("snapshot %d denied the call by its rule, and the error is %v", d.Snapshot, e)
		}
	}
	if both[agenttool.Allow] == 0 || both[agenttool.Deny] == 0 {
		t.Errorf("of %d calls were decided: %v", len(ended), both)
	}
	t.Logf("%d calls: %v", len(ended), both)
}
