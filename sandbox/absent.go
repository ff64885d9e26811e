package sandbox

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// Absence is one kind of thing that a user's own shell finds and a command in the sandbox does not, with what to do. Results, doctor and
// docs/sandbox.md say it in the words of one table, which [Absences] returns.
type Absence struct {
	ID     string
	What   string   // what commands do not find, and why
	Do     string   // what to do then
	Levels []Level  // where it is so, strongest first
	Shown  []string // the tests that show it

	// seen returns how the absence shows in a failure, as a clause; "" if it does not. Most are guesses by what the command printed, and
	// only likely: a program can write anything. nil: the failure's violations show it, with the grants that would help.
	seen func(f *Failure) string
}

// Failure is what is known of a command that failed.
type Failure struct {
	Line    string   // the command's line
	Stderr  string   // what it said, or the end of it; its standard output if that is one stream with it
	Dir     string   // its directory
	Environ []string // the user's environment, which commands see parts of
	Given   []string // the command's environment

	level    Level
	home     string
	replaced func(path string) bool // whether a directory of the sandbox's own is in the place of the host's
	hides    func(path string) bool // whether a file of a home directory is not shown; nil: all are
}

// Absences returns the table.
func Absences() []Absence {
	full, every := []Level{Full}, []Level{Full, LandlockNotify, Landlock}
	return []Absence{
		{
			"toolchains", "programs that a version manager (nvm, pyenv, rbenv, sdkman, volta, asdf, mise, …) puts in PATH in interactive shells only",
			"put their directory in front of PATH in the line (PATH=DIR:$PATH …), or start toolhost from a shell that finds them",
			every, []string{"TestAbsences", "TestAbsencesAreMet"}, missingProgram,
		},
		{
			"home", "files of home directories besides tool chains and harmless configuration",
			"grant the path to the call (read:PATH), or allow it with a rule Read(PATH)", every, []string{"TestHomeHint"}, nil,
		},
		{
			"secrets", "secrets, such as .env, keys and tokens", "grant the path to the call (read:PATH)", every, []string{"TestSecretsAreNamed"}, nil,
		},
		{
			"tmp", "the user's files in /tmp, /var/tmp and /dev/shm, where commands have directories of the session",
			"let the user copy the file into the workspace", []Level{Full}, []string{"TestAbsences", "TestAbsencesAreMet"}, missingTemporary,
		},
		{
			"system", "places to write besides the workspace, /tmp and caches",
			"grant the path to the call (write:PATH), or allow it with a rule Write(PATH)", every, []string{"TestHints"}, nil,
		},
		{
			"hosts", "the network, but for hosts that were named to the user", "grant the host to the call (host:NAME), or allow it with a rule Network(NAME)",
			full, []string{"TestHints"}, nil,
		},
		{
			"loopback", "servers that run outside of the session on localhost, which in the sandbox is the session's own",
			"start the server with run_in_background", full, []string{"TestAbsences", "TestAbsencesAreMet"}, missingServer,
		},
		{
			"sockets", "variables that lead to agents and other programs of the user (SSH_AUTH_SOCK, DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR, DISPLAY, " +
				"WAYLAND_DISPLAY, DOCKER_HOST, KUBECONFIG)",
			`pass the variable in the user's settings ("env": {"pass": ["NAME"]}), and grant the socket that it names to the call (socket:PATH)`,
			every, []string{"TestAbsences", "TestAbsencesAreMet"}, missingVariable,
		},
		{
			"signing", "the private keys with which git signs commits and tags: key files, and the keyring of gpg",
			"start toolhost with an ssh-agent that has the key (ssh-add), whose socket the user is asked about when git signs, or let the user commit",
			every, []string{"TestAbsences", "TestAbsencesAreMet"}, missingKey,
		},
		{
			"namespaces", "namespaces and mounts of their own, which sandboxes in programs are made of",
			"switch the program's own sandbox off, since this one holds it (--no-sandbox for Chromium, Electron and Puppeteer, --option sandbox false for nix, " +
				"--spawn_strategy=local for bazel), or grant unconfined to the call",
			every, []string{"TestAbsences", "TestAbsencesAreMet"}, missingNamespace,
		},
		{
			"level", "the network, and calls that mode sandboxed runs unasked, where the machine holds less than level full",
			"let the user look at what toolhost doctor says is missing, and how to get it", []Level{LandlockNotify, Landlock},
			[]string{"TestAbsences", "TestWeakerLevelIsNamed"}, missingLevel,
		},
	}
}

// remarks are the likely reasons of a failure that no violation shows, each with what to do.
func remarks(f *Failure) (found []string) {
	for _, a := range Absences() {
		if a.seen == nil || !slices.Contains(a.Levels, f.level) {
			continue
		}
		if clause := a.seen(f); clause != "" {
			found = append(found, "likely: "+clause+": "+a.Do)
		}
	}
	return found
}

// lines are the lines of the end of a program's output.
func (f *Failure) lines() func(yield func(string) bool) {
	return strings.Lines(f.Stderr[max(0, len(f.Stderr)-hintBytes):])
}

// commandMissing are the words for a program that PATH does not have, each with the program's name.
var commandMissing = []*regexp.Regexp{
	regexp.MustCompile(`(?:^|: )([\w.+-]+): (?:command )?not found\s*$`),                                             // bash, dash
	regexp.MustCompile(`\benv: [‘'"]?([\w.+-]+)[’'"]?: (?:No such file or directory|Permission denied)`),             // env, nice, timeout behind it
	regexp.MustCompile(`failed to (?:run|execute) command [‘'"]([\w.+-]+)[’'"]: (?:No such file|Permission denied)`), // timeout, nohup, xargs
	regexp.MustCompile(`exec: "([\w.+-]+)": executable file not found`),                                              // Go
	regexp.MustCompile(`\bspawn ([\w.+-]+) ENOENT`),                                                                  // Node
	regexp.MustCompile(`make(?:\[\d+\])?: ([\w.+-]+): No such file or directory`),
	regexp.MustCompile(`FileNotFoundError: .* No such file or directory: '([\w.+-]+)'`), // Python
}

// managed are the places where managers of versions keep programs, below the home directory unless absolute. Of several versions the highest counts.
var managed = []struct{ manager, dirs string }{
	{"nvm", ".nvm/versions/node/*/bin"},
	{"fnm", ".local/share/fnm/node-versions/*/installation/bin .fnm/node-versions/*/installation/bin"},
	{"volta", ".volta/bin"},
	{"nodenv", ".nodenv/shims"},
	{"n", ".n/bin n/bin"},
	{"npm", ".npm-global/bin .npm-packages/bin"},
	{"pnpm", ".local/share/pnpm"},
	{"yarn", ".yarn/bin"},
	{"bun", ".bun/bin"},
	{"deno", ".deno/bin"},
	{"pyenv", ".pyenv/shims .pyenv/versions/*/bin .pyenv/bin"},
	{"conda", "miniconda3/bin anaconda3/bin miniforge3/bin mambaforge/bin .conda/bin"},
	{"pip, pipx or uv", ".local/bin"},
	{"rbenv", ".rbenv/shims .rbenv/bin"},
	{"rvm", ".rvm/rubies/*/bin .rvm/bin"},
	{"chruby", ".rubies/*/bin"},
	{"sdkman", ".sdkman/candidates/*/current/bin"},
	{"jenv", ".jenv/shims"},
	{"asdf", ".asdf/shims .asdf/bin"},
	{"mise", ".local/share/mise/shims .local/bin"},
	{"goenv", ".goenv/shims"},
	{"go", "go/bin sdk/*/bin /usr/local/go/bin"},
	{"cargo", ".cargo/bin"},
	{"ghcup", ".ghcup/bin"},
	{"cabal", ".cabal/bin"},
	{"proto", ".proto/shims .proto/bin"},
	{"tfenv", ".tfenv/bin"},
	{"nix", ".nix-profile/bin /nix/var/nix/profiles/default/bin"},
	{"Homebrew", "/home/linuxbrew/.linuxbrew/bin .linuxbrew/bin"},
	{"snap", "/snap/bin"},
}

// missingProgram recognises a program that a manager of versions has and PATH does not lead to.
func missingProgram(f *Failure) string {
	for line := range f.lines() {
		for _, words := range commandMissing {
			m := words.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
			if m == nil {
				continue
			}
			if manager, dir := whereManaged(f.home, m[1]); dir != "" {
				clause := m[1] + " is in " + dir + ", a place of " + manager + ", and PATH does not lead there"
				if f.hides != nil && f.hides(dir) {
					clause += ", which commands do not see either"
				}
				return clause
			}
		}
	}
	return ""
}

// whereManaged finds a program in the places of managers.
func whereManaged(home, program string) (manager, dir string) {
	for _, m := range managed {
		for _, pattern := range strings.Fields(m.dirs) {
			if !filepath.IsAbs(pattern) {
				if home == "" {
					continue
				}
				pattern = filepath.Join(globLiteral(home), pattern)
			}
			files, _ := filepath.Glob(filepath.Join(pattern, globLiteral(program))) // a pattern of ours is never wrong
			files = slices.DeleteFunc(files, func(file string) bool {
				info, err := os.Stat(file)
				return err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0
			})
			if len(files) > 0 {
				return m.manager, filepath.Dir(slices.MaxFunc(files, compareVersions))
			}
		}
	}
	return "", ""
}

// globLiteral quotes a name for filepath.Glob.
func globLiteral(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// compareVersions compares paths so that numbers in them count as numbers.
func compareVersions(a, b string) int {
	for a != "" && b != "" {
		if isDigit(a[0]) && isDigit(b[0]) {
			na, nb := strings.TrimLeft(digits(a), "0"), strings.TrimLeft(digits(b), "0")
			if len(na) != len(nb) {
				return len(na) - len(nb)
			}
			if c := strings.Compare(na, nb); c != 0 {
				return c
			}
			a, b = a[len(digits(a)):], b[len(digits(b)):]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// digits are the digits at the beginning of a text.
func digits(text string) string {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return text[:n]
}

// missingTemporary recognises a file that the host has in a directory of which commands have another one.
func missingTemporary(f *Failure) string {
	for line := range f.lines() {
		if !missing.MatchString(line) {
			continue
		}
		for _, path := range pathsIn(line) {
			if !filepath.IsAbs(path) {
				path = filepath.Join(f.Dir, path)
			}
			path = filepath.Clean(path)
			in := Temporary(path)
			if _, err := os.Lstat(path); in != "" && err == nil && f.replaced != nil && f.replaced(path) {
				return path + " is in the user's " + in + ", and commands have one of the session"
			}
		}
	}
	return ""
}

// temporary are the directories for temporary files, of which every session has its own.
var temporary = []string{"/tmp", "/var/tmp", "/dev/shm"}

// Temporary is the directory for temporary files that a path is in, "" if it is in none.
func Temporary(path string) string {
	for _, dir := range temporary {
		if path != dir && agenttool.Within(dir, path) {
			return dir
		}
	}
	return ""
}

var (
	refusedWords  = regexp.MustCompile(`(?i)connection refused|\bECONNREFUSED\b|couldn't connect|failed to connect`)
	loopbackNames = regexp.MustCompile(`(?i)\blocalhost\b|\b127\.\d+\.\d+\.\d+\b|\[?::1\]?:\d`)
)

// missingServer recognises a command that looked for a server on the loopback, where in the full sandbox no server of the machine listens.
func missingServer(f *Failure) string {
	if refusedWords.MatchString(f.Stderr) && loopbackNames.MatchString(f.Line+"\n"+f.Stderr) {
		return "localhost in the sandbox is the session's own, and servers that run outside of it are not reached"
	}
	return ""
}

// ledBy are variables that lead to programs of the user, each with the words of commands that miss it.
var ledBy = []struct {
	name  string
	words *regexp.Regexp
}{
	{"SSH_AUTH_SOCK", regexp.MustCompile(`(?i)authentication agent|SSH_AUTH_SOCK|permission denied \(publickey|error connecting to agent|agent refused|no ssh.agent`)},
	{"DBUS_SESSION_BUS_ADDRESS", regexp.MustCompile(`(?i)DBUS_SESSION_BUS_ADDRESS|failed to connect to (?:the )?(?:user scope |session )?bus|autolaunch D-?Bus|cannot spawn a message bus`)},
	{"XDG_RUNTIME_DIR", regexp.MustCompile(`XDG_RUNTIME_DIR`)},
	{"DISPLAY", regexp.MustCompile(`(?i)(?:cannot|can't|unable to|could not|failed to) (?:open|connect to) (?:the )?(?:x )?(?:display|server)|Missing X server|\$?\bDISPLAY\b`)},
	{"WAYLAND_DISPLAY", regexp.MustCompile(`(?i)(?:cannot|can't|unable to|could not|failed to) connect to (?:a |the )?wayland|WAYLAND_DISPLAY`)},
	{"DOCKER_HOST", regexp.MustCompile(`(?i)cannot connect to the docker daemon|DOCKER_HOST`)},
	{"KUBECONFIG", regexp.MustCompile(`(?i)connection to the server localhost:8080 was refused|KUBECONFIG|no configuration has been provided`)},
}

// missingVariable recognises a command that misses a variable which the user's environment has and commands do not get.
func missingVariable(f *Failure) string {
	for _, v := range ledBy {
		if f.lacks(v.name) && v.words.MatchString(f.Stderr) {
			return v.name + " of the user's environment is not passed on to commands"
		}
	}
	return ""
}

// lacks reports whether the user's environment has a variable, and the command's has not.
func (f *Failure) lacks(name string) bool {
	has := func(entry string) bool { return strings.HasPrefix(entry, name+"=") && len(entry) > len(name)+1 }
	return slices.ContainsFunc(f.Environ, has) && !slices.ContainsFunc(f.Given, has)
}

// signingWords are the words of git, and of ssh-keygen behind it, for a key that did not sign.
var signingWords = regexp.MustCompile(`(?m)^error: (?:No private key found for|Couldn't load public key|gpg failed to sign)`)

// missingKey recognises that git has not signed, and so made neither commit nor tag.
func missingKey(f *Failure) string {
	if !signingWords.MatchString(f.Stderr) {
		return ""
	}
	clause := "git signs here with a key that commands do not see, and makes nothing without it"
	if f.lacks("SSH_AUTH_SOCK") {
		clause += " (only a line in which git commit, git tag and their like stand in full gets SSH_AUTH_SOCK)"
	}
	return clause
}

var (
	namespaceWords = regexp.MustCompile(`(?i)\bunshare\b|\bnamespaces?\b|\bbwrap\b|\bsetns\b|uid_?map|cloning builder|: clone: |sandbox_host_linux|setuid sandbox|zygote|` +
		`pivot_root|^u?mount: `)
	notPermitted = regexp.MustCompile(`(?i)operation not permitted|permission denied|no permissions? to|does not allow|\bEPERM\b|no usable sandbox|not allowed|function not implemented`)
)

// missingNamespace recognises a program that makes namespaces, which the filter refuses.
func missingNamespace(f *Failure) string {
	for line := range f.lines() {
		if namespaceWords.MatchString(line) && notPermitted.MatchString(line) {
			return "the program makes namespaces or mounts of its own, which commands cannot"
		}
	}
	return ""
}

// missingLevel recognises a command that looked for the network where a level has none.
func missingLevel(f *Failure) string {
	if networkWords.MatchString(f.Stderr) || refusedWords.MatchString(f.Stderr) || connectWords.MatchString(f.Stderr) {
		return "at level " + string(f.level) + " commands have no network, not even to hosts that were granted"
	}
	return ""
}

// connectWords are words of programs whose connection the kernel refused.
var connectWords = regexp.MustCompile(`(?i)connect\w*.*(?:permission denied|operation not permitted|\bEACCES\b|\bEPERM\b)|(?:permission denied|operation not permitted).*connect`)

// hint is how programs word what a wall did to them.
type hint struct {
	words *regexp.Regexp
	wall  Wall
	grant string // for the named path
}

var hints = []hint{
	{regexp.MustCompile(`(?i)read-only file system|\bEROFS\b`), FileSystem, "write:"},
	{networkWords, NoNetwork, "host:"},
}

var networkWords = regexp.MustCompile(`(?i)could not resolve (?:host|proxy)|name or service not known|temporary failure in name resolution|` +
	`network is unreachable|\bENETUNREACH\b|\bEAI_AGAIN\b|getaddrinfo|no such host`)

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
