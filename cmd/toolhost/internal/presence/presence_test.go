package presence

import "testing"

// A user is there while at least one process holds the lock, and at no other time.
func TestHere(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	here := func(want bool, when string) {
		t.Helper()
		for range 2 { // to look does not change it
			if Here() != want {
				t.Errorf("%s: Here() is %v", when, !want)
			}
		}
	}
	here(false, "at first")
	first, second := Hold(), Hold()
	here(true, "while two answer")
	first()
	here(true, "while one answers")
	second()
	here(false, "when both have left")
	Hold()()
	here(false, "after another one")
}
