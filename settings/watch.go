package settings

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watcher keeps the settings of one workspace up to date. It is safe for concurrent use.
type Watcher struct {
	o        Options
	opened   *Settings // the first snapshot
	current  atomic.Pointer[Settings]
	noNotify bool          // behave as if the system had no watches left; for tests
	pollTime time.Duration // interval of checks without notifications

	mu     sync.Mutex
	layers []*layer // the layers of current
}

// Open reads all layers, as [Load] does, and removes temporary files of killed processes.
func Open(o Options) (*Watcher, error) {
	layers, problems := o.read(nil)
	if len(problems) > 0 {
		return nil, join(problems)
	}
	sweep(o)
	w := &Watcher{o: o, opened: merge(o, layers), layers: layers, pollTime: time.Second}
	w.current.Store(w.opened)
	return w, nil
}

// Current returns the newest snapshot. It is never changed.
func (w *Watcher) Current() *Settings { return w.current.Load() }

// Reload reads the files again, and returns the newest snapshot. A broken file keeps its last values, and the
// snapshot has the problem. Restrictions of workspace files stay in force. Watch reloads automatically: Reload is for
// callers that have just changed a file.
func (w *Watcher) Reload() *Settings { return w.reload(false) }

// Accept reads the files again after a user's confirmation: restrictions that workspace files no longer contain are
// dropped.
func (w *Watcher) Accept() *Settings { return w.reload(true) }

func (w *Watcher) reload(accepted bool) *Settings {
	w.mu.Lock()
	defer w.mu.Unlock()
	layers, problems := w.o.read(w.layers)
	for _, l := range layers {
		if accepted {
			l.held = nil
		}
	}
	next := merge(w.o, layers)
	next.Problems = append(next.Problems, problems...)
	w.layers = layers
	if reflect.DeepEqual(next, w.current.Load()) {
		return w.current.Load()
	}
	w.current.Store(next)
	return next
}

// The times of watching.
const (
	quiet    = 100 * time.Millisecond // delay after the last change of a file, before it is read
	patience = 400 * time.Millisecond // maximum delay after the first change
)

// Watch reloads when a file changes, appears or disappears, and calls changed with every snapshot that differs from
// the one before. It returns when ctx is done. If the system has no watches left, it checks every second.
func (w *Watcher) Watch(ctx context.Context, changed func(*Settings)) {
	l := lookout{w: w, changed: changed, known: w.opened, delay: delay{timer: time.NewTimer(0)}} // reports changes since the start at once
	defer l.timer.Stop()
	l.polling = w.noNotify
	if !w.noNotify {
		var err error
		if l.notify, err = fsnotify.NewWatcher(); err == nil {
			defer l.notify.Close()
		}
		l.polling = err != nil
	}
	l.run(ctx)
}

// lookout is the state of one Watch.
type lookout struct {
	w       *Watcher
	changed func(*Settings)
	known   *Settings         // the last snapshot that changed received
	notify  *fsnotify.Watcher // nil: no notifications
	polling bool              // the system may not report all changes
	delay
	sources
}

// sources are the files that can affect the settings, as they were read.
type sources struct {
	places []string
	stamp  string // their state when they were read
}

// delay postpones the reading until the changes end.
type delay struct {
	timer *time.Timer // fires when the files must be read
	first time.Time   // time of the first pending change; zero: none pending
}

func (l *lookout) run(ctx context.Context) {
	var events chan fsnotify.Event
	var errs chan error
	if l.notify != nil {
		events, errs = l.notify.Events, l.notify.Errors
	}
	poll := time.NewTicker(l.w.pollTime)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-events:
			if !open { // the watcher failed
				events, errs, l.notify, l.polling = nil, nil, nil, true
			} else if l.concerns(e.Name) {
				l.wait()
			}
		case _, open := <-errs: // events were lost
			if !open {
				errs = nil
			} else {
				l.wait()
			}
		case <-l.timer.C:
			l.first = time.Time{}
			l.look()
		case <-poll.C:
			if l.polling && l.stale() {
				l.wait()
			}
		}
	}
}

// wait delays the reading until the changes end, but not for long.
func (d *delay) wait() {
	now := time.Now()
	if d.first.IsZero() {
		d.first = now
	}
	d.timer.Reset(min(quiet, max(0, d.first.Add(patience).Sub(now))))
}

// look reads the files and reports changes. A new directory is watched and then read again, because files may have
// been created in between.
func (l *lookout) look() {
	for range 4 {
		places := l.w.places()
		l.sources = sources{places, stampOf(places)}
		more := l.watchPlaces()
		if s := l.w.Reload(); s != l.known {
			l.known = s
			l.changed(s)
		}
		if !more && slices.Equal(l.places, l.w.places()) { // the places may have changed, for example when a repository was created
			return
		}
	}
}

// watchPlaces watches the directories where a relevant change may happen. It reports whether one is new.
func (l *lookout) watchPlaces() (more bool) {
	if l.notify == nil {
		return false
	}
	wanted := map[string]bool{}
	for _, p := range l.places {
		dir := existing(filepath.Dir(p))
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real // the system reports only one of two names of a directory
		}
		wanted[dir], wanted[filepath.Dir(dir)] = true, true // the parent reports that the directory was replaced
	}
	watched := l.notify.WatchList()
	l.polling = false
	for dir := range wanted {
		if slices.Contains(watched, dir) {
			continue
		}
		if l.notify.Add(dir) == nil {
			more = true
		} else {
			l.polling = true
		}
	}
	for _, dir := range watched {
		if !wanted[dir] {
			_ = l.notify.Remove(dir) // it may already be removed
		}
	}
	return more
}

// stale reports whether a file is not as it was read.
func (s *sources) stale() bool { return stampOf(s.places) != s.stamp }

// concerns reports whether a change of a name may matter: it is a place, or a directory above one.
func (s *sources) concerns(name string) bool {
	return name != "" && slices.ContainsFunc(s.places, func(p string) bool {
		return p == name || strings.HasPrefix(p, strings.TrimSuffix(name, "/")+"/")
	})
}

// existing returns the directory, or the nearest one above it that exists.
func existing(dir string) string {
	for dir != filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// stampOf identifies the state of files without reading them.
func stampOf(files []string) string {
	var b strings.Builder
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			fmt.Fprintf(&b, "%s -\n", file)
			continue
		}
		var inode any
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			inode = stat.Ino
		}
		fmt.Fprintf(&b, "%s %d %d %o %v\n", file, info.Size(), info.ModTime().UnixNano(), info.Mode(), inode)
	}
	return b.String()
}

// places returns the files that can affect the settings, under every name that the system may report.
func (w *Watcher) places() []string {
	w.mu.Lock()
	layers := w.layers
	w.mu.Unlock()
	var files []string
	for _, l := range layers {
		files = append(files, l.File)
	}
	if w.o.Trust != "" {
		files = append(files, w.o.Trust)
	}
	for _, file := range slices.Clone(files) {
		dir := existing(filepath.Dir(file))
		if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
			files = append(files, filepath.Join(real, strings.TrimPrefix(file, dir)))
		}
		if target, err := filepath.EvalSymlinks(file); err == nil {
			files = append(files, target)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
