package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/cut"
	"toolhost/sandbox"
)

var self = account{name: "self"}

// everywhere runs a test at the strongest level and at none. The race detector has seen all of the host in the one.
func everywhere(t *testing.T, r *escapeTools, test func(*testing.T, *escapeAttempt)) {
	t.Helper()
	for _, level := range r.levels(t, self) {
		if level == sandbox.Full && !underRace || level == sandbox.None {
			t.Run(string(level), func(t *testing.T) { test(t, r.jobArena(t, self, level)) })
		}
	}
}

// somewhere is everywhere for what does not depend on the level; the ordinary form runs it at the strongest only, or at none where there is
// no other.
func somewhere(t *testing.T, r *escapeTools, test func(*testing.T, *escapeAttempt)) {
	t.Helper()
	if level := sandbox.Full; !long() && !underRace && slices.Contains(r.levels(t, self), level) {
		t.Run(string(level), func(t *testing.T) { test(t, r.jobArena(t, self, level)) })
		return
	}
	everywhere(t, r, test)
}

// TestJobOutput300MB: 300 MB, of which the ordinary form has a tenth: much output costs the host no memory, delays nobody, and is all there.
func TestJobOutput300MB(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("300 MB")
	}
	const first = 100_000_000
	lines := int64(count(2_000_000, 30_000_000)) // of ten bytes each
	if timed() {
		lines = 30_000_000
	}
	if underRace {
		lines /= 6
	}
	r := jobTools(t)
	somewhere(t, r, func(t *testing.T, a *escapeAttempt) {
		a.write("ws/small", strings.Repeat("0123456789abcde\n", 64))
		h := a.jobHost()
		h.loose = true
		h.ran("seq 100") // what a first command costs
		pid := h.Cmd.Process.Pid
		for range 100 {
			h.call("read", fields{"path": "small"})
		}
		before, most := residentBytes(t, pid), int64(0)
		v := h.background(fmt.Sprintf("seq %d %d", first, first+lines-1))
		var samples []time.Duration
		begun := time.Now()
		for end := false; !end; {
			for range 50 {
				if got := h.call("read", fields{"path": "small"}); got.Result.Status != "succeeded" {
					t.Fatalf("read: %s", got.says())
				} else {
					samples = append(samples, got.took)
				}
			}
			most = max(most, residentBytes(t, pid))
			end = h.job(v.Job) == nil
			time.Sleep(200 * time.Millisecond) // reads as fast as they go would take the processor from the output
			if time.Since(begun) > 5*time.Minute {
				t.Fatal("it does not end")
			}
		}
		took := time.Since(begun)
		most = max(most, residentBytes(t, pid)) - before
		slices.Sort(samples)
		p99 := samples[len(samples)*99/100]
		t.Logf("%d MB in %v; the host grew by %.1f MiB; %d reads beside it: p50 %v, p99 %v", lines*10/1_000_000, took.Round(time.Millisecond),
			float64(most)/(1<<20), len(samples), samples[len(samples)/2], p99)
		if most > 8<<20 && !underRace {
			t.Errorf("the host grew by %d bytes", most)
		}
		if timed() && p99 > 5*time.Millisecond {
			t.Errorf("a read beside it takes %v", p99)
		}
		checkSequence(t, h, v.Job, first, lines)
	})
}

// checkSequence compares what is kept of seq's output with what seq wrote.
func checkSequence(t *testing.T, h *jobHost, job string, first, lines int64) {
	t.Helper()
	size := lines * 10
	begin := fmt.Sprintf("%d\n%d\n", first, first+1)
	if v := h.output(job, fields{"cursor": 0}); v.Bytes != size || v.Lines != lines || v.State != "ended" || !strings.HasPrefix(v.Text, begin) {
		t.Errorf("%d bytes, %d lines, %s; it begins %.20q", v.Bytes, v.Lines, v.State, v.Text)
	}
	for _, line := range []int64{1, 1000, lines / 3, lines / 2, lines - 200_000, lines - 2} {
		v := h.output(job, fields{"cursor": line * 10})
		if want := fmt.Sprintf("%d\n%d\n", first+line, first+line+1); !strings.HasPrefix(v.Text, want) || v.Cursor != line*10 || v.Missing != nil {
			t.Errorf("at byte %d: cursor %d, %.30q, missing %v", line*10, v.Cursor, v.Text, v.Missing)
		}
	}
	if v := h.output(job, fields{"tail": 1}); strings.TrimSpace(v.Text) != fmt.Sprint(first+lines-1) {
		t.Errorf("the last line: %q", v.Text)
	}
	if v := h.output(job, fields{"grep": fmt.Sprintf("^%d$", first+lines-7)}); !strings.Contains(v.Text, fmt.Sprint(first+lines-7)) && !v.More {
		t.Errorf("grep: %q, and no more", v.Text) // where it takes too long there is more
	}
	want := sha256.New()
	var line []byte
	for n := first; n < first+lines; n++ {
		line = append(strconv.AppendInt(line, n, 10), '\n')
		if len(line) > 1<<16 {
			want.Write(line)
			line = line[:0]
		}
	}
	want.Write(line)
	var seen []string
	for _, path := range sessionFiles(h) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if seen = append(seen, fmt.Sprint(info.Name(), " of ", info.Size())); info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if info.Size() != size {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got := sha256.New()
		if _, err := io.Copy(got, f); err != nil || string(got.Sum(nil)) != string(want.Sum(nil)) {
			t.Errorf("%s is not what was written: %v", path, err)
		}
		return
	}
	t.Errorf("no file of the session has the %d bytes: %q", size, seen)
}

// sessionFiles are the files of a host's session.
func sessionFiles(h *jobHost) (found []string) {
	_ = filepath.WalkDir(filepath.Join(h.a.state, "toolhost", "sessions", h.session), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// TestJobOutputLimit: what is more than a job may keep is counted and marked, and holds nobody up.
func TestJobOutputLimit(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	a := r.jobArena(t, self, sandbox.None)
	h := a.jobHost("--job-output", "3000000")
	v := h.background("seq 100000000 101000000; echo END OF IT")
	h.until("it ends", func() bool { return h.job(v.Job) == nil })
	var missing, at int64
	whole := &jobView{More: true}
	for rounds := 0; whole.More && rounds < 2000; rounds++ {
		whole = h.output(v.Job, fields{"cursor": at})
		if whole.Missing != nil {
			missing += whole.Missing.To - whole.Missing.From
			if whole.Missing.Reason == "" {
				t.Error("it is not said why bytes are missing")
			}
		}
		if whole.NextCursor <= at && whole.More {
			t.Fatalf("the cursor stays at %d", at)
		}
		at = whole.NextCursor
	}
	if whole.Bytes != 10_000_010+10 || at != whole.Bytes || missing == 0 {
		t.Errorf("%d bytes, read up to %d, %d missing", whole.Bytes, at, missing)
	}
	for _, path := range sessionFiles(h) {
		if info, err := os.Stat(path); err == nil && info.Name() != "log.jsonl" && info.Size() > 3_500_000 {
			t.Errorf("%s has %d bytes", path, info.Size())
		}
	}
}

// TestEphemeralOutput: a session that keeps nothing does not keep it in memory.
func TestEphemeralOutput(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("it looks at memory")
	}
	t.Parallel()
	r := jobTools(t)
	a := r.jobArena(t, self, sandbox.None)
	h := a.jobHost("--ephemeral")
	h.loose = true
	h.ran("true")
	before := residentBytes(t, h.Cmd.Process.Pid)
	v := h.background("seq 100000000 110000000") // 100 MB
	h.until("it ends", func() bool { return h.job(v.Job) == nil })
	if grown := residentBytes(t, h.Cmd.Process.Pid) - before; grown > 48<<20 {
		t.Errorf("the host grew by %d bytes", grown)
	}
	if got := h.output(v.Job, fields{"cursor": 50_000_000}); !strings.HasPrefix(got.Text, "105000000\n105000001\n") && got.Missing == nil {
		t.Errorf("in the middle: %.30q, and nothing is said to be missing", got.Text)
	}
	if got := h.output(v.Job, fields{"tail": 1}); strings.TrimSpace(got.Text) != "110000000" {
		t.Errorf("the last line: %.30q", got.Text)
	}
	h.close()
	if left := sessionFiles(h); len(left) > 0 {
		t.Errorf("it left %q", left)
	}
}

// TestFinishedJobsAreSmall: jobs that have ended take no memory and no descriptors.
func TestFinishedJobsAreSmall(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("it runs many jobs, and looks at memory")
	}
	t.Parallel()
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.None).jobHost()
	h.loose = true
	pid := h.Cmd.Process.Pid
	run := func(n int) {
		for range n {
			h.ran("seq 200000 >&2; seq 100000")
		}
	}
	run(5)
	files, memory := descriptors(t, pid), residentBytes(t, pid)
	run(count(30, 60))
	h.until(fmt.Sprintf("it has no more than %d descriptors", files+2), func() bool { return descriptors(t, pid) <= files+2 })
	grown := residentBytes(t, pid) - memory
	t.Logf("jobs of 2 MB: the host grew by %.1f MiB", float64(grown)/(1<<20))
	if grown > 16<<20 {
		t.Errorf("the host grew by %d bytes", grown)
	}
	if v := h.output(fmt.Sprint("j", 5+count(30, 60)), fields{"tail": 1}); !strings.HasSuffix(strings.TrimSpace(v.Text), "00000") {
		t.Errorf("the last job ends with %q", v.Text)
	}
}

// TestFiftyJobs: fifty jobs at once, each read by two readers: no line is lost, doubled or mixed.
func TestFiftyJobs(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	somewhere(t, r, func(t *testing.T, a *escapeAttempt) {
		const jobs = 50
		lines := count(300, 10_000)
		if underRace {
			lines = 300
		}
		h := a.jobHost()
		h.loose = true
		begun := time.Now()
		must(t, unix.Mkfifo(a.path("ws/gate"), 0o600)) // none of them ends before its call
		started := make([]*jobView, jobs)
		for i := range started {
			format := fmt.Sprintf("job %02d line %%.0f of ten thousand", i)
			script := fmt.Sprintf(": <gate; seq -f '%s' %d", format, lines)
			if i%5 == 0 { // in small pieces, on two streams
				script = ": <gate; " + fmt.Sprintf("seq -f '%s' %d | while read -r l; do case $l in *[02468]' of'*) echo \"$l\" >&2;; *) echo \"$l\";; esac; done", format, lines)
			}
			started[i] = h.background(script)
		}
		gate, err := os.OpenFile(a.path("ws/gate"), os.O_RDWR, 0)
		must(t, err)
		defer gate.Close()
		var all sync.WaitGroup
		for i, v := range started {
			all.Go(func() { checkLines(t, fmt.Sprint(v.Job, " by cursor"), readAll(t, h, v, true), i, lines, i%5 == 0) })
			all.Go(func() { checkLines(t, v.Job, readAll(t, h, v, false), i, lines, i%5 == 0) })
		}
		all.Wait()
		t.Logf("%d jobs of %d lines, read twice: %v", jobs, lines, time.Since(begun).Round(time.Millisecond))
		if left := h.jobs(); len(left) > 0 {
			t.Errorf("%d jobs are left", len(left))
		}
	})
}

// readAll reads a job to its end, with cursors or as the job itself remembers.
func readAll(t *testing.T, h *jobHost, v *jobView, cursors bool) string {
	var b strings.Builder
	at := int64(0)
	if cursors = cursors || v.StdoutCut || v.StderrCut; !cursors { // what was cut is only read again from the beginning
		b.WriteString(v.Stdout + v.Stderr)
	}
	for begun := time.Now(); time.Since(begun) < 5*time.Minute; {
		input := fields{"job": v.Job, "wait_ms": 1000}
		if cursors {
			input["cursor"] = at
		}
		r, err := h.try("shell_output", input)
		if err != nil || r.Result.Status != "succeeded" {
			t.Errorf("shell_output %v: %v %s", input, err, r.says())
			return b.String()
		}
		got := r.view()
		if cursors && got.Cursor != at {
			t.Errorf("%s: asked for %d, got %d", v.Job, at, got.Cursor)
		}
		if len(got.Text) > 30_000 {
			t.Errorf("%s: a text of %d bytes", v.Job, len(got.Text))
		}
		b.WriteString(got.Text)
		at = got.NextCursor
		if got.State == "ended" && !got.More {
			return b.String()
		}
	}
	t.Errorf("%s: no end", v.Job)
	return b.String()
}

var streamMark = regexp.MustCompile(`(?m)^\[[^\n]*\]\n`)

// checkLines checks what one job said. Of two streams only each by itself has an order.
func checkLines(t *testing.T, what, text string, job, lines int, streams bool) {
	next := [2]int{1, 2}
	step := 2
	if !streams {
		next, step = [2]int{1, 0}, 1
	}
	count := 0
	for line := range strings.Lines(streamMark.ReplaceAllString(text, "")) {
		count++
		stream := 0
		var n int
		if _, err := fmt.Sscanf(line, fmt.Sprintf("job %02d line %%d of ten thousand\n", job), &n); err == nil && streams {
			stream = (n + 1) % 2
		}
		if want := fmt.Sprintf("job %02d line %d of ten thousand\n", job, next[stream]); line != want {
			t.Errorf("%s: line %d is %q, want %q", what, count, cut.Characters(line, 100), want)
			return
		}
		next[stream] += step
	}
	if count != lines {
		t.Errorf("%s: %d lines of %d", what, count, lines)
	}
}

// TestSplitCharacter: a character that comes in pieces is whole, however it is read.
func TestSplitCharacter(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	somewhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h := a.jobHost()
		h.loose = true // it answers again and again
		const split, twice = `printf '\xc3'; sleep 0.2; printf '\xa9'`, `printf '\xf0'; sleep 0.3; printf '\x9f\x98'; sleep 0.3; printf '\x80.\n'`
		if v := h.ran(split); v.Stdout != "é" || v.StdoutBytes != 2 {
			t.Errorf("in the foreground: %q, %d bytes", v.Stdout, v.StdoutBytes)
		}
		if v := h.ran(split, fields{"tty": true}); v.Stdout != "é" {
			t.Errorf("on a terminal: %q", v.Stdout)
		}
		for want, script := range map[string]string{"é": split, "😀.\n": twice} {
			for _, cursors := range []bool{true, false} {
				v := h.background(script)
				if got := readAll(t, h, v, cursors); got != want {
					t.Errorf("in pieces: %q, want %q", got, want)
				}
			}
			v, all, at := h.background(script), "", int64(0)
			for state := ""; state != "ended"; time.Sleep(time.Millisecond) { // a hundred times between two pieces: it never holds half a character
				got := h.output(v.Job, fields{"cursor": at})
				all, at, state = all+got.Text, got.NextCursor, got.State
			}
			if all += h.output(v.Job, fields{"cursor": at}).Text; all != want {
				t.Errorf("read without waiting: %q, want %q", all, want)
			}
		}
		v := h.ran(`printf 'a\xc3'; exec >&-; sleep 0.1`) // what never comes is not waited for
		if v.Stdout != "a\uFFFD" {
			t.Errorf("half a character at the end: %q", v.Stdout)
		}
	})
}

// TestCleanedOutput: sequences for terminals and lines that were written over do not come before a model; the bytes are kept.
func TestCleanedOutput(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.Full).jobHost()
	v := h.background(`printf '\033[31mred\033[0m\n'; printf '10%%\r50%%\r100%%\n'; printf '\033]0;title\007plain\n'; sleep 0.1; echo err >&2`)
	h.output(v.Job, fields{"until": "exit"})
	got := h.output(v.Job, fields{"cursor": 0})
	for _, want := range []string{"red\n", "100%\n", "plain\n", "err"} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("%q is missing in %q", want, got.Text)
		}
	}
	if strings.ContainsAny(got.Text, "\x1b\r\x07") || strings.Contains(got.Text, "50%") || strings.Contains(got.Text, "title") {
		t.Errorf("it is not clean: %q", got.Text)
	}
	if raw := int64(len("\033[31mred\033[0m\n10%\r50%\r100%\n\033]0;title\007plain\nerr\n")); got.Bytes != raw || got.NextCursor != raw {
		t.Errorf("%d bytes, read up to %d, want %d", got.Bytes, got.NextCursor, raw)
	}
}

// TestLongLines: a line that does not end is read in pieces, and loses nothing to the data behind it.
func TestLongLines(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.None).jobHost()
	v := h.background(`head -c 200000 /dev/zero | tr '\0' x; sleep 0.2; echo; head -c 3000 /dev/zero; printf '\xff\xfe\n'`)
	all := readAll(t, h, v, true)
	data := strings.TrimLeft(all, "x") // a page of its own, or behind the line
	if n := len(all) - len(data); n != 200_000 {
		t.Errorf("%d of 200,000", n)
	}
	if data == "" {
		t.Error("nothing is said of the data behind the line")
	}
	if got := h.output(v.Job, fields{"tail": 1}); len(got.Text) > 30_000 {
		t.Errorf("the last line has %d bytes", len(got.Text))
	}
}

// TestReading: what each way of reading gives, and which of them move where the next one begins.
func TestReading(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	somewhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h := a.jobHost()
		v := h.background("seq 1 20; while [ ! -e go ]; do sleep 0.02; done; seq 21 40; sleep 0.1; echo oops >&2; exit 3")
		one := h.output(v.Job, fields{"until": "match:(?m)^20$", "cursor": 0}).Text
		if !strings.HasPrefix(one, "1\n2\n") || !strings.HasSuffix(strings.TrimSpace(one), "\n20") {
			t.Errorf("the first part: %q", one)
		}
		if told := v.Stdout + h.output(v.Job).Text; told != one {
			t.Errorf("what was told is %q, the output is %q", told, one)
		}
		tail := h.output(v.Job, fields{"tail": 2})
		if strings.TrimSpace(tail.Text) != "19\n20" || tail.Bytes != 51 || tail.Lines != 20 || tail.State != "running" {
			t.Errorf("tail: %+v", tail)
		}
		if found := h.output(v.Job, fields{"grep": "^1[25]$"}).Text; !regexp.MustCompile(`(?s)^\D*12\D+12\n\D*15\D+15\s*$`).MatchString(found) {
			t.Errorf("grep: %q, want lines 12 and 15 with their numbers", found)
		}
		if again := h.output(v.Job, fields{"cursor": 0}).Text; again != one {
			t.Errorf("from the beginning: %q", again)
		}
		if nothing := h.output(v.Job); nothing.Text != "" || nothing.ExitCode != nil {
			t.Errorf("nothing is new, but: %q, exit code %v", nothing.Text, nothing.ExitCode)
		}
		a.write("ws/go", "")
		rest := h.output(v.Job, fields{"until": "exit"})
		if rest.Cursor != 51 || !strings.HasPrefix(rest.Text, "21\n") || !strings.Contains(rest.Text, "40\n") || !strings.Contains(rest.Text, "oops") {
			t.Errorf("the rest: %+v", rest)
		}
		if rest.State != "ended" || rest.ExitCode == nil || *rest.ExitCode != 3 || rest.More || rest.NextCursor != rest.Bytes {
			t.Errorf("at its end: %+v", rest)
		}
		if found := h.output(v.Job, fields{"grep": "[27]$"}).Text; strings.Count(strings.TrimSpace(found), "\n") != 7 {
			t.Errorf("grep of the whole: %q", found)
		}
		if beyond := h.output(v.Job); beyond.Text != "" || beyond.State != "ended" {
			t.Errorf("after the end: %+v", beyond)
		}
		if out := h.output(v.Job, fields{"cursor": 0, "stream": "stderr"}); out.Text != "oops\n" {
			t.Errorf("stderr alone: %q", out.Text)
		}
		if out := h.output(v.Job, fields{"cursor": 0, "stream": "stdout"}); strings.Contains(out.Text, "oops") || !strings.Contains(out.Text, "40\n") {
			t.Errorf("stdout alone: %q", out.Text)
		}
	})
}

// TestUntil: what can be waited for, how long it takes, and what ends the wait otherwise.
func TestUntil(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	const long = 300_000 // who waits for what comes has it long before
	for _, c := range []struct {
		name, script  string
		input         fields
		least, budget time.Duration
		state         string
		matched       bool
	}{
		{"exit", "sleep 0.4; echo x; exit 1", fields{"until": "exit", "wait_ms": long}, 0, 5 * time.Second, "ended", false},
		{"match", "sleep 0.3; echo ready on 80; sleep 600", fields{"until": "match:ready on [0-9]+", "wait_ms": long}, 0, 5 * time.Second, "running", true},
		{"match that comes in two pieces", "printf rea; sleep 0.3; printf dy; sleep 600", fields{"until": "match:ready", "wait_ms": long}, 0, 5 * time.Second, "running", true},
		{"match that never comes", "sleep 0.3; echo x", fields{"until": "match:ready", "wait_ms": long}, 0, 5 * time.Second, "ended", false},
		{"match that is too late", "sleep 600; echo ready", fields{"until": "match:ready", "wait_ms": 300}, 250 * time.Millisecond, 5 * time.Second, "running", false},
		{"quiet", "for i in 1 2 3 4; do echo $i; sleep 0.1; done; sleep 600", fields{"until": "quiet:400", "wait_ms": long}, 300 * time.Millisecond, 8 * time.Second, "running", false},
		{"wait for output", "sleep 0.3; echo x; sleep 600", fields{"wait_ms": long}, 0, 5 * time.Second, "running", false},
		{"wait for output that does not come", "sleep 600", fields{"wait_ms": 300}, 250 * time.Millisecond, 5 * time.Second, "running", false},
		{"not at all", "sleep 600", fields{}, 0, 2 * time.Second, "running", false},
		{"end of a silent one", "sleep 0.3", fields{"wait_ms": long}, 0, 5 * time.Second, "ended", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := r.jobArena(t, self, sandbox.None).jobHost()
			v := h.background(c.script)
			c.input["job"] = v.Job
			r, err := h.try("shell_output", c.input)
			if err != nil || r.Result.Status != "succeeded" {
				t.Fatalf("%v %s", err, r.says())
			}
			got := r.view()
			within(t, c.name, r.took, c.budget, 25*time.Second) // less than what is waited by itself
			if r.took < c.least || got.State != c.state {
				t.Errorf("%v, state %q, text %q; want %v or more, %q", r.took, got.State, got.Text, c.least, c.state)
			}
			if matched := len(got.Matched) > 0 && string(got.Matched) != "false" && string(got.Matched) != "null" && string(got.Matched) != `""`; matched != c.matched {
				t.Errorf("matched: %s", got.Matched)
			}
			if c.matched && got.NextCursor < 5 {
				t.Errorf("it matched, but the text ends at %d", got.NextCursor)
			}
			h.kill(v.Job)
		})
	}
}

// TestMatchLooksAhead: what was read is not matched again.
func TestMatchLooksAhead(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.None).jobHost()
	v := h.background("echo ready; " + untilGo + "echo ready again; sleep 600")
	first := h.output(v.Job, fields{"until": "match:ready", "cursor": 0})
	if first.NextCursor != 6 {
		t.Fatalf("the first: %+v", first)
	}
	h.a.write("ws/go", "")
	if again := h.output(v.Job, fields{"until": "match:ready", "cursor": first.NextCursor}); !strings.Contains(again.Text, "ready again") {
		t.Errorf("the second: %q", again.Text)
	}
	if v := h.output(v.Job, fields{"until": "match:again", "cursor": 0}); !strings.Contains(v.Text, "ready again") {
		t.Errorf("from the beginning: %q", v.Text)
	}
	h.kill(v.Job)
}

// TestBadReading: what is wrong with an input is said, and what could be meant.
func TestBadReading(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.None).jobHost()
	h.ran("echo one")
	h.ran("echo two")
	for _, c := range []struct {
		tool  string
		input fields
		code  string
		says  string
	}{
		{"shell_output", fields{"job": "j99"}, "unknown_job", "j2"},
		{"shell_output", fields{"job": "1"}, "unknown_job", "j1"},
		{"shell_input", fields{"job": "j99", "text": "x"}, "unknown_job", "j1"},
		{"shell_kill", fields{"job": "j99"}, "unknown_job", "j2"},
		{"shell_kill", fields{"job": "../j1"}, "unknown_job", "j2"},
		{"shell_output", fields{"job": "j1", "until": "match:("}, "", "("},
		{"shell_output", fields{"job": "j1", "until": "later"}, "", "match"},
		{"shell_output", fields{"job": "j1", "until": "quiet:x"}, "", "quiet"},
		{"shell_output", fields{"job": "j1", "grep": "["}, "", "["},
		{"shell_input", fields{"job": "j1", "keys": []string{"ctrl-any"}}, "", "ctrl-"},
		{"shell_kill", fields{"job": "j1", "signal": "SIGNONE"}, "", "SIG"},
	} {
		e := h.call(c.tool, c.input)
		if e.Result.Error.Class != "invalid_arguments" && (c.code != "" || e.Result.Error.Class != "schema_validation_failed") {
			t.Errorf("%s %v: class %q: %s", c.tool, c.input, e.Result.Error.Class, e.says())
		}
		if c.code != "" && e.Result.Error.Code != c.code || !strings.Contains(e.Result.Error.Message, c.says) {
			t.Errorf("%s %v: %s: %s; want %s, naming %s", c.tool, c.input, e.Result.Error.Code, e.Result.Error.Message, c.code, c.says)
		}
	}
}

// TestFinishedJobs are read as others are, whatever became of them.
func TestFinishedJobs(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	somewhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h := a.jobHost()
		for i, c := range []struct {
			command string
			more    fields
			code    int
			signal  string
			text    string
		}{
			{"seq 3", nil, 0, "", "1\n2\n3\n"},
			{"echo a; exit 4", nil, 4, "", "a\n"},
			{"echo b; kill -9 $$", nil, 0, "KILL", "b\n"},
			{"printf c", fields{"run_in_background": true}, 0, "", "c"},
			{"printf 'd\n'", fields{"tty": true}, 0, "", "d\n"},
			{"true", nil, 0, "", ""},
		} {
			job := fmt.Sprint("j", i+1)
			if got := h.run(c.command, c.more).view(); got.Job != job {
				t.Errorf("%s: job %q, want %q", c.command, got.Job, job)
			}
			for range 2 {
				v := h.output(job, fields{"cursor": 0, "until": "exit"})
				if v.State != "ended" || v.Text != c.text || !strings.HasSuffix(v.Signal, c.signal) || (v.ExitCode == nil || *v.ExitCode != c.code) && c.signal == "" {
					t.Errorf("%s: %+v", c.command, v)
				}
			}
			if v := h.kill(job); v.State != "ended" {
				t.Errorf("kill of an ended job: %+v", v)
			}
		}
	})
}
