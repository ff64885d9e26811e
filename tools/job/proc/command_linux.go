package proc

import "bytes"

// CommandLine returns the arguments of a process as one line of at most 200 graphic characters, or its name where it has
// none or they cannot be seen, and "" when there is no such process. The process chooses what it says.
func CommandLine(pid int) string {
	line, _ := within(pid, func() string {
		var buf [4*maxLine + 4]byte // more than is shown, so that what is cut shows
		b, _ := readFile(processDir(pid)+"/cmdline", buf[:])
		return oneLine(string(bytes.ReplaceAll(b, []byte{0}, []byte{' '})))
	})
	if line != "" {
		return line
	}
	p, _ := Read(pid)
	return p.Name
}
