package literal

import "testing"

func TestWeight(t *testing.T) {
	tests := []struct {
		text     string
		from, to int
	}{
		{" ", 0, 4},
		{"e", 0, 5},
		{"=", 5, 7},
		{"the ", 8, 13},
		{"_IRQ", 14, 20},
		{"spin_lock", 20, 40},
		{"é", 18, 30},
	}
	for _, tt := range tests {
		for _, fold := range []bool{false, true} {
			n := New([]byte(tt.text), fold)
			if got := n.Weight(); got < tt.from || got > tt.to {
				t.Errorf("%q (fold %t): got %d, want %d to %d", tt.text, fold, got, tt.from, tt.to)
			}
		}
	}
}

func TestRarestPair(t *testing.T) {
	tests := []struct {
		text          string
		first, second int
	}{
		{"x", 0, 0},
		{"the queue", 4, 1},
		{"_IRQ", 3, 0},
		{"-----", 4, 0},
		{"aab", 2, 0},
	}
	for _, tt := range tests {
		p := rarestPair([]byte(tt.text), false)
		if p.first.offset != tt.first || p.second.offset != tt.second {
			t.Errorf("%q: got %d and %d, want %d and %d", tt.text, p.first.offset, p.second.offset, tt.first, tt.second)
		}
	}
}
