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
