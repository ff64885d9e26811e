// Package output has the forms of printed text: JSON for programs, and for people tables, amounts, and colours where stdout is a terminal.
// Text of strangers is made visible.
package output

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/creack/pty"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
)

// JSON prints values, each on a line.
func JSON[T any](out io.Writer, values ...T) error {
	for _, v := range values {
		line, err := agenttool.Encode(v)
		if err == nil {
			_, err = fmt.Fprintf(out, "%s\n", line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Indented prints a value on several lines.
func Indented(out io.Writer, value any) error {
	text, err := json.EncodeIndent(value, "  ")
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", text)
	}
	return err
}

// List is a list that JSON writes as one also when it is empty.
func List[T any](all []T) []T { return append([]T{}, all...) }

// Table prints rows in columns, once it is flushed.
type Table struct{ *tabwriter.Writer }

// NewTable begins a table. Without heads it has none.
func NewTable(out io.Writer, heads ...string) Table {
	t := Table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	if len(heads) > 0 {
		fmt.Fprintln(t, strings.Join(heads, "\t"))
	}
	return t
}

// Row adds a row. Times are printed as they are here.
func (t Table) Row(cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		if at, ok := cell.(time.Time); ok {
			cell = Time(at)
		}
		texts[i] = visible.Text(fmt.Sprint(cell))
	}
	fmt.Fprintln(t, strings.Join(texts, "\t"))
}

// Time is a time as it is here.
func Time(at time.Time) string { return at.Local().Format(time.DateTime) }

// Size is a number of bytes.
func Size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// Count is a number of things, whose plural ends in s.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Line makes a text one line.
func Line(text string) string { return visible.Text(strings.Join(strings.Fields(text), " ")) }

// Words quotes words for a shell, where they need that.
func Words(words ...string) string {
	quoted := slices.Clone(words)
	for i, word := range words {
		if strings.ContainsAny(word, " \t\n'\"\\$`&|;<>()*?[]#~!{}") {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// OnTerminal reports whether stdout is a terminal.
func OnTerminal() bool { return IsTerminal(os.Stdout) }

// IsTerminal reports whether a stream is a terminal: only those have a size.
func IsTerminal(stream any) bool {
	f, isFile := stream.(*os.File)
	if !isFile {
		return false
	}
	_, err := pty.GetsizeFull(f)
	return err == nil
}

// Safe makes a text of several lines safe for stdout where that is a terminal: it may be of strangers.
func Safe(text string) string {
	if !OnTerminal() {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = visible.Text(strings.ReplaceAll(line, "\t", "        "))
	}
	return strings.Join(lines, "\n")
}

// Colour is one of a terminal.
type Colour string

// The colours of good news, bad news, and neither.
const (
	Green  Colour = "32"
	Red    Colour = "31"
	Yellow Colour = "33"
)

// Coloured reports whether texts on stdout have colours.
func Coloured() bool { return OnTerminal() && os.Getenv("NO_COLOR") == "" }

// Paint gives a text a colour if texts on stdout have some.
func (c Colour) Paint(text string) string {
	if !Coloured() {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// Diff is a safe diff with its lines in their colours.
func Diff(text string) string {
	lines := strings.Split(Safe(text), "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "+"):
			lines[i] = Green.Paint(line)
		case strings.HasPrefix(line, "-"):
			lines[i] = Red.Paint(line)
		}
	}
	return strings.Join(lines, "\n")
}
