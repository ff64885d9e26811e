package check

import (
	"fmt"
	"io"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/visible"
	"toolhost/classify"
	"toolhost/cmd/toolhost/internal/output"
)

// Facts are the facts of one command, by its text.
type Facts struct {
	Command string `json:"command"`
	agenttool.Facts
	Reasons []agenttool.Reason `json:"reasons"` // always there, unlike that of the embedded facts
}

// FactsOf returns the facts of a command. One that cannot be understood has unknown facts.
func FactsOf(command string, in classify.Context) Facts {
	f := Facts{Command: command, Facts: classify.Command(command, in)}
	f.Reasons = output.List(f.Facts.Reasons)
	return f
}

// Print prints the verdict, then each simple command with its own and its reasons.
func (f Facts) Print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "read-only %s   destructive %s   open world %s   parallel %s\n", painted(f.ReadOnly, output.Green, output.Red),
		painted(f.Destructive, output.Red, output.Green), painted(f.OpenWorld, output.Red, output.Green), painted(f.ConcurrencySafe, output.Green, output.Red))
	for _, extra := range []struct {
		name string
		fact agenttool.Fact
	}{{"interactive", f.Interactive}, {"long-running", f.LongRunning}, {"looks at the host", f.ObservesHost}} {
		if extra.fact == agenttool.Yes {
			fmt.Fprintf(&b, "%s\n", extra.name)
		}
	}
	listed(&b, "reads", f.Reads, func(p agenttool.Path) string { return p.Spelling })
	listed(&b, "writes", f.Writes, func(p agenttool.Path) string { return p.Spelling })
	listed(&b, "hosts", f.hosts(), func(host string) string { return host })
	listed(&b, "locks", f.Locks, func(l agenttool.Lock) string { return l.Path })
	if f.PathsComplete != agenttool.Yes {
		fmt.Fprintln(&b, "it may touch paths that it does not name")
	}
	f.printParts(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

// printParts prints the simple commands, and the reasons that are of none of them.
func (f Facts) printParts(b *strings.Builder) {
	shown := map[agenttool.Reason]bool{}
	for _, part := range f.Parts {
		fmt.Fprintf(b, "%3d:%-3d %s%s  %s\n", part.Line, part.Column, strings.Repeat("  ", depth(f.Parts, part)),
			visible.Text(cut.Characters(strings.Join(part.Argv, " "), 100)), word(part))
		for _, r := range part.Reasons {
			shown[bare(r)] = true
			fmt.Fprintf(b, "          %s\n", visible.Text(r.Text))
		}
	}
	for _, r := range f.Reasons {
		if !shown[bare(r)] {
			fmt.Fprintf(b, "%3d:%-3d %s\n", r.Line, r.Column, visible.Text(r.Text))
		}
	}
}

// bare is a reason as a key: the same words at the same place.
func bare(r agenttool.Reason) agenttool.Reason {
	return agenttool.Reason{Text: r.Text, Line: r.Line, Column: r.Column}
}

// hosts are the names of hosts, and a hint where there may be others.
func (f Facts) hosts() []string {
	if f.OpenWorld == agenttool.Yes && f.HostsComplete != agenttool.Yes {
		return append(output.List(f.Hosts), "others that the command does not name")
	}
	return f.Hosts
}

// listed prints the texts of a list in a line, unless it is empty.
func listed[T any](b *strings.Builder, name string, all []T, text func(T) string) {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = visible.Text(text(one))
	}
	if len(all) > 0 {
		fmt.Fprintf(b, "%s: %s\n", name, cut.Characters(strings.Join(texts, ", "), 200))
	}
}

// depth is how many parts wrap this one.
func depth(parts []agenttool.Part, p agenttool.Part) int {
	n := 0
	for i := p.WrappedBy; i >= 0 && i < len(parts) && n < len(parts); i = parts[i].WrappedBy {
		n++
	}
	return n
}

// painted is a fact in the colour of its answer.
func painted(f agenttool.Fact, yes, no output.Colour) string {
	return map[agenttool.Fact]output.Colour{agenttool.Yes: yes, agenttool.No: no, agenttool.Unknown: output.Yellow}[f].Paint(f.String())
}

// word is a word or two for one simple command.
func word(part agenttool.Part) string {
	word, colour := "unknown", output.Yellow
	switch {
	case part.Destructive == agenttool.Yes:
		word, colour = "DESTRUCTIVE", output.Red
	case part.OpenWorld == agenttool.Yes:
		word, colour = "open world", output.Red
	case part.ReadOnly == agenttool.Yes:
		word, colour = "read-only", output.Green
	case part.ReadOnly == agenttool.No:
		word, colour = "writes", output.Red
	}
	if !output.Coloured() {
		return "[" + word + "]"
	}
	return colour.Paint(word)
}
