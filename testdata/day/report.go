package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// outcome is how a step ended.
type outcome struct {
	ok    bool
	code  int      // of the command; -1 when the call ended otherwise
	asked []string // the reason of each prompt
	text  string
	took  time.Duration
}

// dayRun is a day in a mode. The zero value is the day in plain bash.
type dayRun struct {
	mode     string
	widest   bool // the user keeps the widest rule that a prompt offers
	bound    int  // of prompts; -1 for none
	outcomes []outcome
}

func (r *dayRun) title() string {
	switch {
	case r.mode == "":
		return "plain bash"
	case r.widest:
		return r.mode + ", widest kept"
	}
	return r.mode
}

// all does the steps, with a session for those of each workspace.
func (r *dayRun) all(p *place, steps []step) (outcomes []outcome, err error) {
	var s *session
	for i, st := range steps {
		if r.mode == "" {
			outcomes = append(outcomes, p.plain(st))
			continue
		}
		if s != nil && st.session != steps[i-1].session {
			_ = s.End(patience)
			s = nil
		}
		if s == nil {
			if s, err = p.start(r, st.workspace); err != nil {
				return nil, err
			}
		}
		outcomes = append(outcomes, s.do(st))
	}
	if s != nil {
		err = s.End(patience)
	}
	return outcomes, err
}

func (r *dayRun) prompts() (n int) {
	for _, o := range r.outcomes {
		n += len(o.asked)
	}
	return n
}

// failures counts the steps that succeed in plain bash alone.
func (r *dayRun) failures(plain *dayRun) (n int) {
	for i, o := range r.outcomes {
		if plain.outcomes[i].ok && !o.ok {
			n++
		}
	}
	return n
}

func (r *dayRun) took() (sum time.Duration) {
	for _, o := range r.outcomes {
		sum += o.took
	}
	return sum.Round(time.Second)
}

// report is the table of a day. The first run is the baseline.
type report struct {
	steps []step
	runs  []*dayRun
}

// cell shows how a step went: a letter for each prompt, then the exit code where plain bash has another outcome.
func (r *report) cell(run *dayRun, i int) string {
	o, plain := run.outcomes[i], r.runs[0].outcomes[i]
	text := strings.Repeat("?", len(o.asked))
	if run == r.runs[0] || o.ok != plain.ok {
		text += fmt.Sprint(o.code)
	}
	if plain.ok && !o.ok {
		text += "!"
	}
	if text == "" {
		return "."
	}
	return text
}

func (r *report) print(to io.Writer) {
	commit, _ := exec.Command("git", "describe", "--always", "--dirty").Output()
	fmt.Fprintf(to, "%d steps, commit %s\n", len(r.steps), strings.TrimSpace(string(commit)))
	fmt.Fprintln(to, "? is a prompt, a number an exit code (-1: the call was refused or ended otherwise), ! a failure where plain bash succeeds,")
	fmt.Fprintln(to, ". the outcome of plain bash without a prompt. Columns: 0 plain bash"+r.legend())
	session, kind := "", ""
	for i, s := range r.steps {
		if s.session != session || s.kind != kind {
			session, kind = s.session, s.kind
			fmt.Fprintf(to, "\n%-78s", session+": "+kind)
			for n := range r.runs {
				fmt.Fprintf(to, " %4d", n)
			}
			fmt.Fprintln(to)
		}
		fmt.Fprintf(to, "%3d %-74.74s", i+1, s.name())
		for _, run := range r.runs {
			fmt.Fprintf(to, " %4s", r.cell(run, i))
		}
		fmt.Fprintln(to)
	}
	fmt.Fprintf(to, "\n%-30s %8s %8s %9s %8s\n", "", "prompts", "at most", "failures", "seconds")
	for _, run := range r.runs {
		bound := "-"
		if run.bound >= 0 && run.mode != "" {
			bound = fmt.Sprint(run.bound)
		}
		fmt.Fprintf(to, "%-30s %8d %8s %9d %8.0f\n", run.title(), run.prompts(), bound, run.failures(r.runs[0]), run.took().Seconds())
	}
}

func (r *report) legend() string {
	var b strings.Builder
	for n, run := range r.runs[1:] {
		fmt.Fprintf(&b, ", %d %s", n+1, run.title())
	}
	return b.String()
}

// details are why steps asked, and the outputs that differ in their outcome.
func (r *report) details() []byte {
	var b bytes.Buffer
	for i, s := range r.steps {
		plain := r.runs[0].outcomes[i]
		fmt.Fprintf(&b, "%3d %s: %s\n", i+1, s.kind, s.name())
		for _, run := range r.runs {
			o := run.outcomes[i]
			for _, why := range o.asked {
				fmt.Fprintf(&b, "    %s asks: %s\n", run.title(), why)
			}
			if o.ok != plain.ok || run == r.runs[0] && !o.ok {
				fmt.Fprintf(&b, "    %s, exit code %d:\n\t%s\n", run.title(), o.code, strings.ReplaceAll(tail(o.text), "\n", "\n\t"))
			}
			if o.took > 3*plain.took+time.Second {
				fmt.Fprintf(&b, "    %s took %v, in plain bash %v\n", run.title(), o.took.Round(time.Millisecond), plain.took.Round(time.Millisecond))
			}
		}
	}
	return b.Bytes()
}

// tail is the end of an output.
func tail(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 800 {
		text = "…" + text[len(text)-800:]
	}
	return text
}

// verdict is an error when a figure is beyond its bound.
func (r *report) verdict() error {
	var errs []error
	for _, run := range r.runs[1:] {
		if n := run.prompts(); run.bound >= 0 && n > run.bound {
			errs = append(errs, fmt.Errorf("%s: %d prompts, at most %d", run.title(), n, run.bound))
		}
		if n := run.failures(r.runs[0]); n > 0 {
			errs = append(errs, fmt.Errorf("%s: %d steps fail that succeed in plain bash", run.title(), n))
		}
	}
	return errors.Join(errs...)
}
