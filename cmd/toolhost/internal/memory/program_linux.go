package memory

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ForgetProgram unmaps the pages of the program's own file. Most of them are needed once, by the start of the process or by its first
// calls; those that are needed again the kernel maps again from its page cache, 16 at a time. It does nothing where the mappings cannot be
// read.
func ForgetProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	for _, m := range clean(maps, program) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED) // advice: the pages stay if it fails
	}
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// parseMapping reads a range as smaps writes it; nil: it is none.
func parseMapping(text string) *mapping {
	var m mapping
	if n, err := fmt.Sscanf(text, "%x-%x", &m.start, &m.end); n != 2 || err != nil {
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
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 6 && fields[5] == program && strings.HasPrefix(fields[1], "r-") && strings.HasSuffix(fields[1], "p"):
			at = parseMapping(fields[0])
		case len(fields) >= 5:
			at = nil // another mapping
		case at != nil && len(fields) == 3 && fields[0] == "Anonymous:":
			if fields[1] == "0" {
				all = append(all, *at)
			}
			at = nil
		}
	}
	return all
}
