package host_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/host/prompt"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/recordtest"
)

// heard collects the progress that a caller hears.
type heard struct {
	mu    sync.Mutex
	steps []agenttool.Progress
}

func (h *heard) progress(p agenttool.Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.steps = append(h.steps, p)
}

// statuses are the statuses that were heard, after a check that the records are sound and that their numbers rise.
func (h *heard) statuses(t *testing.T) string {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []string
	var number int64
	for _, p := range h.steps {
		if p.Sequence <= number {
			t.Errorf("number %d follows %d", p.Sequence, number)
		}
		number = p.Sequence
		record, err := agenttool.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range recordtest.Record(recordtest.KindProgress, record) {
			t.Error(problem)
		}
		list = append(list, p.Status)
	}
	return strings.Join(list, " ")
}

// TestWaitsAreTold: the caller of a call that waits for another call or for a person hears so after a second, and that it has started then;
// one that waits for less hears nothing. Numbers of progress rise.
func TestWaitsAreTold(t *testing.T) {
	conform.Held(t, "AT-230", "AT-231", "AT-233", "AT-240")
	works := func(_ context.Context, in fakeInput, r agenttool.Reporter) (agenttool.Output, error) {
		d, _ := time.ParseDuration(in.Say)
		for range 3 {
			time.Sleep(d)
			r.Progress(agenttool.Progress{})
		}
		return agenttool.Output{}, nil
	}
	for _, c := range []struct{ name, first, want string }{
		{"long", "1s", "queued started running running running"}, {"short", "300ms", "running running running"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, []agenttool.Tool{&fake{name: "put", run: works}}, allowing("put"))
				var h heard
				first := f.start(host.Request{ID: "1", Tool: "put", Input: []byte(`{"path":"a","say":"` + c.first + `"}`)})
				synctest.Wait()
				f.call(host.Request{ID: "2", Tool: "put", Input: []byte(`{"path":"a","say":"1s"}`), Caller: host.Caller{Progress: h.progress}})
				<-first
				if got := h.statuses(t); got != c.want {
					t.Errorf("heard %q, want %q", got, c.want)
				}
				f.Host.Close()
			})
		})
	}
	t.Run("for a person", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, []agenttool.Tool{&fake{name: "put", run: works}})
			var h heard
			requests, _ := f.prompts()
			done := f.start(host.Request{ID: "1", Tool: "put", Input: input("a"), Caller: host.Caller{Progress: h.progress}})
			asked := <-requests
			time.Sleep(time.Minute)
			if _, err := f.Decide(prompt.Answer{DecisionID: asked.DecisionID, Behavior: agenttool.Allow}); err != nil {
				t.Fatal(err)
			}
			<-done
			if got := h.statuses(t); got != "waiting_for_permission started running" {
				t.Errorf("heard %q", got)
			}
			f.Host.Close()
		})
	})
}

// TestYieldsAreTold: a call that is answered before its work is done says whether that goes on or waits for input, and first which part of its
// output the result has.
func TestYieldsAreTold(t *testing.T) {
	conform.Held(t, "AT-102", "AT-103", "AT-234", "AT-235", "AT-236")
	for _, c := range []struct {
		needs          bool
		bytes          int64
		status, states string
	}{
		{false, 0, "backgrounded", "running yielded"}, {true, 0, "waiting_for_input", "running needs_input yielded"},
		{false, 700, "partial_result backgrounded", "running partial_result yielded"},
		{true, 700, "partial_result waiting_for_input", "running partial_result needs_input yielded"},
	} {
		j := newFakeJob("j1")
		f := newFixture(t, []agenttool.Tool{&fake{name: "server", run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
			return agenttool.Output{Job: j, Yielded: true, NeedsInput: c.needs, Bytes: c.bytes, Summary: "it goes on"}, nil
		}}}, allowing("Server"), func(o *host.Options) { o.Jobs = fakeJobs{j} })
		var h heard
		got := f.call(host.Request{ID: "s", Tool: "server", Input: input("src"), Caller: host.Caller{Progress: h.progress}})
		told, last := h.statuses(t), h.steps[len(h.steps)-1]
		if told != c.status || h.steps[0].TaskID != "j1" || last.TaskID != "j1" || last.Message != "it goes on" {
			t.Errorf("heard %q: %+v; want %s", told, h.steps, c.status)
		}
		checkPart(t, f, got, h.steps[0], c.bytes)
		var states []string
		for _, s := range got.Invocation.StatusTransitions {
			states = append(states, string(s.Status))
		}
		if s := strings.Join(states[slices.Index(states, "running"):], " "); s != c.states {
			t.Errorf("states %s, want %s", s, c.states)
		}
		checkRecords(t, got)
		j.end()
	}
}

// checkPart checks the range and the reference of a partial result of n bytes: in the progress, and in the one event of the log.
func checkPart(t *testing.T, f *fixture, got host.Completion, step agenttool.Progress, n int64) {
	t.Helper()
	ref := []string{string(got.Result.ResultID)}
	if n > 0 && (string(step.Extra["from"]) != "0" || string(step.Extra["to"]) != "700" || !slices.Equal(step.PartialResultRefs, ref)) {
		t.Errorf("part %s to %s of %v, want 0 to %d of %v", step.Extra["from"], step.Extra["to"], step.PartialResultRefs, n, ref)
	}
	found := 0
	for _, e := range f.entries() {
		if e.EventType != agenttool.EventPartialResult {
			continue
		}
		found++
		var part struct {
			From, To int64
			TaskID   string   `json:"task_id"`
			Refs     []string `json:"partial_result_refs"`
		}
		if err := json.Unmarshal(e.Data, &part); err != nil || part.From != 0 || part.To != n || part.TaskID != "j1" || !slices.Equal(part.Refs, ref) {
			t.Errorf("recorded %s, %v", e.Data, err)
		}
	}
	if found != int(min(n, 1)) {
		t.Errorf("%d events of a part of %d bytes", found, n)
	}
}
