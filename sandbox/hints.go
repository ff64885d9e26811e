package sandbox

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"toolhost/permissions/protect"
)

// hint is how programs word what a wall did to them.
type hint struct {
	words *regexp.Regexp
	wall  Wall
	grant string // for the named path
}

var hints = []hint{
	{regexp.MustCompile(`(?i)read-only file system|\bEROFS\b`), FileSystem, "write:"},
	{regexp.MustCompile(`(?i)could not resolve (?:host|proxy)|name or service not known|temporary failure in name resolution|` +
		`network is unreachable|\bENETUNREACH\b|\bEAI_AGAIN\b|getaddrinfo|no such host`), NoNetwork, "host:"},
}

var (
	quotedName = regexp.MustCompile(`(?:^|[\s:=(])['"‘“]([^'"’”]+)['"’”]`)
	plainPath  = regexp.MustCompile(`(?:^|[\s:=(])((?:~|\.{0,2})/[^\s:;,)'"]+)`)
	hostName   = regexp.MustCompile(`(?i)(?:host:?|lookup|connect to|getaddrinfo [A-Z_]+)\s+'?([a-z0-9-]+(?:\.[a-z0-9-]+)+)`)
)

// Limits on the text of a program that is read.
const (
	hintBytes = 16 << 10
	maxHints  = 3
)

// hintsOf guesses from the stderr of a failed command what the sandbox may have refused; dir is its directory. Paths are those that the
// supervisor saw refused, if a line names one. Hints are only likely: a program can write anything.
func hintsOf(stderr, dir string, kept *refusedPaths) []Violation {
	if len(stderr) > hintBytes {
		stderr = stderr[len(stderr)-hintBytes:]
	}
	var found []Violation
	for line := range strings.Lines(stderr) {
		for _, h := range hints {
			if !h.words.MatchString(line) {
				continue
			}
			v := h.read(strings.TrimSpace(line), dir, kept)
			if len(found) < maxHints && !slices.ContainsFunc(found, func(o Violation) bool { return o.Wall == v.Wall && o.Path == v.Path && o.Host == v.Host }) {
				found = append(found, v)
			}
			break
		}
	}
	return found
}

// grantable is the grant of the path, which may be missing. Names in the root cannot be granted.
func grantable(kind, path string) string {
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			return kind + path
		}
	}
	return ""
}

// denied are the words for a file that may not be read.
var denied = regexp.MustCompile(`(?i)permission denied|\bEACCES\b`)

// hintsOfSecrets reads which masked files a command that failed stumbled over.
func hintsOfSecrets(stderr string, secrets []protect.Entry) []Violation {
	var found []Violation
	for line := range strings.Lines(stderr[max(0, len(stderr)-hintBytes):]) {
		if !denied.MatchString(line) {
			continue
		}
		for _, e := range secrets {
			v := Violation{Wall: FileSystem, Path: e.Path, Rule: string(e.Rule), Grant: "read:" + e.Path, Detail: strings.TrimSpace(line)}
			told := slices.ContainsFunc(found, func(o Violation) bool { return o.Path == v.Path })
			if !told && len(found) < maxHints && strings.Contains(line, filepath.Base(e.Path)) {
				found = append(found, v)
			}
		}
	}
	return found
}

// missing are the words for a file that is not there.
var missing = regexp.MustCompile(`(?i)no such file|not found|does not exist|cannot (?:find|open|access|stat|read)|\bENOENT\b|permission denied|\bEACCES\b`)

// hintsOfClosed reads which files of a home directory a command that failed did not find; hides says of a path whether the
// sandbox does not show it.
func hintsOfClosed(stderr, dir, home string, hides func(path string) bool) []Violation {
	var found []Violation
	for line := range strings.Lines(stderr[max(0, len(stderr)-hintBytes):]) {
		if !missing.MatchString(line) {
			continue
		}
		for _, path := range pathsIn(line) {
			if rest, ok := strings.CutPrefix(path, "~/"); ok {
				path = filepath.Join(home, rest)
			} else if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			path = filepath.Clean(path)
			known := slices.ContainsFunc(found, func(o Violation) bool { return o.Path == path })
			if _, err := os.Lstat(path); err != nil || known || len(found) >= maxHints || !hides(path) {
				continue
			}
			found = append(found, Violation{Wall: FileSystem, Path: path, Grant: "read:" + path, Detail: strings.TrimSpace(line)})
		}
	}
	return found
}

// pathsIn are the paths that a line may mean.
func pathsIn(line string) []string {
	var paths []string
	for _, name := range []*regexp.Regexp{quotedName, plainPath} {
		for _, m := range name.FindAllStringSubmatch(line, maxHints) {
			paths = append(paths, m[1])
		}
	}
	return paths
}

// read makes a violation of a line.
func (h hint) read(line, dir string, kept *refusedPaths) Violation {
	v := Violation{Wall: h.wall, Detail: line}
	if h.wall == NoNetwork {
		if m := hostName.FindStringSubmatch(line); m != nil {
			v.Host = strings.ToLower(m[1])
			v.Grant = h.grant + v.Host
		}
		return v
	}
	if path := kept.named(line); path != "" {
		v.Path, v.Grant = path, grantable(h.grant, path)
		return v
	}
	for _, name := range []*regexp.Regexp{quotedName, plainPath} {
		if m := name.FindStringSubmatch(line); m != nil && !strings.HasPrefix(m[1], "~") {
			if v.Path = m[1]; !filepath.IsAbs(v.Path) {
				v.Path = filepath.Join(dir, v.Path)
			}
			v.Grant = grantable(h.grant, filepath.Clean(v.Path))
			break
		}
	}
	return v
}
