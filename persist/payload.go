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

// Payload opens a payload of the invocation inv. name consists of at most 64 characters of a-z, 0-9, _ and -, and
// must be unique in the invocation; mediaType and relation go into the reference. The caller closes it.
//
// The payload accepts every write, and can be read meanwhile. Bytes beyond the limit are dropped; then Close returns
// the reference to the stored bytes together with an error of class result_too_large, code payload_cut. If the disk
// fails, Write and Close fail with class dependency_unavailable, code payload_unavailable, and Close still returns
// the reference to the stored bytes.
//
// Payload itself fails with class invalid_arguments for an invalid name, execution_failed, code payload_exists, for a
// used name, result_too_large if the session has no room for payloads, and with the errors of Append.
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

// Keep stores data as a complete payload. It fails as Payload, Write and Close do, and with [ErrPending] if the disk
// takes longer than a second.
func (s *Store) Keep(inv agenttool.InvocationID, name, mediaType string, data []byte) (agenttool.Ref, error) {
	return within(s.o.limits.write, func() (agenttool.Ref, error) {
		p, err := s.Payload(inv, name, mediaType, name)
		if err != nil {
			return agenttool.Ref{}, err
		}
		_, werr := p.Write(data)
		ref, err := p.Close()
		if werr != nil {
			err = werr
		}
		return ref, err
	}, nil)
}

// validPayload reports whether inv.name is a valid name of a payload file.
func validPayload(inv, name string) bool {
	return isWord(inv, idLetters) && len(inv) <= 128 && isWord(name, nameLetters) && len(name) <= 64
}

// uri returns the reference to file, which is valid everywhere in the session.
func (s *Store) uri(file string) string { return s.uriPrefix() + file }

func (s *Store) uriPrefix() string { return "toolhost://" + string(s.o.ID) + "/" + resultsDir + "/" }

// sink stores the bytes of one payload. A Write that returns a noRoom stored as much as it could. ReadAt reads the
// written bytes, at any time and from any goroutine.
type sink interface {
	io.Writer
	io.ReaderAt
	// finish closes the sink for writing and stores ref with the bytes.
	finish(ref agenttool.Ref) error
}

// noRoom is the reason why a sink is full.
type noRoom string

func (n noRoom) Error() string { return string(n) }

// payload counts and hashes the bytes that it writes to a sink.
type payload struct {
	to sink

	writing sync.Mutex // held by Write and Close: a slow disk blocks no reader
	hash    hash.Hash

	mu      sync.Mutex // guards the fields below, which change under writing alone
	limit   int64
	ref     agenttool.Ref
	dropped int64
	full    noRoom // why the limit was lowered
	failed  error
	closed  bool
}

func (p *payload) Write(b []byte) (int, error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	room, err := p.room()
	if err != nil {
		return 0, err
	}
	n, err := p.to.Write(b[:min(int64(len(b)), room)])
	p.hash.Write(b[:n])
	return p.count(len(b), n, err)
}

// room returns the remaining bytes.
func (p *payload) room() (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, ErrClosed
	}
	return p.limit - p.ref.SizeBytes, p.failed
}

// count records that kept of size bytes were written, and returns the results of Write.
func (p *payload) count(size, kept int, err error) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ref.SizeBytes += int64(kept)
	if errors.As(err, &p.full) {
		p.limit, err = p.ref.SizeBytes, nil // a payload has no holes: later bytes are dropped, too
	}
	if err != nil {
		p.failed = err
		return kept, err
	}
	p.dropped += int64(size - kept)
	return size, nil
}

// ReadAt implements agenttool.Payload.
func (p *payload) ReadAt(b []byte, off int64) (int, error) {
	p.mu.Lock()
	size, end := p.ref.SizeBytes, p.loss()
	p.mu.Unlock()
	if end == nil {
		end = io.EOF
	}
	if off < 0 {
		return 0, agenttool.Failure(agenttool.InvalidArguments, "offset_out_of_range",
			fmt.Sprintf("offset %d is before the beginning of the payload", off))
	}
	if off >= size {
		return 0, end
	}
	n, err := p.to.ReadAt(b[:min(int64(len(b)), size-off)], off)
	if err == nil && n < len(b) {
		err = end
	}
	return n, err
}

func (p *payload) Close() (agenttool.Ref, error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	if !p.closed { // only this call sets closed
		p.finish()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ref, p.loss()
}

func (p *payload) finish() {
	ref := p.ref
	ref.Digest = "sha256:" + hex.EncodeToString(p.hash.Sum(nil))
	err := p.to.finish(ref)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.ref = true, ref
	if p.failed == nil {
		p.failed = err
	}
}

// loss returns the reason why bytes are missing, nil if none are.
func (p *payload) loss() error {
	if p.failed == nil && p.dropped > 0 {
		message := fmt.Sprintf("the output is larger than can be kept: its first %d bytes are in %s, the other %d were dropped",
			p.ref.SizeBytes, p.ref.URI, p.dropped)
		if p.full != "" {
			message += ": " + string(p.full)
		}
		return agenttool.Failure(agenttool.ResultTooLarge, "payload_cut", message)
	}
	return p.failed
}
