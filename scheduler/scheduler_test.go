package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"toolhost/agenttool"
	"toolhost/scheduler"
	"toolhost/testdata/support/conform"
)

func read(paths ...string) []agenttool.Lock  { return locks(false, paths) }
func write(paths ...string) []agenttool.Lock { return locks(true, paths) }

func locks(write bool, paths []string) []agenttool.Lock {
	var l []agenttool.Lock
	for _, p := range paths {
		l = append(l, agenttool.Lock{Path: p, Write: write})
	}
	return l
}

// script runs calls against one scheduler inside a synctest bubble: each is started when the one before it runs or
// waits, so the order of asking is the order of the script.
type script struct {
	t *testing.T
	s *scheduler.Scheduler

	mu      sync.Mutex
	started []string
	release map[string]func()
	failed  map[string]error
}

func newScript(t *testing.T, maxParallel int) *script {
	return &script{t: t, s: scheduler.New(maxParallel), release: map[string]func(){}, failed: map[string]error{}}
}

func (c *script) ask(name string, r scheduler.Request) (cancel context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(c.t.Context())
	go func() {
		release, err := c.s.Acquire(ctx, r)
		c.mu.Lock()
		defer c.mu.Unlock()
		if err != nil {
			c.failed[name] = err
			return
		}
		c.started = append(c.started, name)
		c.release[name] = release
	}()
	synctest.Wait()
	return cancel
}

func (c *script) end(name string) {
	c.t.Helper()
	c.mu.Lock()
	release := c.release[name]
	c.mu.Unlock()
	if release == nil {
		c.t.Fatalf("%s does not run; started: %v", name, c.started)
	}
	release()
	synctest.Wait()
}

func (c *script) want(started ...string) {
	c.t.Helper()
	if !slices.Equal(c.started, started) {
		c.t.Fatalf("started %v, want %v", c.started, started)
	}
}

func (c *script) wantCounts(running, waiting int) {
	c.t.Helper()
	if r, w := c.s.Snapshot(); r != running || w != waiting {
		c.t.Fatalf("%d running and %d waiting, want %d and %d", r, w, running, waiting)
	}
}

func TestMaxParallel(t *testing.T) {
	conform.Held(t, "AT-209")
	synctest.Test(t, func(t *testing.T) {
		c := newScript(t, 2)
		for _, name := range []string{"a", "b", "c", "d"} {
			c.ask(name, scheduler.Request{})
		}
		c.want("a", "b")
		c.wantCounts(2, 2)
		c.end("b")
		c.want("a", "b", "c")
		c.end("a")
		c.end("c")
		c.end("d")
		c.wantCounts(0, 0)
	})
}

func TestMaxParallelDefaultsToTen(t *testing.T) {
	for _, n := range []int{0, -1} {
		s := scheduler.New(n)
		for i := range scheduler.DefaultMaxParallel {
			if _, ok := try(s, scheduler.Request{}); !ok {
				t.Fatalf("New(%d): no slot for call %d", n, i+1)
			}
		}
		if _, ok := try(s, scheduler.Request{}); ok {
			t.Fatalf("New(%d): an eleventh call runs", n)
		}
	}
}

func TestReadersOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newScript(t, 0)
		c.ask("a", scheduler.Request{Locks: read("/w/f")})
		c.ask("b", scheduler.Request{Locks: read("/w/f", "/w")})
		c.want("a", "b")
	})
}

func TestWritesOfOneFileKeepOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newScript(t, 0)
		for _, name := range []string{"a", "b", "c"} {
			c.ask(name, scheduler.Request{Locks: write("/w/f")})
		}
		c.want("a")
		c.end("a")
		c.want("a", "b")
		c.end("b")
		c.want("a", "b", "c")
	})
}

func TestWritesOfTwoFilesOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newScript(t, 0)
		c.ask("a", scheduler.Request{Locks: write("/w/f")})
		c.ask("b", scheduler.Request{Locks: write("/w/f2")})
		c.want("a", "b")
	})
}

func TestDirectoryExcludesWhatIsBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newScript(t, 0)
		c.ask("command", scheduler.Request{Locks: write("/w")})
		c.ask("below", scheduler.Request{Locks: read("/w/src/f")})
		c.ask("beside", scheduler.Request{Locks: write("/w2")})
		c.want("command", "beside")
		c.end("command")
		c.want("command", "beside", "below")
	})
}

func TestCancelWhileWaitingFreesThePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("the person pressed escape")
		c := newScript(t, 0)
		c.ask("reader", scheduler.Request{Locks: read("/w/f")})
		cancel := c.ask("writer", scheduler.Request{Locks: write("/w/f")})
		c.ask("late reader", scheduler.Request{Locks: read("/w/f")})
		c.want("reader")
		cancel(reason)
		synctest.Wait()
		c.want("reader", "late reader")
		c.wantCounts(2, 0)
		if !errors.Is(c.failed["writer"], reason) {
			t.Errorf("the cancelled call got %v, want the cause %v", c.failed["writer"], reason)
		}
	})
}

func TestCancelledBeforeAsking(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("no")
	cancel(reason)
	s := scheduler.New(1)
	if _, err := s.Acquire(ctx, scheduler.Request{}); !errors.Is(err, reason) {
		t.Errorf("got %v, want %v", err, reason)
	}
	if running, waiting := s.Snapshot(); running+waiting != 0 {
		t.Errorf("%d running, %d waiting", running, waiting)
	}
}

// Cancelled and granted in one moment: the call does not run and its slot goes to the next.
func TestCancelledWhenGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newScript(t, 1)
		c.ask("a", scheduler.Request{})
		cancel := c.ask("b", scheduler.Request{})
		c.ask("c", scheduler.Request{})
		cancel(nil)
		c.end("a")
		c.want("a", "c")
		c.wantCounts(1, 0)
	})
}

func TestWriterIsNotStarvedByReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newScript(t, 0)
		c.ask("r1", scheduler.Request{Locks: read("/w/f")})
		c.ask("writer", scheduler.Request{Locks: write("/w/f")})
		c.ask("r2", scheduler.Request{Locks: read("/w/f")})
		if _, ok := try(c.s, scheduler.Request{Locks: read("/w/f")}); ok {
			t.Error("a call overtook a waiting writer")
		}
		c.end("r1")
		c.want("r1", "writer")
		c.end("writer")
		c.want("r1", "writer", "r2")
	})
}

func TestWhoConflictsWithNobodyWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newScript(t, 0)
		c.ask("w1", scheduler.Request{Locks: write("/w/f")})
		c.ask("w2", scheduler.Request{Locks: write("/w/f", "/w/g")})
		c.ask("other", scheduler.Request{Locks: write("/w/h")})
		c.ask("behind w2", scheduler.Request{Locks: read("/w/g")})
		c.want("w1", "other")
		c.end("w1")
		c.end("w2")
		c.want("w1", "other", "w2", "behind w2")
	})
}

func TestReleaseTwice(t *testing.T) {
	for _, tt := range []struct {
		name       string
		max, group int
	}{
		{"slots", 1, 0}, {"a group's room", 10, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := scheduler.New(tt.max)
			r := scheduler.Request{Group: s.Group(tt.group)}
			first, ok := try(s, r)
			if !ok {
				t.Fatal("the first call does not run")
			}
			first()
			if _, ok = try(s, r); !ok {
				t.Fatal("the second call does not run")
			}
			first() // must not end the second
			if _, ok = try(s, r); ok {
				t.Error("a third call runs beside the second: a release was counted twice")
			}
		})
	}
}

func TestGroupLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newScript(t, 0)
		g := c.s.Group(2)
		for _, name := range []string{"a", "b", "c"} {
			c.ask(name, scheduler.Request{Group: g})
		}
		c.ask("no group", scheduler.Request{})
		c.ask("other group", scheduler.Request{Group: c.s.Group(0)})
		c.want("a", "b", "no group", "other group")
		c.end("a")
		c.want("a", "b", "no group", "other group", "c")
	})
}

// A serial group keeps its order though a later call could start sooner.
func TestSerialGroupKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newScript(t, 0)
		g := c.s.Group(1)
		c.ask("outsider", scheduler.Request{Locks: write("/w/f")})
		c.ask("a", scheduler.Request{Locks: write("/w/f"), Group: g})
		c.ask("b", scheduler.Request{Group: g})
		c.want("outsider")
		c.end("outsider")
		c.want("outsider", "a")
		c.end("a")
		c.want("outsider", "a", "b")
	})
}

func TestGroupOfAnotherScheduler(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a group of another scheduler was taken")
		}
	}()
	try(scheduler.New(0), scheduler.Request{Group: scheduler.New(0).Group(1)})
}

// The locks of a running call are its own: what the caller does to the slice afterwards changes nothing.
func TestLocksAreCopied(t *testing.T) {
	s := scheduler.New(0)
	l := write("/w/f")
	if _, ok := try(s, scheduler.Request{Locks: l}); !ok {
		t.Fatal("the first call does not run")
	}
	l[0].Path = "/elsewhere"
	if _, ok := try(s, scheduler.Request{Locks: write("/w/f")}); ok {
		t.Error("two writers of one file run together")
	}
}

func BenchmarkUncontended(b *testing.B) {
	s := scheduler.New(0)
	r := scheduler.Request{Locks: []agenttool.Lock{{Path: "/w/go.mod"}, {Path: "/w/src/main.go", Write: true}}}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		release, err := s.Acquire(ctx, r)
		if err != nil {
			b.Fatal(err)
		}
		release()
	}
}

func BenchmarkBesideNineOthers(b *testing.B) {
	s := scheduler.New(0)
	for i := range 9 {
		try(s, scheduler.Request{Locks: write("/w/file" + string(rune('0'+i)))})
	}
	r := scheduler.Request{Locks: write("/w/src/main.go")}
	b.ReportAllocs()
	for b.Loop() {
		release, ok := try(s, r)
		if !ok {
			b.Fatal("must not wait")
		}
		release()
	}
}

// try is the call that would rather not run than wait.
func try(s *scheduler.Scheduler, r scheduler.Request) (release func(), ok bool) {
	ticket := s.Enqueue(r)
	if !ticket.Started() {
		ticket.Release()
		return nil, false
	}
	return ticket.Release, true
}

// TestStrandedCallKeepsItsLocks: a call that is stuck takes no slot, and holds up those alone that write what it may write.
func TestStrandedCallKeepsItsLocks(t *testing.T) {
	s := scheduler.New(1)
	stuck := s.Enqueue(scheduler.Request{Locks: write("/w/a")})
	other := s.Enqueue(scheduler.Request{Locks: write("/w/b")})
	if !stuck.Started() || other.Started() {
		t.Fatal("not one call runs")
	}
	stuck.Strand()
	stuck.Strand()
	if !other.Started() {
		t.Error("the stuck call keeps its slot")
	}
	other.Release()
	same, last := s.Enqueue(scheduler.Request{Locks: write("/w/a")}), s.Enqueue(scheduler.Request{Locks: write("/w/c")})
	if same.Started() || !last.Started() {
		t.Error("the stuck call has lost its lock, or holds up a call that does not need it")
	}
	if !same.BehindStuck() || last.BehindStuck() {
		t.Error("only the call that needs its lock waits for the stuck one")
	}
	last.Release()
	other = s.Enqueue(scheduler.Request{Locks: read("/w/a")})
	if other.Started() {
		t.Error("a reader passes a writer that came before it")
	}
	other.Release()
	others := scheduler.New(1)
	others.Enqueue(scheduler.Request{Locks: read("/w/a")}).Strand()
	if !others.Enqueue(scheduler.Request{Locks: write("/w/a")}).Started() {
		t.Error("a stuck call that only reads holds up a writer")
	}
	stuck.Release()
	beside := s.Enqueue(scheduler.Request{Locks: write("/w/c")})
	if !same.Started() || beside.Started() {
		t.Error("after its end one slot is there for one call")
	}
}
