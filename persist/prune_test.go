package persist

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

const day = 24 * time.Hour

// removals prunes and returns what was removed, as SESSION or SESSION/PAYLOAD.
func removals(t testing.TB, dir string, o Retention, now time.Time) (all []string) {
	t.Helper()
	p, err := Prune(dir, o, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Removed {
		all = append(all, strings.TrimSuffix(string(r.Session)+"/"+r.Payload, "/"))
	}
	return all
}

// output makes a payload of a session that nobody writes, written at a time.
func output(t testing.TB, dir string, id agenttool.SessionID, name string, size int, when time.Time) {
	t.Helper()
	path := filepath.Join(dir, string(id), resultsDir, name)
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	setTime(t, path, when)
}

func TestPrune(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Retention
		want []string
	}{
		{"defaults", Retention{}, []string{"ses_a", "ses_b"}},
		{"no limits", Retention{MaxAge: -1, MaxBytes: -1}, nil},
		{"younger", Retention{MaxAge: 2 * day}, []string{"ses_a", "ses_b", "ses_c"}},
		{"kept", Retention{Keep: []agenttool.SessionID{"ses_a"}}, []string{"ses_b"}},
		// Of 1.1 MB the largest goes, and the log beside it stays. What is live does not count.
		{"too large", Retention{MaxAge: -1, MaxBytes: 200_000}, []string{"ses_d/inv_big"}},
		// Of two that are equally large the older one goes first.
		{"much too large", Retention{MaxAge: -1, MaxBytes: 60_000}, []string{"ses_d/inv_big", "ses_a/inv_old"}},
		// Nothing but logs is left, and these stay.
		{"everything is too large", Retention{MaxAge: 35 * day, MaxBytes: 1}, []string{
			"ses_a", "ses_d/inv_big", "ses_d/inv_new", "ses_b/inv_1.stdout", "ses_c/inv_1.stdout", "ses_d/inv_1.stdout"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for id, age := range map[agenttool.SessionID]time.Duration{
				"ses_a": 40 * day, "ses_b": 31 * day, "ses_c": 3 * day, "ses_d": day} {
				abandon(t, session(t, dir, id, noon.Add(-age)))
				output(t, dir, id, "inv_1.stdout", 10, noon.Add(-age))
			}
			output(t, dir, "ses_d", "inv_big", 1_000_000, noon.Add(-day))
			output(t, dir, "ses_d", "inv_new", 50_000, noon.Add(-day))
			output(t, dir, "ses_a", "inv_old", 50_000, noon.Add(-40*day))
			session(t, dir, "ses_live", noon.Add(-100*day))
			output(t, dir, "ses_live", "inv_live", 5_000_000, noon.Add(-100*day))

			dry := tt.o
			dry.Dry = true
			if would := removals(t, dir, dry, noon); !slices.Equal(would, tt.want) {
				t.Errorf("would remove %v, want %v", would, tt.want)
			}
			if got := removals(t, dir, tt.o, noon); !slices.Equal(got, tt.want) {
				t.Fatalf("removed %v, want %v", got, tt.want)
			}
			for _, id := range []agenttool.SessionID{"ses_a", "ses_b", "ses_c", "ses_d", "ses_live"} {
				_, err := os.Lstat(filepath.Join(dir, string(id), LogName))
				if there := err == nil; there == slices.Contains(tt.want, string(id)) {
					t.Errorf("%s: there %v", id, there)
				}
			}
			for _, r := range tt.want {
				if id, file, ok := strings.Cut(r, "/"); ok {
					if _, err := os.Lstat(filepath.Join(dir, id, resultsDir, file)); err == nil {
						t.Errorf("%s is still there", r)
					}
				}
			}
			if again := removals(t, dir, tt.o, noon); len(again) > 0 {
				t.Errorf("a second run removes %v", again)
			}
		})
	}
}

// Verify does not take a payload that Prune removed for lost, and still finds one that somebody else did.
func TestVerifyKnowsPrunedPayloads(t *testing.T) {
	dir := t.TempDir()
	s := session(t, dir, "ses_test", noon)
	for _, name := range []string{"pruned", "lost"} {
		ref := mustPayload(t, s, name, "text/plain", strings.Repeat(name, 100))
		if _, err := s.Append([]byte(`{"event_type":"tool.result.persisted","data":{"ref":` + encoded(t, ref) + `}}`)); err != nil {
			t.Fatal(err)
		}
	}
	abandon(t, s)
	lost := filepath.Join(s.Path(), resultsDir, "inv_1.lost")
	if err := os.Rename(lost, lost+".aside"); err != nil {
		t.Fatal(err)
	}
	setTime(t, filepath.Join(s.Path(), resultsDir, "inv_1.pruned"), noon.Add(-day))
	size := bytesOf(t, dir, "ses_test")
	if got := removals(t, dir, Retention{MaxBytes: size - 1}, noon); !slices.Equal(got, []string{"ses_test/inv_1.pruned"}) {
		t.Fatalf("removed %v", got)
	}
	_, found, err := VerifySession(s.Path())
	if err != nil || found.Pruned != 1 || len(found.Problems) != 1 || found.Problems[0].Kind != Missing || !strings.Contains(found.Problems[0].Detail, "inv_1.lost") {
		t.Errorf("found %+v, %v", found, err)
	}
}

// A session that was written when the clock was far ahead is not kept until that time, nor removed at once: its age counts from when
// it was first seen.
func TestPruneWhenTheClockWasAhead(t *testing.T) {
	dir := t.TempDir()
	unasked := Retention{Unasked: true}
	abandon(t, session(t, dir, "ses_ahead", noon.Add(5000*day)))
	for i, step := range []struct {
		now  time.Time
		want []string
	}{
		{noon, nil}, {noon.Add(6 * day), nil}, {noon.Add(12 * day), nil}, {noon.Add(18 * day), nil}, {noon.Add(24 * day), nil},
		{noon.Add(29 * day), nil}, {noon.Add(-3 * day), nil}, {noon.Add(3 * day), nil}, // back: it counts anew
		{noon.Add(9 * day), nil}, {noon.Add(15 * day), nil}, {noon.Add(21 * day), nil}, {noon.Add(26 * day), nil}, {noon.Add(28 * day), []string{"ses_ahead"}},
	} {
		if got := removals(t, dir, unasked, step.now); !slices.Equal(got, step.want) {
			t.Fatalf("step %d, %v: removed %v, want %v", i, step.now, got, step.want)
		}
	}
}

// A clock that jumps ahead removes nothing by itself. Time that passed does, a day later, and so does a person at once.
func TestPruneWhenTheClockJumps(t *testing.T) {
	dir := t.TempDir()
	unasked := Retention{Unasked: true}
	abandon(t, session(t, dir, "ses_a", noon.Add(-day)))
	jump := noon.Add(365 * day)
	for _, step := range []struct {
		name string
		o    Retention
		now  time.Time
		want []string
	}{
		{"first run", unasked, noon, nil},
		{"the clock jumps ahead", unasked, jump, nil},
		{"it is still wrong", unasked, jump.Add(20 * time.Hour), nil},
		{"it is right again", unasked, noon.Add(day), nil},
		{"it jumps again", unasked, jump, nil},
		{"and stays", unasked, jump.Add(25 * time.Hour), []string{"ses_a"}},
	} {
		if got := removals(t, dir, step.o, step.now); !slices.Equal(got, step.want) {
			t.Fatalf("%s: removed %v, want %v", step.name, got, step.want)
		}
	}
	abandon(t, session(t, dir, "ses_b", noon))
	if got := removals(t, dir, Retention{}, jump.Add(100*day)); !slices.Equal(got, []string{"ses_b"}) {
		t.Errorf("a person prunes: removed %v", got)
	}
}

// A log from a time that is yet to come is kept for as long as others, from the day on which it is found.
func TestPruneOfLogsFromTheFuture(t *testing.T) {
	dir := t.TempDir()
	abandon(t, session(t, dir, "ses_ahead", noon.Add(3650*day)))
	for _, step := range []struct {
		now  time.Time
		want []string
	}{{noon, nil}, {noon.Add(29 * day), nil}, {noon.Add(31 * day), []string{"ses_ahead"}}} {
		if got := removals(t, dir, Retention{}, step.now); !slices.Equal(got, step.want) {
			t.Errorf("%v: removed %v, want %v", step.now, got, step.want)
		}
	}
}

func bytesOf(t testing.TB, dir string, id agenttool.SessionID) int64 {
	t.Helper()
	all, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	return diskUse(all, id)
}

func TestPruneLeavesAloneWhatIsNotASession(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	precious := filepath.Join(outside, "precious")
	if err := os.WriteFile(precious, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := noon.Add(-1000 * 24 * time.Hour)
	old := session(t, dir, "ses_old", long)
	abandon(t, old)
	for _, link := range [][2]string{
		{outside, filepath.Join(dir, "ses_link")},
		{outside, filepath.Join(old.Path(), resultsDir, "out")},
		{precious, filepath.Join(old.Path(), resultsDir, "inv_9.stdout")},
	} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"mine", ".hidden", ".pruned-ses_left", "empty", "linked"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"mine/thesis", ".pruned-ses_left/log.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(precious, filepath.Join(dir, "linked", LogName)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mine", "empty", "linked"} {
		setTime(t, filepath.Join(dir, name), long)
	}
	removed := removals(t, dir, Retention{}, noon)
	slices.Sort(removed)
	if want := []string{"empty", "ses_old"}; !slices.Equal(removed, want) {
		t.Errorf("removed %v, want %v", removed, want)
	}
	for _, path := range []string{precious, filepath.Join(dir, "mine", "thesis"), filepath.Join(dir, ".hidden"),
		filepath.Join(dir, "ses_link"), filepath.Join(dir, "linked", LogName)} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{"ses_old", ".pruned-ses_left", ".pruned-ses_old"} {
		if _, err := os.Lstat(filepath.Join(dir, path)); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	b, err := agenttool.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPayloadsExpireBeforeRecords: the outputs of old sessions go, and every record of their calls stays and says so.
func TestPayloadsExpireBeforeRecords(t *testing.T) {
	conform.Held(t, "AT-380")
	dir := t.TempDir()
	s := session(t, dir, "ses_test", noon)
	ref := mustPayload(t, s, "output", "text/plain", strings.Repeat("line\n", 100))
	if _, err := s.Append([]byte(`{"event_type":"tool.result.persisted","data":{"status":"succeeded","reason":"too large","ref":` + encoded(t, ref) + `}}`)); err != nil {
		t.Fatal(err)
	}
	abandon(t, s)
	setTime(t, logOf(s), noon.Add(-8*day))
	before, err := os.ReadFile(logOf(s))
	if err != nil {
		t.Fatal(err)
	}
	keep := Retention{MaxAge: 30 * day, MaxPayloadAge: 10 * day}
	if got := removals(t, dir, keep, noon); len(got) != 0 {
		t.Fatalf("removed %v", got)
	}
	keep.MaxPayloadAge = 7 * day
	if got := removals(t, dir, keep, noon); !slices.Equal(got, []string{"ses_test/inv_1.output", "ses_test/inv_1.stdout"}) {
		t.Fatalf("removed %v", got)
	}
	after, err := os.ReadFile(logOf(s))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the log changed: %v", err)
	}
	if r, found, err := VerifySession(s.Path()); err != nil || !r.OK() || found.Pruned != 1 || len(found.Problems) != 0 {
		t.Errorf("%+v %+v %v", r, found, err)
	}
	again := New(testOptions(dir))
	mustAppend(t, again, 1, 1)
	_, err = again.Page(ref.URI, 0, 0)
	wantError(t, err, agenttool.InvalidArguments, "payload_expired")
	_, err = again.OpenPayload(ref.URI)
	wantError(t, err, agenttool.InvalidArguments, "payload_expired")
	_, err = again.Page("inv_1.other", 0, 0)
	wantError(t, err, agenttool.InvalidArguments, "unknown_ref")
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestPrunedPayloadsTakeTheirSecrets: the encrypted secrets of a payload are removed with it, also when only some payloads go.
func TestPrunedPayloadsTakeTheirSecrets(t *testing.T) {
	dir := t.TempDir()
	s := session(t, dir, "ses_test", noon)
	for _, name := range []string{"pruned", "kept"} {
		mustPayload(t, s, name, "text/plain", "PASSWORD=swordfish-"+name+"\n"+strings.Repeat("line\n", 100))
	}
	abandon(t, s)
	results := filepath.Join(s.Path(), resultsDir)
	setTime(t, filepath.Join(results, "inv_1.pruned"), noon.Add(-day))
	if _, err := os.Lstat(filepath.Join(results, "inv_1.pruned"+sealedEnd)); err != nil {
		t.Fatal(err)
	}
	limit := Retention{MaxBytes: bytesOf(t, dir, "ses_test") - 1}
	p, err := Prune(dir, limit, noon)
	if err != nil || len(p.Removed) != 1 || p.Removed[0].Payload != "inv_1.pruned" {
		t.Fatalf("removed %+v, %v", p.Removed, err)
	}
	if left := bytesOf(t, dir, "ses_test"); p.Removed[0].Bytes < limit.MaxBytes+1-left || p.Bytes > limit.MaxBytes {
		t.Errorf("removed %d bytes of %d, %d are left and %d are reported", p.Removed[0].Bytes, limit.MaxBytes+1, left, p.Bytes)
	}
	for name, there := range map[string]bool{"pruned": false, "kept": true} {
		for _, end := range []string{"", sealedEnd} {
			if _, err := os.Lstat(filepath.Join(results, "inv_1."+name+end)); (err == nil) != there {
				t.Errorf("%s%s: %v", name, end, err)
			}
		}
	}
}
