package host_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/permissions"
)

// recorder is a tool that writes, and notes the order in which its calls run.
type recorder struct {
	mu  sync.Mutex
	ran []string
}

func (r *recorder) tool() *fake {
	return &fake{name: "write", run: func(_ context.Context, in fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ran = append(r.ran, in.Say)
		return agenttool.Output{}, nil
	}}
}

// TestConflictingCallsKeepTheirOrder sends calls that write one file, one after the other, without waiting for results.
func TestConflictingCallsKeepTheirOrder(t *testing.T) {
	const calls = 1000
	for _, batch := range []string{"", "b1"} {
		t.Run("batch "+batch, func(t *testing.T) {
			var r recorder
			f := newFixture(t, []agenttool.Tool{r.tool()}, func(o *host.Options) { o.Policy.Mode = permissions.AcceptEdits })
			var want []string
			var all sync.WaitGroup
			all.Add(calls)
			for i := range calls {
				say := fmt.Sprint(i)
				want = append(want, say)
				input := fmt.Appendf(nil, `{"path":"f","say":%q}`, say)
				if err := f.Invoke(host.Request{ID: say, Tool: "write", Batch: batch, Input: input}, func(host.Completion) { all.Done() }); err != nil {
					t.Fatal(err)
				}
			}
			all.Wait()
			if !slices.Equal(r.ran, want) {
				t.Errorf("%d calls that write one file ran in another order than they were sent in: %v …", calls, r.ran[:20])
			}
		})
	}
}

// TestPassing shows which calls pass an earlier one: those without a conflicting lock, and all while it waits for a person.
func TestPassing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		slow := r.tool()
		slow.name = "slow"
		run := slow.run
		slow.run = func(ctx context.Context, in fakeInput, p agenttool.Reporter) (agenttool.Output, error) {
			time.Sleep(time.Minute)
			return run(ctx, in, p)
		}
		f := newFixture(t, []agenttool.Tool{r.tool(), slow}, func(o *host.Options) { o.Policy.Mode = permissions.AcceptEdits })
		first := f.start(host.Request{ID: "1", Tool: "slow", Input: []byte(`{"path":"f","say":"1"}`)})
		second := f.start(host.Request{ID: "2", Tool: "write", Input: []byte(`{"path":"f","say":"2"}`)})
		third := f.start(host.Request{ID: "3", Tool: "write", Input: []byte(`{"path":"g","say":"3"}`)})
		<-third
		<-first
		<-second
		if want := []string{"3", "1", "2"}; !slices.Equal(r.ran, want) {
			t.Errorf("ran in the order %v, want %v", r.ran, want)
		}
	})
}

// moving is a fake whose calls move the session to their path, if they say so.
type moving struct{ *fake }

func (moving) Moves(c agenttool.Call) bool { return c.(*fakeCall).in.Say == "move" }

// TestCallsStartWhereEarlierOnesLeave: calls that are sent in a row start in the directory to which the ones before them moved,
// and not before these have ended; those that move nothing run together.
func TestCallsStartWhereEarlierOnesLeave(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const steps = 20
	for i := range steps {
		if err := os.MkdirAll(filepath.Join(root, fmt.Sprint(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		took := map[string]time.Time{}
		shell := moving{&fake{name: "shell", reads: true}}
		shell.run = func(_ context.Context, in fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
			time.Sleep(time.Minute)
			mu.Lock()
			defer mu.Unlock()
			if in.Say == "move" {
				return agenttool.Output{Dir: filepath.Join(root, in.Path)}, nil
			}
			took[in.Say] = time.Now()
			return agenttool.Output{}, nil
		}
		f := newFixture(t, []agenttool.Tool{shell}, allowing("Shell"), func(o *host.Options) {
			o.Scope = agenttool.Scope{Dir: root, Roots: []string{root}}
			o.Policy.Workspace = root
			o.Locate = func(p *agenttool.Path) error {
				p.Resolved, p.Root = filepath.Clean(p.Absolute), root
				return nil
			}
		})
		var all []<-chan host.Completion
		start := func(id, path, say string) {
			all = append(all, f.start(host.Request{ID: id, Tool: "shell", Input: fmt.Appendf(nil, `{"path":%q,"say":%q}`, path, say)}))
		}
		for i := range steps {
			start(fmt.Sprint("m", i), fmt.Sprint(i), "move")
			start(fmt.Sprint("a", i), "x", fmt.Sprint("a", i))
			start(fmt.Sprint("b", i), "y", fmt.Sprint("b", i))
		}
		for i, done := range all {
			got := <-done
			if got.Result.Status != agenttool.ResultSucceeded {
				t.Fatalf("%d: %+v", i, got.Result.Error)
			}
			want := root
			if i >= 3 || i%3 > 0 {
				want = filepath.Join(root, fmt.Sprint((i+2)/3-1))
			}
			if reads := got.Invocation.Facts.Reads[0].Absolute; filepath.Dir(reads) != want {
				t.Errorf("call %d reads %s, and starts not in %s", i, reads, want)
			}
		}
		for i := range steps {
			if a, b := took[fmt.Sprint("a", i)], took[fmt.Sprint("b", i)]; !a.Equal(b) {
				t.Errorf("two calls that move nothing waited for each other: %v, %v", a, b)
			}
		}
	})
}

// TestCancelRightAfterInvoke: a call that is canceled before it does anything has its own first record before that of the request, and the
// request names its state.
func TestCancelRightAfterInvoke(t *testing.T) {
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true}})
	for i := range 50 {
		done := f.start(host.Request{ID: "c", Tool: "look", Input: input("a")})
		ack := f.Cancel("c", "at once")
		got := <-done
		if ack.Status == "" || ack.Status == "unknown" && got.Result.Status != agenttool.ResultSucceeded {
			t.Errorf("call %d: %+v, it %s", i, ack, got.Result.Status)
		}
		events := f.events(got.Invocation.InvocationID)
		if events[0] != "tool.invocation.planned" || events[len(events)-1] != "tool.result.created" {
			t.Fatalf("call %d: %v", i, events)
		}
	}
}
