// Recording draws screens of a terminal, as tmux capture-pane -ep prints them, as an SVG that shows one after the other.
//
//	go run ./testdata/recording FILE... > recording.svg
package main

import (
	"bufio"
	"fmt"
	"html"
	"os"
	"regexp"
	"strconv"
	"strings"
)

const (
	columns, rows     = 92, 24
	charWidth, height = 8.4, 18
	seconds           = 5 // of each screen
)

var colors = map[int]string{31: "#f07178", 32: "#c3e88d", 33: "#ffcb6b", 34: "#82aaff", 35: "#c792ea", 36: "#89ddff", 37: "#ffffff", 90: "#676e95"}

func main() {
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	screens := os.Args[1:]
	total := seconds * len(screens)
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 %.0f %d" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">
<style>
.s { opacity: 0; animation: show %ds step-end infinite; }
@keyframes show { 0%% { opacity: 1; } %.3f%% { opacity: 0; } }
text { white-space: pre; fill: #d6deeb; }
</style>
<rect width="100%%" height="100%%" rx="8" fill="#1b1d2a"/>
`, columns*charWidth+24, rows*height+24, total, 100/float64(len(screens)))
	for i, name := range screens {
		text, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "recording:", err)
			os.Exit(1)
		}
		fmt.Fprintf(w, "<g class=\"s\" style=\"animation-delay: %ds\">\n", i*seconds)
		draw(w, string(text))
		fmt.Fprintln(w, "</g>")
	}
	fmt.Fprintln(w, "</svg>")
}

// style is the style that the escape sequences so far have set.
type style struct {
	bold, faint, reverse bool
	color                int
}

var sequence = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// draw writes a line of text for each line of a screen.
func draw(w *bufio.Writer, screen string) {
	var now style
	for row, line := range strings.Split(strings.TrimRight(screen, "\n"), "\n") {
		fmt.Fprintf(w, `<text x="12" y="%d">`, 12+(row+1)*height-4)
		last := 0
		for _, at := range sequence.FindAllStringSubmatchIndex(line, -1) {
			now.span(w, line[last:at[0]])
			now.set(line[at[2]:at[3]])
			last = at[1]
		}
		now.span(w, line[last:])
		fmt.Fprintln(w, "</text>")
	}
}

// set applies the numbers of a sequence that selects how characters look.
func (s *style) set(numbers string) {
	for number := range strings.SplitSeq(numbers, ";") {
		switch n, _ := strconv.Atoi(number); {
		case n == 0:
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.faint = true
		case n == 7:
			s.reverse = true
		case n == 22:
			s.bold, s.faint = false, false
		case n == 27:
			s.reverse = false
		case n == 39:
			s.color = 0
		case colors[n] != "":
			s.color = n
		}
	}
}

func (s *style) span(w *bufio.Writer, text string) {
	if text == "" {
		return
	}
	var css strings.Builder
	if color := colors[s.color]; color != "" {
		css.WriteString("fill:" + color + ";")
	}
	if s.bold || s.reverse {
		css.WriteString("font-weight:bold;")
	}
	if s.faint {
		css.WriteString("opacity:.6;")
	}
	if css.Len() == 0 {
		w.WriteString(html.EscapeString(text))
		return
	}
	fmt.Fprintf(w, `<tspan style="%s">%s</tspan>`, css.String(), html.EscapeString(text))
}
