package protect

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// shortOfFiles tells a test in a child process that it may use up its descriptors.
const shortOfFiles = "TOOLHOST_TEST_SHORT_OF_FILES"

// TestShortOfDescriptors: with any number of descriptors left a map and a snapshot are as with plenty, or fail with the shortage. None leaves
// something out.
func TestShortOfDescriptors(t *testing.T) {
	if os.Getenv(shortOfFiles) == "" {
		c := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
		c.Env = append(os.Environ(), shortOfFiles+"=1")
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	const most = 200
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: most}))
	root, home, outside := tempDir(t), tempDir(t), tempDir(t)
	for _, top := range []string{root, outside + "/main"} {
		write(t, top, ".git/HEAD = ref: refs/heads/main\n", ".git/objects/", ".git/refs/", ".git/config = [core]\n\thooksPath = hooks\n")
	}
	write(t, home, ".ssh/id = key", ".gitconfig = [include]\n\tpath = "+root+"/included\n", ".netrc")
	write(t, root, "included = [core]\n\thooksPath = hooks\n", "hooks/pre-commit", ".env", "a/.env.local", "b/.env -> ../plain", "plain", "linked -> a",
		"key.pem = -----BEGIN PRIVATE KEY-----\nMIIB\n", ".git/hooks/post-checkout", "deep/er/.envrc")
	write(t, outside, "main/.git/worktrees/w/commondir = ../..\n", "main/.git/worktrees/w/gitdir = "+outside+"/w/.git\n", "main/.git/worktrees/w/HEAD",
		"w/.git = gitdir: "+outside+"/main/.git/worktrees/w\n", "w/file", "private/one.token")
	o := Options{Roots: []string{root}, Home: home, ReadDeny: append(usualDeny(), outside+"/private/*.token")}
	look := func() (names []string, err error) {
		c := NewCache(o, 0)
		defer c.Close()
		m, err := c.Including(t.Context(), []string{outside + "/w/file"})
		if err != nil {
			return nil, err
		}
		snap, err := Take(m)
		if err != nil {
			return nil, err
		}
		for _, of := range append([]*Map{m}, m.Beside()...) {
			for _, e := range slices.Concat(of.Sealed, of.Missing, of.Reported, of.Secrets) {
				names = append(names, string(e.Rule)+" "+e.Path)
			}
			for _, g := range of.Git {
				names = append(names, "git "+g.Path+" "+g.Top)
			}
			for _, g := range of.Partial {
				names = append(names, "gap "+g.Path)
			}
			names = append(names, of.Pins...)
		}
		for _, s := range append([]*Snap{snap}, snap.beside...) {
			for file, state := range maps.All(s.states) {
				names = append(names, file+" "+state.state.Kind.String()+" "+state.state.Digest)
			}
		}
		slices.Sort(names)
		return names, nil
	}
	whole, err := look()
	must(t, err)
	if len(whole) < 15 {
		t.Fatalf("the tree has few names: %q", whole)
	}
	short, enough := 0, 0
	for free := range 40 {
		var open []int
		for fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0); err == nil; fd, err = unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0) {
			open = append(open, fd)
		}
		for _, fd := range open[:free] {
			unix.Close(fd)
		}
		names, err := look()
		for _, fd := range open[free:] {
			unix.Close(fd)
		}
		switch {
		case agenttool.IsShortage(err):
			short++
		case err != nil:
			t.Errorf("with %d descriptors: %v", free, err)
		case !slices.Equal(names, whole):
			missing := slices.DeleteFunc(slices.Clone(whole), func(n string) bool { return slices.Contains(names, n) })
			t.Errorf("with %d descriptors %d names are missing: %q", free, len(missing), missing)
		default:
			enough++
		}
	}
	t.Logf("%d names; %d times too few descriptors, %d times enough", len(whole), short, enough)
	if short == 0 || enough == 0 {
		t.Error("this tests nothing")
	}
}
