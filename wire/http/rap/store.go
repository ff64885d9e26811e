package rap

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// call is one invocation until nothing is owed for it any more.
type call struct {
	address
	server  *Server
	base    string        // where the answers to its questions go
	over    chan struct{} // closed when its job is followed no longer
	release func()        // gives the room of its input back; once
	standing
}

// standing is the state of a call. Server.mu guards it.
type standing struct {
	host     string              // the id of the host's request; empty: it was not begun
	job      string              // that goes on after it; empty: none
	ended    *agenttool.Progress // how its job ended; nil: not yet
	answered bool                // its result is on its way, or was delivered
	canceled string              // why the runtime waits for it no longer; empty: it does
	muted    bool                // no more messages about its job
	closed   bool                // over is closed
}

// store keeps calls that wait for a callback on disk, one file per call, encrypted and named by a digest. A nil store keeps nothing. One goroutine
// does the work, in its order: a disk that stalls holds up no call.
type store struct {
	root *os.Root
	box  Sealer
	work chan work
	quit chan struct{} // closed by close
	gone chan struct{} // closed when the goroutine has ended
}

// work is one change of the directory.
type work struct {
	do   func() error
	done chan error // has room for the result
}

const (
	maxWork      = 4096                   // changes that wait for the disk
	keepPatience = 500 * time.Millisecond // for one of them
)

// errStalled means that a call is kept in memory, and on disk when that answers.
var errStalled = errors.New("the disk does not answer")

// in has a change made, and waits for it, but not for long, least of all behind others that wait.
func (s *store) in(do func() error) error {
	w := work{do, make(chan error, 1)}
	behind := len(s.work) > 0
	select {
	case s.work <- w:
	default:
		return errStalled
	}
	patience := keepPatience
	if behind {
		patience = keepPatience / 50
	}
	select {
	case err := <-w.done:
		return err
	case <-time.After(patience):
		return errStalled
	}
}

// serve makes the changes until close.
func (s *store) serve() {
	defer close(s.gone)
	for {
		select {
		case w := <-s.work:
			w.done <- w.do()
			continue
		default:
		}
		select {
		case w := <-s.work:
			w.done <- w.do()
		case <-s.quit:
			_ = s.root.Close()
			return
		}
	}
}

// Sealer encrypts for the user. about is the same for both of its methods.
type Sealer interface {
	Seal(plain, about []byte) []byte
	Open(sealed, about []byte) ([]byte, error)
}

// storedCall is the content of a file, before it is encrypted.
type storedCall struct {
	Group    string  `json:"group_id"`
	ID       string  `json:"id"`
	CallID   *string `json:"call_id,omitempty"`
	Callback string  `json:"callback_url"`
	Job      string  `json:"job,omitempty"` // that went on after the call's result was taken; empty: that is owed
}

const (
	keptEnd  = ".json"
	newEnd   = ".new"   // behind that, while it is written
	maxKept  = 16 << 10 // bytes of a file
	maxFiles = 1 << 14  // that are read
)

// newStore opens the directory, and makes it if there is none. It is for this user only.
func newStore(dir string, box Sealer) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory", dir)
	}
	if err := os.Chmod(dir, 0o700); err != nil { // only its owner can
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &store{root: root, box: box, work: make(chan work, maxWork), quit: make(chan struct{}), gone: make(chan struct{})}
	go s.serve() // ends with close
	return s, nil
}

func nameOf(a address) string {
	k := a.key()
	return hex.EncodeToString(k[:16]) + keptEnd
}

// put keeps a call, with the job that goes on after it.
func (s *store) put(c *call, job string) error {
	if s == nil {
		return nil
	}
	b, err := json.Marshal(storedCall{c.Group, c.ID, c.CallID, c.Callback, job})
	if err != nil {
		return err
	}
	name := nameOf(c.address)
	return s.in(func() error {
		if err := s.root.WriteFile(name+newEnd, s.box.Seal(b, []byte(name)), 0o600); err != nil {
			return err
		}
		return s.root.Rename(name+newEnd, name)
	})
}

// remove forgets a call. If that fails, the next server sends one more callback, which the runtime tolerates.
func (s *store) remove(c *call) {
	if s != nil {
		name := nameOf(c.address)
		_ = s.in(func() error { return s.root.Remove(name) })
	}
}

// all returns the calls that earlier servers left. It skips files with other names and removes broken ones.
func (s *store) all() (left []storedCall, err error) {
	dir, err := s.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, keptEnd+newEnd) { // half written, of a server that was killed
			_ = s.root.Remove(name)
		}
		if !strings.HasSuffix(name, keptEnd) || len(left) == maxFiles {
			continue
		}
		k, err := s.read(name)
		if err != nil || nameOf(k.address()) != name {
			_ = s.root.Remove(name)
			continue
		}
		left = append(left, k)
	}
	return left, nil
}

func (s *store) read(name string) (k storedCall, err error) {
	info, err := s.root.Lstat(name)
	if err != nil {
		return k, err
	}
	if !info.Mode().IsRegular() {
		return k, errors.New("no file")
	}
	f, err := s.root.Open(name)
	if err != nil {
		return k, err
	}
	defer f.Close()
	sealed, err := io.ReadAll(io.LimitReader(f, maxKept))
	if err != nil {
		return k, err
	}
	b, err := s.box.Open(sealed, []byte(name))
	if err != nil {
		return k, err
	}
	return k, json.Unmarshal(b, &k)
}

func (k storedCall) address() address {
	return address{Group: k.Group, ID: k.ID, CallID: k.CallID, Callback: k.Callback}
}

func (s *store) close() {
	if s == nil {
		return
	}
	close(s.quit)
	select {
	case <-s.gone:
	case <-time.After(keepPatience): // what is left is done when the disk answers, or never
	}
}

// placeOf is the scheme, host and port of a callback URL, which are no secret.
func placeOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// unknownDigest stands for the digest of a call of an earlier server, which is unknown.
var unknownDigest [sha256.Size]byte

// outcome is the end of a delivery.
type outcome int

const (
	taken       outcome = iota
	refused             // by an answer that is final, or by us
	unreachable         // until its time was over
	interrupted         // by the end of the server
)
