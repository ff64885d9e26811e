package agenttool_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/testdata/support/conform"
)

func TestErrorClasses(t *testing.T) {
	if len(agenttool.ErrorClasses) != 22 {
		t.Fatalf("%d classes, the standard has 22", len(agenttool.ErrorClasses))
	}
	for _, class := range agenttool.ErrorClasses {
		t.Run(string(class), func(t *testing.T) {
			e := agenttool.Failure(class, "code", "message")
			wrapped := fmt.Errorf("read go.mod: %w", errors.Join(errors.New("other"), e.Because(fs.ErrNotExist)))
			for _, err := range []error{class, e, e.RetryAfter(time.Second), wrapped} {
				for _, other := range agenttool.ErrorClasses {
					if errors.Is(err, other) != (other == class) {
						t.Errorf("%v is %s: %v", err, other, other != class)
					}
				}
			}
			if !errors.Is(wrapped, fs.ErrNotExist) {
				t.Error("the cause is lost")
			}
			if e.Recoverability == "" {
				t.Error("no recoverability")
			}
			var got agenttool.Error
			if err := json.Unmarshal(encode(t, e), &got); err != nil || !errors.Is(&got, class) {
				t.Errorf("after a round trip: %v, %v", got, err)
			}
		})
	}
}

func TestRetryAfterIsMillisecondsOrNull(t *testing.T) {
	if b := string(encode(t, agenttool.Failure(agenttool.RateLimited, "slow_down", "wait"))); !strings.Contains(b, `"retry_after":1000`) {
		t.Error(b)
	}
	e := agenttool.Failure(agenttool.Timeout, "slow", "wait")
	if b := string(encode(t, e)); !strings.Contains(b, `"retry_after":null`) {
		t.Error(b)
	}
	if b := string(encode(t, e.RetryAfter(1500*time.Millisecond))); !strings.Contains(b, `"retry_after":1500`) {
		t.Error(b)
	}
	if e.RetryAfterMS != nil {
		t.Error("RetryAfter changed the error it was called on")
	}
}

func TestAsError(t *testing.T) {
	known := agenttool.Failure(agenttool.SandboxViolation, "c", "m")
	if got := agenttool.AsError(fmt.Errorf("run: %w", known), agenttool.ExecutionFailed); got != known {
		t.Errorf("got %v", got)
	}
	got := agenttool.AsError(fs.ErrPermission, agenttool.ExecutionFailed)
	if got.Class != agenttool.ExecutionFailed || !errors.Is(got, fs.ErrPermission) || got.Message != fs.ErrPermission.Error() {
		t.Errorf("got %+v", got)
	}
}

func TestShortage(t *testing.T) {
	for _, cause := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC, syscall.EDQUOT, syscall.ENOMEM, syscall.ENOLCK, agenttool.ErrNoProcesses,
	} {
		got := agenttool.AsError(fmt.Errorf("open a: %w", &fs.PathError{Op: "open", Path: "a", Err: cause}), agenttool.ExecutionFailed)
		if got.Class != agenttool.DependencyUnavailable || got.Code != agenttool.ResourceExhausted || !errors.Is(got, cause) || got.Recoverability != agenttool.RetrySafe {
			t.Errorf("%v: %+v", cause, got)
		}
	}
	if e := agenttool.SystemFailure("read", syscall.EAGAIN); e != nil { // it says many other things
		t.Errorf("EAGAIN: %+v", e)
	}
}

// TestOneClassForEachCause: whatever a step says of itself, what the system is to blame for has one class and code.
func TestOneClassForEachCause(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.EIO: "execution_failed/io_error", syscall.EROFS: "dependency_unavailable/read_only_filesystem",
		syscall.ENOLCK: "dependency_unavailable/resource_exhausted",
	} {
		for _, fallback := range []agenttool.ErrorClass{agenttool.ExecutionFailed, agenttool.SetupRequired, agenttool.DependencyUnavailable} {
			if got := agenttool.AsError(fmt.Errorf("a step: %w", cause), fallback); string(got.Class)+"/"+got.Code != want {
				t.Errorf("%v of class %s: %s/%s, want %s", cause, fallback, got.Class, got.Code, want)
			}
		}
		if agenttool.IsShortage(cause) != (cause == syscall.ENOLCK) {
			t.Errorf("%v: a shortage %v", cause, agenttool.IsShortage(cause))
		}
	}
}

func TestNoErrorHasItsClassForACode(t *testing.T) {
	for cause, code := range map[error]string{
		fs.ErrNotExist: "not_found", fs.ErrPermission: "permission", syscall.EIO: "io_error", context.Canceled: "interrupted",
		context.DeadlineExceeded: "deadline_exceeded", errors.New("the server said no"): "unexpected",
	} {
		if got := agenttool.AsError(cause, agenttool.ExecutionFailed); got.Class != agenttool.ExecutionFailed || got.Code != code {
			t.Errorf("%v: %s/%s, want code %s", cause, got.Class, got.Code, code)
		}
	}
}

func TestFactIsUnknownUntilItIsSaid(t *testing.T) {
	var f agenttool.Fact
	var facts agenttool.Facts
	if f != agenttool.Unknown || f.String() != "unknown" || facts.ReadOnly != agenttool.Unknown || facts.OpenWorld == agenttool.No {
		t.Errorf("the zero fact is %v", f)
	}
	if got := agenttool.Fact(9); got.String() != "unknown" || string(encode(t, got)) != `"unknown"` {
		t.Errorf("Fact(9) is %v", got)
	}
	if agenttool.Known(true) != agenttool.Yes || agenttool.Known(false) != agenttool.No {
		t.Error("Known")
	}
}

func TestFactUnmarshal(t *testing.T) {
	for _, tt := range []struct {
		json string
		want agenttool.Fact
		ok   bool
	}{
		{`"yes"`, agenttool.Yes, true}, {`"no"`, agenttool.No, true}, {`"unknown"`, agenttool.Unknown, true},
		{`null`, agenttool.Unknown, true},
		{`"Yes"`, agenttool.Unknown, false}, {`""`, agenttool.Unknown, false}, {`true`, agenttool.Unknown, false},
		{`1`, agenttool.Unknown, false},
	} {
		f := agenttool.Yes // what was there before must not survive
		if err := json.Unmarshal([]byte(tt.json), &f); (err == nil) != tt.ok || f != tt.want {
			t.Errorf("%s: got %v, %v", tt.json, f, err)
		}
	}
	for _, f := range []agenttool.Fact{agenttool.Unknown, agenttool.Yes, agenttool.No} {
		var got agenttool.Fact
		if err := json.Unmarshal(encode(t, f), &got); err != nil || got != f {
			t.Errorf("%v: got %v, %v", f, got, err)
		}
	}
}

func TestIDsAreUniqueAndSorted(t *testing.T) {
	var ids agenttool.IDs
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const workers, each = 8, 2_000
	made := make([][]string, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := range each {
				made[w] = append(made[w], ids.New("inv_", start.Add(time.Duration(i/10)*time.Millisecond)))
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, list := range made {
		if !slices.IsSorted(list) {
			t.Error("one goroutine's ids are not in order")
		}
		for _, id := range list {
			if seen[id] || len(id) != len("inv_")+26 || !strings.HasPrefix(id, "inv_") || strings.Trim(id[4:], "0123456789ABCDEFGHJKMNPQRSTVWXYZ") != "" {
				t.Fatalf("id %q", id)
			}
			seen[id] = true
		}
	}
	if len(seen) != workers*each {
		t.Errorf("%d ids", len(seen))
	}
}

// A clock that is set back does not take the order with it.
func TestIDsSortWhenTheClockGoesBack(t *testing.T) {
	var ids agenttool.IDs
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	first, second := ids.New("", now), ids.New("", now.Add(-time.Hour))
	if second <= first {
		t.Errorf("%s, then %s", first, second)
	}
	if third := ids.New("", now.Add(time.Second)); third <= second || third[:10] == second[:10] {
		t.Errorf("%s, then %s", second, third)
	}
}

// Two processes do not agree on their ids.
func TestIDsDifferBetweenGenerators(t *testing.T) {
	var a, b agenttool.IDs
	now := time.Now()
	if x, y := a.New("", now), b.New("", now); x == y || x[:10] != y[:10] {
		t.Errorf("%s and %s", x, y)
	}
}

func TestTimestamp(t *testing.T) {
	conform.Held(t, "X21")
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_999_999, time.FixedZone("", 3600))
	if got := agenttool.Timestamp(at); got != "2026-01-02T02:04:05.006Z" {
		t.Error(got)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", `"\/`, "\x00\x1f\x7f", "é\u2028\u2029😀", "\xff\xc0", "<&>", "a\nb\tc\r", "\ufeff", strings.Repeat("x", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := agenttool.AppendString([]byte("before:"), s)
		quoted, kept := strings.CutPrefix(string(b), "before:")
		if !kept || strings.ContainsAny(quoted, "\n\r") {
			t.Fatalf("%q", b)
		}
		std, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var got, want string
		if err := json.Unmarshal([]byte(quoted), &got); err != nil {
			t.Fatalf("%v in %s", err, quoted)
		}
		if err := json.Unmarshal(std, &want); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%q reads as %q, by encoding/json as %q", s, got, want)
		}
	})
}

func TestEncodeDoesNotEscapeSourceCode(t *testing.T) {
	if got := string(encode(t, map[string]string{"a": "if x < y && z > 1"})); got != `{"a":"if x < y && z > 1"}` {
		t.Error(got)
	}
}

func ExampleFailure() {
	err := fmt.Errorf("write go.mod: %w", agenttool.Failure(agenttool.PermissionDenied, "denied_by_rule",
		"a rule denies writing go.mod"))
	fmt.Println(errors.Is(err, agenttool.PermissionDenied), errors.Is(err, agenttool.Timeout))
	fmt.Println(agenttool.AsError(err, agenttool.ExecutionFailed).Recoverability)
	// Output:
	// true false
	// change_arguments_or_policy
}

func ExampleExtra() {
	var r agenttool.Namespace
	if err := json.Unmarshal([]byte(`{"namespace":"local.files","since":"0.3.0"}`), &r); err != nil {
		panic(err)
	}
	b, err := agenttool.Encode(r)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(b))
	// Output:
	// {"schema_version":"","namespace":"local.files","since":"0.3.0"}
}

func ExampleFact() {
	var facts agenttool.Facts
	fmt.Println(facts.ReadOnly, facts.ReadOnly == agenttool.Yes)
	// Output:
	// unknown false
}
