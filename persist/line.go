package persist

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"

	"toolhost/agenttool/json"
)

// A line is at most maxLine bytes long, so that a reader can hold it. maxEvent leaves room for the rest of the line.
const (
	maxLine  = 64 << 20
	maxEvent = maxLine - 256
)

type digest = [sha256.Size]byte

// chain is the end of a journal, which determines the next line.
type chain struct {
	seq  int64  // of the last line; 0 before the first
	head digest // of the last line; zeros before the first
}

// append adds the line for event to b.
func (c *chain) append(b, event []byte) []byte {
	start := len(b)
	c.seq++
	b = append(b, `{"seq":`...)
	b = strconv.AppendInt(b, c.seq, 10)
	b = append(b, `,"prev":"`...)
	b = hex.AppendEncode(b, c.head[:])
	b = append(b, `","event":`...)
	b = append(b, event...)
	b = append(b, '}')
	c.head = sha256.Sum256(b[start:])
	return append(b, '\n')
}

// line is one parsed line.
type line struct {
	seq   int64
	prev  digest
	event []byte // part of the parsed bytes
}

var errNotRecord = errors.New("not a record")

// parseLine parses b, which has no line feed. It accepts exactly the output of chain.append.
func parseLine(b []byte) (l line, err error) {
	if l, err = parseFrame(b); err == nil && !json.Valid(l.event) {
		return line{}, errNotRecord
	}
	return l, err
}

// parseFrame is parseLine without a look at the event's JSON.
func parseFrame(b []byte) (l line, err error) {
	rest, ok := bytes.CutPrefix(b, []byte(`{"seq":`))
	digits := 0
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	if !ok || digits == 0 || digits > 18 || rest[0] == '0' {
		return line{}, errNotRecord
	}
	for _, d := range rest[:digits] {
		l.seq = l.seq*10 + int64(d-'0')
	}
	rest, ok = bytes.CutPrefix(rest[digits:], []byte(`,"prev":"`))
	if !ok || len(rest) < 2*sha256.Size {
		return line{}, errNotRecord
	}
	prev := rest[:2*sha256.Size]
	if _, err := hex.Decode(l.prev[:], prev); err != nil || bytes.ContainsAny(prev, "ABCDEF") {
		return line{}, errNotRecord
	}
	rest, ok = bytes.CutPrefix(rest[len(prev):], []byte(`","event":`))
	if !ok || len(rest) < 3 || rest[0] != '{' || rest[len(rest)-1] != '}' {
		return line{}, errNotRecord
	}
	l.event = rest[:len(rest)-1]
	return l, nil
}
