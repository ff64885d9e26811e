package racy

import (
	"testing"
	"time"
)

func TestAt(t *testing.T) {
	now := time.Unix(1_000_000_007, 5)
	for _, test := range []struct {
		name  string
		stamp time.Time
		want  bool
	}{
		{"old", now.Add(-time.Hour), false},
		{"just old enough", now.Add(-Window), false},
		{"too young", now.Add(-Window + 1), true},
		{"now", now, true},
		{"of the future", now.Add(time.Hour), true},
		{"a whole second", time.Unix(1_000_000_006, 0), true},
		{"the even second of FAT", time.Unix(1_000_000_005, 0), true},
		{"a whole second, old enough", time.Unix(1_000_000_004, 0), false},
		{"nearly a whole second", time.Unix(1_000_000_006, 1), false},
		{"of nothing", time.Unix(0, 0), false},
		{"before 1970", time.Unix(-5, 0), false},
	} {
		stamp := test.stamp.UnixNano()
		if got := At(now, stamp); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
		if got := At(now, 0, stamp); got != test.want {
			t.Errorf("%s, as the second: %v", test.name, got)
		}
	}
	if At(now) {
		t.Error("no stamp is racy")
	}
	if edge := time.Unix(1_000_000_006, 0); !At(edge.Add(Coarse-1), edge.UnixNano()) || At(edge.Add(Coarse), edge.UnixNano()) {
		t.Error("not exactly Coarse")
	}
}
