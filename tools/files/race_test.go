package files

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"toolhost/agenttool"
)

// A directory that becomes a link between the decision and the run leads nowhere.
func TestSwappedParentIsRefused(t *testing.T) {
	tests := []struct {
		name  string
		tool  string
		input in
	}{
		{"read", "read", in{"path": "d/f"}},
		{"edit", "edit", in{"path": "d/f", "old_string": "one", "new_string": "two"}},
		{"write", "write", in{"path": "d/f", "content": "two"}},
		{"new file", "write", in{"path": "d/new", "content": "two"}},
		{"new directory", "write", in{"path": "d/e/new", "content": "two"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			outside := t.TempDir()
			victim := filepath.Join(outside, "f")
			os.WriteFile(victim, []byte("one\n"), 0o644)
			p := newProject(t, Options{Overwrite: true})
			p.put("d/f", "one\n")
			call := p.mustBind(tt.tool, tt.input)
			os.Rename(p.path("d"), p.path("moved"))
			if err := os.Symlink(outside, p.path("d")); err != nil {
				t.Fatal(err)
			}
			_, err := call.Run(t.Context(), nil)
			wantError(t, err, agenttool.PolicyBlocked, "path_changed")
			if previewer, ok := call.(agenttool.Previewer); ok {
				_, err := previewer.Preview(t.Context())
				wantError(t, err, agenttool.PolicyBlocked, "path_changed")
			}
			checkUntouched(t, outside)
		})
	}
}

// A file that becomes a link is not followed either.
func TestSwappedFileIsRefused(t *testing.T) {
	outside := t.TempDir()
	os.WriteFile(filepath.Join(outside, "f"), []byte("one\n"), 0o644)
	p := newProject(t, Options{Overwrite: true})
	p.put("f", "one\n")
	calls := []agenttool.Call{
		p.mustBind("read", in{"path": "f"}),
		p.mustBind("edit", in{"path": "f", "old_string": "one", "new_string": "two"}),
		p.mustBind("write", in{"path": "f", "content": "two"}),
	}
	os.Remove(p.path("f"))
	os.Symlink(filepath.Join(outside, "f"), p.path("f"))
	for _, call := range calls {
		_, err := call.Run(t.Context(), nil)
		wantError(t, err, agenttool.PolicyBlocked, "path_changed")
	}
	checkUntouched(t, outside)
}

func checkUntouched(t *testing.T, outside string) {
	t.Helper()
	entries, _ := os.ReadDir(outside)
	if content, err := os.ReadFile(filepath.Join(outside, "f")); err != nil || string(content) != "one\n" || len(entries) != 1 {
		t.Fatalf("outside: %q, %v, %d entries", content, err, len(entries))
	}
}

func TestSwappingWhileRunningTouchesNothingOutside(t *testing.T) {
	outside := t.TempDir()
	os.WriteFile(filepath.Join(outside, "f"), []byte("one\n"), 0o644)
	p := newProject(t, Options{Overwrite: true})
	p.put("d/f", "one\n")
	if err := os.Symlink(outside, p.path("link")); err != nil {
		t.Fatal(err)
	}
	calls := []agenttool.Call{
		p.mustBind("edit", in{"path": "d/f", "old_string": "one", "new_string": "two"}),
		p.mustBind("edit", in{"path": "d/f", "old_string": "two", "new_string": "one"}),
		p.mustBind("write", in{"path": "d/g", "content": "new"}),
		p.mustBind("write", in{"path": "d/e/h", "content": "new"}),
		p.mustBind("read", in{"path": "d/f"}),
	}
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Rename(p.path("d"), p.path("real"))
			os.Rename(p.path("link"), p.path("d"))
			os.Rename(p.path("d"), p.path("link"))
			os.Rename(p.path("real"), p.path("d"))
		}
	})
	done, refused := 0, 0
	for i := range 2000 {
		_, err := calls[i%len(calls)].Run(t.Context(), nil)
		switch {
		case err == nil:
			done++
		case errors.Is(err, agenttool.PolicyBlocked):
			refused++
		}
	}
	close(stop)
	swapper.Wait()
	checkUntouched(t, outside)
	if done == 0 || refused == 0 {
		t.Logf("%d calls were done, %d refused: the race was not much of one", done, refused)
	}
	p.noTemporaries("d")
}

const (
	counterFile  = "FILES_TEST_COUNTER"
	counterEdits = 1000
)

// Two processes that change one file lose none of their changes.
func TestTwoProcessesLoseNoUpdate(t *testing.T) {
	dir := t.TempDir()
	if given := os.Getenv(counterFile); given != "" {
		countIn(t, given)
		return
	}
	p := projectIn(t, dir, Options{})
	p.put("counter", "head\ncount: 0\ntail\n")
	var children [2]*exec.Cmd
	for i := range children {
		children[i] = exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		children[i].Env = append(os.Environ(), counterFile+"="+dir)
		children[i].Stderr = os.Stderr
		if err := children[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, child := range children {
		if err := child.Wait(); err != nil {
			t.Error(err)
		}
	}
	if got, want := p.get("counter"), fmt.Sprintf("head\ncount: %d\ntail\n", 2*counterEdits); got != want {
		t.Errorf("file %q, want %q", got, want)
	}
	p.noTemporaries(".")
}

// count adds one to the counter, a thousand times.
func countIn(t *testing.T, dir string) {
	p := projectIn(t, dir, Options{})
	line := regexp.MustCompile(`^head\ncount: (\d+)\ntail\n$`)
	for done := 0; done < counterEdits; {
		found := line.FindStringSubmatch(p.get("counter"))
		if found == nil {
			t.Fatalf("torn file: %q", p.get("counter"))
		}
		n, _ := strconv.Atoi(found[1])
		_, err := p.edit("counter", fmt.Sprintf("count: %d\n", n), fmt.Sprintf("count: %d\n", n+1))
		var failure *agenttool.Error
		switch {
		case err == nil:
			done++
		case !errors.As(err, &failure) || failure.Code != "no_match": // no_match: the other one was faster
			t.Fatal(err)
		}
	}
}

// Writers of a new file that come at once: one makes it, the others find it there.
func TestOnlyOneCreates(t *testing.T) {
	p := newProject(t, Options{})
	for round := range 50 {
		name := fmt.Sprintf("d%d/f", round)
		var created [4]bool
		var writers sync.WaitGroup
		for i := range created {
			call := p.mustBind("write", in{"path": name, "content": fmt.Sprintf("writer %d\n", i)})
			own := projectIn(t, p.dir, Options{}) // a session of its own
			call = own.mustBind("write", call.Input().(writeInput))
			writers.Go(func() {
				out, err := call.Run(t.Context(), nil)
				if err != nil {
					var failure *agenttool.Error
					if !errors.As(err, &failure) || failure.Code != "not_read" {
						t.Error(err)
					}
					return
				}
				created[i] = out.Structured.(changeResult).Created
			})
		}
		writers.Wait()
		makers := 0
		for i, made := range created {
			if made {
				makers++
				if got := p.get(name); got != fmt.Sprintf("writer %d\n", i) {
					t.Errorf("writer %d made the file, and it holds %q", i, got)
				}
			}
		}
		if makers != 1 {
			t.Fatalf("%d writers made the file", makers)
		}
	}
}
