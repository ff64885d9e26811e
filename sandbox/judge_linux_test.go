package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"toolhost/permissions/protect"
	"toolhost/sandbox/notify"
)

// What a supervisor keeps from a command that names a place in ways which the names themselves do not show.
func TestJudgedPlaces(t *testing.T) {
	for _, level := range []Level{Full, LandlockNotify} {
		t.Run(string(level), func(t *testing.T) {
			b := newBench(t, func(o *Options) { o.Level = level })
			b.write(t, "seen/in/file", "x")
			for _, tt := range []struct{ name, line, want string }{
				{"a tree whose names are protected at its new place", `mkdir -p n; echo > n/.envrc; mv n/.envrc n/e; mv seen away; mv n/e n/.envrc; mv n seen 2>/dev/null || echo held`, "held"},
				{"one that is not", `mkdir -p k/deep; echo > k/deep/file; mv k l && cat l/deep/file && echo moved`, "\nmoved"},
				{"and back to its place", `mv away seen && cat seen/in/file`, "x"},
				{"a tree that makes a longer name", `mkdir -p c/git; echo > c/git/config; mv c .config 2>/dev/null || echo held`, "held"},
				{"a tree that cannot be looked at", `mkdir -p q/r; echo > q/r/.envrc; mv seen away; chmod 0 q; mv q seen 2>/dev/null || echo held; chmod 755 q; mv away seen`, "held"},
				{"a link in place of a directory", `mv seen away; ln -s /tmp seen 2>/dev/null || echo held; mv away seen`, "held"},
				{"a link moved there", `mv seen away; ln -s /tmp t; mv t seen 2>/dev/null || echo held; mv away seen; rm t`, "held"},
				{"a link elsewhere", `ln -s seen/in by && cat by/file && rm by`, "x"},
				{"exchanged trees", `mkdir -p n2; echo > n2/.envrc; perl -e '($one, $other) = ("n2", "seen"); exit(syscall(316, -100, $one, -100, $other, 2) == -1 ? 0 : 1)' && echo held`, "held"},
				{"another's links in /proc", `echo x > /proc/1/cwd/x 2>/dev/null || echo held`, "held"},
				{"its own", `echo x > /proc/self/cwd/made && echo y > /proc/$$/cwd/made && exec 9> other && echo z > /proc/self/fd/9; cat made other`, "y\nz"},
				{"streams", `echo out > /dev/stdout; echo err > /dev/stderr; (echo fd > /dev/fd/1)`, "out\nerr\nfd"},
				{"a temporary file", `t=$(mktemp) && echo in > $t && cat $t && rm $t`, "in"},
				{"a pipe with a name", `mkfifo p && (echo through > p &) ; cat p; rm p`, "through"},
				{"the umask", `umask 027; echo > u; mkdir ud; umask 0; echo > v; stat -c %a u ud v | tr '\n' ' '`, "640 750 666"},
				{"a program that was just written", `for i in 1 2 3 4 5 6 7 8 9 10; do cp /bin/true ran && ./ran || echo failed; rm ran; done; echo ran`, "ran"},
			} {
				t.Run(tt.name, func(t *testing.T) {
					if strings.Contains(tt.line, "perl") && !onPath("perl") {
						t.Skip("perl is not installed")
					}
					r := b.run(t, Workspace, tt.line)
					if r.err != nil || !strings.HasSuffix(strings.TrimSpace(r.out), strings.TrimSpace(tt.want)) {
						t.Errorf("%q, %v; want %q", r.out, r.err, tt.want)
					}
				})
			}
		})
	}
}

func onPath(program string) bool {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, program)); err == nil {
			return true
		}
	}
	return false
}

// A server keeps the address that it gave, whatever the supervisor did for it.
func TestBoundAddress(t *testing.T) {
	b := newBench(t, nil)
	if !onPath("python3") {
		t.Skip("python3 is not installed")
	}
	r := b.run(t, Workspace, `mkdir -p d; cd d; python3 -c '
import os, socket, stat
os.umask(0o077)
for name in ("s", os.getcwd() + "/t", "../u", "\0abstract"):
    s = socket.socket(socket.AF_UNIX); s.bind(name); s.listen()
    at = s.getsockname()
    assert at == (name.encode() if name[0] == "\0" else name), at
    c = socket.socket(socket.AF_UNIX); c.connect(name); c.send(b"x"); assert s.accept()[0].recv(1) == b"x"
    if name[0] != "\0": assert stat.S_IMODE(os.stat(name).st_mode) == 0o700, oct(os.stat(name).st_mode)
for name, want in (("s", 98), ("missing/s", 2), ("s/x", 20)):
    s = socket.socket(socket.AF_UNIX)
    try: s.bind(name)
    except OSError as e: assert e.errno == want, e
    else: assert False, name
t = socket.socket(); t.bind(("127.0.0.1", 0)); assert t.getsockname()[1]
print("bound")'`)
	if r.err != nil || r.out != "bound" {
		t.Errorf("%q, %v", r.out, r.err)
	}
}

// TestOwnSecrets: a secret that the command made is its own until somebody puts another in its place. A name that it only tried to make is not.
func TestOwnSecrets(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".env.own")
	names, err := protect.Scan(t.Context(), protect.Options{Roots: []string{dir}, ReadDeny: protect.DefaultReadDeny(), MaxTime: hang})
	must(t, err)
	j := &judge{protection: protection{names: names, namesInUse: new(sync.RWMutex)}, ownSecrets: ownSecrets{own: map[string]uint64{}}}
	must(t, os.WriteFile(path, nil, 0o600))
	var st unix.Stat_t
	must(t, unix.Lstat(path, &st))
	j.named(path, st.Ino)
	if !j.made(path) {
		t.Error("its own file is not its own")
	}
	must(t, os.WriteFile(path+".new", nil, 0o600))
	must(t, os.Rename(path+".new", path))
	if j.made(path) {
		t.Error("another file in its place is its own")
	}
	j.own = map[string]uint64{}
	_ = j.attempt(notify.Attempt{Call: "openat", Paths: []string{path}})
	if j.made(path) {
		t.Error("a file that it tried to make is its own")
	}
}
