package output

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestTableShowsAll: a cell of strangers adds no row or column, and the terminal acts on none.
func TestTableShowsAll(t *testing.T) {
	var b strings.Builder
	w := NewTable(&b, "NAME", "BYTES", "WHEN")
	w.Row("a\x1b[2J\nb\tc", int64(7), time.Date(2026, 3, 2, 15, 4, 5, 0, time.Local))
	w.Row("plain", 70, "")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "NAME                  BYTES  WHEN\na⟨ESC⟩[2J⟨LF⟩b⟨TAB⟩c  7      2026-03-02 15:04:05\nplain                 70     \n"
	if b.String() != want {
		t.Errorf("got\n%q, want\n%q", b.String(), want)
	}
}

// TestWordsReachAShell: a shell reads the words that were quoted.
func TestWordsReachAShell(t *testing.T) {
	words := []string{"plain", "a b", "it's", `\n"$HOME`, "~", "*", "a\nb", "{x,y}", "#", "$(echo no)", "`echo no`", "x;y"}
	out, err := exec.Command("sh", "-c", "printf '%s|' "+Words(words...)).Output()
	if want := strings.Join(words, "|") + "|"; err != nil || string(out) != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
}

// TestAmounts are written as people read them.
func TestAmounts(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 1 << 20: "1.0 MiB", 5 << 30: "5120.0 MiB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
