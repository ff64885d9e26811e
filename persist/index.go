package persist

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"toolhost/agenttool"
)

// indexName is the file with the places of a session's calls. Readers write it. A missing, damaged or old one costs
// only time.
//
//	index = `toolhost-calls 1 ` end ` ` seq ` ` hash ` ` number of calls LF { call }
//	call  = offset { `,` distance from the offset before } TAB invocation TAB client's id as a Go string LF
//
// It covers the log up to the byte end, where line seq with this hash ends.
const indexName = "calls.idx"

// indexStep is how many bytes of a log an index may lack before it is written again.
const indexStep = 1 << 20

// CallPlace is where the records of one call stand in a log.
type CallPlace struct {
	Subject    string // the client's id
	Invocation agenttool.InvocationID
	At         []int64 // the offsets of its records, in order
}

// index knows the places of the calls in the beginning of a log.
type index struct {
	end   int64 // after the last known line
	chain chain
	calls []CallPlace
	at    map[agenttool.InvocationID]int // in calls; nil until a line was added
}

// CallsOf returns the places of the calls in a part of a session, in the order of their first records. It reads them from an
// index beside the log, as far as that goes. The error is one of reading the log.
func CallsOf(p LogPart) ([]CallPlace, error) {
	calls, err := callsIn(p.Log)
	if err != nil || p.Length < 0 {
		return calls, err
	}
	for i := range calls { // what others added is none of the session's
		calls[i].At = slices.DeleteFunc(calls[i].At, func(at int64) bool { return at >= p.Length })
	}
	return slices.DeleteFunc(calls, func(c CallPlace) bool { return len(c.At) == 0 }), nil
}

func callsIn(path string) ([]CallPlace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	x := &index{}
	own := filepath.Base(path) == LogName
	if own {
		x = readIndex(filepath.Dir(path), f)
	}
	known := x.end
	if err := x.scan(f); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if own && x.end-known >= indexStep {
		_ = x.write(filepath.Dir(path)) // the next reader tries again
	}
	return x.calls, nil
}

// scan adds the lines after x.end.
func (x *index) scan(f io.ReadSeeker) error {
	if _, err := f.Seek(x.end, io.SeekStart); err != nil {
		return err
	}
	start := x.end
	src := newLines(f)
	for {
		b, err := src.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, errNotRecord) {
			return err
		}
		from := x.end
		x.end = start + src.end
		l, notRecord := parseFrame(b)
		if err != nil || notRecord != nil {
			continue
		}
		if e, ok := agenttool.Peek(l.event); ok && e.InvocationID != "" {
			x.add(CallPlace{Subject: e.Subject, Invocation: e.InvocationID, At: []int64{from}})
		}
	}
}

// add adds the place of one record of a call.
func (x *index) add(p CallPlace) {
	if x.at == nil {
		x.at = make(map[agenttool.InvocationID]int, len(x.calls))
		for i, c := range x.calls {
			x.at[c.Invocation] = i
		}
	}
	if i, known := x.at[p.Invocation]; known {
		x.calls[i].At = append(x.calls[i].At, p.At...)
		return
	}
	x.at[p.Invocation] = len(x.calls)
	x.calls = append(x.calls, p)
}

// readIndex reads the index in a session's directory. It returns an empty one unless it belongs to the log.
func readIndex(dir string, log io.ReaderAt) *index {
	b, err := os.ReadFile(filepath.Join(dir, indexName))
	if err != nil {
		return &index{}
	}
	x, err := parseIndex(string(b))
	if err != nil {
		return &index{}
	}
	last, err := readTail(log, x.end)
	if err != nil || last.torn > 0 || last.end != x.end || last.chain != x.chain {
		return &index{}
	}
	return x
}

var errIndex = errors.New("not an index of calls")

func parseIndex(text string) (*index, error) {
	head, text, _ := strings.Cut(text, "\n")
	x, count, hash := &index{}, 0, ""
	if n, err := fmt.Sscanf(head, "toolhost-calls 1 %d %d %s %d", &x.end, &x.chain.seq, &hash, &count); n != 4 || err != nil || x.end < 0 || count < 0 {
		return nil, errIndex
	}
	if n, err := hex.Decode(x.chain.head[:], []byte(hash[:min(len(hash), 2*len(x.chain.head))])); err != nil || n != len(x.chain.head) {
		return nil, errIndex
	}
	for line := range strings.Lines(text) {
		c, err := parsePlace(strings.TrimSuffix(line, "\n"))
		if err != nil || c.At[len(c.At)-1] >= x.end {
			return nil, errIndex
		}
		x.calls = append(x.calls, c)
	}
	if len(x.calls) != count {
		return nil, errIndex
	}
	return x, nil
}

func parsePlace(line string) (c CallPlace, err error) {
	offsets, line, ok := strings.Cut(line, "\t")
	invocation, subject, ok2 := strings.Cut(line, "\t")
	if !ok || !ok2 {
		return c, errIndex
	}
	c.At = make([]int64, 0, 1+strings.Count(offsets, ","))
	off := int64(-1)
	for part := range strings.SplitSeq(offsets, ",") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n < 0 || off >= 0 && n == 0 {
			return c, errIndex
		}
		off = max(off, 0) + n
		if off < n {
			return c, errIndex
		}
		c.At = append(c.At, off)
	}
	c.Invocation = agenttool.InvocationID(invocation)
	c.Subject, err = strconv.Unquote(subject)
	return c, err
}

// appendPlace writes a line of the index.
func appendPlace(b []byte, c CallPlace) []byte {
	off := int64(0)
	for i, at := range c.At {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, at-off, 10)
		off = at
	}
	b = append(append(append(b, '\t'), c.Invocation...), '\t')
	return append(strconv.AppendQuote(b, c.Subject), '\n')
}

// ReadCall reads the records of a call in the log at path. It leaves out those that are no records of it: the index may be wrong.
func ReadCall(path string, place CallPlace) (entries []Entry, err error) {
	log, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	for _, off := range place.At {
		b, err := newLines(io.NewSectionReader(log, off, maxLine+1)).next()
		if errors.Is(err, io.EOF) || errors.Is(err, errNotRecord) {
			continue
		}
		if err != nil {
			return nil, err
		}
		l, err := parseLine(b)
		if e, ok := agenttool.Peek(l.event); err == nil && ok && e.InvocationID == place.Invocation {
			entries = append(entries, Entry{Seq: l.seq, Event: l.event})
		}
	}
	return entries, nil
}

// write replaces the index in a session's directory.
func (x *index) write(dir string) error {
	f, err := os.Open(filepath.Join(dir, LogName))
	if err != nil {
		return err
	}
	defer f.Close()
	last, err := readTail(f, x.end)
	if err != nil {
		return err // the log does not end in a record
	}
	x.chain = last.chain
	to, err := os.CreateTemp(dir, "."+indexName+"-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(to.Name()) // nothing is left to remove after the rename
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "toolhost-calls 1 %d %d %x %d\n", x.end, x.chain.seq, x.chain.head, len(x.calls))
	for _, c := range x.calls {
		if strings.ContainsAny(string(c.Invocation), "\t\n") {
			return errIndex
		}
		if _, err := w.Write(appendPlace(nil, c)); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Flush(), to.Close()); err != nil {
		return err
	}
	return os.Rename(to.Name(), filepath.Join(dir, indexName))
}
