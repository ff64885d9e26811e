package scheduler_test

import (
	"slices"
	"testing"

	"toolhost/agenttool"
	"toolhost/scheduler"
	"toolhost/testdata/support/conform"
)

func TestConflict(t *testing.T) {
	r := func(p string) agenttool.Lock { return agenttool.Lock{Path: p} }
	w := func(p string) agenttool.Lock { return agenttool.Lock{Path: p, Write: true} }
	for _, tt := range []struct {
		name string
		a, b agenttool.Lock
		want bool
	}{
		{"two readers of one path", r("/w/f"), r("/w/f"), false},
		{"reader and writer of one path", r("/w/f"), w("/w/f"), true},
		{"two writers of one path", w("/w/f"), w("/w/f"), true},
		{"writers of two paths", w("/w/f"), w("/w/g"), false},
		{"writer above reader", w("/w"), r("/w/d/f"), true},
		{"reader above writer", r("/w"), w("/w/d/f"), true},
		{"reader above reader", r("/w"), r("/w/d/f"), false},
		{"a name that begins alike is not above", w("/w/f"), w("/w/foo"), false},
		{"the root is above all", w("/"), r("/w/f"), true},
		{"spelt with dots", w("/w/d/../f"), r("/w//f"), true},
		{"trailing slash", w("/w/d/"), r("/w/d"), true},
		{"an empty path is every path", w(""), r("/w/f"), true},
		{"a relative path is every path", r("src"), w("/elsewhere"), true},
		{"two unknown readers", r(""), r("x"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := scheduler.Conflict(tt.a, tt.b); got != tt.want {
				t.Errorf("Conflict(%v, %v) = %v", tt.a, tt.b, got)
			}
			if got := scheduler.Conflict(tt.b, tt.a); got != tt.want {
				t.Errorf("Conflict(%v, %v) = %v: not symmetric", tt.b, tt.a, got)
			}
		})
	}
}

func at(paths ...string) []agenttool.Path {
	var all []agenttool.Path
	for _, p := range paths {
		all = append(all, agenttool.Path{Spelling: p, Absolute: p, Resolved: p})
	}
	return all
}

func TestLocks(t *testing.T) {
	conform.Held(t, "AT-196", "AT-211")
	const yes, no = agenttool.Yes, agenttool.No
	for _, tt := range []struct {
		name  string
		facts *agenttool.Facts
		want  []agenttool.Lock
	}{
		{"nothing is known", nil, write("/w")},
		{"the zero facts", &agenttool.Facts{}, write("/w")},
		{"reads", &agenttool.Facts{Verdicts: agenttool.Verdicts{ConcurrencySafe: yes, PathsComplete: yes}, Reads: at("/w/f", "/usr/x")},
			read("/usr/x", "/w/f")},
		{"writes", &agenttool.Facts{Verdicts: agenttool.Verdicts{ConcurrencySafe: yes, PathsComplete: yes}, Writes: at("/w/f")}, write("/w/f")},
		{"reads and writes one file", &agenttool.Facts{Verdicts: agenttool.Verdicts{ConcurrencySafe: yes, PathsComplete: yes},
			Reads: at("/w/f"), Writes: at("/w/f")}, write("/w/f")},
		{"touches nothing", &agenttool.Facts{Verdicts: agenttool.Verdicts{ConcurrencySafe: yes, PathsComplete: yes}}, nil},
		{"paths may be missing", &agenttool.Facts{Verdicts: agenttool.Verdicts{ConcurrencySafe: yes}, Reads: at("/usr/x")}, write("/usr/x", "/w")},
		{"paths are missing", &agenttool.Facts{Verdicts: agenttool.Verdicts{ConcurrencySafe: yes, PathsComplete: no}}, write("/w")},
		{"safety is unknown", &agenttool.Facts{Verdicts: agenttool.Verdicts{PathsComplete: yes}, Reads: at("/w/f")}, write("/w", "/w/f")},
		{"not safe", &agenttool.Facts{Verdicts: agenttool.Verdicts{ConcurrencySafe: no, PathsComplete: yes}, Writes: at("/v/f")}, write("/v/f", "/w")},
		{"a path is not located", &agenttool.Facts{Verdicts: agenttool.Verdicts{ConcurrencySafe: yes, PathsComplete: yes},
			Reads: []agenttool.Path{{Spelling: "l", Absolute: "/v/l"}}}, write("/v/l", "/w")},
		{"the resolved path counts", &agenttool.Facts{Verdicts: agenttool.Verdicts{ConcurrencySafe: yes, PathsComplete: yes},
			Writes: []agenttool.Path{{Spelling: "l", Absolute: "/w/l", Resolved: "/v/target"}}}, write("/v/target")},
		{"open world adds nothing", &agenttool.Facts{Verdicts: agenttool.Verdicts{ConcurrencySafe: yes, PathsComplete: yes, OpenWorld: yes}}, nil},
		{"explicit locks", &agenttool.Facts{Verdicts: agenttool.Verdicts{ConcurrencySafe: yes, PathsComplete: yes}, Reads: at("/w/f"),
			Locks: write("/w/f", "/cache")}, write("/cache", "/w/f")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := scheduler.Locks(tt.facts, "/w"); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	if got := scheduler.Locks(nil, ""); !slices.Equal(got, write("/")) {
		t.Errorf("no workspace: got %v, want everything", got)
	}
}

// Unknown facts never give fewer locks: whatever conflicts with the locks of a certain call conflicts with those of the
// same call when it is uncertain.
func TestLocksOfUncertainCallsAreWider(t *testing.T) {
	paths := []string{"/w", "/w/f", "/w/d/g", "/v", "/v/f"}
	for _, p := range paths {
		for _, q := range paths {
			certain := agenttool.Facts{Verdicts: agenttool.Verdicts{ConcurrencySafe: agenttool.Yes, PathsComplete: agenttool.Yes}, Reads: at(p),
				Writes: at(q)}
			uncertain := certain
			uncertain.PathsComplete = agenttool.Unknown
			for _, other := range append(read(paths...), write(paths...)...) {
				if conflictsAny(scheduler.Locks(&certain, "/w"), other) && !conflictsAny(scheduler.Locks(&uncertain, "/w"), other) {
					t.Errorf("reads %s, writes %s: only the certain call excludes %v", p, q, other)
				}
			}
		}
	}
}

func conflictsAny(locks []agenttool.Lock, other agenttool.Lock) bool {
	return slices.ContainsFunc(locks, func(l agenttool.Lock) bool { return scheduler.Conflict(l, other) })
}
