package literal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestIndex(t *testing.T) {
	long := strings.Repeat("x", 200)
	tests := []struct {
		name, text, in string
		fold           bool
		want           int
	}{
		{"empty buffer", "a", "", false, -1},
		{"one byte", "b", "abc", false, 1},
		{"one byte, not there", "d", "abc", false, -1},
		{"one letter in the other case", "B", "abc", true, 1},
		{"one byte without case", "=", "a=b", true, 1},
		{"the whole buffer", "abc", "abc", false, 0},
		{"longer than the buffer", "abcd", "abc", false, -1},
		{"case matters", "ABC", "abc", false, -1},
		{"case does not matter", "aBc", "xAbC", true, 1},
		{"bits of case matter beyond letters", "[a", "{a", true, -1},
		{"bits of case matter beyond letters, long", "@[]^_`", long + "`{}~\x7f@" + long, true, -1},
		{"beyond ASCII has no case", "é", "É", true, -1},
		{"beyond ASCII", "é", long + "é" + long, true, 200},
		{"zero bytes", "\x00\x00", long + "\x00x\x00\x00" + long, false, 202},
		{"first of several", "ab", long + "abab" + long, false, 200},
		{"at the end of the buffer", "xy", long + "y", false, 199},
		{"in the last round alone", "ab", strings.Repeat("-", 64) + "ab", false, 64},
		{"one byte repeated", "xxxx", strings.Repeat("xxx-", 50) + "xxxx", false, 200},
		{"longer than a round", strings.Repeat("ab", 60), long + strings.Repeat("ab", 59) + "c" + strings.Repeat("ab", 60), false, 319},
		{"longer than a round, either case", strings.Repeat("ab", 60), long + strings.Repeat("AB", 59) + "c" + strings.Repeat("aB", 60), true, 319},
	}
	for _, tt := range tests {
		for name, wide := range scans() {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				n := New([]byte(tt.text), tt.fold)
				if got := n.search([]byte(tt.in), wide); got != tt.want {
					t.Errorf("search: got %d, want %d", got, tt.want)
				}
				if got := n.Index([]byte(tt.in)); got != tt.want {
					t.Errorf("Index: got %d, want %d", got, tt.want)
				}
			})
		}
	}
}

func TestNewCopiesAndFolds(t *testing.T) {
	text := []byte("AbÉ")
	folded, exact := New(text, true), New(text, false)
	text[0] = 'x'
	if got := string(folded.Text()); got != "abÉ" || !folded.Fold() {
		t.Errorf("folded: got %q, %t", got, folded.Fold())
	}
	if got := string(exact.Text()); got != "AbÉ" || exact.Fold() {
		t.Errorf("exact: got %q, %t", got, exact.Fold())
	}
}

func TestNewOfNothingPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(nil, false)
}

// TestIndexOfParts looks for parts of random buffers over few letters, where almost all is nearly an occurrence.
func TestIndexOfParts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		alphabet := []string{"ab", "aAbB", "ab_ \n", "aAzZ@`[{\x80\xc1\xe1"}[random.IntN(4)]
		buffer := make([]byte, random.IntN(400))
		for i := range buffer {
			buffer[i] = alphabet[random.IntN(len(alphabet))]
		}
		text := bytes.Clone(part(random, buffer))
		if len(text) == 0 {
			continue
		}
		if random.IntN(2) == 0 {
			text[random.IntN(len(text))] = alphabet[random.IntN(len(alphabet))]
		}
		checkIndex(t, part(random, buffer), text, random.IntN(2) == 0)
	}
}

// part returns a random part of b, short ones more often than long ones.
func part(random *rand.Rand, b []byte) []byte {
	from := random.IntN(len(b) + 1)
	length := random.IntN(len(b) - from + 1)
	if random.IntN(2) == 0 {
		length = min(length, 1+random.IntN(12))
	}
	return b[from : from+length]
}

func checkIndex(t *testing.T, b, text []byte, fold bool) {
	t.Helper()
	n := New(text, fold)
	want := naive(b, text, fold)
	for name, wide := range scans() {
		if got := n.search(b, wide); got != want {
			t.Fatalf("%s: %q (fold %t) in %q: got %d, want %d", name, text, fold, b, got, want)
		}
	}
	if got := n.Index(b); got != want {
		t.Fatalf("Index: %q (fold %t) in %q: got %d, want %d", text, fold, b, got, want)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("some text, Some TEXT"), []byte("text"), uint16(3), true)
	f.Add([]byte("aaaaab"), []byte("ab"), uint16(70), false)
	f.Add([]byte("@`[{\x00\x80\xe1\xc1"), []byte("`{\x80"), uint16(129), true)
	f.Fuzz(func(t *testing.T, b, text []byte, shift uint16, fold bool) {
		if len(text) == 0 {
			return
		}
		buffer := append(bytes.Repeat([]byte{' '}, int(shift%1024)), b...)
		checkIndex(t, buffer, text, fold)
		checkIndex(t, append(buffer, text...), text, fold)
	})
}

// TestLongTextsTakeLinearTime counts nothing: without its bound it takes half a minute.
func TestLongTextsTakeLinearTime(t *testing.T) {
	text := []byte(strings.Repeat("ab", 1<<14) + "bb")
	b := bytes.Repeat([]byte("ab"), 1<<19)
	for _, fold := range []bool{false, true} {
		for name, wide := range scans() {
			n := New(text, fold)
			if got := n.search(b, wide); got != -1 {
				t.Errorf("%s: found at %d", name, got)
			}
			copy(b[len(b)-len(text):], text)
			if got, want := n.search(b, wide), len(b)-len(text); got != want {
				t.Errorf("%s: got %d, want %d", name, got, want)
			}
			b[len(b)-2] = 'a'
		}
	}
}

func ExampleNeedle_Index() {
	n := New([]byte("irq"), true)
	fmt.Println(n.Index([]byte("spin_lock_IRQ(lock)")))
	// Output: 10
}
