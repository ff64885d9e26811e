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

// A write of what read showed changes nothing, whatever the ends of lines and the marks are. One that changes a line changes that line alone.
func TestWriteOfWhatWasShown(t *testing.T) {
	for _, tt := range []struct{ raw, changed string }{
		{"a\r\r\nb\r\r\n", "a\r\nB\r\n"}, // every line of the content ends in CRLF: that is meant
		{"a\r\nb\r\n\r\r\n", "a\r\nB\r\n\r\r\n"},
		{"a\r\r\nb\nc\r\n", "a\r\r\nB\nc\r\n"},
		{"a\r\r\r\nb\r\nc", "a\r\r\r\nB\r\nc"},
		{"a\rb\nc\r\n", "a\rB\nc\r\n"},
		{"\xef\xbb\xbf\xef\xbb\xbfa\nb\n", "\xef\xbb\xbf\xef\xbb\xbfa\nB\n"},
		{"\xff\xfe\xff\xfea\x00\n\x00b\x00\n\x00", "\xff\xfe\xff\xfea\x00\n\x00B\x00\n\x00"},
	} {
		p := newProject(t, Options{})
		p.put("a", tt.raw)
		_, text := p.read("a")
		var shown strings.Builder
		for line := range strings.SplitSeq(text, "\n") {
			_, line, _ = strings.Cut(line, "\t")
			shown.WriteString(line + "\n")
		}
		content := shown.String()
		if tt.raw[len(tt.raw)-1] == 'c' {
			content = strings.TrimSuffix(content, "\n")
		}
		if _, err := p.write("a", content); err != nil || p.get("a") != tt.raw {
			t.Errorf("%q as shown became %q, %v", tt.raw, p.get("a"), err)
		}
		p.put("a", tt.raw)
		p.read("a")
		got, err := p.write("a", strings.Replace(content, "b", "B", 1))
		if err != nil || p.get("a") != tt.changed {
			t.Errorf("%q with a change became %q, want %q, %v %+v", tt.raw, p.get("a"), tt.changed, err, got)
		}
	}
}
