// Race measures searches in a started host (the driver beside it) against ripgrep and fd, in turns, and checks that they
// find the same. search.sh and compare.sh bring what it needs, and say what its arguments are.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// options are the arguments.
type options struct {
	rg, fd, driver string
	toolhost       string // "": the real program is not measured
	rounds         int
	write          string   // a file whose tables are replaced; "": tables are only printed
	patterns       string   // a file of patterns; "": times are measured
	known          string   // differences that are known
	trees          []string // NAME=DIRECTORY
}

func main() {
	var o options
	flag.StringVar(&o.rg, "rg", "rg", "ripgrep")
	flag.StringVar(&o.fd, "fd", "", "fd; none: it is left out")
	flag.StringVar(&o.driver, "driver", "driver", "our driver")
	flag.StringVar(&o.toolhost, "toolhost", "", "the real program, for the tree small")
	flag.IntVar(&o.rounds, "rounds", 7, "rounds, of which the medians count")
	flag.StringVar(&o.write, "write", "", "the file into which the tables are written")
	flag.StringVar(&o.patterns, "patterns", "", "compare what these patterns find instead of measuring")
	flag.StringVar(&o.known, "known", "", "differences that are known")
	flag.Parse()
	o.trees = flag.Args()
	ok, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "race:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run reports whether everything was found to be equal.
func run(o options) (ok bool, err error) {
	known, err := readKnown(o.known)
	if err != nil {
		return false, err
	}
	ok = true
	var tables []string
	for _, tree := range o.trees {
		name, dir, _ := strings.Cut(tree, "=")
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return false, err
		}
		r := &race{options: o, tree: name, dir: dir, known: known, contents: make(map[string]bool)}
		table, err := r.run()
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		ok = ok && r.differing == 0
		tables = append(tables, table)
	}
	text := strings.Join(tables, "\n")
	fmt.Print(text)
	if o.write != "" && o.patterns == "" {
		err = writeTables(o.write, text)
	}
	return ok, err
}

// race is what is done in one tree.
type race struct {
	options
	tree, dir string
	known     []difference
	contents  map[string]bool // kinds and paths of the files that were looked at
	differing int             // searches that found something else
}

func (r *race) run() (table string, err error) {
	switch {
	case r.patterns != "":
		return "", r.comparePatterns()
	case r.tree == "small":
		return r.measureSmall()
	}
	return r.measure()
}
