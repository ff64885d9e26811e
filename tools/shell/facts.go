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

// takesData reports whether the command treats its input only as data: it provably only reads the paths that it
// names, and consists only of programs that do not execute their input.
func (c *call) takesData() bool {
	f := c.facts
	return f.ReadOnly == agenttool.Yes && f.OpenWorld == agenttool.No && f.PathsComplete == agenttool.Yes && len(c.programs) > 0 &&
		!slices.ContainsFunc(c.programs, func(name string) bool { return !takesData[name] })
}

// takesData lists the programs that only turn their input into output.
var takesData = map[string]bool{
	"[": true, ":": true, "base64": true, "cat": true, "cmp": true, "cut": true, "echo": true, "expand": true, "false": true, "fmt": true, "fold": true,
	"grep": true, "head": true, "hexdump": true, "jq": true, "md5sum": true, "nl": true, "od": true, "printf": true, "read": true, "rev": true,
	"sha1sum": true, "sha256sum": true, "sha512sum": true, "sleep": true, "sort": true, "tac": true, "tail": true, "test": true, "tr": true,
	"true": true, "uniq": true, "wc": true, "xxd": true,
}

// programs returns the names of the programs that a command starts, as far as they are known.
func programs(parts []agenttool.Part) []string {
	var names []string
	for _, part := range parts {
		if len(part.Argv) > 0 && !slices.Contains(names, part.Argv[0]) {
			names = append(names, part.Argv[0])
		}
	}
	return names
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

// planted returns the first of some programs that lies in the workspace, and its path; "" if none does.
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

// lookup returns the file that bash starts for name, or "". Builtins take precedence over it.
func (t *tool) lookup(name string) string {
	for _, dir := range filepath.SplitList(hostPath(t.o.Environ)) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// inRoots reports whether path, or its target, lies in a root of the workspace.
func (t *tool) inRoots(path string) bool {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		resolved = path
	}
	return slices.ContainsFunc(t.w.Roots(), func(root string) bool {
		return root != "/" && (agenttool.Within(root, path) || agenttool.Within(root, resolved))
	})
}
