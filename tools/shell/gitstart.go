package shell

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/sandbox"
)

// Git is judged when it starts, whoever starts it: a shell, xargs, a script, an alias. That costs each program of a command a little, so it is
// done only where a repository may hold a secret as an object.

// maxRepositories bounds the repositories that are looked at before a command; where there are more, git is judged.
const maxRepositories = 32

// judgesStarts reports whether programs can be judged when they start.
func (c *call) judgesStarts() bool {
	return c.tool.o.Sandbox != nil && !c.grants.Unconfined && c.tool.o.Sandbox.JudgesStarts()
}

// gitJudge returns the judge of the command's git; nil if nothing is to be judged: no repository of the workspace holds a secret, and none can be
// fetched.
func (c *call) gitJudge(p sandbox.Profile) func(sandbox.GitStart) (why string, refused bool) {
	if !c.judgesStarts() {
		return nil
	}
	secrets, err := c.tool.w.Secrets()
	repositories, fetches := secrets.Repositories(), len(p.Hosts)+len(p.Public) > 0
	if err == nil && len(repositories) == 0 && !fetches || c.tool.system("git") == "" { // which looks into each directory of PATH
		return nil
	}
	if err != nil || fetches || len(repositories) > maxRepositories {
		return c.judgeGit
	}
	for _, git := range repositories {
		dir := git.Top
		if dir == "" {
			dir = git.Path
		}
		if !c.tool.histories.of(context.Background(), gitReader{tool: c.tool, dir: dir, top: git.Top, git: git.Path}, glanceTime).none() {
			return c.judgeGit
		}
	}
	return nil
}

// judgeGit says why a git that starts is refused: it would print secrets of a repository, or put them where they are none.
func (c *call) judgeGit(s sandbox.GitStart) (why string, refused bool) {
	run := startOf(s, c.environment)
	if !takesContents(run.verb) {
		return "", false
	}
	if run.foreign != "" && run.verb != "rev-list" && c.tool.histories.any() { // rev-list names objects; a push has it do so
		return "it prints objects of another place (" + run.foreign + ")", true
	}
	dir, ok := c.host(run.dir)
	if !ok {
		return "it cannot be told where it runs", true
	}
	git, found := findGit(dir)
	if run.gitDir != "" {
		git, found = c.host(absolute(run.dir, run.gitDir))
		if !found {
			return "its repository cannot be told", true
		}
	}
	if run.verb == "clone" && len(run.sources()) > 0 {
		if git, found = c.host(absolute(run.dir, strings.TrimPrefix(run.sources()[0], "file://"))); found {
			if inner, ok := findGit(git); ok {
				git = inner
			}
		}
	}
	if _, err := os.Stat(filepath.Join(git, "HEAD")); !found || err != nil {
		return "", false // and git finds none
	}
	ctx, cancel := context.WithTimeout(context.Background(), historyTime)
	defer cancel()
	reader := gitReader{tool: c.tool, dir: dir, top: topOf(dir, git), git: git}
	if run.gitDir != "" {
		reader.top = filepath.Dir(git)
	}
	if run.workTree != "" {
		if reader.top, ok = c.host(absolute(run.dir, run.workTree)); !ok {
			return "its work tree cannot be told", true
		}
	}
	held := c.tool.histories.of(ctx, reader, historyTime)
	if held.none() {
		return "", false
	}
	if slices.Contains(placing, run.verb) && c.fillsScratch(run, reader) {
		for name := range held.objects {
			return "it puts " + name + ", which holds secrets, where it would be a file like any other", true
		}
	}
	p := reader.prints(ctx, run.gitCommand, held)
	switch {
	case len(p.names) > 0:
		return "the repository holds " + p.names[0] + " with secrets, and this prints it: leave it out with -- ':(exclude)" + p.names[0] + "'", true
	case p.unknown != "" && !(c.mayLose && c.facts.Unwalked != ""): // else a person was asked about it
		return p.unknown + ": run it again, what was looked through is remembered", true
	}
	return "", false
}

// fillsScratch reports whether a command of git puts files into the session's /tmp, or may: nothing there is a secret. Other places outside of the
// workspace need a yes.
func (c *call) fillsScratch(run gitRun, r gitReader) bool {
	places := []string{r.top}
	if words := run.sources(); run.verb == "clone" && len(words) > 0 || run.verb == "worktree" && len(words) > 0 && words[0] == "add" {
		places = []string{run.dir}
		for _, word := range words[1:] { // among them values of options, which look like names in the directory
			places = append(places, absolute(run.dir, word))
		}
		for i, place := range places {
			places[i], _ = c.host(place)
		}
	}
	return slices.ContainsFunc(places, func(place string) bool {
		return place == "" || inScratch(c.tool.o.Sandbox, place) && !c.tool.inRoots(place)
	})
}

// host is where a path of the command leads on the host.
func (c *call) host(path string) (string, bool) {
	at := agenttool.Path{Spelling: path, Absolute: path}
	if !filepath.IsAbs(path) || c.tool.w.Locate(&at) != nil {
		return "", false
	}
	return at.Resolved, true
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// gitRun is what the words and variables of a git that starts say.
type gitRun struct {
	gitCommand
	dir      string // where it runs, as the command sees it: absolute
	gitDir   string // "" if git looks for it
	workTree string // the same
	foreign  string // the variable by which it reads objects elsewhere; "" if it does not
}

// startOf reads the start of git. own are the variables that its command got from here.
func startOf(s sandbox.GitStart, own []string) gitRun {
	run := gitRun{dir: s.Dir, gitCommand: gitCommand{exact: true}}
	for _, entry := range s.Environ {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case value == "", slices.Contains(own, entry):
		case name == "GIT_DIR":
			run.gitDir = value
		case name == "GIT_WORK_TREE":
			run.workTree = value
		case name == "GIT_OBJECT_DIRECTORY", name == "GIT_ALTERNATE_OBJECT_DIRECTORIES", name == "GIT_COMMON_DIR":
			run.foreign = name
		case name == "GIT_INDEX_FILE", name == "GIT_EXTERNAL_DIFF", name == "GIT_DIFF_OPTS":
			run.other = true
		case strings.HasSuffix(name, "_PATHSPECS"):
			run.exact = false
		case strings.HasPrefix(name, "GIT_CONFIG_KEY_"), name == "GIT_CONFIG_PARAMETERS":
			run.configured(value)
		}
	}
	words := s.Argv
	name := filepath.Base(words[0])
	if verb, is := strings.CutPrefix(name, "git-"); is {
		run.verb, run.args = verb, words[1:]
		return run
	}
	for i := 1; i < len(words); i++ {
		option, value, joined := strings.Cut(words[i], "=")
		switch option {
		case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--exec-path":
			if !joined && option != "--exec-path" && i+1 < len(words) {
				i++
				value = words[i]
			}
			switch option {
			case "-C":
				run.dir = absolute(run.dir, value)
			case "-c", "--config-env":
				run.configured(words[i])
			case "--git-dir":
				run.gitDir = value
			case "--work-tree":
				run.workTree = value
			}
		case "--literal-pathspecs", "--glob-pathspecs", "--noglob-pathspecs", "--icase-pathspecs":
			run.exact = false
		case "--bare":
			run.gitDir = "."
		default:
			if !strings.HasPrefix(option, "-") {
				run.verb, run.args = words[i], words[i+1:]
				return run
			}
		}
	}
	return run
}

// configured notes a setting of one run: some settings have git print more.
func (run *gitRun) configured(setting string) {
	lower := strings.ToLower(setting)
	for _, section := range []string{"diff.", "stash.", "format.", "grep.", "blame.", "core.worktree", "core.quotepath"} {
		run.other = run.other || strings.Contains(lower, section)
	}
	if strings.Contains(lower, "log.") || strings.Contains(lower, "show.") {
		run.merges = true
	}
}

// sources are the words of a command of git that are no options.
func (run gitRun) sources() (words []string) {
	for _, word := range run.args {
		if !strings.HasPrefix(word, "-") {
			words = append(words, word)
		}
	}
	return words
}
