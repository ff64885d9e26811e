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

// refineReaders asks the disk what git would run where the command has it read, and analyses the command again with the answers: git
// in another directory may be proved to read only then, and in this one may not. In a command that does more than read git runs
// with the configuration as it is, so that there it only reads where the repository names no program. What git takes from elsewhere
// because the repository says so is among what is read. It reports whether the facts changed.
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

// namesPrograms settles that git does more than read where a repository names programs, and reports whether there is such one.
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

// neutralGit returns the variables that keep git from running what configuration names, as that is now.
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

// lookAtGit looks at places where git runs.
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

// gitHost is what git finds besides a repository when a command runs.
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

// real follows links as a command sees them.
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

// system returns the file of a program outside the workspace, "" if there is none.
func (t *tool) system(name string) string {
	if found := t.lookup(name); found != "" && !t.inRoots(found) {
		return found
	}
	return ""
}

// addTops adds what git takes as relative to the top of a work tree, wherever it runs.
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

// addElsewhere adds what git reads outside the workspace because a repository says so.
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
