// Package stdio carries JSON-RPC 2.0 over lines: one line is one message, and stdout carries nothing else. A line that is an array of messages,
// a batch as in MCP 2025-03-26, counts as its messages on lines of their own: each request in it gets a line with its answer.
//
// The package owns the lines and does not know the methods. Messages go to a [Family], the first that owns their method;
// replies come back through a [Writer]. The package itself answers an invalid line with an error, and the stream goes on.
//
//	w := stdio.NewWriter(os.Stdout)
//	err := stdio.Serve(ctx, os.Stdin, w, family)
package stdio

import (
	"bufio"
	"context"
	"errors"
	"io"

	"toolhost/agenttool/json"
)

// MaxLine is the size in bytes of the longest line that is read, 16 MiB; [Writer.Bound] can make it less.
const MaxLine = 16 << 20

// Family serves the messages of one protocol that shares the stream.
type Family interface {
	// Owns reports whether messages of that method are the family's. Responses have an empty method.
	Owns(method string) bool

	// Receive takes one message. It must not block on work: the next message may be the one that cancels it.
	Receive(m Message)

	// Drain is the end of input. It returns when everything that was accepted is answered, or soon after ctx ends.
	Drain(ctx context.Context)
}

// Serve reads messages from in until it ends, ctx ends, a family asks for the end through stop, or the writer breaks.
// It does not drain the families: the caller decides about that.
func Serve(ctx context.Context, in io.Reader, w *Writer, families ...Family) error {
	lines := make(chan error, 1)
	go func() { lines <- readLines(in, w, families) }() // ends with in, which may be later than Serve
	select {
	case err := <-lines:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.Broken():
		return w.Err()
	}
}

func readLines(in io.Reader, w *Writer, families []Family) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r, w.bounds.line)
		switch {
		case errors.Is(err, errTooLong):
			w.Reply(nil, nil, Errorf(CodeInvalidRequest, "invalid request: the line is longer than %d bytes; it was skipped", w.bounds.line))
			continue
		case len(line) > 0:
			for _, message := range messages(line) {
				dispatch(message, w, families)
				w.Pause() // a client that reads nothing is not read from for ever
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// messages returns the messages of a line: those of a batch, or else the line itself.
func messages(line []byte) [][]byte {
	if line[0] != '[' {
		return [][]byte{line}
	}
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) != nil || len(batch) == 0 {
		return [][]byte{line} // it is refused as no message
	}
	all := make([][]byte, len(batch))
	for i, message := range batch {
		all[i] = message
	}
	return all
}

// dispatch hands one message to the family that owns it, or answers it.
func dispatch(message []byte, w *Writer, families []Family) {
	m, err := Decode(message)
	if err != nil {
		w.Reply(m.ID, nil, err)
		return
	}
	for _, f := range families {
		if f.Owns(m.Method) {
			f.Receive(m)
			return
		}
	}
	if m.ID != nil && m.Method != "" {
		w.Reply(m.ID, nil, Errorf(CodeMethodNotFound, "method %q is not served here; the native methods begin with agenttool/", m.Method))
	}
}

var errTooLong = errors.New("line too long")

// readLine returns the next line without its end, trimmed of blanks; it is a copy. A line over limit is read to its
// end and dropped. The last line may lack its end.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit+1 {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong && (err == nil || err == io.EOF) {
			return nil, errTooLong
		}
		return trim(line), err
	}
}

func trim(line []byte) []byte {
	for len(line) > 0 && isBlank(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	for len(line) > 0 && isBlank(line[0]) {
		line = line[1:]
	}
	return line
}

func isBlank(b byte) bool { return b == '\n' || b == '\r' || b == ' ' || b == '\t' }
