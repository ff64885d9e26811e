package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// times are the costs of one search, one way.
type times []cost

// median is that of the wall clock, and that of processor time.
func (t times) median() cost {
	var wall, cpu []time.Duration
	for _, c := range t {
		wall, cpu = append(wall, c.wall), append(cpu, c.cpu)
	}
	slices.Sort(wall)
	slices.Sort(cpu)
	return cost{wall[len(wall)/2], cpu[len(cpu)/2]}
}

// ways are how ours are called: the first call of a started host, and a further one of a host that knows the tree.
var ways = []string{"first", "strict", "watched"}

// measure measures all searches of a tree and returns its table.
func (r *race) measure() (string, error) {
	warm, err := r.warmed()
	if err != nil {
		return "", err
	}
	defer warm["strict"].end()
	defer warm["watched"].end()
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | rg, ms (CPU) | fd | first call, ms (CPU) | ratio | bound | again, strict | ratio | bound | again, watched | ratio | bound |\n", r.tree)
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.subjects() {
		if err := r.check(s, warm); err != nil {
			return "", fmt.Errorf("%s: %w", s.name, err)
		}
		ours, theirs, err := r.time(s, warm)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.name, err)
		}
		b.WriteString(row(s, ours, theirs))
		fmt.Fprintln(os.Stderr, strings.TrimSpace(row(s, ours, theirs)))
	}
	return b.String(), nil
}

// warmed starts the hosts that know the tree.
func (r *race) warmed() (map[string]*driver, error) {
	hosts := make(map[string]*driver)
	for _, way := range ways[1:] {
		d, err := r.start(way)
		if err != nil {
			return nil, err
		}
		hosts[way] = d
		for _, do := range []string{"grep", "settle", "grep", "settle"} { // the second search believes the events
			if _, err := d.ask(request{Do: do, Pattern: "no such text"}, nil); err != nil {
				return nil, err
			}
		}
	}
	return hosts, nil
}

// ask searches one way: in a new host, or in one of those that know the tree.
func (r *race) ask(way string, s subject, warm map[string]*driver, keep *bytes.Buffer) (cost, error) {
	if d := warm[way]; d != nil {
		return d.ask(s.ask, keep)
	}
	d, err := r.start("auto")
	if err != nil {
		return cost{}, err
	}
	defer d.end()
	return d.ask(s.ask, keep)
}

// time measures a search, all ways and theirs in turns.
func (r *race) time(s subject, warm map[string]*driver) (ours map[string]times, theirs []times, err error) {
	ours, theirs = make(map[string]times), make([]times, len(s.theirs))
	for range r.rounds {
		for i, args := range s.theirs {
			c, err := spawn(r.dir, args, nil)
			if err != nil {
				return nil, nil, err
			}
			theirs[i] = append(theirs[i], c)
		}
		for _, way := range ways {
			c, err := r.ask(way, s, warm, nil)
			if err != nil {
				return nil, nil, err
			}
			ours[way] = append(ours[way], c)
		}
	}
	return ours, theirs, nil
}

// row is one line of the table.
func row(s subject, ours map[string]times, theirs []times) string {
	rival := theirs[0].median()
	other := "–"
	if len(theirs) > 1 {
		other = rival.against(theirs[1].median())
	}
	cells := []string{s.name, rival.String(), other}
	for i, bound := range []float64{s.bounds.first, s.bounds.strict, s.bounds.watched} {
		c := ours[ways[i]].median()
		cells = append(cells, c.String(), rival.ratio(c), aim(bound))
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// aim is how a bound is written.
func aim(bound float64) string {
	if bound == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", bound)
}

func (c cost) String() string { return fmt.Sprintf("%s (%s)", millis(c.wall), millis(c.cpu)) }

func millis(d time.Duration) string {
	ms := d.Seconds() * 1000
	switch {
	case ms < 1:
		return fmt.Sprintf("%.3f", ms)
	case ms < 20:
		return fmt.Sprintf("%.1f", ms)
	}
	return fmt.Sprintf("%.0f", ms)
}

// ratio is that of another cost to this one.
func (c cost) ratio(other cost) string {
	return fmt.Sprintf("**%.3f** (%.3f)", float64(other.wall)/float64(c.wall), float64(other.cpu)/float64(c.cpu))
}

// against is the time of another rival and its ratio.
func (c cost) against(other cost) string {
	return fmt.Sprintf("%s: %.2f", millis(other.wall), float64(other.wall)/float64(c.wall))
}
