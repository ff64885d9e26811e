package literal

import (
	"math/rand/v2"
	"testing"
)

// naiveNext is the definition of Next.
func naiveNext(c Clause, b []byte, from int) (at, which int) {
	at, which = -1, -1
	for i := range c {
		if next := naive(b[from:], c[i].text, c[i].fold); next >= 0 && (which < 0 || from+next < at) {
			at, which = from+next, i
		}
	}
	return at, which
}

// checkFinder asks f for all occurrences in b, by steps that depend on stride.
func checkFinder(t *testing.T, f *Finder, b []byte, stride int) {
	t.Helper()
	c := needles(f)
	f.Reset(b)
	for from := 0; from <= len(b); {
		at, which := f.Next(from)
		if wantAt, want := naiveNext(c, b, from); at != wantAt || which != want {
			t.Fatalf("%v in %q from %d: got needle %d at %d, want %d at %d", texts(c), b, from, which, at, want, wantAt)
		}
		if at < 0 {
			break
		}
		from = max(from, at-stride) + stride/2 + 1
	}
	if at, which := f.Next(len(b)); at != -1 || which != -1 {
		t.Fatalf("at the end: got %d at %d", which, at)
	}
}

func needles(f *Finder) (c Clause) {
	for i := range f.groups {
		c = append(c, f.groups[i].needles...)
	}
	return c
}

func texts(c Clause) (all []string) {
	for i := range c {
		all = append(all, string(c[i].text))
	}
	return all
}

// each returns finders that look for the needles together, if they can, and one by one.
func each(c Clause) []*Finder {
	return []*Finder{newFinder(c, wide), newFinder(c, false)}
}

func TestNext(t *testing.T) {
	filler := string(make([]byte, 100))
	tests := []struct {
		name    string
		needles []string
		fold    bool
		in      string
	}{
		{"nothing to look for", nil, false, "text"},
		{"empty buffer", []string{"mutex", "qlock"}, false, ""},
		{"short buffer", []string{"mutex", "qlock"}, false, "a mutex"},
		{"both", []string{"mutex", "qlock"}, false, filler + "qlock mutex" + filler + "mutex"},
		{"one begins another", []string{"mutex_q", "mutex"}, false, filler + "mutex mutex_q"},
		{"the same twice", []string{"mutex", "mutex"}, false, filler + "mutex" + filler},
		{"later bytes found first", []string{"aaaaaaaaaaaaaaaaaaaaaaaaaaqz", "qj"}, false, filler + "aaaaaaaaaaaaaaaaaaqjaaaaaaaaaaaaaaaaaaaaaaaaaaqz" + filler},
		{"later bytes far beyond", []string{"                                                            qz", "jx"}, false, filler + "                                                   jx       qz     qz" + filler},
		{"either case", []string{"mutex", "q_lock"}, true, filler + "MUTEX Q_LOCK q\x7flock" + filler},
		{"cannot go together", []string{"é", "x"}, false, filler + "xé" + filler},
		{"cut at the end", []string{"q_lock", "mutex"}, false, filler + "q_loc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Clause{}
			for _, text := range tt.needles {
				c = append(c, New([]byte(text), tt.fold))
			}
			for _, f := range each(c) {
				checkFinder(t, f, []byte(tt.in), 0)
			}
		})
	}
}

// TestRareNeedlesGoTogether guards the tests of the crowd against testing nothing.
func TestRareNeedlesGoTogether(t *testing.T) {
	if !wide {
		t.Skip("this processor has no AVX2")
	}
	if f := NewFinder(Clause{New([]byte("mutex"), true), New([]byte("q_lock"), false)}); len(f.groups) != 1 {
		t.Error("mutex and q_lock are looked for one by one")
	}
	if f := NewFinder(Clause{New([]byte("e"), true), New([]byte("q_lock"), false)}); len(f.groups) != 2 {
		t.Error("e and q_lock are looked for together")
	}
}

func TestNextOfParts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	together := 0
	for range 4000 {
		alphabet := []string{"qxzj", "qQzZ_\x7f", "@`{[\x80\xe0qz"}[random.IntN(3)]
		buffer := make([]byte, 64+random.IntN(300))
		for i := range buffer {
			buffer[i] = alphabet[random.IntN(len(alphabet))]
		}
		c := Clause{}
		for range 1 + random.IntN(4) {
			if text := part(random, buffer); len(text) > 0 {
				c = append(c, New(text, random.IntN(2) == 0))
			}
		}
		for _, f := range each(c) {
			together += len(c) - len(f.groups)
			checkFinder(t, f, buffer, random.IntN(4))
		}
	}
	if wide && together < 500 {
		t.Errorf("only %d needles were looked for together with others", together)
	}
}

func FuzzNext(f *testing.F) {
	f.Add([]byte("a mutex and a q_lock, Mutex"), []byte("mutex"), []byte("q_lock"), uint16(60), true)
	f.Add([]byte("zqzqxq"), []byte("qx"), []byte("zq"), uint16(130), false)
	f.Fuzz(func(t *testing.T, b, one, other []byte, shift uint16, fold bool) {
		if len(one) == 0 || len(other) == 0 {
			return
		}
		buffer := append(make([]byte, shift%1024), b...)
		for _, finder := range each(Clause{New(one, fold), New(other, !fold), New(append(other, one...), fold)}) {
			checkFinder(t, finder, buffer, int(shift%3))
			checkFinder(t, finder, append(buffer, other...), int(shift%5))
		}
	})
}

func TestNextAllocatesNothing(t *testing.T) {
	buffer := make([]byte, 1000)
	for _, f := range each(Clause{New([]byte("mutex"), true), New([]byte("q_lock"), false)}) {
		if n := testing.AllocsPerRun(10, func() { f.Reset(buffer); f.Next(0) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}
