// Day runs the steps of an ordinary day twice: in plain bash, and as calls of a toolhost session in each mode that the README names for
// daily work. A scripted user allows everything that is asked: once, or with the widest rule that the prompt offers. It prints, for each
// step, whether it asked and how it ended, and counts prompts and the steps that fail where plain bash succeeds.
//
//	go run ./testdata/day > testdata/day/day.txt
//	go run ./testdata/day -once                     without kept rules
//	go run ./testdata/day -short                    a few steps of each kind
//	go run ./testdata/day -modes sandboxed -detail FILE
//
// The steps are in steps.txt, the home that they work in is made by home.sh. Run by root, they are the user daemon's. Nothing reaches a
// network. It exits with 1 when a figure is beyond its bound.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

// bounds are how many prompts a day may have, by mode, whether the user allows each call once or keeps rules.
var bounds = map[string]int{"default": 60, "accept_edits": 35, "sandboxed": 12}

func main() {
	var o options
	flag.BoolVar(&o.short, "short", false, "only the steps of the short form, without the variant in which rules are kept")
	flag.StringVar(&o.in, "in", "", "the directory in which homes are made, outside /tmp; empty: /srv, the own home or /var/tmp")
	flag.StringVar(&o.detail, "detail", "", "a file that gets why each step asked, and the outputs of steps that differ")
	flag.BoolVar(&o.once, "once", false, "without the variant in which the user keeps rules")
	modes := flag.String("modes", "default,accept_edits,sandboxed", "the modes to run")
	limits := flag.String("max", "", "the bounds of prompts for these modes, such as 20,10,4")
	flag.StringVar(&o.program, "program", "", "the toolhost to try; empty: one that is built here")
	flag.Parse()
	o.modes = strings.Split(*modes, ",")
	if err := o.bound(*limits); err != nil {
		fail(err)
	}
	if err := o.run(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "day:", err)
	os.Exit(1)
}

type options struct {
	short   bool
	once    bool
	modes   []string
	bounds  []int // of prompts, one for each mode
	program string
	in      string
	detail  string
}

// bound sets the bounds from a list of numbers, or the usual ones.
func (o *options) bound(list string) error {
	for i, mode := range o.modes {
		n, known := bounds[mode]
		if limits := strings.Split(list, ","); list != "" {
			if len(limits) != len(o.modes) {
				return errors.New("-max needs one number for each mode")
			}
			if _, err := fmt.Sscan(limits[i], &n); err != nil {
				return fmt.Errorf("-max: %w", err)
			}
		} else if !known {
			return fmt.Errorf("mode %s has no bound: add -max", mode)
		}
		o.bounds = append(o.bounds, n)
	}
	return nil
}

func (o *options) run() error {
	steps, err := parse(o.short)
	if err != nil {
		return err
	}
	p, err := newPlace(o)
	if err != nil {
		return err
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	go func() { <-interrupted; p.remove(); os.Exit(1) }()
	defer p.remove()
	r := &report{steps: steps}
	for _, run := range o.runs() {
		if err := p.fresh(); err != nil {
			return err
		}
		run.outcomes, err = run.all(p, steps)
		if err != nil {
			return fmt.Errorf("%s: %w", run.title(), err)
		}
		fmt.Fprintf(os.Stderr, "%s: %d prompts\n", run.title(), run.prompts())
		r.runs = append(r.runs, run)
	}
	r.print(os.Stdout)
	if o.detail != "" {
		if err := os.WriteFile(o.detail, r.details(), 0o644); err != nil {
			return err
		}
	}
	return r.verdict()
}

// runs are the baseline, then the modes.
func (o *options) runs() []*dayRun {
	runs := []*dayRun{{}}
	for i, mode := range o.modes {
		runs = append(runs, &dayRun{mode: mode, bound: o.bounds[i]})
	}
	for i, mode := range o.modes {
		if !o.short && !o.once {
			runs = append(runs, &dayRun{mode: mode, widest: true, bound: o.bounds[i]})
		}
	}
	return runs
}
