package mcp

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

// progressLog is a client's list of notifications, with when they came.
type progressLog struct {
	mu   sync.Mutex
	all  []sdk.ProgressNotificationParams
	when []time.Time
}

func (l *progressLog) options() *sdk.ClientOptions {
	return &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all, l.when = append(l.all, *req.Params), append(l.when, time.Now())
	}}
}

func (l *progressLog) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

// TestProgress: a client hears of its call if it gave a token, not too often, with values that grow, and nothing once it
// has ended; MCP-14.
func TestProgress(t *testing.T) {
	conform.Held(t, "MCP-14")
	steps := func(_ context.Context, r agenttool.Reporter) (agenttool.Output, error) {
		for i := range 30 {
			percent := float64(i % 10 * 10)
			r.Progress(agenttool.Progress{Message: "step\x1b", Percent: &percent})
			time.Sleep(100 * time.Millisecond)
		}
		return agenttool.Output{}, nil
	}
	for _, revision := range revisions {
		for _, token := range []any{nil, "word", 7, 0} {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, adding(&fake{name: "steps", run: steps}))
				var heard progressLog
				c := f.client("test", revision, heard.options())
				params := &sdk.CallToolParams{Name: "steps"}
				if token != nil {
					params.SetProgressToken(token)
				}
				if _, err := c.CallTool(t.Context(), params); err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // until the client has handled what came before the result
				n := heard.count()
				time.Sleep(time.Minute)
				heard.mu.Lock()
				defer heard.mu.Unlock()
				if token == nil && n != 0 || token != nil && (n < 5 || n > 13) || len(heard.all) != n {
					t.Errorf("%s, token %v: %d notifications, %d after the end", revision, token, n, len(heard.all)-n)
				}
				checkGrows(t, &heard)
				_ = c.Close()
			})
		}
	}
}

func checkGrows(t *testing.T, l *progressLog) {
	t.Helper()
	for i := 1; i < len(l.all); i++ {
		if l.all[i].Progress <= l.all[i-1].Progress || l.when[i].Sub(l.when[i-1]) < progressPause {
			t.Errorf("%v after %v, %v later", l.all[i].Progress, l.all[i-1].Progress, l.when[i].Sub(l.when[i-1]))
		}
		if strings.Contains(l.all[i].Message, "\x1b") {
			t.Errorf("message %q", l.all[i].Message)
		}
	}
}

// TestNotification: the value grows whatever tools report.
func TestNotification(t *testing.T) {
	percent := func(p float64) *float64 { return &p }
	last := 0.0
	for i, step := range []agenttool.Progress{
		{Sequence: 1}, {Sequence: 2, Percent: percent(50)}, {Sequence: 3}, {Sequence: 4, Percent: percent(50)}, {Sequence: 5, Percent: percent(100)},
		{Sequence: 6, Percent: percent(100)}, {Sequence: 7, Percent: percent(math.NaN())}, {Sequence: 8, Percent: percent(math.Inf(1))}, {}, {Sequence: -1},
		{Sequence: 500}, {Sequence: 1},
	} {
		n := notification(step, last)
		if !(n.Progress > last) || math.IsInf(n.Progress, 0) || n.Total != 0 && n.Total < n.Progress {
			t.Errorf("step %d: %v of %v after %v", i, n.Progress, n.Total, last)
		}
		last = n.Progress
	}
}

// TestTellDoesNotBlock: the host goes on, whatever the client does.
func TestTellDoesNotBlock(t *testing.T) {
	var p progress
	p.tell(agenttool.Progress{Sequence: 1})
	news := make(chan agenttool.Progress, 1)
	p.set(news)
	for i := range int64(1000) {
		p.tell(agenttool.Progress{Sequence: i})
	}
	if step := <-news; step.Sequence != 999 {
		t.Errorf("the step is %d, not the newest", step.Sequence)
	}
	p.unset(nil)
	p.tell(agenttool.Progress{Sequence: 5})
	if step := <-news; step.Sequence != 5 {
		t.Error("who did not hear has ended it")
	}
}
