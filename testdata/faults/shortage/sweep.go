package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sweep runs a session for each limit whose name contains only, and prints how the calls of all of them ended. It ends the program with 1 if a call was not answered, failed
// for another reason than a shortage, or a host ended without a word of its own.
func (r *run) sweep(only string) {
	var files, addresses []*scene
	for n := 12; n <= 200; n++ {
		files = append(files, &scene{files: n}, &scene{files: n, user: firstUser})
	}
	for n := 700; n <= 1500; n += 10 {
		addresses = append(addresses, &scene{addresses: n}, &scene{addresses: n, user: firstUser})
	}
	others := func(s *scene) bool { return !strings.Contains(s.String(), only) }
	files, addresses = slices.DeleteFunc(files, others), slices.DeleteFunc(addresses, others)
	wrong := r.swept("descriptors", files) + r.swept("address space", addresses)
	if wrong > 0 {
		os.RemoveAll(r.dir)
		os.Exit(1)
	}
}

// swept runs the sessions of one kind of limit.
func (r *run) swept(what string, scenes []*scene) (wrong int) {
	ended, lines := map[string]int{}, []string(nil)
	for i, s := range scenes {
		dir := filepath.Join(r.dir, fmt.Sprint(what[:1], i))
		h, err := s.start(r, dir)
		if err != nil {
			words := err.Error()
			runtime := strings.Contains(words, "fatal error: ") || strings.Contains(words, "runtime: out of memory")
			if strings.Contains(words, "toolhost: the address space") || runtime && strings.Contains(words, "memory") {
				ended["the start says why"]++ // the latter before a line of toolhost's own has run
				continue
			}
			wrong++
			lines = append(lines, fmt.Sprintf("WRONG: %s: the start: %v", s, err))
			continue
		}
		for _, a := range []struct {
			name string
			got  answer
		}{
			{"read", h.call("read", map[string]any{"path": "small"})},
			{"command", h.shell("cat small", patience)},
			{"write", h.call("write", map[string]any{"path": "made", "content": "text"})},
			{"asked", h.shell("touch asked", patience)},
			{"read again", h.call("read", map[string]any{"path": "small"})},
		} {
			switch {
			case a.got.ran():
				ended[a.name+": done"]++
			case a.got.isShort():
				ended[a.name+": resource_exhausted"]++
			default:
				wrong++
				lines = append(lines, fmt.Sprintf("WRONG: %s: %s: %s", s, a.name, a.got.says()))
			}
		}
		h.close()
		_ = os.RemoveAll(dir)
	}
	fmt.Printf("%s: %d sessions, %d wrong\n", what, len(scenes), wrong)
	for _, how := range slices.Sorted(maps.Keys(ended)) {
		fmt.Printf("%6d  %s\n", ended[how], how)
	}
	for _, line := range lines {
		fmt.Println(line)
	}
	return wrong
}
