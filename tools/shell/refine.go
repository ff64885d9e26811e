package shell

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify"
	"toolhost/classify/program"
	"toolhost/permissions/protect"
	"toolhost/sandbox"
	"toolhost/tools/job"
	"toolhost/tools/keep"
	"toolhost/tools/neutral"
)

// call is a bound command.
type call struct {
	tool   *tool
	input  input
	git    map[agenttool.GitRun]string // findings about the repositories where the command runs git
	home   string
	facts  agenttool.Facts
	room   agenttool.Capacity
	oldDir string // where the session was before it moved to where the call starts; "" if it never moved

	grants sandbox.Grants
	agreed agenttool.Protected

	programs    []string // names of the programs that the command starts, if known
	startsShell bool     // it starts a shell that reads commands

	environment []string // of the command, once it starts

	kept    *keep.Call // what it has changed so far; nil: nothing is kept
	mayLose bool       // a person or a rule let the call run as it is
}

// Refine completes the facts that depend on the disk: the programs that repositories make git run, the git
// configuration that is used, and the files that patterns match.
func (c *call) Refine(ctx context.Context) []*agenttool.Path {
	refined := c.refine(ctx)
	refineModules(&c.facts, c.tool.inRoots)
	if c.refineHistory(ctx) {
		refined = append(pointers(c.facts.Reads), pointers(c.facts.Writes)...)
	}
	refineMoves(&c.facts)
	if c.facts.Destructive == agenttool.Yes {
		refineLoose(&c.facts)
	}
	c.refineCopies()
	return refined
}

func (c *call) refine(ctx context.Context) []*agenttool.Path {
	changed := c.refineReaders()
	changed = c.refineRemotes() || changed
	changed = refinePackages(&c.facts, c.tool.inRoots) || changed
	refined := refineGit(&c.facts)
	refineLocks(&c.facts)
	refined = append(refined, refineGlobs(ctx, &c.facts, c.tool.w.Locate)...)
	if looked, ok := c.refineNames(ctx); ok {
		return looked
	}
	if changed {
		refined = append(pointers(c.facts.Reads), pointers(c.facts.Writes)...)
	}
	return refined
}

// judge fills in the facts that the classifier proves of the command, which starts in cwd.
func (c *call) judge(cwd agenttool.Path, home string) {
	c.home = home
	c.analyse(cwd, nil)
	c.programs = programs(c.facts.Parts)
	c.startsShell = len(c.facts.Parts) == 1 && job.IsShell(c.facts.Parts[0].Argv) && classify.Plain(c.input.Command)
}

// analyse computes the facts from the text of the command and from git, the findings about git on disk.
func (c *call) analyse(cwd agenttool.Path, git map[agenttool.GitRun]string) {
	c.facts = classify.Command(c.input.Command, classify.Context{Dir: filepath.Clean(cwd.Absolute), Home: c.home, Git: git})
	c.facts.Dir, c.git = &cwd, git
}

// checkPrograms refuses a command that was classified as read-only if one of its programs lies in the workspace,
// where the agent could have changed it. PATH may well lead there (a virtual environment, node_modules/.bin). A
// command can still name such a program by its path and be judged as that program.
func (c *call) checkPrograms() error {
	if c.facts.ReadOnly != agenttool.Yes {
		return nil
	}
	if name, found := c.tool.planted(c.programs); found != "" {
		return agenttool.Failure(agenttool.PolicyBlocked, "planted_program", fmt.Sprintf(
			"%s is %s, which lies in the workspace and is not the program that was judged: call it by that path to have that program judged",
			name, found))
	}
	return nil
}

// takesData reports whether the command treats its input only as data: it provably only reads the paths that it
// names, and consists only of programs that do not execute their input.
func (c *call) takesData() bool {
	f := c.facts
	return f.ReadOnly == agenttool.Yes && f.OpenWorld == agenttool.No && f.PathsComplete == agenttool.Yes && len(c.programs) > 0 &&
		!slices.ContainsFunc(c.programs, func(name string) bool { return !takesData[name] })
}

// refineNames judges a command that is not provably read-only again with facts from the disk: the names of files, and
// the state of its repository. It returns the paths of the facts if they improved.
func (c *call) refineNames(ctx context.Context) ([]*agenttool.Path, bool) {
	f := &c.facts
	proved := f.ReadOnly == agenttool.Yes && f.PathsComplete == agenttool.Yes && f.OpenWorld == agenttool.No
	if proved || f.Destructive == agenttool.Yes || f.Dir.Resolved == "" {
		return nil, false
	}
	at := classify.Context{Dir: filepath.Clean(f.Dir.Absolute), Home: c.home, Git: c.git}
	looked, ok := classify.Looked(c.input.Command, at, classify.Disk{Prints: prints(c.input.Command, f.Dir.Resolved, c.tool.lookup), PlainTags: asksPlainTags(c.input.Command, f.Dir.Resolved), Absent: c.absent})
	if !ok || looked.ReadOnly != agenttool.Yes && (len(looked.Globs) > 0 || looked.OpenWorld == f.OpenWorld) {
		return nil, false
	}
	for _, paths := range [2][]agenttool.Path{looked.Reads, looked.Writes} {
		for i := range paths {
			if c.tool.w.Locate(&paths[i]) != nil {
				return nil, false
			}
		}
	}
	if len(looked.Globs) > 0 {
		m := lookUp(ctx, looked.Globs, c.tool.w.Locate)
		if m == nil || m.outside {
			return nil, false
		}
		looked.Reads = append(looked.Reads, m.paths...)
		looked.PathsComplete = agenttool.Yes
		for i := range looked.Parts {
			looked.Parts[i].PathsComplete = agenttool.Yes
		}
	}
	looked.Dir = f.Dir
	for _, path := range f.Reads { // keep the earlier findings about git
		if !slices.ContainsFunc(looked.Reads, func(p agenttool.Path) bool { return p.Absolute == path.Absolute }) {
			looked.Reads = append(looked.Reads, path)
		}
	}
	*f = looked
	return append(pointers(f.Reads), pointers(f.Writes)...), true
}

// absent reports whether no file exists that would change the meaning of a use.
func (c *call) absent(dir string, of program.ConditionalUse) bool {
	missing := func(dir string, names []string) bool {
		return !slices.ContainsFunc(names, func(name string) bool {
			_, err := os.Lstat(filepath.Join(dir, name))
			return err == nil
		})
	}
	if !missing(dir, of.Absent) {
		return false
	}
	for at := filepath.Clean(dir); at != c.home; at = filepath.Dir(at) { // files in the home directory belong to the user
		if !missing(at, of.Upward) {
			return false
		}
		if at == "/" {
			break
		}
	}
	return true
}

// refineReaders looks up on disk which programs git would run for a reading command, and analyses the command again
// with the answers. A command may be provably read-only in one directory and not in another. In a command that also
// writes, git runs with the configuration as it is, so it counts as reading only if the repository names no program.
// Files elsewhere that git reads because the repository names them are added to the reads. It reports whether the
// facts changed.
func (c *call) refineReaders() bool {
	found := c.lookAtGit()
	settled, changed := map[agenttool.GitRun]string{}, false
	for run, f := range found {
		settled[run] = f.Obstacle
		changed = changed || f.Obstacle != "" || run.Dir != filepath.Clean(c.facts.Dir.Absolute) || run.GitDir != ""
	}
	if changed {
		c.analyse(*c.facts.Dir, settled)
	}
	if c.facts.ReadOnly != agenttool.Yes && namesPrograms(found, settled) {
		c.analyse(*c.facts.Dir, settled)
		changed = true
	}
	before := len(c.facts.Reads)
	c.addTops(found)
	c.addElsewhere(found)
	return changed || len(c.facts.Reads) != before
}

// neutralGit returns the variables that keep git from running programs of its current configuration.
func (c *call) neutralGit() ([]string, error) {
	var lists [][]neutral.Setting
	for run, f := range c.lookAtGit() {
		if f.Obstacle != "" {
			return nil, agenttool.Failure(agenttool.PolicyBlocked, "git_configuration_changed",
				f.Obstacle+". That was not so when git "+run.Verb+" was judged: make the call again, and it is decided anew")
		}
		lists = append(lists, f.Settings)
	}
	env := neutral.Environ(neutral.Merge(append(lists, neutral.Fixed())...))
	if c.facts.OpenWorld == agenttool.No {
		env = append(env, neutral.Closed()...)
	}
	return env, nil
}

func (c *call) lookAtGit() map[agenttool.GitRun]neutral.Finding {
	return c.tool.lookAtGit(c.facts.Git, c.home)
}

// addTops adds paths that git resolves relative to the top of a work tree, wherever it runs.
func (c *call) addTops(found map[agenttool.GitRun]neutral.Finding) {
	for _, p := range slices.Clone(c.facts.Reads) {
		if !p.Top || filepath.IsAbs(p.Spelling) {
			continue
		}
		for _, run := range c.facts.Git {
			if top := found[run].Top; top != "" {
				p.Absolute, p.Resolved, p.Root = top+"/"+p.Spelling, "", ""
				c.addRead(p)
			}
		}
	}
}

// addElsewhere adds files outside the workspace that git reads because a repository names them.
func (c *call) addElsewhere(found map[agenttool.GitRun]neutral.Finding) {
	for _, run := range c.facts.Git {
		for _, path := range found[run].Reads {
			if !c.tool.inRoots(path) {
				c.addRead(agenttool.Path{Spelling: path, Absolute: path})
			}
		}
	}
}

func (c *call) addRead(p agenttool.Path) {
	if !slices.ContainsFunc(c.facts.Reads, func(r agenttool.Path) bool { return r.Absolute == p.Absolute }) {
		c.facts.Reads = append(c.facts.Reads, p)
	}
}

// refineRemotes looks up the addresses of the remotes that the command names in the configuration: their hosts, and the repositories on
// this machine, which a push writes. If one of them is unknown, or addresses may be rewritten, the facts stay unchanged. It reports
// whether there are more paths.
func (c *call) refineRemotes() (paths bool) {
	f := &c.facts
	if len(f.Remotes) == 0 || rewritesAddresses(c.home) {
		return false
	}
	var hosts []string
	var reads, writes []agenttool.Path
	for _, remote := range f.Remotes {
		git, found := findGit(filepath.Clean(remote.Dir))
		own, foundShared := shared(git)
		if !found || !foundShared {
			return false
		}
		config, ok := readGitConfig(filepath.Join(own, "config"))
		if !ok || config.rewrites() {
			return false
		}
		urls := config.addresses(remote, headOf(git))
		if len(urls) == 0 {
			return false
		}
		for _, url := range urls {
			host, ok := hostOf(url)
			if !ok {
				return false
			}
			if place := strings.TrimPrefix(url, "file://"); host == "" && filepath.IsAbs(place) {
				at := agenttool.Path{Spelling: url, Absolute: filepath.Clean(place)}
				if remote.Push {
					plain := protect.IsGitDir(at.Absolute) && config.isPlain() && !runsHooks(own, config, c.home)
					at.Upstream = plain && fetchedBefore(own, config.remote(remote, headOf(git)), at.Absolute)
					writes = append(writes, at)
				} else {
					_, at.Upstream = usersRepository(at.Absolute)
					at.Cloned = at.Upstream && c.tool.ownCheckout(own, c.home) && isClone(own, at.Absolute)
					reads = append(reads, at)
				}
			}
			if host != "" && !slices.Contains(hosts, host) && !slices.Contains(f.Hosts, host) {
				hosts = append(hosts, host)
			}
		}
	}
	f.Hosts, f.HostsComplete = append(slices.Clip(f.Hosts), hosts...), agenttool.Yes
	f.Reads, f.Writes = append(slices.Clip(f.Reads), reads...), append(slices.Clip(f.Writes), writes...)
	return len(reads)+len(writes) > 0
}

// dir is the directory that the command starts in.
func (c *call) dir() string { return c.facts.Dir.Resolved }

// moves reports whether the command may end in another directory and runs in the foreground.
func (c *call) moves() bool {
	return !c.input.RunInBackground && slices.ContainsFunc(c.programs, func(name string) bool {
		return name == "cd" || name == "pushd" || name == "popd"
	})
}
