package client

import (
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"

	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/sockets"
)

// watcher has the system report new sockets. It is an aid: sockets that it does not report are found by listing.
type watcher struct {
	dirs   []string
	notify *fsnotify.Watcher // nil: the system reports nothing
	done   sync.WaitGroup
}

// watchDirs returns a channel that gets a value when there may be a new socket.
func watchDirs(dirs []string) (<-chan struct{}, *watcher) {
	w := &watcher{dirs: dirs}
	changes := make(chan struct{}, 1)
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return changes, w
	}
	w.notify = notify
	w.add()
	w.done.Go(func() { w.run(changes) }) // ends with notify
	return changes, w
}

func (w *watcher) run(changes chan<- struct{}) {
	for {
		select {
		case e, ok := <-w.notify.Events:
			if !ok {
				return
			}
			if !e.Has(fsnotify.Create) || !strings.HasSuffix(e.Name, sockets.Suffix) {
				continue
			}
		case _, ok := <-w.notify.Errors: // events may be lost
			if !ok {
				return
			}
		}
		select {
		case changes <- struct{}{}:
		default:
		}
	}
}

// add watches directories that did not exist before.
func (w *watcher) add() {
	if w.notify == nil {
		return
	}
	for _, dir := range w.dirs {
		if dirs.Is(dir) {
			_ = w.notify.Add(dir) // adding one twice does nothing
		}
	}
}

func (w *watcher) close() {
	if w.notify != nil {
		_ = w.notify.Close()
		w.done.Wait()
	}
}
