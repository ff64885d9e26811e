package memory

import (
	"encoding/binary"
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
func ForgetProgram() { forget(programMappings()) }

func forget(all []mapping) {
	for _, m := range all {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED) // advice: the pages stay if it fails
	}
}

// The parts of userfaultfd(2) that trackWrites needs.
const (
	uffdUserModeOnly = 1          // flag: every user may have one
	uffdAPI          = 0xaa       // version
	uffdWriteAsync   = 1 << 15    // feature: the kernel itself resolves faults of written pages
	uffdModeWrite    = 1 << 1     // mode of a range
	uffdioAPI        = 0xc018aa3f // _IOWR(0xaa, 0x3f, struct uffdio_api)
	uffdioRegister   = 0xc020aa00 // _IOWR(0xaa, 0x00, struct uffdio_register)
)

// MapSingly forgets the program as [ForgetProgram] does, and has the kernel map its pages one at a time from now on. Otherwise each page that
// is needed brings up to 15 neighbours, which are rarely needed and count as resident. The error says that the kernel cannot (before
// Linux 6.7), or that a filter around this process forbids it: then pages are mapped as usual.
func MapSingly() error {
	all := programMappings()
	defer forget(all)
	return trackWrites(all)
}

// trackWrites has a userfaultfd track which pages of mappings are written, only because the kernel maps no neighbours in such ranges:
// code and constants are never written, so that nothing is tracked, nothing waits, and nobody reads the descriptor. It stays open until the
// process ends, as closing it would end the effect.
func trackWrites(all []mapping) error {
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|uffdUserModeOnly, 0, 0)
	if errno != 0 {
		return fmt.Errorf("userfaultfd: %w", errno)
	}
	api := struct{ version, features, ioctls uint64 }{version: uffdAPI, features: uffdWriteAsync}
	if _, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, uffdioAPI, uintptr(unsafe.Pointer(&api))); errno != 0 {
		_ = unix.Close(int(fd))
		return fmt.Errorf("userfaultfd without asynchronous tracking: %w", errno)
	}
	for _, m := range all {
		tracked := struct{ start, size, mode, ioctls uint64 }{start: uint64(m.start), size: uint64(m.end - m.start), mode: uffdModeWrite}
		if _, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, uffdioRegister, uintptr(unsafe.Pointer(&tracked))); errno != 0 {
			_ = unix.Close(int(fd))
			return fmt.Errorf("track a mapping of the program: %w", errno)
		}
	}
	return nil
}

// mapping is a range of addresses, in whole pages.
type mapping struct{ start, end uintptr }

// programMappings are the mappings of the program's own file that hold what the file holds; none where they cannot be read.
func programMappings() (all []mapping) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	pages, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil
	}
	defer pages.Close()
	for line := range strings.Lines(string(maps)) {
		if m, ok := programMapping(line, program); ok && clean(pages, m) {
			all = append(all, m)
		}
	}
	return all
}

// programMapping reads a line of /proc/PID/maps. It is not ok if the mapping is none of the program's file, or can be written.
func programMapping(line, program string) (m mapping, ok bool) {
	fields := strings.Fields(line)
	if len(fields) != 6 || fields[5] != program || !strings.HasPrefix(fields[1], "r-") || !strings.HasSuffix(fields[1], "p") {
		return mapping{}, false
	}
	n, err := fmt.Sscanf(fields[0], "%x-%x", &m.start, &m.end)
	return m, n == 2 && err == nil
}

// The states of a page in an entry of /proc/PID/pagemap.
const (
	pageOfFile  = 1 << 61
	pageSwapped = 1 << 62
	pagePresent = 1 << 63
)

// clean reports whether no page of a mapping is a copy of its own, as /proc/PID/pagemap tells; false: it cannot be read. A linker that relocates at run
// time, or a debugger, makes such copies, and to forget those would lose them.
func clean(pagemap io.ReaderAt, m mapping) bool {
	const entry, most = 8, 512 // bytes, and entries that are read at once
	page := uintptr(os.Getpagesize())
	buffer := make([]byte, most*entry)
	for at := m.start; at < m.end; at += most * page {
		entries := buffer[:min(most, (m.end-at)/page)*entry]
		if _, err := pagemap.ReadAt(entries, int64(at/page*entry)); err != nil && err != io.EOF {
			return false
		}
		for i := 0; i < len(entries); i += entry {
			e := binary.NativeEndian.Uint64(entries[i:])
			if e&(pagePresent|pageSwapped) != 0 && e&pageOfFile == 0 {
				return false
			}
		}
	}
	return true
}
