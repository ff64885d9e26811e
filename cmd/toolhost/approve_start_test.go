package main

import (
	"math"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// terminalMakers are those whose packages only toolhost approve needs.
var terminalMakers = []string{"charm.land/", "github.com/charmbracelet/", "github.com/mattn/", "github.com/rivo/", "github.com/clipperhouse/",
	"github.com/muesli/", "github.com/xo/", "github.com/lucasb-eyer/", "github.com/atotto/"}

// TestStartIsNotSlowedByTheTerminal checks that the packages that draw on a terminal do nothing of weight when toolhost starts: every
// command pays for what they do then. (A version of go-runewidth filled tables of 2 MB for 25 ms; lipgloss asks tmux.)
func TestStartIsNotSlowedByTheTerminal(t *testing.T) {
	program := toolhostProgram(t)
	least := math.Inf(1)
	slowest := ""
	for n := 0; n < 3 || n < 100 && least > 1; n++ { // what takes longer than a moment at all takes so each time
		cmd := exec.Command(program, "version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1", "TMUX=/no-such-name-of-toolhost,1,0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		sum := 0.0
		for _, m := range regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`).FindAllStringSubmatch(string(out), -1) {
			ms, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			for _, maker := range terminalMakers {
				if strings.HasPrefix(m[1], maker) {
					sum += ms
					if ms > 0.5 {
						slowest = m[0]
					}
				}
			}
		}
		if sum == 0 {
			t.Fatalf("none of them is named:\n%s", out)
		}
		least = min(least, sum)
	}
	t.Logf("%.2f ms", least)
	if least > 1 {
		t.Errorf("they take %.2f ms, as in: %s", least, slowest)
	}
}
