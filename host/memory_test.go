package host_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/permissions"
	"toolhost/testdata/support/conform"
)

// TestBatchesFitMemory: where memory is limited, a batch whose results it cannot hold is refused, and one that it cannot hold beside others
// has to be sent again when these have ended.
func TestBatchesFitMemory(t *testing.T) {
	block := make(chan struct{})
	look := &fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		<-block
		return agenttool.Output{}, nil
	}}
	f := newFixture(t, []agenttool.Tool{look}, func(o *host.Options) { o.Memory = 10 << 20 })
	batch := func(id string, n int) host.BatchRequest {
		b := host.BatchRequest{ID: id}
		for i := range n {
			b.Calls = append(b.Calls, host.Request{ID: fmt.Sprint(id, i), Tool: "look", Input: input("a")})
		}
		return b
	}
	if err := f.Batch(batch("large", 41), func([]host.Completion) { t.Error("it ran") }); !host.IsRefused(err) {
		t.Errorf("a batch that is too large: %v", err)
	}
	ended := make(chan struct{}, 2)
	if err := f.Batch(batch("first", 40), func([]host.Completion) { ended <- struct{}{} }); err != nil {
		t.Fatal(err)
	}
	if err := f.Batch(batch("second", 1), func([]host.Completion) { t.Error("it ran") }); !errors.Is(err, host.ErrBusy) {
		t.Errorf("a batch beside it: %v", err)
	}
	close(block)
	<-ended
	if err := f.Batch(batch("third", 40), func([]host.Completion) { ended <- struct{}{} }); err != nil {
		t.Errorf("a batch after it: %v", err)
	}
	<-ended
}

// TestLargeResultsOfBatchesFitMemory: of many images in one batch, in both forms of it, those that memory does not hold are refused, and a
// call by itself gets its own. A call that changes something is never refused for its result.
func TestLargeResultsOfBatchesFitMemory(t *testing.T) {
	conform.Held(t, "AT-327")
	const memory, image, calls = 32 << 20, 1 << 20, 40
	open, made := make(chan struct{}), make(chan struct{}, 1000)
	run := func(ctx context.Context, in fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
		if in.Path == "slow" { // the first of a batch holds up the results of all others
			<-open
		}
		defer func() { made <- struct{}{} }()
		return agenttool.Output{Content: []agenttool.Content{{Type: "image", MediaType: "image/png", Data: strings.Repeat("A", image)}}}, nil
	}
	tools := []agenttool.Tool{&fake{name: "look", reads: true, run: run}, &fake{name: "change", run: run}}
	for _, form := range []string{"batch", "invoke"} {
		t.Run(form, func(t *testing.T) {
			open = make(chan struct{})
			f := newFixture(t, tools, func(o *host.Options) { o.Memory, o.Policy.Mode = memory, permissions.Bypass })
			ended := make(chan host.Completion, calls+1)
			send := func(tool, first string) {
				b := host.BatchRequest{ID: "b"}
				for i := range calls {
					b.Calls = append(b.Calls, host.Request{ID: fmt.Sprint(tool, i), Tool: tool, Input: input("a"), Batch: map[string]string{"invoke": "b"}[form]})
				}
				b.Calls[0].Input = input(first)
				var err error
				if form == "batch" {
					err = f.Batch(b, func(all []host.Completion) {
						for _, c := range all {
							ended <- c
						}
					})
				}
				for i := 0; form == "invoke" && err == nil && i < calls; i++ {
					err = f.Invoke(b.Calls[i], func(c host.Completion) { ended <- c })
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			send("look", "slow")
			for range calls - 1 {
				<-made
			}
			close(open)
			held, refused := 0, 0
			for range calls {
				switch c := <-ended; {
				case c.Result.Error == nil:
					held += len(c.Result.Content[0].Data)
				case c.Result.Error.Code == "batch_full":
					refused++
					checkError(t, c, agenttool.ResultTooLarge, "batch_full")
					if c.Result.Error.Recoverability != agenttool.ChangeArguments {
						t.Errorf("advice %s", c.Result.Error.Recoverability)
					}
				default:
					t.Fatalf("%+v", c.Result.Error)
				}
			}
			if refused == 0 || held == 0 || held > memory/4 {
				t.Errorf("%d bytes are held, %d calls refused", held, refused)
			}
			if err := f.Invoke(host.Request{ID: "alone", Tool: "look", Input: input("a")}, func(c host.Completion) { ended <- c }); err != nil {
				t.Fatal(err)
			}
			if c := <-ended; c.Result.Error != nil {
				t.Errorf("by itself: %+v", c.Result.Error)
			}
			send("change", "a")
			for range calls {
				if c := <-ended; c.Result.Error != nil {
					t.Fatalf("a change: %+v", c.Result.Error)
				}
			}
		})
	}
}

// TestEndedCallsKeepNoInput: a host remembers the last calls that a rule allowed, but not the texts that they wrote.
func TestEndedCallsKeepNoInput(t *testing.T) {
	const size, calls = 1 << 20, 20
	f := newFixture(t, []agenttool.Tool{&fake{name: "put"}}, allowing("put"))
	before := liveHeap()
	for i := range calls {
		text := fmt.Appendf(nil, `{"path":"a","say":"%s"}`, strings.Repeat("x", size))
		if c := f.call(host.Request{ID: fmt.Sprint("c", i), Tool: "put", Input: text}); c.Result.Error != nil {
			t.Fatal(c.Result.Error)
		}
	}
	checkHeap(t, before, 4*size)
}

// TestResultsThatWaitAreHeldTwice: a result that waits for those before it is there as content and encoded, and no more: what was written to
// the log is not held beside it.
func TestResultsThatWaitAreHeldTwice(t *testing.T) {
	const image, calls = 1 << 20, 10
	open, ended := make(chan struct{}), make(chan host.Completion, calls)
	look := &fake{name: "look", reads: true, run: func(_ context.Context, in fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
		if in.Path == "slow" {
			<-open
		}
		return agenttool.Output{Content: []agenttool.Content{{Type: "image", MediaType: "image/png", Data: strings.Repeat("A", image)}}}, nil
	}}
	f := newFixture(t, []agenttool.Tool{look})
	logged := make(chan struct{}, calls)
	f.Subscribe(&host.Subscription{Level: host.EventsResults, Tell: func(n host.Notice) {
		if n.Type == agenttool.EventResultCreated {
			logged <- struct{}{}
		}
	}})
	before := liveHeap()
	for i := range calls {
		path := "a"
		if i == 0 {
			path = "slow"
		}
		if err := f.Invoke(host.Request{ID: fmt.Sprint("c", i), Tool: "look", Input: input(path), Batch: "b"}, func(c host.Completion) { ended <- c }); err != nil {
			t.Fatal(err)
		}
	}
	for range calls - 1 {
		<-logged
	}
	checkHeap(t, before, (calls-1)*(2*image+image/4))
	close(open)
	for range calls {
		<-ended
	}
}

func liveHeap() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// checkHeap waits until the heap has grown by less than most.
func checkHeap(t *testing.T, before, most int64) {
	t.Helper()
	grown := liveHeap() - before
	for end := time.Now().Add(time.Minute); grown > most && time.Now().Before(end); {
		grown = liveHeap() - before
	}
	if grown > most {
		t.Errorf("%d bytes of heap are held, want at most %d", grown, most)
	}
}
