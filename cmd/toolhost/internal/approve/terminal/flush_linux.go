package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush drops the text that was typed on a terminal and not read yet.
func flush(tty *os.File) { _ = unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
