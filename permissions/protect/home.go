package protect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// Home is a home directory as commands see it, and as tools read it unasked: only the listed names are visible, everything else is
// closed.
type Home struct {
	Dir     string // absolute, without links; "" for none
	secrets *Secrets
}

// NewHome returns the person's home directory. It may be missing.
func NewHome(dir string) Home {
	if !filepath.IsAbs(dir) {
		return Home{}
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	secrets, err := CompileSecrets(DefaultReadDeny(), nil, dir)
	if err != nil {
		return Home{} // the list is ours, and a test compiles it
	}
	return Home{Dir: filepath.Clean(dir), secrets: secrets}
}

// Shown returns the listed names that exist below the home directory, in order, none inside another. Links may be among them.
func (h Home) Shown() []string {
	if h.Dir == "" || h.Dir == "/" {
		return nil
	}
	var found []string
	for name := range wordsOf(homeShownList) {
		matches := []string{filepath.Join(h.Dir, name)}
		if strings.Contains(name, "*") {
			matches, _ = filepath.Glob(filepath.Join(QuoteGlob(h.Dir), name))
		}
		for _, file := range matches {
			if _, err := os.Lstat(file); err == nil && h.Harmless(file) {
				found = append(found, file)
			}
		}
	}
	slices.Sort(found)
	return found
}

// Harmless reports whether what is at a path may be shown as a whole: neither that name nor the place where it leads is a
// known secret, or holds the home directory.
func (h Home) Harmless(file string) bool {
	real, err := filepath.EvalSymlinks(file)
	return err == nil && !agenttool.Within(real, h.Dir) && !h.denies(file) && !h.denies(real)
}

// denies reports whether a known secret has that name. Without a list every name is one.
func (h Home) denies(file string) bool { return h.secrets == nil || h.secrets.Denies(file) }

// systemTops are directories of the system. A home directory that is one of them, or holds one, is not closed: nothing could
// run.
var systemTops = []string{"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/nix", "/opt", "/proc", "/run", "/sbin", "/snap", "/sys", "/tmp", "/usr", "/var"}

// passwdFile names the home directories of the machine's users.
const passwdFile = "/etc/passwd"

// Closed returns the directories that commands see empty except for names that the sandbox shows: the home directory, and other users' homes
// that this process can read. None lies in another.
func (h Home) Closed() ([]string, error) {
	all := []string{"/home", "/root"}
	if h.Dir != "" {
		all = append(all, h.Dir)
	}
	text, err := os.ReadFile(passwdFile)
	if agenttool.IsShortage(err) {
		return nil, err
	}
	all = append(all, homesIn(string(text))...)
	var closed []string
	for _, dir := range all {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || systemPlace(real) || real != h.Dir && !enterable(real) {
			continue
		}
		closed = append(closed, real)
	}
	return Outermost(closed), nil
}

// systemPlace reports whether a directory is the system's own, or holds some of it.
func systemPlace(dir string) bool {
	return slices.ContainsFunc(systemTops, func(top string) bool { return agenttool.Within(dir, top) }) || dir == "/"
}

// enterable reports whether a directory holds anything, as far as this process can see.
func enterable(dir string) bool {
	if unix.Access(dir, unix.X_OK) != nil {
		return false
	}
	f, err := os.Open(dir)
	if err != nil {
		return true // it can be entered, but not listed
	}
	defer f.Close()
	names, _ := f.Readdirnames(1)
	return len(names) > 0
}

// homesIn returns the home directories of people in a passwd file.
func homesIn(passwd string) []string {
	const firstPerson, nobody = 1000, 65534
	var homes []string
	for line := range strings.Lines(passwd) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) != 7 || !filepath.IsAbs(fields[5]) {
			continue
		}
		if uid := decimal(fields[2]); uid == 0 || uid >= firstPerson && uid != nobody {
			homes = append(homes, fields[5])
		}
	}
	return homes
}

// decimal reads a user's number, -1 for none.
func decimal(text string) int {
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' || n > 1<<32 {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	if text == "" {
		return -1
	}
	return n
}
