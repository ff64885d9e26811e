package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// newestABI is the newest version of Landlock that these tests know.
const newestABI = 7

// What a ruleset handles by the version that the kernel has: no more than that version knows.
func TestLandlockHandles(t *testing.T) {
	reads, tcp, scoped := uint64(landlock.AccessFSReadFile), uint64(tcpRights), uint64(allScopes)
	for abi, since := range map[int]struct{ files, network, scopes uint64 }{
		1: {writeRights, 0, 0},
		2: {writeRights | landlock.AccessFSRefer, 0, 0},
		3: {writeRights | landlock.AccessFSRefer | landlock.AccessFSTruncate, 0, 0},
		4: {writeRights | landlock.AccessFSRefer | landlock.AccessFSTruncate, tcp, 0},
		5: {writeRights | landlock.AccessFSRefer | landlock.AccessFSTruncate | landlock.AccessFSIoctlDev, tcp, 0},
		6: {writeRights | landlock.AccessFSRefer | landlock.AccessFSTruncate | landlock.AccessFSIoctlDev, tcp, scoped},
		7: {writeRights | landlock.AccessFSRefer | landlock.AccessFSTruncate | landlock.AccessFSIoctlDev, tcp, scoped},
	} {
		for _, tt := range []struct {
			level   Level
			profile Profile
			files   uint64
			network uint64
		}{
			{Full, Profile{Access: ReadOnly}, since.files, since.network},
			{Full, Profile{Access: Workspace}, since.files, 0}, // it has a network of its own
			{LandlockNotify, Profile{Access: ReadOnly}, since.files | reads, since.network},
			{Landlock, Profile{Access: Workspace}, since.files | reads, since.network},
		} {
			p := &plan{level: tt.level, c: &Command{Profile: tt.profile}}
			want := landlock.RulesetAttr{HandledAccessFS: tt.files, HandledAccessNet: tt.network, Scoped: since.scopes}
			if got := p.handled(abi); got != want {
				t.Errorf("ABI %d, %s, %s: %+v, want %+v", abi, tt.level, tt.profile.Access, got, want)
			}
		}
	}
}

// The wall holds with every version that this kernel has, on every level that this machine has.
func TestLandlockVersions(t *testing.T) {
	for _, level := range []Level{Full, LandlockNotify, Landlock} {
		for abi := 1; abi <= min(landlockABI(), newestABI); abi++ {
			t.Run(fmt.Sprint(level, "/ABI ", abi), func(t *testing.T) {
				b := newBench(t, func(o *Options) { o.Level = level })
				b.abi = abi
				outside := filepath.Join(b.out, "outside")
				if err := os.WriteFile(outside, []byte("as it was"), 0o666); err != nil {
					t.Fatal(err)
				}
				r := b.run(t, Workspace, `echo a > f && cat f; echo b > "$TMPDIR/g" && cat "$TMPDIR/g"; echo c > /dev/null && echo c
					mkdir -p x y && echo d > x/h && ln x/h y/h 2>/dev/null && echo linked
					echo no > "`+outside+`"; rm -f "`+outside+`"; : > "`+b.out+`/new"`)
				want := "a\nb\nc\n"
				if abi >= 2 || level != Landlock { // before, a file stays in its directory; a supervisor links it all the same
					want += "linked\n"
				}
				if r.err != nil || !strings.HasPrefix(r.out, want+"bash: ") {
					t.Errorf("%q, %v; want %q", r.out, r.err, want)
				}
				if r := b.run(t, ReadOnly, `echo a > g; echo b > "$TMPDIR/g" && cat "$TMPDIR/g"; echo c > /dev/null && echo c`); r.err != nil ||
					!strings.HasSuffix(r.out, "\nb\nc") {
					t.Errorf("read-only: %q, %v", r.out, r.err)
				}
				if text, _ := os.ReadFile(outside); string(text) != "as it was" {
					t.Errorf("%s: %q", outside, text)
				}
				for _, path := range []string{filepath.Join(b.out, "new"), filepath.Join(b.ws, "g")} {
					if _, err := os.Lstat(path); err == nil {
						t.Errorf("%s was made", path)
					}
				}
			})
		}
	}
}

// Commands of level full are in a domain of Landlock: it refuses what the empty network would only not reach.
func TestLandlockInFullSandbox(t *testing.T) {
	newest := landlockABI()
	if newest < 4 {
		t.Skip("this kernel's Landlock knows no networks")
	}
	b := newBench(t, nil)
	for _, abi := range []int{0, 3, 4, newest} {
		b.abi = abi
		r := b.run(t, ReadOnly, `exec 3<>/dev/tcp/127.0.0.1/9`)
		if refused := strings.Contains(r.out, "Permission denied"); r.err != nil || r.exit == 0 || refused != (abi >= 4) {
			t.Errorf("ABI %d: %q, exit %d, %v", abi, r.out, r.exit, r.err)
		}
	}
}

// A wall is made once for all commands that it fits, and grants what it granted whatever becomes of the names.
func TestWallsAreKept(t *testing.T) {
	b := newBench(t, nil)
	for range 3 {
		for _, access := range []Access{ReadOnly, Workspace} {
			if r := b.run(t, access, "true"); r.err != nil {
				t.Fatal(r.err)
			}
		}
	}
	h, err := b.hold()
	if err != nil {
		t.Fatal(err)
	}
	if len(h.walls.all) != 2 {
		t.Errorf("%d rulesets for two profiles", len(h.walls.all))
	}
	for i := range 2 * maxWalls {
		dir := filepath.Join(b.out, fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		id, err := identify(dir)
		if err != nil {
			t.Fatal(err)
		}
		w := wall{attr: landlock.RulesetAttr{HandledAccessFS: rights(1)}, open: []placement{{from: id, to: dir}}}
		ruleset, kept, err := h.walls.ruleset(w)
		if err != nil || kept != (i < maxWalls-2) {
			t.Fatalf("%d: kept %v, %v", i, kept, err)
		}
		if !kept {
			ruleset.Close()
		}
	}
	moved := filepath.Join(b.out, "0")
	if err := os.Rename(moved, moved+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(moved, 0o755); err != nil {
		t.Fatal(err)
	}
	id, _ := identify(moved + ".moved")
	id.path = moved
	w := wall{attr: landlock.RulesetAttr{HandledAccessFS: rights(2)}, open: []placement{{from: id, to: moved}}}
	if _, _, err := h.walls.ruleset(w); err == nil {
		t.Error("a rule was made for another directory of that name")
	}
}
