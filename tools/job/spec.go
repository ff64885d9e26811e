package job

import (
	"github.com/creack/pty"

	"toolhost/agenttool"
	"toolhost/sandbox"
)

// Stdin is the kind of a command's standard input.
type Stdin uint8

// The kinds of stdin.
const (
	Nothing  Stdin = iota // /dev/null: a reader gets the end of file at once
	Open                  // a pipe that stays open
	Terminal              // a pseudo-terminal, also used for stdout and stderr
)

// Spec describes a job to start.
type Spec struct {
	Line       string             // the approved command line
	Reporter   agenttool.Reporter // of the call that starts it
	Command    sandbox.Command    // without streams, terminal, note and report
	Stdin      Stdin
	Size       pty.Winsize // of the terminal; 0: 120 columns, 40 rows
	Background bool        // no call waits for it
	DataOnly   bool        // it only reads its input as data
	Shell      bool        // it is a shell that was started to read commands
	Note       bool        // descriptor 3 is open for a note, see [Job.Note]
	Excerpt    int         // maximum bytes of output in the result when the command has exited, see [Job.Said]
	Lines      int         // likewise of lines; 0: any number
}
