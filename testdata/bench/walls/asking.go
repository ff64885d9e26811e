package main

import (
	"cmp"
	"os"
	"path/filepath"
)

// asking compares a program with itself: without asking at the wall, twice, so that the second shows what chance does, and with it. No
// command meets the wall.
func asking(program string, rounds int) error {
	dir, err := os.MkdirTemp("", "walls-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var hosts []*host
	for _, session := range []struct{ name, settings string }{
		{"off", `{"wall": {"wait": "0s"}}`}, {"off again", `{"wall": {"wait": "0s"}}`}, {"asks", ""},
	} {
		h, err := startWith(program, filepath.Join(dir, session.name), session.settings, true)
		if err != nil {
			return err
		}
		defer h.end()
		h.name = session.name
		hosts = append(hosts, h)
	}
	return cmp.Or(
		compare("a file", hosts, rounds, command("/bin/true > made", "made")),
		compare("200 redirections", hosts, rounds, command("for i in {1..200}; do echo x > made; done", "made")),
		compare("300 files copied", hosts, rounds, command("mkdir -p made/a; for i in {1..300}; do echo $i > made/a/$i; done; cp -r made/a made/b", "made")),
	)
}
