package enter

import (
	"os"
	"syscall"
)

// A process that is to be a holder or a helper becomes it here, before main and before the packages that take time to
// initialise.
func init() {
	if len(os.Args) != 1 {
		return
	}
	switch os.Args[0] {
	case HolderName:
		hold()
		syscall.Exit(0)
	case ProbeName:
		probe()
	case ReaperName:
		reapSession()
	case HelperName:
		help()
		syscall.Exit(0)
	}
}

// probe tries what only a sandbox forbids.
func probe() {
	const name = "toolhost-probe"
	if fd, err := syscall.Open(ProbeSecret, syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err == nil {
		syscall.Close(fd)
		syscall.Exit(ProbeRead)
	}
	fd, err := syscall.Open(name, syscall.O_CREAT|syscall.O_EXCL|syscall.O_WRONLY|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		syscall.Exit(ProbeDenied)
	}
	syscall.Close(fd)
	_ = syscall.Unlink(name)
	syscall.Exit(ProbeWritten)
}
