package proc

import (
	"strconv"
	"strings"
)

// Inner returns the number of a process in the innermost pid namespace that it is in, as it knows it itself; pid where that is unknown.
func Inner(pid int) int {
	var buf [4096]byte
	text, _ := readFile(processDir(pid)+"/status", buf[:])
	_, rest, _ := strings.Cut(string(text), "\nNSpid:")
	line, _, _ := strings.Cut(rest, "\n")
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return pid
	}
	number, err := strconv.Atoi(fields[len(fields)-1])
	if err != nil {
		return pid
	}
	return number
}
