package job

import (
	"os"
	"time"
)

// note is what a command says on descriptor 3. It is read all the time, since whoever writes to a descriptor that nobody reads
// waits for ever, and kept within bounds.
type note struct {
	from *os.File
	said []byte // the reader's, until done
	done chan struct{}
}

// maxNote is how much is kept of a note, from its beginning. A longer one is none.
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

// noteLimit is for what is in the pipe already. A deadline that has passed reads nothing at all.
const noteLimit = 5 * time.Millisecond

// end returns what was said before the command exited. Others may still hold the descriptor: what they say is read no more.
func (n *note) end() string {
	if n == nil {
		return ""
	}
	_ = n.from.SetReadDeadline(time.Now().Add(noteLimit)) // a pipe has deadlines
	<-n.done
	if len(n.said) > maxNote {
		return ""
	}
	return string(n.said)
}

// close gives the pipe back.
func (n *note) close() {
	if n != nil {
		_ = n.from.Close()
	}
}
