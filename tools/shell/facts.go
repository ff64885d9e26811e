package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify"
	"toolhost/tools/job"
)

// judge fills in what the classifier proves of the command, which starts in cwd.
func (c *call) judge(cwd agenttool.Path, home string) {
	c.home = home
	c.analyse(cwd, nil)
	c.programs = programs(c.facts.Parts)
	c.startsShell = len(c.facts.Parts) == 1 && job.IsShell(c.facts.Parts[0].Argv) && classify.Plain(c.input.Command)
}

// analyse makes the facts, as far as the text tells, and what the disk says of git.
func (c *call) analyse(cwd agenttool.Path, git map[agenttool.GitRun]string) {
	c.facts = classify.Command(c.input.Command, classify.Context{Dir: filepath.Clean(cwd.Absolute), Home: c.home, Git: git})
	c.facts.Dir, c.git = &cwd, git
}

// takesData reports whether all that the command does with its input is to read it as data: it is proved to read only, and no more
// than the paths that it names, and it is made of programs that obey nobody.
func (c *call) takesData() bool {
	f := c.facts
	return f.ReadOnly == agenttool.Yes && f.OpenWorld == agenttool.No && f.PathsComplete == agenttool.Yes && len(c.programs) > 0 &&
		!slices.ContainsFunc(c.programs, func(name string) bool { return !takesData[name] })
}

// takesData are the programs that make nothing of what they read but their output.
var takesData = map[string]bool{
	"[": true, ":": true, "base64": true, "cat": true, "cmp": true, "cut": true, "echo": true, "expand": true, "false": true, "fmt": true, "fold": true,
	"grep": true, "head": true, "hexdump": true, "jq": true, "md5sum": true, "nl": true, "od": true, "printf": true, "read": true, "rev": true,
	"sha1sum": true, "sha256sum": true, "sha512sum": true, "sleep": true, "sort": true, "tac": true, "tail": true, "test": true, "tr": true,
	"true": true, "uniq": true, "wc": true, "xxd": true,
}

// programs are the names by which a command starts programs, where they are known.
func programs(parts []agenttool.Part) []string {
	var names []string
	for _, part := range parts {
		if len(part.Argv) > 0 && !slices.Contains(names, part.Argv[0]) {
			names = append(names, part.Argv[0])
		}
	}
	return names
}

// checkPrograms refuses a command that was taken for read-only if a program of it is found inside the workspace:
// whoever writes there decides what it does. PATH may well lead there (a virtual environment, node_modules/.bin); by
// its path such a program can be asked for.
func (c *call) checkPrograms() error {
	if c.facts.ReadOnly != agenttool.Yes {
		return nil
	}
	if name, found := c.tool.planted(c.programs); found != "" {
		return agenttool.Failure(agenttool.PolicyBlocked, "planted_program", fmt.Sprintf(
			"%s is %s, which lies in the workspace and is not the program that was judged: call it by that path, and it is decided as what it is",
			name, found))
	}
	return nil
}

// planted returns the first of some programs that is found in the workspace, and where; "" for none.
func (t *tool) planted(names []string) (name, found string) {
	for _, name := range names {
		if strings.ContainsRune(name, '/') {
			continue
		}
		if found := t.lookup(name); found != "" && t.inRoots(found) {
			return name, found
		}
	}
	return "", ""
}

// lookup returns the file that bash starts for name, empty if there is none. Builtins come before it.
func (t *tool) lookup(name string) string {
	for _, dir := range filepath.SplitList(hostPath(t.o.Environ)) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// inRoots reports whether path, or what it leads to, lies in a root of the workspace.
func (t *tool) inRoots(path string) bool {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		resolved = path
	}
	return slices.ContainsFunc(t.w.Roots(), func(root string) bool {
		return root != "/" && (agenttool.Within(root, path) || agenttool.Within(root, resolved))
	})
}
