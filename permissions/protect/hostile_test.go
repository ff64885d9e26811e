package protect

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// deepTree makes a chain of directories n deep below the root, and a repository at its end.
func deepTree(t testing.TB, root string, n int) {
	t.Helper()
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	must(t, err)
	step := func(name string) {
		must(t, unix.Mkdirat(fd, name, 0o755))
		next, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		must(t, err)
		unix.Close(fd)
		fd = next
	}
	for range n {
		step("d")
	}
	step(".git")
	step("hooks")
	unix.Close(fd)
}

// TestDeepTree: the walk does not follow a bottomless chain, and says so.
func TestDeepTree(t *testing.T) {
	root := fastDir(t)
	deepTree(t, root, 5000)
	write(t, root, "z/.git/config")
	begun := computed(t)
	m := scanned(t, Options{Roots: []string{root}})
	if took := computed(t) - begun; took > time.Second {
		t.Errorf("it took %v", took)
	}
	same(t, "sealed", spell(root, m.Sealed), "vcs-config z/.git/config")
	if len(m.Partial) != 1 || !strings.Contains(m.Partial[0].Reason, "too deep") || !m.blind {
		t.Errorf("partial: %v", m.Partial)
	}
}

// TestTimeLimit: a walk without time reports every root, and takes nothing for new.
func TestTimeLimit(t *testing.T) {
	root := tempDir(t)
	write(t, root, "a/.git/config")
	m, err := Scan(t.Context(), Options{Roots: []string{root}, GitConfigs: []string{}, MaxTime: 1})
	must(t, err)
	if len(m.Partial) == 0 || m.Partial[0].Path != root {
		t.Errorf("partial: %v", m.Partial)
	}
	if _, ok := m.Judge(root + "/a/.bashrc"); !ok {
		t.Error("it takes a directory for new")
	}
}

// TestManyEntries: one hundred thousand names cost no more than the limits allow, and hide nothing beside them.
func TestManyEntries(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 30_000
	}
	root := fastDir(t)
	write(t, root, "a/", "many/", "z/sub/.git/config", "many/.vscode/x", "many/.env")
	for i := range n {
		must(t, unix.Mknod(fmt.Sprintf("%s/many/%06d", root, i), unix.S_IFREG|0o644, 0))
	}
	begun := computed(t)
	m := scanned(t, Options{Roots: []string{root}, ReadDeny: usualDeny(), MaxEntries: 20_000})
	took := computed(t) - begun
	same(t, "sealed", spell(root, m.Sealed), "vcs-config z/sub/.git/config", "editor-config many/.vscode")
	same(t, "secrets", spell(root, m.Secrets), "secret many/.env")
	if len(m.Partial) != 1 || m.Partial[0].Path != root+"/many" {
		t.Errorf("partial: %v", m.Partial)
	}
	if took > time.Second {
		t.Errorf("%d entries took %v", n, took)
	}
	if _, ok := m.Judge(root + "/unknown/.bashrc"); !ok {
		t.Error("a map with gaps takes a directory for new")
	}
}

// TestManyRepositories: more than the mounts can hold is reported, and the first repository is always in.
func TestManyRepositories(t *testing.T) {
	root := fastDir(t)
	write(t, root, ".git/config", ".git/hooks/")
	for i := range 450 {
		write(t, root, fmt.Sprintf("r%03d/.git/config", i), fmt.Sprintf("r%03d/.git/hooks/", i), fmt.Sprintf(".env.%d", i))
	}
	m := scanned(t, Options{Roots: []string{root}, ReadDeny: usualDeny()})
	if sealed := spell(root, m.Sealed); !slices.Contains(sealed, "vcs-config .git/config") || !slices.Contains(sealed,
		"vcs-hooks .git/hooks") {
		t.Error("the repository at the top is not sealed")
	}
	if mounts := len(m.Sealed) + len(m.Pins) + len(m.Secrets); mounts > maxMounts || len(m.Secrets) != maxSecretMount || len(m.Partial) == 0 {
		t.Errorf("%d mounts, %d masks, %d gaps", mounts, len(m.Secrets), len(m.Partial))
	}
	for i := range 450 {
		if _, ok := m.Judge(fmt.Sprintf("%s/r%03d/.git/hooks/x", root, i)); !ok {
			t.Fatalf("repository %d may be written", i)
		}
	}
}

// TestOddNames: names that are no text, no line or no file.
func TestOddNames(t *testing.T) {
	root := tempDir(t)
	write(t, root, "a\nb/.git/config", "\xff\xfe/.vscode/x", "dots.../.envrc", " /.husky/x", ".git\n/x", ".\xffgit/x")
	must(t, unix.Mkfifo(root+"/.bashrc", 0o644))
	must(t, unix.Mkfifo(root+"/.env", 0o644))
	must(t, os.Mkdir(root+"/r", 0o755))
	must(t, unix.Mkfifo(root+"/r/.git", 0o644))
	write(t, root, "q/.git/x")
	must(t, unix.Mkfifo(root+"/q/.git/config", 0o644))
	must(t, unix.Mkfifo(root+"/q/.git/commondir", 0o644))
	m := scanned(t, Options{Roots: []string{root}, ReadDeny: usualDeny(), GitConfigs: []string{root + "/.bashrc"}})
	same(t, "sealed", spell(root, m.Sealed), "vcs-config a\nb/.git/config", "editor-config \xff\xfe/.vscode",
		"shell-startup dots.../.envrc",
		"vcs-hooks  /.husky", "shell-startup .bashrc", "vcs-config q/.git/config", "vcs-config q/.git/commondir")
	snap, err := Take(m)
	must(t, err)
	if changes, err := snap.Changes(); err != nil || len(changes) != 0 {
		t.Errorf("a pipe: %v, %v", changes, err)
	}
}

// TestHostilePointers: what .git files and configuration can say ends nothing.
func TestHostilePointers(t *testing.T) {
	root := tempDir(t)
	write(t, root, "a/.git = gitdir: /dev/zero", "b/.git = gitdir: ../b", "c/.git = gitdir: .git",
		"d/.git = gitdir:"+strings.Repeat("../", 3000),
		"e/.git = gitdir: /proc/self/fd/0\n", "f/.git = gitdir: x\x00y", "g/.git = nothing", "h/.git/commondir = .",
		"i/.git/commondir = ../../h/.git",
		"j/.git/config = [include]\npath = config\npath = ./../.git/config\n[core]\nhooksPath = "+strings.Repeat("a/",
			5000),
		"k/.git/config = [core]\nhooksPath = ../../../..\nhooksPath = /\nhooksPath = .\n")
	must(t, os.WriteFile(root+"/l", bytes.Repeat([]byte("[include]\npath=l\n"), 100_000), 0o644))
	m := scanned(t, Options{Roots: []string{root}, GitConfigs: []string{root + "/l"}})
	for _, e := range m.Sealed {
		if e.Path == root || !strings.HasPrefix(e.Path, root+"/") {
			t.Errorf("sealed %+v", e)
		}
	}
	if _, ok := m.Judge(root + "/k/source.go"); ok {
		t.Error("a repository seals all the work in it")
	}
}

// TestUnreadable: what an ordinary user cannot look into is reported.
func TestUnreadable(t *testing.T) {
	const marker = "PROTECT_TEST_UNREADABLE"
	if root := os.Getenv(marker); root != "" {
		m, err := Scan(t.Context(), Options{Roots: []string{root}, GitConfigs: []string{}, MaxTime: time.Minute})
		must(t, err)
		same(t, "sealed", spell(root, m.Sealed), "vcs-config dark/.git/config", "editor-config dark/.vscode")
		if len(m.Partial) != 2 || m.Partial[0].Path != root+"/closed" || m.Partial[1].Path != root+"/dark" || !m.blind {
			t.Errorf("partial: %v", m.Partial)
		}
		return
	}
	root, err := os.MkdirTemp("/tmp", "protect-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(root) })
	must(t, os.Chmod(root, 0o755))
	write(t, root, "closed/x", "dark/.git/config", "dark/.vscode/x")
	must(t, os.Chmod(root+"/closed", 0))
	must(t, os.Chmod(root+"/dark", 0o311))
	binary := filepath.Join(root, "test")
	self, err := os.Executable()
	must(t, err)
	if content, err := os.ReadFile(self); err != nil || os.WriteFile(binary, content, 0o755) != nil {
		t.Fatal("copy the test binary")
	}
	cmd := exec.Command(binary, "-test.run=^TestUnreadable$")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), marker+"="+root)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as an ordinary user: %v\n%s", err, out)
	}
}

// TestSwaps: while directories are replaced by links to the outside, nothing outside is ever found or touched.
func TestSwaps(t *testing.T) {
	root, outside := tempDir(t), tempDir(t)
	write(t, outside, ".git/hooks/evil", ".vscode/x", ".env")
	write(t, root, "a/b/.git/hooks/x", "a/b/.vscode/x")
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(root+"/a/b", root+"/a/c")
			_ = os.Symlink(outside, root+"/a/b")
			_ = os.Remove(root + "/a/b")
			_ = os.Rename(root+"/a/c", root+"/a/b")
		}
	}()
	for range 200 {
		m, err := Scan(t.Context(), Options{Roots: []string{root}, ReadDeny: usualDeny(),
			GitConfigs: []string{}, MaxTime: time.Minute})
		must(t, err)
		for _, e := range concat2(m.Sealed, m.Secrets) {
			if !strings.HasPrefix(e.Path, root+"/") {
				t.Fatalf("found %+v", e)
			}
		}
		snap, err := Take(m)
		must(t, err)
		for file := range snap.states {
			if strings.Contains(file, "evil") {
				t.Fatalf("looked at %s", file)
			}
		}
	}
	close(stop)
	<-done
}

// computed is the processor time that this process has used: a busy machine makes it no longer.
func computed(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
