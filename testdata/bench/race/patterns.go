package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// comparePatterns compares what ripgrep and ours find of every pattern: searched in full, and with an index that is
// verified by the status of each file, and by events.
func (r *race) comparePatterns() error {
	text, err := os.ReadFile(r.patterns)
	if err != nil {
		return err
	}
	warm, err := r.warmed()
	if err != nil {
		return err
	}
	defer warm["strict"].end()
	defer warm["watched"].end()
	cold, err := r.start("off")
	if err != nil {
		return err
	}
	defer cold.end()
	warm["first"] = cold
	before, compared, found := r.differing, 0, 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		n, err := r.comparePattern(line, warm)
		if err != nil {
			fmt.Printf("differs: %s, %s: %v\n", r.tree, line, err)
			r.differing++
		}
		compared++
		if n > 0 {
			found++
		}
	}
	fmt.Printf("%s: %d patterns compared in three ways, %d of them found something, %d searches differ\n", r.tree, compared, found, r.differing-before)
	return nil
}

// comparePattern compares one, and returns the number of lines that ripgrep finds.
func (r *race) comparePattern(line string, warm map[string]*driver) (int, error) {
	pattern, fold := strings.CutPrefix(line, "-i ")
	s := r.grep(line, pattern, bounds{})
	s.ask.IgnoreCase = fold
	args := whole(s.theirs[0])
	if fold {
		args = append([]string{args[0], "-i"}, args[1:]...)
	}
	var theirs, full bytes.Buffer
	if _, err := spawn(r.dir, args, &theirs); err != nil {
		return 0, err
	}
	if _, err := warm["first"].ask(s.ask, &full); err != nil {
		return 0, err
	}
	r.compare(line, pattern, theirs.Bytes(), full.Bytes())
	return bytes.Count(theirs.Bytes(), []byte("\n")), r.compareWarm(line, s, warm, full.Bytes())
}

// compareWarm compares what an index finds with what was found without one, to the byte.
func (r *race) compareWarm(name string, s subject, warm map[string]*driver, full []byte) error {
	for _, way := range ways[1:] {
		var ours bytes.Buffer
		if _, err := r.ask(way, s, warm, &ours); err != nil {
			return err
		}
		if !bytes.Equal(full, ours.Bytes()) {
			r.differ(name+", "+way+" (+) against a search without an index (-)", unlike(full, ours.Bytes()))
		}
	}
	return nil
}
