package enter

import (
	"strconv"
	"syscall"
)

// descendants are the living processes below pid, by what /proc says of parents. A process that forks meanwhile may
// be missed: callers ask again.
func descendants(pid int) []int {
	parents := map[int]int{}
	for _, p := range processes() {
		if parent, ok := parentOf(p); ok {
			parents[p] = parent
		}
	}
	var found []int
	for p := range parents {
		for up, steps := parents[p], 0; up > 1 && steps < len(parents); up, steps = parents[up], steps+1 {
			if up == pid {
				found = append(found, p)
				break
			}
		}
	}
	return found
}

// processes lists the numbers in /proc.
func processes() []int {
	fd, err := syscall.Open("/proc", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	var found []int
	buffer := make([]byte, 16<<10)
	for {
		n, err := syscall.ReadDirent(fd, buffer)
		if err != nil || n <= 0 {
			return found
		}
		_, _, names := syscall.ParseDirent(buffer[:n], -1, nil)
		for _, name := range names {
			if p, err := strconv.Atoi(name); err == nil {
				found = append(found, p)
			}
		}
	}
}

// parentOf reads the parent of a process that is no zombie.
func parentOf(pid int) (int, bool) {
	fd, err := syscall.Open("/proc/"+strconv.Itoa(pid)+"/stat", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	defer syscall.Close(fd)
	var buffer [512]byte
	n, err := syscall.Read(fd, buffer[:])
	if err != nil {
		return 0, false
	}
	end := n // of the name, which may hold anything
	for end > 0 && buffer[end-1] != ')' {
		end--
	}
	rest := string(buffer[min(end+1, n):n]) // "S 123 …"
	if len(rest) < 3 || rest[0] == 'Z' || rest[0] == 'X' {
		return 0, false
	}
	parent, err := strconv.Atoi(rest[2 : 2+index(rest[2:], ' ')])
	return parent, err == nil
}
