package persist

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
)

// Page is a part of a payload. Text is set for text, Data for everything else; both are empty at the end.
type Page struct {
	Ref        string `json:"ref"`                   // the payload's URI
	Offset     int64  `json:"offset"`                // in bytes; before the requested one if that was within a character
	NextOffset int64  `json:"next_offset,omitempty"` // where the next page begins; 0: this is the last one
	SizeBytes  int64  `json:"size_bytes"`            // of the payload; it grows while the payload is written
	Part
	MediaType string `json:"media_type,omitempty"`
	Digest    string `json:"digest,omitempty"` // of the whole payload; empty while it is being written
}

// Part is the content of a page.
type Part struct {
	Text  string `json:"text,omitempty"`
	Lossy bool   `json:"lossy,omitempty"` // Text has U+FFFD for bytes that are not UTF-8; Data has them as they are
	Data  string `json:"data,omitempty"`  // base64, if not all of it is text
}

// Sizes of a page in bytes.
const (
	PageDefault = 30_000
	PageMax     = 1 << 20
)

// Page reads at most limit bytes of a payload from offset on. ref is the URI or the ID of its reference. A limit of 0
// or less means PageDefault, more than PageMax means PageMax, less than 4 means 4. A page of text begins and ends
// between characters. A payload without a media type is text if its first 512 bytes are.
//
// Errors have class invalid_arguments: unknown_ref for a reference to no payload of this session, payload_expired for
// one that [Prune] removed, offset_out_of_range for an offset below 0 or beyond the end.
func (s *Store) Page(ref string, offset, limit int64) (Page, error) {
	file, ok := s.file(ref)
	if !ok {
		return Page{}, unknownRef(ref)
	}
	src, err := s.source(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Page{}, s.missing(ref, file)
	case errors.Is(err, ErrClosed):
		return Page{}, err
	case err != nil:
		return Page{}, agenttool.Failure(agenttool.DependencyUnavailable, "payload_unreadable",
			fmt.Sprintf("payload %s cannot be read: %v", file, err)).Because(err)
	}
	defer src.close()
	if offset < 0 || offset > src.size {
		return Page{}, agenttool.Failure(agenttool.InvalidArguments, "offset_out_of_range",
			fmt.Sprintf("offset %d is outside of the payload, which has %d bytes", offset, src.size))
	}
	if limit <= 0 {
		limit = PageDefault
	}
	p := Page{Ref: s.uri(file), SizeBytes: src.size, MediaType: src.ref.MediaType, Digest: src.ref.Digest}
	if err := p.read(src, offset, min(max(limit, utf8.UTFMax), PageMax)); err != nil {
		return Page{}, agenttool.Failure(agenttool.DependencyUnavailable, "payload_unreadable",
			fmt.Sprintf("payload %s cannot be read: %v", file, err)).Because(err)
	}
	return p, nil
}

// source opens a payload as the session wrote it, with its secrets unless results have none.
func (s *Store) source(file string) (source, error) {
	src, err := s.kept.open(file)
	if err != nil {
		return source{}, err
	}
	if p, ok := s.live.Load(file); ok {
		live := p.(*payload)
		src.r, src.size = live, live.readable()
		return src, nil
	}
	if s.o.Redactor.Results() {
		return src, nil
	}
	sealed, err := s.kept.open(file + sealedEnd)
	if err != nil {
		return src, nil // it has none, or they were removed
	}
	defer sealed.close()
	if removed := readPatches(s.o.Redactor, sealed); len(removed) > 0 {
		src.r = patched{src.r, removed}
	}
	return src, nil
}

// OpenPayload opens a payload for reading as a file. The errors are those of Page. An ephemeral session has no files;
// use Page for its payloads.
func (s *Store) OpenPayload(ref string) (*os.File, error) {
	file, ok := s.file(ref)
	if !ok {
		return nil, unknownRef(ref)
	}
	src, err := s.source(file)
	if err != nil {
		return nil, s.missing(ref, file)
	}
	f, ok := src.r.(*os.File)
	switch {
	case ok:
		return f, nil
	case s.o.Ephemeral:
		return nil, agenttool.Failure(agenttool.CapabilityGap, "ephemeral_session",
			"the session is kept in memory: read the payload by page, with agenttool/read_result")
	}
	defer src.close()
	return inMemory(io.NewSectionReader(src.r, 0, src.size))
}

// file returns the file name for ref. The name has one dot and no separator.
func (s *Store) file(ref string) (string, bool) {
	file := strings.TrimPrefix(ref, s.uriPrefix())
	inv, name, _ := strings.Cut(file, ".")
	return file, validPayload(inv, name)
}

// missing is the error of a reference to no payload: it has expired, or there never was one.
func (s *Store) missing(ref, file string) error {
	if removed, ok := PrunedPayload(s.Path(), file); ok && !s.o.Ephemeral {
		return agenttool.Failure(agenttool.InvalidArguments, "payload_expired",
			fmt.Sprintf("payload %s is not stored any more: %s; its record stays", file, removed.Why()))
	}
	return unknownRef(ref)
}

func unknownRef(ref string) error {
	return agenttool.Failure(agenttool.InvalidArguments, "unknown_ref", fmt.Sprintf(
		"%q is not a payload of this session; use the uri or id of a reference that a result of this session has",
		cut.Short(ref, 200)))
}

// read fills the page with at most limit bytes of src from offset on.
func (p *Page) read(src source, offset, limit int64) error {
	start := max(offset-(utf8.UTFMax-1), 0) // the character at offset may begin before it
	b := make([]byte, min(offset+limit, src.size)-start)
	if n, err := src.r.ReadAt(b, start); n < len(b) {
		return err
	}
	text, err := src.isText()
	if err != nil {
		return err
	}
	at, end := int(offset-start), len(b)
	if text {
		at = characterStart(b, at)
		end = min(end, at+int(limit))
		if start+int64(end) < src.size {
			end = len(cut.Whole(b[:end]))
		}
	}
	p.fill(b[at:end], text)
	p.Offset = start + int64(at)
	if next := start + int64(end); next < src.size {
		p.NextOffset = next
	}
	return nil
}

// fill sets the page's content.
func (p *Page) fill(b []byte, text bool) {
	switch {
	case !text:
		p.Data = base64.StdEncoding.EncodeToString(b)
	case utf8.Valid(b):
		p.Text = string(b)
	default:
		p.Text, p.Lossy = strings.ToValidUTF8(string(b), "\uFFFD"), true
		p.Data = base64.StdEncoding.EncodeToString(b)
	}
}

// characterStart returns the beginning of the character that contains the byte b[at]; at itself if there is none.
func characterStart(b []byte, at int) int {
	for i := at - 1; i >= 0 && i > at-utf8.UTFMax && at < len(b); i-- {
		if utf8.RuneStart(b[i]) {
			if _, n := utf8.DecodeRune(b[i:]); i+n > at {
				return i
			}
			break
		}
	}
	return at
}

// sniffed is the number of bytes examined of a payload without a media type.
const sniffed = 512

// isText reports whether the payload is shown as text. Without a media type its beginning decides, so that the answer
// is the same for all its pages.
func (s source) isText() (bool, error) {
	if s.ref.MediaType != "" {
		return isText(s.ref.MediaType), nil
	}
	b := make([]byte, min(s.size, sniffed))
	if n, err := s.r.ReadAt(b, 0); n < len(b) {
		return false, err
	}
	if s.size > sniffed {
		b = cut.Whole(b)
	}
	return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0, nil
}

// isText reports whether a payload with the media type is shown as text.
func isText(mediaType string) bool {
	t, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	t = strings.TrimSpace(t)
	switch t {
	case "application/json", "application/jsonl", "application/x-ndjson", "application/xml", "application/yaml",
		"application/javascript", "application/toml":
		return true
	}
	return strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml")
}

// maxInMemory bounds a payload with secrets that is opened as a file; of a larger one only pages can be read.
const maxInMemory = 64 << 20

// inMemory returns a file in memory with the content of r: a payload with its secrets is never a file on disk.
func inMemory(r *io.SectionReader) (*os.File, error) {
	if r.Size() > maxInMemory {
		return nil, tooLargeForMemory(r.Size())
	}
	fd, err := unix.MemfdCreate("toolhost-payload", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "payload")
	if _, err = io.Copy(f, r); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
