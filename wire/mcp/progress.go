package mcp

import (
	"context"
	"math"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
)

// progress hands the progress of a call to the request that waits for it. The zero value drops it.
type progress struct {
	mu   sync.Mutex
	news chan agenttool.Progress // to the request that waits, if it wants to hear; it holds one step
}

// progressPause is the time between two notifications of progress.
const progressPause = 250 * time.Millisecond

// tell takes a step of the call. It does not block: a step that was not sent yet gives way to the newest.
func (p *progress) tell(step agenttool.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.news == nil {
		return
	}
	select {
	case <-p.news:
	default:
	}
	p.news <- step
}

// to sends the steps to the client of req from now on, if it gave a token for them (MCP-14), until stop is called. No
// notification is on its way when stop has returned.
func (p *progress) to(ctx context.Context, req *sdk.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	switch token.(type) {
	case string, float64:
	default:
		return func() {}
	}
	news := make(chan agenttool.Progress, 1)
	p.set(news)
	ctx, cancel := context.WithCancel(ctx)
	var sending sync.WaitGroup
	sending.Go(func() { notify(ctx, req.Session, token, news) })
	return func() {
		p.unset(news)
		cancel()
		sending.Wait()
	}
}

func (p *progress) set(news chan agenttool.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.news = news
}

// unset stops the steps unless another request gets them by now.
func (p *progress) unset(news chan agenttool.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.news == news {
		p.news = nil
	}
}

// notify sends progress until ctx ends or the client has left.
func notify(ctx context.Context, to *sdk.ServerSession, token any, news <-chan agenttool.Progress) {
	last := -1.0 // 0 percent is a step
	for {
		select {
		case <-ctx.Done():
			return
		case step := <-news:
			n := notification(step, last)
			n.ProgressToken, last = token, n.Progress
			if to.NotifyProgress(ctx, n) != nil {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(progressPause):
		}
	}
}

// notification is the notification of a step: in percent if the tool gives a percentage, else as the number of the step.
// Its value is always more than last.
func notification(step agenttool.Progress, last float64) *sdk.ProgressNotificationParams {
	n := &sdk.ProgressNotificationParams{Message: clean(step.Message, maxTwice), Progress: float64(step.Sequence)}
	if p := step.Percent; p != nil && *p >= 0 && *p <= 100 {
		n.Progress, n.Total = *p, 100
	}
	if n.Progress <= last {
		n.Progress = math.Nextafter(last, math.Inf(1))
	}
	if n.Progress > n.Total {
		n.Total = 0 // it is not of 100 any more
	}
	return n
}

// maxTwice is the maximum size in bytes of a text that content repeats from structured content.
const maxTwice = 1 << 10
