package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"toolhost/cmd/toolhost/internal/approve"
)

// hub finds the running sessions of this user, tells what they ask, and passes answers on. It is an [approve.Desk].
type hub struct {
	passing bool      // it looks once and goes: nobody is there who would see another prompt
	only    string    // the session that is meant, or the end of its id, or newest; empty: all
	tell    func(any) // takes events, from several goroutines; those of one session in their order

	dirs  func() []string // where sockets can be
	paths func() []string // the sockets that there are

	mu      sync.Mutex
	spots   map[string]*spot // by the path of the socket
	serving sync.WaitGroup
}

// spot is what is known of one socket.
type spot struct {
	busy  bool      // somebody follows it
	link  *link     // nil: there is no connection
	other bool      // its session is not meant
	said  string    // the last trouble with it that was told
	later time.Time // when it is tried again
}

func newHub(only string, tell func(any)) *hub {
	return &hub{only: only, tell: tell, dirs: runtimeDirs, paths: socketPaths, spots: map[string]*spot{}}
}

// run follows sessions until ctx ends.
func (h *hub) run(ctx context.Context) {
	defer h.serving.Wait()
	var first sync.WaitGroup
	h.scan(ctx, &first)
	h.serving.Go(func() {
		first.Wait()
		h.tell(approve.Complete{})
	})
	if !h.passing {
		h.serving.Go(func() { keepSeen(ctx) })
	}
	changes, notified := h.watch()
	defer notified.close()
	tick := time.NewTicker(time.Second) // whatever the system tells of the directories
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes:
		case <-tick.C:
			notified.add()
		}
		h.scan(ctx, nil)
	}
}

// scan connects to sockets that are new. Those of the first scan are waited for by first.
func (h *hub) scan(ctx context.Context, first *sync.WaitGroup) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, path := range h.candidates(h.paths(), time.Now()) {
		heard := func() {}
		if first != nil {
			first.Add(1)
			heard = sync.OnceFunc(first.Done)
		}
		h.spots[path].busy = true
		h.serving.Go(func() { h.follow(ctx, path, heard) })
	}
}

// candidates are the sockets to connect to. The caller holds mu.
func (h *hub) candidates(paths []string, now time.Time) (free []string) {
	busy := false
	for path, s := range h.spots {
		busy = busy || s.busy
		if !s.busy && !slices.Contains(paths, path) {
			delete(h.spots, path)
		}
	}
	for _, path := range paths {
		if h.spots[path] == nil {
			h.spots[path] = &spot{}
		}
		if s := h.spots[path]; !s.busy && !s.other && !now.Before(s.later) {
			free = append(free, path)
		}
	}
	switch {
	case h.only != newest || len(free) == 0:
		return free
	case busy:
		return nil
	}
	return []string{slices.MaxFunc(free, func(a, b string) int { return madeAt(a).Compare(madeAt(b)) })}
}

// follow speaks to the session of one socket as long as it lives.
func (h *hub) follow(ctx context.Context, path string, heard func()) {
	l, err := openLink(path)
	if err == nil {
		l.tell, l.heard = h.tell, heard
		if h.only != "" && h.only != newest {
			l.match = h.means
		}
		h.mu.Lock()
		h.spots[path].link = l
		h.mu.Unlock()
		err = l.serve(ctx)
	}
	heard()
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.spots[path]
	s.busy, s.link, s.other = false, nil, errors.Is(err, errNotMeant)
	if err == nil || s.other || errors.Is(err, errGone) || errors.Is(err, os.ErrNotExist) {
		return
	}
	text := fmt.Sprintf("%s: %v", path, err)
	if s.later = time.Now().Add(troubled); s.said != text {
		s.said = text
		h.serving.Go(func() { h.tell(approve.Trouble{Text: text}) })
	}
}

// troubled is how long a socket that is trouble is left alone.
const troubled = 5 * time.Second

// means reports whether a session is one that the person asked for.
func (h *hub) means(s approve.Session) bool {
	return strings.HasSuffix(strings.ToLower(s.ID), strings.ToLower(h.only))
}

// Answer sends an answer.
func (h *hub) Answer(a approve.Answer) error {
	l, err := h.link(a.Session)
	if err != nil {
		return err
	}
	return l.answer(a)
}

// Code says the code that a session shows.
func (h *hub) Code(session, code string) error {
	l, err := h.link(session)
	if err != nil {
		return err
	}
	return l.say(code)
}

func (h *hub) link(session string) (*link, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.spots {
		if s.link != nil && s.link.id() == session {
			return s.link, nil
		}
	}
	return nil, errGone
}

// notified are the runtime directories that the system tells of. What it does not tell is found by looking.
type notified struct {
	dirs    func() []string
	watcher *fsnotify.Watcher // nil: it tells of none
	done    sync.WaitGroup
}

// watch returns a channel that says that something changed.
func (h *hub) watch() (<-chan struct{}, *notified) {
	w := &notified{dirs: h.dirs}
	changes := make(chan struct{}, 1)
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return changes, w
	}
	w.watcher = watcher
	w.add()
	w.done.Go(func() { // ends with the watcher
		for events, errs := watcher.Events, watcher.Errors; events != nil; {
			select {
			case e, ok := <-events:
				if !ok {
					return
				}
				if !e.Has(fsnotify.Create) || !strings.HasSuffix(e.Name, socketSuffix) {
					continue
				}
			case _, ok := <-errs: // it may have lost some
				if !ok {
					return
				}
			}
			select {
			case changes <- struct{}{}:
			default:
			}
		}
	})
	return changes, w
}

// add has the system tell of directories that were not there before.
func (w *notified) add() {
	if w.watcher == nil {
		return
	}
	for _, dir := range w.dirs() {
		if isDir(dir) {
			_ = w.watcher.Add(dir) // one that is notified stays so
		}
	}
}

func (w *notified) close() {
	if w.watcher != nil {
		_ = w.watcher.Close()
		w.done.Wait()
	}
}

// keepSeen touches [seenFile] now and every minute, until ctx ends.
func keepSeen(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		touchSeen()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// touchSeen sets the time of [seenFile]. Where that cannot be, sessions wait less for an answer.
func touchSeen() {
	dir, err := stateDir()
	if err != nil || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	path := filepath.Join(dir, seenFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_ = f.Close()
	now := time.Now()
	_ = os.Chtimes(path, now, now)
}
