package shell

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/tools/shell/neutral"
)

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

// namesPrograms marks git as more than a reader where a repository names programs, and reports whether one does.
func namesPrograms(found map[agenttool.GitRun]neutral.Finding, settled map[agenttool.GitRun]string) bool {
	named := false
	for run, f := range found {
		if settled[run] == "" && len(f.Programs) > 0 {
			settled[run], named = "the repository of "+run.Dir+" has git run a program ("+f.Programs[0]+
				"), which is turned off only for commands that read and nothing else", true
		}
	}
	return named
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

// lookAtGit examines the places where git runs.
func (t *tool) lookAtGit(runs []agenttool.GitRun, home string) map[agenttool.GitRun]neutral.Finding {
	if len(runs) == 0 {
		return nil
	}
	found := make(map[agenttool.GitRun]neutral.Finding, len(runs))
	host := t.gitHost(home)
	for _, run := range runs {
		dir, err := t.real(run.Dir + "/")
		if err == nil {
			_, err = os.Stat(dir)
		}
		if err != nil {
			found[run] = neutral.Finding{Obstacle: "git would run in " + run.Dir + ", which cannot be looked at"}
			continue
		}
		found[run] = neutral.Look(neutral.Place{Dir: dir, GitDir: run.GitDir, Verb: run.Verb}, host)
	}
	return found
}

// gitHost returns the parts of git's environment outside the repository.
func (t *tool) gitHost(home string) neutral.Host {
	h := neutral.Host{Home: home, Real: t.real, Cat: t.system("cat"), Diff: t.system("diff")}
	for _, entry := range t.o.Environ {
		if dir, ok := strings.CutPrefix(entry, "HOME="); ok {
			h.Home = dir
		}
		if dir, ok := strings.CutPrefix(entry, "XDG_CONFIG_HOME="); ok {
			h.Config = dir
		}
	}
	return h
}

var errPrivate = errors.New("it is toolhost's own")

// real resolves links as a command sees them.
func (t *tool) real(path string) (string, error) {
	p := agenttool.Path{Spelling: path, Absolute: path}
	if err := t.w.Locate(&p); err != nil {
		return "", err
	}
	if p.Private {
		return "", errPrivate
	}
	return p.Resolved, nil
}

// system returns the path of a program outside the workspace, "" if there is none.
func (t *tool) system(name string) string {
	if found := t.lookup(name); found != "" && !t.inRoots(found) {
		return found
	}
	return ""
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
