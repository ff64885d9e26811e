package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/sandbox"
)

// escapeTools is what all attempts share: the programs, and a directory that commands of the sandbox see, which /tmp is not.
type escapeTools struct {
	base, toolhost, probe string
}

// newRig has the probe. Its directory lies where an ordinary user may look.
func newRig(t *testing.T) *escapeTools {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc: the attempts are C")
	}
	r := jobTools(t)
	if err := r.addProbe(); err != nil {
		t.Fatal(err)
	}
	return r
}

// compiledProbe is the probe, which is compiled once a test run.
var compiledProbe = sync.OnceValues(func() (string, error) {
	dir, err := sharedDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "probe")
	out, err := exec.Command("gcc", "-O1", "-static", "-pthread", "-o", path, "../../testdata/escapes/probe.c").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("gcc: %w\n%s", err, out)
	}
	return path, nil
})

// addProbe puts the probe beside toolhost.
func (r *escapeTools) addProbe() error {
	compiled, err := compiledProbe()
	if err != nil {
		return err
	}
	r.probe = filepath.Join(filepath.Dir(r.toolhost), "probe")
	return copyFile(compiled, r.probe)
}

// attemptDir makes a directory outside of what a sandbox has of its own (/tmp, /run).
func attemptDir(t *testing.T) string {
	cache, _ := os.UserCacheDir()
	for _, dir := range []string{os.Getenv("TOOLHOST_ESCAPES_DIR"), "/srv", "/var/lib", cache} {
		if dir == "" {
			continue
		}
		if made, err := os.MkdirTemp(dir, "toolhost-escapes-"); err == nil {
			if err := os.Chmod(made, 0o755); err != nil {
				t.Fatal(err)
			}
			return made
		}
	}
	t.Skip("no directory for the attempts outside /tmp: name one in TOOLHOST_ESCAPES_DIR")
	return ""
}

// removeForced removes a directory in which there may be some of mode 0.
func removeForced(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

// account is whom the commands run as.
type account struct {
	name string
	id   *syscall.Credential // nil: whoever runs the test
}

// escapeUser has no name, no groups and no files on any machine.
const escapeUser = 61234

// accounts are root and an ordinary user, as far as the test can be them.
func accounts(t *testing.T) []account {
	if os.Getuid() != 0 {
		t.Log("as an ordinary user only: the test is not root")
		return []account{{name: "user"}}
	}
	return []account{{name: "root"}, {name: "user", id: &syscall.Credential{Uid: escapeUser, Gid: escapeUser}}}
}

func (w account) root() bool { return w.id == nil && os.Getuid() == 0 }

// lacks is what a machine must lack to hold a level only, as the probe says it.
var lacks = map[sandbox.Level]string{sandbox.LandlockNotify: "userns", sandbox.Landlock: "userns,notify"}

// escapeAttempt is what one attempt may harm, made for it alone.
type escapeAttempt struct {
	*escapeTools
	t      testing.TB
	who    account
	level  sandbox.Level
	dir    string // of the attempt; the next are in it
	ws     string
	home   string
	out    string // a directory that is nobody's
	run    string // XDG_RUNTIME_DIR
	state  string // XDG_STATE_HOME, kept from attempt to attempt: what the machine holds is found once
	canary string // what nobody may read
	env    []string
	extra  []*os.File // descriptors from 3 on
	under  []string   // a command that toolhost runs under
	harms  bool       // what is tried does harm, which is waited for
}

// attempt makes one. Everything in it has known content.
func (r *escapeTools) attempt(t testing.TB, who account, level sandbox.Level) *escapeAttempt {
	t.Helper()
	dir, err := os.MkdirTemp(r.base, "a-")
	if err != nil {
		t.Fatal(err)
	}
	a := &escapeAttempt{escapeTools: r, t: t, who: who, level: level, dir: dir, canary: "CANARY-" + rand.Text()}
	a.ws, a.home, a.out, a.run = filepath.Join(dir, "ws"), filepath.Join(dir, "home"), filepath.Join(dir, "outside"),
		filepath.Join(dir, "run")
	a.state = filepath.Join(r.base, "state-"+who.name+"-"+string(level))
	t.Cleanup(func() { removeForced(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	a.own(dir)
	a.mkdir(a.run)
	for path, text := range map[string]string{
		"ws/file": "pristine\n", "ws/tree/file": "pristine\n", "ws/mnt/": "", "outside/file": "pristine\n",
		"outside/tree/file": "pristine\n",
		"home/.bashrc":      "# pristine\n", "home/.profile": "# pristine\n",
		"home/.gitconfig": "[user]\n\tname = t\n\temail = t@example.com\n",
		"ws/.env":         "KEY=" + a.canary + "\n", "ws/tree/.env.local": "KEY=" + a.canary + "\n", "home/.ssh/id_test": a.canary + "\n",
	} {
		a.write(path, text)
	}
	a.mkdir(a.state)
	a.env = []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + a.home, "XDG_STATE_HOME=" + a.state, "XDG_RUNTIME_DIR=" + a.run, "LANG=C.UTF-8",
		"SHELL=/bin/bash", "GIT_CONFIG_NOSYSTEM=1",
	}
	if level == sandbox.LandlockNotify || level == sandbox.Landlock { // toolhost keeps the others itself
		a.keepLevel()
	}
	return a
}

// outerState gives toolhost another state, since what the machine holds differs in namespaces of the test.
func (a *escapeAttempt) outerState() { a.stateAt(a.state + "-outer") }

// stateAt sets XDG_STATE_HOME.
func (a *escapeAttempt) stateAt(dir string) {
	a.state = dir
	a.mkdir(dir)
	for i, entry := range a.env {
		if strings.HasPrefix(entry, "XDG_STATE_HOME=") {
			a.env[i] = "XDG_STATE_HOME=" + dir
		}
	}
}

// keptLevels are what accounts find on the machines of attempts, by program, account and level.
var keptLevels sync.Map

// keepLevel puts into the attempt's state what its account finds on its machine. Each program finds that once.
func (a *escapeAttempt) keepLevel() {
	a.t.Helper()
	path := filepath.Join(a.state, "toolhost", levelName)
	if _, err := os.Lstat(path); err == nil {
		return
	}
	info, err := os.Stat(a.toolhost)
	if err != nil {
		a.t.Fatal(err)
	}
	find := sync.OnceValue(a.findLevel)
	found, _ := keptLevels.LoadOrStore([3]any{info.Sys().(*syscall.Stat_t).Ino, a.who.name, a.level}, find)
	level := found.(func() []byte)()
	a.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, level, 0o600); err != nil {
		a.t.Fatal(err)
	}
	a.own(path)
}

// findLevel has the account find it, in a directory of its own.
func (a *escapeAttempt) findLevel() []byte {
	a.t.Helper()
	dir := a.path("level")
	a.mkdir(dir)
	if said, code := a.said(a.confined(findLevel, dir)); code != 0 {
		a.t.Logf("%s finds no level: %s", a.who.name, said) // its hosts look by themselves
	}
	level, _ := os.ReadFile(filepath.Join(dir, levelName))
	_ = os.RemoveAll(dir)
	return level
}

// path is a path in the attempt.
func (a *escapeAttempt) path(name string) string { return filepath.Join(a.dir, name) }

// write writes a file of the attempt, or makes a directory if the name ends in a slash.
func (a *escapeAttempt) write(name, text string) {
	a.t.Helper()
	path := a.path(name)
	if strings.HasSuffix(name, "/") {
		a.mkdir(path)
		return
	}
	a.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		a.t.Fatal(err)
	}
	a.own(path)
}

func (a *escapeAttempt) mkdir(path string) {
	a.t.Helper()
	if path == a.base || path == filepath.Dir(path) {
		return
	}
	if _, err := os.Lstat(path); err == nil {
		return
	}
	a.mkdir(filepath.Dir(path))
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		a.t.Fatal(err)
	}
	a.own(path)
}

// own gives a path to the attempt's account.
func (a *escapeAttempt) own(path string) {
	a.t.Helper()
	if a.who.id == nil {
		return
	}
	if err := os.Lchown(path, int(a.who.id.Uid), int(a.who.id.Gid)); err != nil {
		a.t.Fatal(err)
	}
}

// read returns a file of the attempt, "" if there is none.
func (a *escapeAttempt) read(name string) string {
	b, _ := os.ReadFile(a.path(name))
	return string(b)
}

// limitOfOne is how long any command of a test may take: three minutes, more for races that are longer than usual.
func limitOfOne() time.Duration {
	return max(3*time.Minute, time.Duration(raceRounds())*20*time.Millisecond, time.Duration(attackSeconds())*time.Second+2*time.Minute)
}

// command is argv as the attempt's account, in its workspace.
func (a *escapeAttempt) command(argv ...string) *exec.Cmd {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limitOfOne())
	a.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = a.ws, a.env, a.extra
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.who.id, Setsid: true}
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

// confined is toolhost with arguments, on a machine that holds the attempt's level and no more.
func (a *escapeAttempt) confined(args ...string) *exec.Cmd {
	a.t.Helper()
	argv := append([]string{a.toolhost}, args...)
	if lack := lacks[a.level]; lack != "" {
		argv = append([]string{a.probe, "without", lack}, argv...)
	}
	return a.command(append(slices.Clone(a.under), argv...)...)
}

// boxed is a script in toolhost sandbox.
func (a *escapeAttempt) boxed(profile sandbox.Access, script string, flags ...string) *exec.Cmd {
	args := append([]string{"sandbox", "--workspace", a.ws, "--level", string(a.level), "--profile", string(profile)}, flags...)
	return a.confined(append(args, "--", "/bin/bash", "--norc", "-c", a.prelude()+script)...)
}

// called is a script as the shell tool runs it. The call names a file, so that nothing is known of what it does.
func (a *escapeAttempt) called(script string) *exec.Cmd {
	a.t.Helper()
	a.write("ws/attempt.sh", a.prelude()+script)
	return a.confined("call", "shell", `{"command":"bash attempt.sh"}`, "--workspace", a.ws, "--sandbox",
		string(a.level), "--allow", "Shell")
}

// alone is a script without any sandbox.
func (a *escapeAttempt) alone(script string) *exec.Cmd {
	return a.command("/bin/bash", "--norc", "-c", a.prelude()+script)
}

// prelude gives a script the places of the attempt.
func (a *escapeAttempt) prelude() string {
	var b strings.Builder
	for name, value := range map[string]string{
		"ROUNDS": strconv.Itoa(raceRounds() / 5), "WS": a.ws, "OUT": a.out, "H": a.home, "P": a.probe, "STATE": a.state, "DIR": a.dir, "RUN": a.run,
	} {
		fmt.Fprintf(&b, "%s='%s'\n", name, value)
	}
	return b.String()
}

// said runs a command and returns what it said on both streams, and its exit code.
func (a *escapeAttempt) said(cmd *exec.Cmd) (string, int) {
	a.t.Helper()
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		a.t.Fatalf("%s: %v\n%s", cmd.Path, err, b.String())
	}
	return b.String(), cmd.ProcessState.ExitCode()
}

// host runs a script of the test's own in the attempt.
func (a *escapeAttempt) host(script string) string {
	a.t.Helper()
	out, code := a.said(a.alone("set -e\n" + script))
	if code != 0 {
		a.t.Fatalf("the test's own script: exit %d\n%s", code, out)
	}
	return out
}

// entry is what an attempt could change of one file.
type entry struct {
	Mode     fs.FileMode
	UID, GID uint32
	Links    uint64
	Size     int64
	Inode    uint64
	Time     int64 // of files
	Sum      string
	Extra    string // names of attributes
}

// look takes down everything in the attempt.
func (a *escapeAttempt) look() map[string]entry {
	a.t.Helper()
	all := map[string]entry{}
	err := filepath.WalkDir(a.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if d.Name() == "many" { // of crowd: nobody attacks it
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return nil // it went away
		}
		name, _ := filepath.Rel(a.dir, path)
		all[name] = entryOf(path, info)
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return all
}

func entryOf(path string, info fs.FileInfo) entry {
	st := info.Sys().(*syscall.Stat_t)
	e := entry{Mode: info.Mode(), UID: st.Uid, GID: st.Gid, Inode: st.Ino}
	names := make([]byte, 256)
	if n, err := unix.Llistxattr(path, names); err == nil {
		e.Extra = string(names[:n])
	}
	switch {
	case info.Mode().IsRegular():
		e.Size, e.Links, e.Time = info.Size(), uint64(st.Nlink), info.ModTime().UnixNano()
		if f, err := os.Open(path); err == nil {
			h := sha256.New()
			_, _ = io.Copy(h, io.LimitReader(f, 1<<20))
			f.Close()
			e.Sum = string(h.Sum(nil))
		}
	case info.Mode()&fs.ModeSymlink != 0:
		e.Sum, _ = os.Readlink(path)
	}
	return e
}

// changes are the names that are not as they were, less those at or below the patterns.
func changes(before, after map[string]entry, except string) []string {
	var found []string
	names := maps.Clone(before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if before[name] == after[name] || below("run/toolhost", name) || // the session's socket
			slices.ContainsFunc(strings.Fields(except), func(p string) bool { return below(p, name) }) {
			continue
		}
		word := "changed"
		if _, ok := before[name]; !ok {
			word = "made"
		} else if _, ok := after[name]; !ok {
			word = "removed"
		}
		found = append(found, name+" "+word)
	}
	return found
}

// below reports whether a name or what it lies in matches a pattern.
func below(pattern, name string) bool {
	for ; name != "."; name = filepath.Dir(name) {
		if ok, _ := filepath.Match(pattern, name); ok {
			return true
		}
	}
	return false
}

// asJSON quotes a string for a call's input.
func asJSON(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}
