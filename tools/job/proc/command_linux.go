package proc

import "bytes"

// CommandLine returns the arguments of a process as one line of at most 200 graphic characters. If there are none or
// they are inaccessible it returns the name, and "" if the process does not exist. The process controls this text.
func CommandLine(pid int) string {
	line, _ := within(pid, func() string {
		var buf [4*maxLine + 4]byte // longer than maxLine, so that oneLine marks the cut
		b, _ := readFile(processDir(pid)+"/cmdline", buf[:])
		return oneLine(string(bytes.ReplaceAll(b, []byte{0}, []byte{' '})))
	})
	if line != "" {
		return line
	}
	p, _ := Read(pid)
	return p.Name
}
