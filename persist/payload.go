package persist

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/persist/redact"
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
	p := &payload{
		hashedSink: hashedSink{to: to, hash: sha256.New()}, content: content{limit: s.o.PayloadLimit, ref: agenttool.Ref{ID: file, URI: s.uri(file), MediaType: mediaType, Access: "session", Relation: relation}}, secrets: secrets{find: redact.NewStream(s.o.Redactor), redactor: s.o.Redactor},
	}
	p.seal = func() (sink, error) { return s.kept.create(file + sealedEnd) }
	done := s.writing(file, p)
	p.closing = func() {
		if p.size > 0 {
			s.redacted.Store(file, true)
		}
		done()
	}
	return p, nil
}

// writing has pages read a payload from memory, too, until done is called.
func (s *Store) writing(file string, p *payload) (done func()) {
	s.live.Store(file, p)
	return func() { s.live.Delete(file) }
}

// Redacted reports whether a payload that this store wrote has marks in place of secrets. id is that of its reference.
func (s *Store) Redacted(id string) bool {
	_, found := s.redacted.Load(id)
	return found
}

// Keep stores data as a complete payload. It fails as Payload, Write and Close do, and with [ErrPending] if the disk
// does not answer for a second. A busy machine may take longer: data is searched for secrets before it is written.
func (s *Store) Keep(inv agenttool.InvocationID, name, mediaType string, data []byte) (agenttool.Ref, error) {
	var ref agenttool.Ref
	var err error
	done := make(chan struct{})
	go func() { // ends when the disk answers
		defer close(done)
		ref, err = s.keep(inv, name, mediaType, data)
	}()
	limit := s.o.limits.write
	for waited := limit; ; waited += limit {
		select {
		case <-done:
			return ref, err
		case <-time.After(limit):
			if s.kept.stuck(limit) || waited >= stallLimit {
				return agenttool.Ref{}, ErrPending
			}
		}
	}
}

func (s *Store) keep(inv agenttool.InvocationID, name, mediaType string, data []byte) (agenttool.Ref, error) {
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
}

// validPayload reports whether inv.name is a valid name of a payload file.
func validPayload(inv, name string) bool {
	return isWord(inv, idLetters) && len(inv) <= 128 && isWord(name, nameLetters) && len(name) <= 64
}

// uri returns the reference to file, which is valid everywhere in the session.
func (s *Store) uri(file string) string { return s.uriPrefix() + file }

func (s *Store) uriPrefix() string { return "toolhost://" + string(s.o.ID) + "/" + resultsDir + "/" }

func (n noRoom) Error() string { return string(n) }

// payload counts and hashes the bytes that it writes to a sink. The sink gets no secrets: they are in a second, sealed
// one, and readers of the session see both together.
type payload struct {
	hashedSink
	seal    func() (sink, error)
	closing func()

	writing sync.Mutex // held by Write and Close: a slow disk blocks no reader
	secrets

	mu sync.Mutex // guards the fields below, which change under writing alone
	content
	condition
}

// content has the accepted bytes of a payload.
type content struct {
	limit   int64
	ref     agenttool.Ref
	tail    []byte // accepted bytes that are not in the sink yet: a secret may begin in them
	patches patches
}

// condition says whether a payload accepts more, and counts its losses.
type condition struct {
	dropped int64
	full    noRoom // why the limit was lowered
	failed  error
	closed  bool
}

// hashedSink is a sink with the hash of its bytes. Only writers use the hash.
type hashedSink struct {
	to   sink
	hash hash.Hash
}

func (p *payload) Write(b []byte) (int, error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	if err := p.usable(); err != nil {
		return 0, err
	}
	if err := p.put(b, false); err != nil {
		return 0, err
	}
	return len(b), nil
}

// usable returns why the payload accepts no more bytes.
func (p *payload) usable() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	return p.failed
}

// put takes the next bytes, and writes those that are decided.
func (p *payload) put(b []byte, last bool) error {
	text, found := p.find.Next(b, last)
	covered := text
	var removed patches
	if len(found) > 0 {
		covered = bytes.Clone(text)
		removed = p.cover(covered, p.ref.SizeBytes, found)
		p.keep(removed)
	}
	n, err := p.to.Write(covered[:min(int64(len(covered)), p.limit-p.ref.SizeBytes)])
	p.hash.Write(covered[:n])
	p.mu.Lock()
	p.tail, p.patches = p.find.Held(), append(p.patches, removed...)
	if p.redactor.Results() { // readers get what is stored
		p.tail, p.patches = nil, nil
	}
	p.mu.Unlock()
	return p.count(len(covered), n, err)
}

// count records that kept of size bytes were written.
func (p *payload) count(size, kept int, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ref.SizeBytes += int64(kept)
	if errors.As(err, &p.full) {
		p.limit, err = p.ref.SizeBytes, nil // a payload has no holes: later bytes are dropped, too
	}
	if err != nil {
		p.failed, p.tail = err, nil
		return err
	}
	p.dropped += int64(size - kept)
	return nil
}

// ReadAt implements agenttool.Payload.
func (p *payload) ReadAt(b []byte, off int64) (int, error) {
	p.mu.Lock()
	size, total, tail, patches := p.ref.SizeBytes, p.total(), p.tail, p.patches
	end := p.loss(size + int64(len(tail)) - total)
	p.mu.Unlock()
	if end == nil {
		end = io.EOF
	}
	if off < 0 {
		return 0, agenttool.Failure(agenttool.InvalidArguments, "offset_out_of_range",
			fmt.Sprintf("offset %d is before the beginning of the payload", off))
	}
	if off >= total {
		return 0, end
	}
	n, err := 0, error(nil)
	if off < size {
		n, err = p.to.ReadAt(b[:min(int64(len(b)), size-off)], off)
		patches.apply(b[:n], off)
	}
	if at := off + int64(n); err == nil && at >= size {
		n += copy(b[n:], tail[at-size:total-size])
	}
	if err == nil && n < len(b) {
		err = end
	}
	return n, err
}

// readable returns the number of bytes that can be read.
func (p *payload) readable() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total()
}

// total is readable for callers that hold mu.
func (p *content) total() int64 {
	return min(p.ref.SizeBytes+int64(len(p.tail)), max(p.limit, p.ref.SizeBytes))
}

func (p *payload) Close() (agenttool.Ref, error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	if !p.closed { // only this call sets closed
		if p.failed == nil {
			_ = p.put(nil, true) // the failure is that of the payload
		}
		p.finish()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ref, p.loss(0)
}

func (p *payload) finish() {
	ref := p.ref
	ref.Digest = "sha256:" + hex.EncodeToString(p.hash.Sum(nil))
	err := p.to.finish(ref)
	p.close()
	p.closing()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.ref = true, ref
	if p.failed == nil {
		p.failed = err
	}
}

// loss returns the reason why bytes are missing, nil if none are. more were accepted and will be dropped.
func (p *payload) loss(more int64) error {
	dropped := p.dropped + more
	if p.failed == nil && dropped > 0 {
		message := fmt.Sprintf("the output is larger than can be kept: its first %d bytes are in %s, the other %d were dropped",
			p.ref.SizeBytes, p.ref.URI, dropped)
		if p.full != "" {
			message += ": " + string(p.full)
		}
		return agenttool.Failure(agenttool.ResultTooLarge, "payload_cut", message)
	}
	return p.failed
}

// keep writes secrets to the sealed file. If that fails they are lost when the payload is closed.
func (p *payload) keep(removed patches) {
	if p.sealed == nil && !p.lost && len(removed) > 0 {
		var err error
		p.sealed, err = p.seal()
		p.lost = err != nil
	}
	if !p.lost && len(removed) > 0 {
		_, err := p.sealed.Write(frames(p.redactor, removed))
		p.lost = err != nil
	}
}

// close ends the sealed file.
func (p *payload) close() {
	if p.sealed != nil {
		_ = p.sealed.finish(agenttool.Ref{ID: p.ref.ID + sealedEnd, Access: "sealed"})
	}
}
