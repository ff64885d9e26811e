package sandbox

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bench is a session over a workspace of its own.
type bench struct {
	*Session
	ws, home string
}

func newBench(t testing.TB, change func(*Options)) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{ws: filepath.Join(dir, "ws"), home: filepath.Join(dir, "home")}
	for _, d := range []string{b.ws, b.home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Roots: []string{b.ws}, Home: b.home, Dir: filepath.Join(dir, "state", "scratch", "s1"), Cache: filepath.Join(dir, "cache"),
		Hidden: []string{filepath.Join(dir, "state")}}
	if change != nil {
		change(&o)
	}
	if b.Session, err = Open(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

type result struct {
	out  string
	exit int
	err  error
}

// run runs a line of bash and waits until nothing is left of it.
func (b *bench) run(t testing.TB, access Access, line string) result {
	t.Helper()
	return b.runProfile(t, Profile{Access: access}, line)
}

func (b *bench) runProfile(t testing.TB, profile Profile, line string) result {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, _ := os.Open(os.DevNull)
	defer null.Close()
	dir, err := os.Open(b.ws)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	p, err := b.Start(&Command{Path: "/bin/bash", Args: []string{"bash", "--norc", "-c", line}, Dir: b.ws, At: dir,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home}, Streams: [3]*os.File{null, w, w}, Profile: profile})
	w.Close()
	if err != nil {
		r.Close()
		return result{err: err}
	}
	out, _ := io.ReadAll(r)
	r.Close()
	select {
	case <-p.Gone():
	case <-time.After(20 * time.Second):
		t.Fatal("it is not gone")
	}
	return result{out: strings.TrimSuffix(string(out), "\n"), exit: p.Ended().Status.ExitStatus()}
}

func TestFirst(t *testing.T) {
	b := newBench(t, nil)
	for _, access := range []Access{ReadOnly, Workspace} {
		for _, line := range []string{"echo hi; id; pwd; ls -la /dev /dev/shm; ps ax; cat /proc/self/status | grep -E 'Cap|Seccomp|NoNew'; cat /proc/mounts | wc -l; ls -la /tmp /run $HOME; ip addr",
			"touch a; touch /tmp/b; touch /usr/x; touch $HOME/c; touch /dev/shm/d; touch $TMPDIR/e; ls; ls /tmp; ulimit -a | grep -E 'proc|file'; mktemp; exit 3", "(sleep 0.3; echo late) & echo early"} {
			start := time.Now()
			r := b.run(t, access, line)
			t.Logf("%s %s\n%s\nexit %d %v %v", access, line, r.out, r.exit, r.err, time.Since(start))
		}
	}
	list, _ := os.ReadDir(b.ws)
	t.Log(list)
}
