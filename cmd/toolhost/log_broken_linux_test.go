package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolhost/cmd/toolhost/internal/history/integrity"
	"toolhost/persist"
)

// breakage is a way to break the log of a running session. The path of the log stands in $L, and that of its directory in $D.
type breakage struct {
	name   string
	script string            // run by sh
	says   string            // what the next call that changes something is told
	words  map[string]string // what verify says of files, by their paths with $L and $D
	undo   string
}

const (
	saidWentOn  = "the session went on in "
	saidAnother = "another file than the session wrote"
	saidGone    = "was renamed or removed"
	saidSwapped = "another file has its name"
	saidChanged = "was changed by another program"
)

var breakages = []breakage{
	{name: "renamed", script: `mv $L $L.1`, says: saidGone, words: map[string]string{"$L.1": saidWentOn}},
	{name: "renamed, a copy in its place", script: `mv $L $L.1; cp $L.1 $L`, says: saidSwapped, words: map[string]string{"$L.1": saidWentOn, "$L": saidAnother}},
	{name: "renamed, an empty file in its place", script: `mv $L $L.1; : >$L`, says: saidSwapped, words: map[string]string{"$L": "had written them"}},
	{name: "renamed, a part in its place", script: `mv $L $L.1; head -n 2 $L.1 >$L`, says: saidSwapped, words: map[string]string{"$L.1": saidWentOn, "$L": "had written them"}},
	{name: "renamed, other text in its place", script: `mv $L $L.1; echo other >$L`, says: saidSwapped, words: map[string]string{"$L": "NOT ok"}},
	{name: "renamed, a link in its place", script: `mv $L $L.1; ln -s $L.1 $L`, says: saidSwapped, words: map[string]string{"$L.1": saidWentOn}},
	{name: "renamed, a directory in its place", script: `mv $L $L.1; mkdir $L`, says: saidSwapped, words: map[string]string{"$L.1": saidWentOn}},
	{name: "renamed, a pipe in its place", script: `mv $L $L.1; mkfifo $L`, says: saidSwapped, words: map[string]string{"$L.1": saidWentOn}},
	{name: "renamed, longer copy in its place", script: `mv $L $L.1; (cat $L.1; echo more) >$L`, says: saidSwapped, words: map[string]string{"$L.1": saidWentOn, "$L": "wrote"}},
	{name: "moved elsewhere", script: `mv $L $D/../elsewhere`, says: saidGone},
	{name: "removed", script: `rm $L`, says: saidGone},
	{name: "edited by sed -i", script: `sed -i s/toolhost/TOOLHOST/ $L`, says: saidSwapped, words: map[string]string{"$L": "NOT ok"}},
	{name: "hard link", script: `ln $L $L.2`, says: "second name", words: map[string]string{"$L": saidWentOn}},
	{name: "truncated to nothing", script: `truncate -s 0 $L`, says: "was cut to 0 of its", words: map[string]string{"$L": "had written them"}},
	{name: "truncated by the shell", script: `: >$L`, says: "was cut to 0 of its", words: map[string]string{"$L": "had written them"}},
	{name: "cut in a line", script: `truncate -s 1000 $L`, says: "was cut to 1000 of its", words: map[string]string{"$L": "had written"}},
	{name: "last byte cut", script: `truncate -s -1 $L`, says: "was cut to", words: map[string]string{"$L": "the session had written it"}},
	{name: "last line cut", script: `n=$(tail -n 1 $L | wc -c); truncate -s -$n $L`, says: "was cut to", words: map[string]string{"$L": "the session had written it"}},
	{name: "an old copy written over it", script: `head -n 3 $L >$D/old; cat $D/old >$L`, says: "was cut to", words: map[string]string{"$L": "had written"}},
	{name: "emptied and made as long again", script: `n=$(stat -c %s $L); truncate -s 0 $L; truncate -s $n $L`, says: saidChanged, words: map[string]string{"$L": "had written"}},
	{name: "a hole punched", script: `dd if=/dev/zero of=$L bs=100 seek=3 count=2 conv=notrunc status=none`, says: saidChanged, words: map[string]string{"$L": "NOT ok"}},
	{name: "half of it blank", script: `n=$(stat -c %s $L); dd if=/dev/zero of=$L bs=1 seek=$((n/2)) count=$((n-n/2)) conv=notrunc status=none`, says: saidChanged, words: map[string]string{"$L": "NOT ok"}},
	{name: "a line appended", script: `echo rubbish >>$L`, says: "added 8 bytes", words: map[string]string{"$L": "NOT ok"}},
	{name: "text appended", script: `printf rubbish >>$L`, says: "added 7 bytes", words: map[string]string{"$L": "wrote no 7 bytes"}},
	{name: "blanks appended", script: `truncate -s +4096 $L`, says: "added 4096 bytes", words: map[string]string{"$L": "wrote no 4096 bytes"}},
	{name: "its last line appended", script: `tail -n 1 $L >$D/last; cat $D/last >>$L`, says: "added", words: map[string]string{"$L": "NOT ok"}},
	{name: "a byte written over", script: `printf X | dd of=$L bs=1 seek=400 conv=notrunc status=none`, says: saidChanged, words: map[string]string{"$L": "NOT ok"}},
	{name: "a byte of the last line written over", script: `n=$(stat -c %s $L); printf X | dd of=$L bs=1 seek=$((n-60)) conv=notrunc status=none`, says: saidChanged, words: map[string]string{"$L": "NOT ok"}},
	{name: "written over, and its time put back", script: `touch -r $L $D/t; printf X | dd of=$L bs=1 seek=400 conv=notrunc status=none; touch -r $D/t $L`, says: saidChanged, words: map[string]string{"$L": "NOT ok"}},
	{name: "readable by others", script: `chmod 644 $L`, says: "permissions changed from 0600 to 0644", words: map[string]string{"$L": saidWentOn}},
	{name: "executable", script: `chmod 700 $L`, says: "permissions changed from 0600 to 0700", words: map[string]string{"$L": saidWentOn}},
	{name: "directory open to others", script: `chmod 755 $D`, says: "permissions of its directory changed to 0755", words: map[string]string{"$L": saidWentOn}},
	{name: "directory shut", script: `chmod 0 $D`, undo: `chmod 700 $D`, says: "log.jsonl", words: map[string]string{"$L": saidWentOn}},
	{name: "directory renamed", script: `mv $D $D.old`, says: saidGone, words: map[string]string{"$D.old/log.jsonl": "records, open"}},
	{name: "directory removed", script: `rm -r $D`, says: saidGone},
	{name: "directory copied into its place", script: `mv $D $D.old; cp -r $D.old $D`, says: saidSwapped, words: map[string]string{"$L": saidAnother}},
	{name: "a link in the place of the directory", script: `mv $D $D.old; ln -s $D.old $D`, says: "log.jsonl", words: map[string]string{"$D.old/log.jsonl": "records, open"}},
	{name: "a file in the place of the directory", script: `mv $D $D.old; : >$D`, says: saidGone},
	{name: "all sessions renamed", script: `mv ${D%/*} ${D%/*}.old`, says: saidGone},
	{name: "all sessions removed", script: `rm -r ${D%/*}`, says: saidGone},
}

// TestBrokenLog: each way to break the log of a running session is said by the next call that changes something, which does not run. The session
// goes on in another log that names the break, and verify says what is true of the old file, of what stands in its place, and of the new one.
func TestBrokenLog(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir, state := t.TempDir(), t.TempDir()
	s := startServing(t, dir, state, nil, "--sandbox", "none", "--allow", "Write(**)")
	breaks := breaker{s: s, dir: dir, sessions: filepath.Join(state, "toolhost", "sessions"), run: func(script string, env ...string) ([]byte, error) {
		cmd := exec.Command("sh", "-c", script)
		cmd.Env = append(os.Environ(), env...)
		return cmd.CombinedOutput()
	}}
	for _, b := range breakages {
		t.Run(b.name, func(t *testing.T) { breaks.breakLog(t, b) })
	}
	s.in.Close()
	_, _ = io.Copy(io.Discard, s.stdout.(io.Reader))
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	last := breaks.log(t)
	if r, err := persist.VerifyFile(last); err != nil || !r.Closed {
		t.Errorf("the last log: %v, %s", err, r)
	}
}

// TestLogUnderMounts is TestBrokenLog for mounts, in a namespace of the session.
func TestLogUnderMounts(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if out, err := exec.Command("unshare", "-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt").CombinedOutput(); err != nil {
		t.Skipf("no private mount namespace: %v: %s", err, out)
	}
	dir, state := t.TempDir(), t.TempDir()
	s := startServing(t, dir, state, []string{"unshare", "-rm", "sh", "-c", `mount -t tmpfs -o size=40m,mode=700 tmpfs "$XDG_STATE_HOME" && exec "$0" "$@"`},
		"--sandbox", "none", "--allow", "Write(**)")
	pid := fmt.Sprint(s.cmd.Process.Pid)
	s.call(0, "glob", `{"pattern":"*"}`) // it has entered the namespace
	breaks := breaker{s: s, dir: dir, sessions: filepath.Join("/proc", pid, "root", state, "toolhost", "sessions"), run: func(script string, env ...string) ([]byte, error) {
		cmd := exec.Command("nsenter", "-t", pid, "-U", "-m", "--preserve-credentials", "sh", "-c", script)
		cmd.Env = append(os.Environ(), env...)
		return cmd.CombinedOutput()
	}, at: filepath.Join(state, "toolhost", "sessions")}
	const saidMounted = "covered by a mount"
	for _, b := range []breakage{
		{name: "its directory saidMounted over it", script: `mount --bind $D $D`, says: saidMounted, words: map[string]string{"$L": saidWentOn}},
		{name: "another directory over it", script: `mkdir -p $D/../../other; mount --bind $D/../../other $D`, says: saidGone},
		{name: "another file over it", script: `cp $L $D/copy; mount --bind $D/copy $L`, says: saidMounted, words: map[string]string{"$L": saidAnother}},
		{name: "itself over it, read-only", script: `mount --bind $L $L; mount -o remount,bind,ro $L`, says: saidMounted, words: map[string]string{"$L": saidWentOn}},
		{name: "an empty file system over all sessions", script: `mount -t tmpfs -o mode=700 tmpfs $D/..`, says: saidGone},
		{name: "a full file system over all sessions", script: `mount -t tmpfs -o mode=700,size=4k,nr_inodes=1 tmpfs $D/..`, says: "free space in", undo: `cd /; umount ${D%/*}`},
		{name: "a read-only file system over all sessions", script: `mount -t tmpfs -o mode=700,ro tmpfs $D/..`, says: "read-only file system", undo: `cd /; umount ${D%/*}`},
		{name: "all of it read-only", script: `cd /; mount --bind ${D%/*} ${D%/*}; mount -o remount,bind,ro ${D%/*}`, says: "read-only file system", undo: `cd /; umount ${D%/*}`},
		{name: "unmounted", script: `cd /; umount -l ${D%/*}`, says: saidGone},
		{name: "all unmounted", script: `cd /; umount -l ${D%/toolhost/*}`, says: saidGone},
	} {
		t.Run(b.name, func(t *testing.T) { breaks.breakLog(t, b) })
	}
}

// breaker breaks the logs of one session, one after the other.
type breaker struct {
	s        *serving
	dir      string // the workspace
	sessions string // where the test finds the logs
	at       string // where the session has them, if elsewhere
	run      func(script string, env ...string) ([]byte, error)
	calls    int
}

// write makes a call that changes something, and returns its error.
func (b *breaker) write(t *testing.T) (code, message string) {
	t.Helper()
	b.calls++
	name := fmt.Sprintf("f%d", b.calls)
	r := b.s.call(b.calls, "write", fmt.Sprintf(`{"path":%q,"content":"x\n"}`, name)).Result.Result
	if _, err := os.Stat(filepath.Join(b.dir, name)); (err == nil) != (r.Status == "succeeded") {
		t.Errorf("%+v, and the file: %v", r, err)
	}
	return r.Error.Code, r.Error.Message
}

// log returns the log of the session's last part.
func (b *breaker) log(t *testing.T) string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(b.sessions, "ses_*", persist.LogName))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no log in %s: %v", b.sessions, err)
	}
	logs = slices.DeleteFunc(logs, func(path string) bool { return strings.Contains(path, ".old/") })
	slices.SortFunc(logs, func(a, b string) int { return part(a) - part(b) })
	return logs[len(logs)-1]
}

// part returns the number of a session's part.
func part(path string) (n int) {
	if _, number, is := strings.Cut(filepath.Base(filepath.Dir(path)), "-part"); is {
		_, _ = fmt.Sscan(number, &n)
	}
	return n
}

func (b *breaker) breakLog(t *testing.T, way breakage) {
	if code, message := b.write(t); code != "" {
		t.Fatalf("before: %s: %s", code, message)
	}
	log := b.log(t)
	before, err := persist.VerifyFile(log)
	lost := func(p persist.Problem) bool {
		return before.Continues != nil && p.Kind == persist.Missing && p.To == before.Continues.Count
	}
	if err != nil || slices.ContainsFunc(before.Problems, func(p persist.Problem) bool { return !lost(p) }) { // a way before may have lost lines
		t.Fatalf("before: %v, %s", err, before)
	}
	own := log
	if b.at != "" {
		own = filepath.Join(b.at, strings.TrimPrefix(log, b.sessions))
	}
	env := []string{"L=" + own, "D=" + filepath.Dir(own)}
	time.Sleep(tick) // a change within the clock tick of our own write has the same time
	if out, err := b.run("set -e; "+way.script, env...); err != nil {
		t.Fatalf("%s: %v: %s", way.script, err, out)
	}
	code, message := b.write(t)
	if code == "" || !strings.Contains(message, way.says) {
		t.Errorf("the next call is told %q, %q; want %q", code, message, way.says)
	}
	if way.undo != "" {
		if out, err := b.run(way.undo, env...); err != nil {
			t.Fatalf("%s: %v: %s", way.undo, err, out)
		}
	}
	if code, message := b.write(t); code != "" {
		t.Fatalf("afterwards: %s: %s", code, message)
	}
	b.verify(t, way, log, before, code)
}

// verify checks what verify says of the files.
func (b *breaker) verify(t *testing.T, way breakage, log string, before persist.Report, code string) {
	for path, words := range way.words {
		path = strings.NewReplacer("$L", log, "$D", filepath.Dir(log)).Replace(path)
		if said := verified(t, path); !strings.Contains(said, words) || strings.Contains(said, "the machine stopped") {
			t.Errorf("verify says of %s: %s\nwant %q", filepath.Base(path), said, words)
		}
	}
	if way.undo != "" { // the log was back in time
		return
	}
	if code != "journal_broken" {
		t.Errorf("the code is %q", code)
	}
	next := b.log(t)
	r, err := persist.VerifyFile(next)
	if err != nil || r.Continues == nil || r.Continues.Head == "" || !strings.Contains(r.Continues.Seen, way.says) && way.says != "log.jsonl" {
		t.Fatalf("the next log: %v, %s", err, r)
	}
	if r.Continues.Count < before.Last || filepath.Base(filepath.Dir(r.Continues.File)) != filepath.Base(filepath.Dir(log)) {
		t.Errorf("it continues %+v, and the log before had %d records", r.Continues, before.Last)
	}
	for _, p := range r.Problems { // only that the lines before are not there any more
		if p.Kind != persist.Missing || p.To != r.Continues.Count {
			t.Errorf("the next log: %s", p)
		}
	}
	if r.OK() != (r.Before != "") {
		t.Errorf("the lines before are in %q: %s", r.Before, r)
	}
}

// verified is what log verify prints of a log.
func verified(t *testing.T, path string) string {
	t.Helper()
	r, err := integrity.Verify(path, "")
	if err != nil {
		return err.Error()
	}
	var out bytes.Buffer
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// tick is longer than the step of the clock of file times.
const tick = 12 * time.Millisecond

// TestCommandsReadAllLogs: a session whose log was broken while it ran is one session for every command that reads sessions, also after it has
// ended: a call and a job that began before the break and ended after it are whole, and whatever part is named means all of it.
func TestCommandsReadAllLogs(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	for _, way := range []struct{ name, script string }{{"in its place", `chmod 700 $L`}, {"renamed", `mv $L $L.1`}} {
		t.Run(way.name, func(t *testing.T) { commandsReadAllLogs(t, way.script) })
	}
}

func commandsReadAllLogs(t *testing.T, script string) {
	dir := t.TempDir()
	s := startServing(t, dir, t.TempDir(), nil, "--sandbox", "none", "--allow", "Write(**)", "--allow", "Shell")
	s.call(1, "write", `{"path":"before","content":"hush-4711\n"}`)
	s.send(`{"jsonrpc":"2.0","id":2,"method":"agenttool/invoke","params":{"id":"job","tool":"shell",` +
		`"input":{"timeout_ms":100,"command":"seq 1 20000; echo first; until [ -e go ]; do sleep 0.01; done; echo last; exit 3"}}}`)
	if _, ok := s.next(); !ok {
		t.Fatal("no answer")
	}
	path := s.log()
	id := filepath.Base(filepath.Dir(path))
	toolhost := func(args ...string) *exec.Cmd {
		cmd := exec.Command(s.cmd.Path, args...)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+s.state)
		return cmd
	}
	follow := toolhost("log", "follow", id, "--since", "1h")
	said, err := follow.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	followed := bufio.NewScanner(said)
	for followed.Scan() && !strings.Contains(followed.Text(), "before") { // it reads the log before that is broken
	}
	time.Sleep(tick)
	breaks := exec.Command("sh", "-c", script)
	breaks.Env = append(os.Environ(), "L="+path)
	if out, err := breaks.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if r := s.call(3, "write", `{"path":"after","content":"x\n"}`).Result.Result; r.Error.Code != "journal_broken" {
		t.Fatalf("after the break: %+v", r)
	}
	s.call(4, "write", `{"path":"after","content":"hush-4712\n"}`)
	s.call(5, "write", `{"path":"go","content":""}`)
	s.call(6, "shell_output", `{"job":"j1","wait_ms":60000,"until":"exit"}`)

	part := id + "-part2"
	row := func(words string, lists ...string) {
		t.Helper()
		out, err := toolhost(strings.Fields(words)...).CombinedOutput()
		for _, want := range lists {
			if not, is := strings.CutPrefix(want, "not "); is && strings.Contains(string(out), not) || !is && !strings.Contains(string(out), want) {
				t.Errorf("%s (%v): %q in\n%s", words, err, want, out)
			}
		}
	}
	row("log list", "continued", "live", "not open")
	row("jobs tail -n 2 j1", "last", "not 20000")
	s.in.Close()
	_, _ = io.Copy(io.Discard, s.stdout.(io.Reader))
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	after := false
	for followed.Scan() {
		after = after || strings.Contains(followed.Text(), "changed go (created)")
	}
	if err := follow.Wait(); err != nil || !after {
		t.Errorf("follow shows the calls after the break: %v, %v", after, err)
	}
	row("log list", "continued", "closed", "not open", "not live")
	for _, named := range []string{id, part, ""} {
		row("log show "+named, "before", "another log, since", "after", "session closed", "not host died", "not died with")
		row("log show --call job "+named, "first", "20000", "tool.invocation.planned", "result.created", "not lost")
		row("log stats --json "+named, `"sessions":1`, `"tool":"write","calls":4`)
	}
	row("log show --all", "session "+id+"\n", "not session "+part)
	row("log grep hush-471", "before", "after")
	row("log verify "+part, id+": ", part+": ok", "not differs")
	row("jobs tail -n 3 j1", "20000\nfirst\nlast", "exit status 3", id)
	row("jobs tail -n 1 --session "+part+" j1", "last")
	row("jobs tail j2", "no running session has a job j2")
	row("log prune --dry-run --older-than 1h", "0 items")
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(-2*time.Hour)); err == nil { // a part is as old as its session
		row("log prune --dry-run --older-than 1h", "0 items")
	}
	row("log redact "+part+" --pattern hush-[0-9]+", "took out", "not nothing found")
	if strings.HasPrefix(script, "mv") {
		row("log redact "+part+" --pattern first", id+": ", "no such file") // what is left is said
		return
	}
	row("log show "+id, "before", "after", "not hush-471")
	row("log verify "+id, "secrets were taken out", part+": ok", "not NOT ok", "not is not there")
}
