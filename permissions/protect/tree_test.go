package protect

import (
	"errors"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOpenStepwise: where the kernel cannot open below a directory in one call, the result is the same.
func TestOpenStepwise(t *testing.T) {
	root := tempDir(t)
	write(t, root, "a/b/file", "link -> a", "a/leaf -> b/file", "a/out -> /etc")
	dir, err := unix.Open(root, searchOnly|unix.O_DIRECTORY, 0)
	must(t, err)
	defer unix.Close(dir)
	for _, c := range []struct {
		rel string
		ok  bool
	}{
		{".", true}, {"a/b", true}, {"a/b/file", true}, {"link/b", false}, {"a/leaf", false}, {"a/out/passwd", false},
		{"..", false},
		{"a/../../etc", false}, {"a/none", false}, {"a/b/file/x", false},
	} {
		for name, open := range map[string]func(int, string, int) (int, error){"stepwise": openStepwise,
			"beneath": openBeneath} {
			fd, err := open(dir, c.rel, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
			if (err == nil) != c.ok {
				t.Errorf("%s %s: %v", name, c.rel, err)
			}
			if err == nil {
				unix.Close(fd)
			}
		}
	}
}

func TestResolve(t *testing.T) {
	root := tempDir(t)
	write(t, root, "a/b/file", "abs -> "+root+"/a", "a/up -> ../a/b", "loop -> loop2", "loop2 -> loop", "out -> /etc",
		"a/back -> ..",
		"chain -> abs/up/file", "gone -> nowhere/x")
	tree, err := openTree([]string{root})
	must(t, err)
	defer tree.close()
	for _, c := range []struct {
		path, want string
		kind       Kind
		links      int
	}{
		{"a/b/file", "a/b/file", File, 0}, {"abs/up/file", "a/b/file", File, 2}, {"chain", "a/b/file", File, 3},
		{"loop", "", Absent, maxLinks + 1},
		{"out/passwd", "", Absent, 1}, {"a/back/a/b", "a/b", Dir, 1}, {"abs/up/../x", "a/x", Absent, 2}, {"gone",
			"nowhere/x", Absent, 1},
		{"a/./b//file", "a/b/file", File, 0}, {"none/../a", "a", Absent, 0}, {"none/../../../etc", "", Absent, 0},
	} {
		t.Run(c.path, func(t *testing.T) {
			place, kind, links := tree.resolve(root + "/" + c.path)
			want := c.want
			if want != "" {
				want = root + "/" + want
			}
			if place != want || kind != c.kind || len(links) != c.links {
				t.Errorf("%q, %v, over %q", place, kind, links)
			}
		})
	}
}

// TestNoDescriptorsLeft: whatever happens, all that was opened is closed.
func TestNoDescriptorsLeft(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("there is no /proc/self/fd")
	}
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(entries)
	}
	root := tempDir(t)
	write(t, root, ".git/config = [include]\npath=x", ".git/hooks/x", ".vscode/a/b/c", "a/.git = gitdir: ../.git",
		".env", ".husky -> a", "b/.git/x")
	must(t, os.Link(root+"/.env", root+"/c"))
	must(t, unix.Mkfifo(root+"/b/.git/config", 0o644))
	before := count()
	for range 20 {
		m := scanned(t, Options{Roots: []string{root}, Home: root, ReadDeny: append(usualDeny(), root+"/b/.git")})
		snap, err := Take(m)
		must(t, err)
		_, err = snap.Changes()
		must(t, err)
		_, _ = Quarantine(m.Roots, Change{Path: root + "/.env", After: State{Kind: File}})
		_, err = Scan(t.Context(), Options{Roots: []string{root, "/nope"}})
		if err == nil {
			t.Error("a missing root is no error")
		}
		if !m.current() {
			t.Error("it is not current")
		}
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestFarMounts(t *testing.T) {
	const mountinfo = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:40 / /mnt/a\040b rw shared:1 - nfs4 server:/x rw,vers=4
31 22 0:41 / /home/me/drive rw master:1 shared:2 - fuse.sshfs me@host: rw
32 22 0:42 / /net rw - autofs systemd-1 rw
33 22 0:43 / /mnt/stick rw - fuseblk /dev/sdb1 rw
34 22 0:44 / /tmp rw - tmpfs tmpfs rw
broken
`
	if got, want := farIn(mountinfo), []string{"/mnt/a b", "/home/me/drive", "/net"}; !slices.Equal(got, want) {
		t.Errorf("far: %q, want %q", got, want)
	}
	tree := &tree{roots: []string{"/home/me/drive/ws"}}
	b := &builder{tree: tree, far: farIn(mountinfo)}
	for file, want := range map[string]bool{"/net/x/y": true, "/nets": false, "/home/me/drive/x": false, "/mnt/a b": true} {
		if b.isFar(file) != want {
			t.Errorf("isFar(%s) = %v", file, !want)
		}
	}
	if _, err := tree.open("/elsewhere", 0); !errors.Is(err, unix.EXDEV) {
		t.Errorf("a path outside the roots: %v", err)
	}
}
