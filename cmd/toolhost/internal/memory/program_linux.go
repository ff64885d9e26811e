package memory

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ForgetProgram unmaps the pages of the program's own file. Most of them are needed once, by the start of the process or by its first
// calls; those that are needed again the kernel maps again from its page cache: see [MapSingly]. It does nothing where the mappings cannot be
// read.
func ForgetProgram() {
	for _, m := range programMappings() {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED) // advice: the pages stay if it fails
	}
}

// The parts of userfaultfd(2) that [MapSingly] needs.
const (
	uffdUserModeOnly = 1          // flag: every user may have one
	uffdAPI          = 0xaa       // version
	uffdWriteAsync   = 1 << 15    // feature: the kernel itself resolves faults of written pages
	uffdModeWrite    = 1 << 1     // mode of a range
	uffdioAPI        = 0xc018aa3f // _IOWR(0xaa, 0x3f, struct uffdio_api)
	uffdioRegister   = 0xc020aa00 // _IOWR(0xaa, 0x00, struct uffdio_register)
)

// MapSingly has the kernel map pages of the program's own file one at a time from now on. Otherwise each page that is needed brings up to 15
// neighbours, which are rarely needed and count as resident. What is mapped already stays: call [ForgetProgram] next.
//
// The kernel maps no neighbours in ranges whose written pages are tracked by a userfaultfd. The program's code and constants are never
// written, so that nothing is ever tracked, nothing waits, and nobody reads the descriptor; it stays open until the process ends, as closing it
// would end the effect. The error says that the kernel has it not (before 6.7), or that a filter around this process forbids it: then
// pages are mapped as usual.
func MapSingly() error {
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|uffdUserModeOnly, 0, 0)
	if errno != 0 {
		return fmt.Errorf("userfaultfd: %w", errno)
	}
	api := struct{ version, features, ioctls uint64 }{version: uffdAPI, features: uffdWriteAsync}
	if _, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, uffdioAPI, uintptr(unsafe.Pointer(&api))); errno != 0 {
		_ = unix.Close(int(fd))
		return fmt.Errorf("userfaultfd without asynchronous tracking: %w", errno)
	}
	for _, m := range programMappings() {
		tracked := struct{ start, size, mode, ioctls uint64 }{start: uint64(m.start), size: uint64(m.end - m.start), mode: uffdModeWrite}
		if _, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, uffdioRegister, uintptr(unsafe.Pointer(&tracked))); errno != 0 {
			_ = unix.Close(int(fd))
			return fmt.Errorf("track a mapping of the program: %w", errno)
		}
	}
	return nil
}

// programMappings are the mappings of the program's own file that hold what the file holds; none where they cannot be read.
func programMappings() []mapping {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
	}
	defer maps.Close()
	return clean(maps, program)
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// programMapping reads a mapping as smaps writes it; nil: it is none of a program's file that cannot be written.
func programMapping(line, program string) *mapping {
	fields := strings.Fields(line)
	if len(fields) != 6 || fields[5] != program || !strings.HasPrefix(fields[1], "r-") || !strings.HasSuffix(fields[1], "p") {
		return nil
	}
	var m mapping
	if n, err := fmt.Sscanf(fields[0], "%x-%x", &m.start, &m.end); n != 2 || err != nil {
		return nil
	}
	return &m
}

// clean are the mappings of a program's file, in the words of smaps, that hold what the file holds: they cannot be written, and no page is
// a copy of their own. A linker that relocates at run time, or a debugger, makes such copies, and those would be lost.
func clean(smaps io.Reader, program string) (all []mapping) {
	lines := bufio.NewScanner(smaps)
	var at *mapping
	for lines.Scan() {
		line := lines.Text()
		size, isAnonymous := strings.CutPrefix(line, "Anonymous:")
		switch {
		case isAnonymous && at != nil:
			if strings.TrimSpace(size) == "0 kB" {
				all = append(all, *at)
			}
			at = nil
		case line == "" || line[0] >= 'A' && line[0] <= 'Z': // another fact of the mapping: most lines are of this kind
		default:
			at = programMapping(line, program)
		}
	}
	return all
}
