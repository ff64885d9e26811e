package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The calls of one session that reads or runs commands.
const sessionCalls = 20

// session is one session of a program from its start to its end, with all processes that it started and waited for.
type session struct {
	reply time.Duration // from the start of the program to its first reply
	first time.Duration // that the first call took
	later time.Duration // the median of the calls after it
	cpu   time.Duration // of all processes, user and system
}

// live has one session below dir, with calls of a tool, none if the tool is "".
func live(program, dir, tool string, input map[string]any) (s session, err error) {
	started := time.Now()
	h, err := start(program, dir)
	if err != nil {
		return s, err
	}
	s.reply = time.Since(started)
	if err := os.WriteFile(filepath.Join(h.workspace, "small"), []byte("small\n"), 0o644); err != nil {
		return s, err
	}
	var took []time.Duration
	for range sessionCalls {
		if tool == "" {
			break
		}
		began := time.Now()
		if _, err := h.invoke(tool, input); err != nil {
			return s, err
		}
		took = append(took, time.Since(began))
	}
	if err := h.End(patience); err != nil {
		return s, err
	}
	if len(took) > 0 {
		s.first = took[0]
		slices.Sort(took[1:])
		s.later = took[1+len(took)/2]
	}
	s.cpu = h.Cmd.ProcessState.UserTime() + h.Cmd.ProcessState.SystemTime()
	return s, nil
}

// whole compares sessions of the programs from start to end, in turn: idle ones, ones that read a small file, and ones that run true.
func whole(programs []string, rounds int) error {
	dir, err := os.MkdirTemp("/var/tmp", "toolhost-walls-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	kinds := []struct {
		name, tool string
		input      map[string]any
	}{
		{"idle", "", nil}, {"read", "read", map[string]any{"path": "small"}}, {"true", "shell", map[string]any{"command": "true"}},
	}
	all := make([]map[string][]session, len(programs))
	for i := range all {
		all[i] = map[string][]session{}
	}
	for round := range rounds + 1 {
		for _, kind := range kinds {
			for i := range programs {
				p := (i + round) % len(programs) // who is first changes
				s, err := live(programs[p], filepath.Join(dir, fmt.Sprint(p)), kind.tool, kind.input)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", programs[p], kind.name, err)
				}
				if round > 0 { // the first ones fill the page cache
					all[p][kind.name] = append(all[p][kind.name], s)
				}
			}
		}
	}
	for _, figure := range []struct {
		what, kind string
		of         func(session) time.Duration
	}{
		{"start to first reply", "idle", func(s session) time.Duration { return s.reply }},
		{"processor, idle session", "idle", func(s session) time.Duration { return s.cpu }},
		{"first read", "read", func(s session) time.Duration { return s.first }},
		{"later reads", "read", func(s session) time.Duration { return s.later }},
		{"processor, 20 reads", "read", func(s session) time.Duration { return s.cpu }},
		{"first call of true", "true", func(s session) time.Duration { return s.first }},
		{"later calls of true", "true", func(s session) time.Duration { return s.later }},
		{"processor, 20 of true", "true", func(s session) time.Duration { return s.cpu }},
	} {
		for i, program := range programs {
			var took, ratios []float64
			for r, s := range all[i][figure.kind] {
				took = append(took, float64(figure.of(s).Microseconds())/1000)
				ratios = append(ratios, float64(figure.of(s))/float64(figure.of(all[0][figure.kind][r])))
			}
			fmt.Printf("%-24s %-14s median %8.2f  least %8.2f  ratio %.3f\n", figure.what, filepath.Base(program), median(took), slices.Min(took), median(ratios))
		}
	}
	return nil
}
