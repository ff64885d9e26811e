package job

import (
	"os"
	"time"
)

// note is the text that a command writes to descriptor 3. A goroutine reads the pipe all the time, so that no writer
// blocks, and keeps a bounded part.
type note struct {
	from *os.File
	said []byte // owned by the reader until done
	done chan struct{}
}

// maxNote is the number of bytes that are kept of a note. A longer note counts as empty.
const maxNote = 4096

func takeNote(from *os.File) *note {
	n := &note{from: from, done: make(chan struct{})}
	go n.read()
	return n
}

func (n *note) read() {
	defer close(n.done)
	buf := make([]byte, maxNote)
	for {
		got, err := n.from.Read(buf)
		if len(n.said) <= maxNote {
			n.said = append(n.said, buf[:got]...)
		}
		if err != nil {
			return
		}
	}
}

// noteLimit is the time to read the bytes that are already in the pipe. With an expired deadline nothing would be
// read.
const noteLimit = 5 * time.Millisecond

// end returns the text that was written before the command exited. Other processes may still hold the descriptor;
// their text is not read.
func (n *note) end() string {
	if n == nil {
		return ""
	}
	_ = n.from.SetReadDeadline(time.Now().Add(noteLimit)) // pipes support deadlines
	<-n.done
	if len(n.said) > maxNote {
		return ""
	}
	return string(n.said)
}

// close closes the pipe.
func (n *note) close() {
	if n != nil {
		_ = n.from.Close()
	}
}
