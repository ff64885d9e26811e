package persist

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"toolhost/agenttool"
)

// Payload opens a payload of the invocation inv. Name is a word of a-z, 0-9, _ and -, at most 64, that no other
// payload of the invocation has; mediaType and relation go into the reference. The caller closes it.
//
// The payload takes every write. What goes beyond the limit is dropped; then Close returns the reference to what was
// kept together with an error of class result_too_large, code payload_cut. If the disk refuses, Write and Close fail
// with class dependency_unavailable, code payload_unavailable, and Close still returns the reference to what was kept.
//
// Payload itself fails with class invalid_arguments for such a name, execution_failed, code payload_exists, when the
// name is taken, result_too_large when an ephemeral session is full, and as Append does.
//
// Agent Tool v0.2.0, "Result persistence".
func (s *Store) Payload(inv agenttool.InvocationID, name, mediaType, relation string) (agenttool.Payload, error) {
	if !validPayload(string(inv), name) {
		return nil, agenttool.Failure(agenttool.InvalidArguments, "invalid_payload_name",
			fmt.Sprintf("a payload cannot be named %.100q of %.100q; a name is a word of a-z, 0-9, _ and -", name, inv))
	}
	file := string(inv) + "." + name
	to, err := s.kept.create(file)
	if err != nil {
		return nil, err
	}
	return &payload{to: to, hash: sha256.New(), limit: s.o.PayloadLimit, ref: agenttool.Ref{
		ID: file, URI: s.uri(file), MediaType: mediaType, Access: "session", Relation: relation,
	}}, nil
}

// validPayload reports whether inv.name can name a payload's file.
func validPayload(inv, name string) bool {
	return isWord(inv, idLetters) && len(inv) <= 128 && isWord(name, nameLetters) && len(name) <= 64
}

// uri returns the reference by which file can be read from anywhere in the session.
func (s *Store) uri(file string) string { return s.uriPrefix() + file }

func (s *Store) uriPrefix() string { return "toolhost://" + string(s.o.ID) + "/" + resultsDir + "/" }

// sink is where the bytes of one payload go. A Write that returns errNoRoom took what it could.
type sink interface {
	io.Writer
	// finish closes the sink and keeps ref with the bytes.
	finish(ref agenttool.Ref) error
}

// errNoRoom says that a sink takes nothing more.
var errNoRoom = errors.New("no room for more")

// payload writes, counts and hashes what one sink keeps.
type payload struct {
	to    sink
	limit int64

	mu      sync.Mutex
	hash    hash.Hash
	ref     agenttool.Ref
	dropped int64
	failed  error
	closed  bool
}

func (p *payload) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, ErrClosed
	}
	if p.failed != nil {
		return 0, p.failed
	}
	n, err := p.to.Write(b[:min(int64(len(b)), p.limit-p.ref.SizeBytes)])
	p.hash.Write(b[:n])
	p.ref.SizeBytes += int64(n)
	if errors.Is(err, errNoRoom) {
		p.limit, err = p.ref.SizeBytes, nil // a payload has no holes: what comes now is dropped, too
	}
	if err != nil {
		p.failed = err
		return n, err
	}
	p.dropped += int64(len(b) - n)
	return len(b), nil
}

func (p *payload) Close() (agenttool.Ref, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		p.ref.Digest = "sha256:" + hex.EncodeToString(p.hash.Sum(nil))
		if err := p.to.finish(p.ref); p.failed == nil {
			p.failed = err
		}
	}
	if p.failed == nil && p.dropped > 0 {
		p.failed = agenttool.Failure(agenttool.ResultTooLarge, "payload_cut", fmt.Sprintf(
			"the output is larger than can be kept: its first %d bytes are in %s, the other %d were dropped",
			p.ref.SizeBytes, p.ref.URI, p.dropped))
	}
	return p.ref, p.failed
}
