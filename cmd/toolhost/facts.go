package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/visible"
	"toolhost/classify"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/wire/stdio"
)

func newFacts() *cobra.Command {
	var asJSON, lines bool
	var dir string
	cmd := &cobra.Command{
		Use:   "facts COMMAND",
		Short: "Say what a shell command would do, from its text alone",
		Long: `facts prints what is known of a bash command line before it runs: whether it only reads, destroys, reaches beyond this
machine or may run in parallel with others, with the reasons and where they stand. It runs nothing and reads no file.
COMMAND "-" is read from stdin.

--lines reads one command a line from stdin, in which \n, \t and \r stand for the characters (nothing else is an escape),
and writes one JSON object a line, in order.
` + exitCodes,
		Example: `  toolhost facts 'git diff | head -5'
  toolhost facts --json 'find . -name "*.o" -delete'
  printf '%s\n' 'ls' 'rm x' | toolhost facts --lines`,
		Args: func(_ *cobra.Command, args []string) error {
			if lines && len(args) > 0 {
				return errors.New("--lines reads its commands from stdin: leave the argument out")
			}
			if !lines && len(args) != 1 {
				return errors.New("give one command, in quotes, or --lines")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := classifyContext(dir)
			if err != nil {
				return err
			}
			if lines {
				return factsOfLines(cmd.OutOrStdout(), cmd.InOrStdin(), in)
			}
			text := args[0]
			if text == "-" {
				all, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), stdio.MaxLine))
				if err != nil {
					return exitf(exitFailed, "read the command from stdin: %v", err)
				}
				text = string(all)
			}
			if asJSON {
				return printFacts(cmd.OutOrStdout(), text, in)
			}
			return showFacts(cmd.OutOrStdout(), text, in)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&lines, "lines", false, "read one command a line, write one JSON object a line")
	cmd.Flags().StringVar(&dir, "workspace", ".", "`directory` in which the command would start")
	return cmd
}

// classifyContext is where a command would run: a directory, which need not exist, and the home directory.
func classifyContext(dir string) (classify.Context, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return classify.Context{}, fmt.Errorf("--workspace %s: %w", dir, err)
	}
	home, _ := os.UserHomeDir() // without one, ~ means nothing
	return classify.Context{Dir: abs, Home: home}, nil
}

// unescapeLine puts the characters in place of the three escapes, from left to right.
var unescapeLine = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r")

// factsOfLines writes the facts of each line. A line that cannot be understood has unknown facts, and the next one
// follows.
func factsOfLines(out io.Writer, in io.Reader, at classify.Context) error {
	w := bufio.NewWriter(out)
	return eachLine(in, w, func(command string) error { return printFacts(w, command, at) })
}

// eachLine calls do for the command of each line. It flushes between lines, so that an interactive caller gets each
// answer at once.
func eachLine(in io.Reader, w *bufio.Writer, do func(command string) error) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := r.ReadString('\n')
		if err != nil && err != io.EOF {
			return exitf(exitFailed, "read commands from stdin: %v", err)
		}
		if line != "" {
			if err := do(unescapeLine.Replace(strings.TrimSuffix(line, "\n"))); err != nil {
				return err
			}
		}
		if err == io.EOF || r.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return exitf(exitFailed, "%v", err)
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// factsRecord is the facts of one command with the command itself.
type factsRecord struct {
	Command string `json:"command"`
	agenttool.Facts
	Reasons []agenttool.Reason `json:"reasons"` // always there, unlike that of Facts
}

func printFacts(out io.Writer, text string, in classify.Context) error {
	record := factsRecord{Command: text, Facts: classify.Command(text, in)}
	record.Reasons = record.Facts.Reasons
	if record.Reasons == nil {
		record.Reasons = []agenttool.Reason{}
	}
	return printJSON(out, record)
}

// showFacts prints the facts for a person: the verdict, then each simple command with its own and its reasons.
func showFacts(out io.Writer, text string, in classify.Context) error {
	f := classify.Command(text, in)
	var b strings.Builder
	fmt.Fprintf(&b, "read-only %s   destructive %s   open world %s   parallel %s\n",
		good(f.ReadOnly), bad(f.Destructive), bad(f.OpenWorld), good(f.ConcurrencySafe))
	for _, extra := range []struct {
		name string
		fact agenttool.Fact
	}{{"interactive", f.Interactive}, {"long-running", f.LongRunning}, {"looks at the host", f.ObservesHost}} {
		if extra.fact == agenttool.Yes {
			fmt.Fprintf(&b, "%s\n", extra.name)
		}
	}
	showPaths(&b, "reads", f.Reads)
	showPaths(&b, "writes", f.Writes)
	showHosts(&b, f)
	if len(f.Locks) > 0 {
		locks := make([]string, len(f.Locks))
		for i, l := range f.Locks {
			locks[i] = visible.Text(l.Path)
		}
		fmt.Fprintf(&b, "locks: %s\n", cut.Characters(strings.Join(locks, ", "), 200))
	}
	if f.PathsComplete != agenttool.Yes {
		fmt.Fprintln(&b, "it may touch paths that it does not name")
	}
	shown := map[agenttool.Reason]bool{}
	for _, part := range f.Parts {
		fmt.Fprintf(&b, "%3d:%-3d %s%s  %s\n", part.Line, part.Column, strings.Repeat("  ", depth(f.Parts, part)),
			visible.Text(cut.Characters(strings.Join(part.Argv, " "), 100)), verdictOf(part))
		for _, r := range part.Reasons {
			shown[bare(r)] = true
			fmt.Fprintf(&b, "          %s\n", visible.Text(r.Text))
		}
	}
	for _, r := range f.Reasons {
		if !shown[bare(r)] {
			fmt.Fprintf(&b, "%3d:%-3d %s\n", r.Line, r.Column, visible.Text(r.Text))
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// bare is a reason as a key: the same words at the same place.
func bare(r agenttool.Reason) agenttool.Reason {
	return agenttool.Reason{Text: r.Text, Line: r.Line, Column: r.Column}
}

// showHosts names the hosts, and says where there may be others.
func showHosts(b *strings.Builder, f agenttool.Facts) {
	hosts := make([]string, len(f.Hosts), len(f.Hosts)+1)
	for i, host := range f.Hosts {
		hosts[i] = visible.Text(host)
	}
	if f.OpenWorld == agenttool.Yes && f.HostsComplete != agenttool.Yes {
		hosts = append(hosts, "others that the command does not name")
	}
	if len(hosts) > 0 {
		fmt.Fprintf(b, "hosts: %s\n", cut.Characters(strings.Join(hosts, ", "), 200))
	}
}

func showPaths(b *strings.Builder, name string, paths []agenttool.Path) {
	if len(paths) == 0 {
		return
	}
	spelled := make([]string, len(paths))
	for i, p := range paths {
		spelled[i] = visible.Text(p.Spelling)
	}
	fmt.Fprintf(b, "%s: %s\n", name, cut.Characters(strings.Join(spelled, ", "), 200))
}

// depth is how many parts wrap this one.
func depth(parts []agenttool.Part, p agenttool.Part) int {
	n := 0
	for i := p.WrappedBy; i >= 0 && i < len(parts) && n < len(parts); i = parts[i].WrappedBy {
		n++
	}
	return n
}

// good colours a fact whose yes is good news.
func good(f agenttool.Fact) string {
	return map[agenttool.Fact]output.Colour{agenttool.Yes: output.Green, agenttool.No: output.Red, agenttool.Unknown: output.Yellow}[f].Paint(f.String())
}

// bad colours a fact whose yes is bad news.
func bad(f agenttool.Fact) string {
	return map[agenttool.Fact]output.Colour{agenttool.Yes: output.Red, agenttool.No: output.Green, agenttool.Unknown: output.Yellow}[f].Paint(f.String())
}

// verdictOf is a word or two for one simple command.
func verdictOf(part agenttool.Part) string {
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
