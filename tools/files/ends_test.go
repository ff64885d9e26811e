package files

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A write of random lines over a file with random ends changes the ends of no line that stays where it can be told
// which lines stay, and no character of any line.
func TestKeepEnds(t *testing.T) {
	random := rand.New(rand.NewPCG(30, 1))
	words := []string{"", "a", "b", "}", "é", "x\ry"}
	for range 20_000 {
		var old strings.Builder
		var lines, ends []string
		for i := range 1 + random.IntN(12) {
			lines = append(lines, words[random.IntN(len(words))]+strings.Repeat("i", i)) // no two are the same
			ends = append(ends, []string{"\n", "\r\n"}[random.IntN(2)])
			old.WriteString(lines[i] + ends[i])
		}
		now := append([]string{}, lines...)
		changed := random.IntN(len(now))
		switch random.IntN(3) {
		case 0:
			now[changed] = "changed"
		case 1:
			now = append(append(append([]string{}, now[:changed]...), "new", ""), now[changed:]...)
		case 2:
			now = append(append([]string{}, now[:changed]...), now[changed+1:]...)
		}
		content := strings.Join(now, "\n")
		if random.IntN(2) > 0 && len(now) > 0 {
			content += "\n"
		}
		got := string(keepEnds([]byte(old.String()), content))
		if strings.ReplaceAll(got, "\r\n", "\n") != content {
			t.Fatalf("%q over %q: %q", content, old.String(), got)
		}
		for i, line := range lines {
			kept := "\n" + line + ends[i]
			if at := strings.Index("\n"+content, "\n"+line+"\n"); at >= 0 && !strings.Contains("\n"+got, kept) {
				t.Fatalf("%q over %q: %q, line %q lost its end", content, old.String(), got, line)
			}
		}
	}
}

// Texts that are too different to be aligned keep their ends line by line, in a bounded time.
func TestKeepEndsOfLargeFiles(t *testing.T) {
	old := strings.Repeat("a line\r\nanother\n", 200_000)
	for _, content := range []string{strings.Repeat("other\nlines\n", 200_000), "first\n" + strings.ReplaceAll(old, "\r", ""), "x\n"} {
		got := string(keepEnds([]byte(old), content))
		if strings.ReplaceAll(got, "\r\n", "\n") != content || !strings.HasPrefix(got[strings.IndexByte(got, '\n')-1:], "\r\n") {
			t.Errorf("%.40q became %.40q", content, got)
		}
	}
}
