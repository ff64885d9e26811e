package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify"
)

// facts are what the classifier proves of a command that starts in cwd.
func facts(command string, cwd agenttool.Path, home string) (agenttool.Facts, []string) {
	report := classify.Command(command, classify.Context{Dir: filepath.Clean(cwd.Absolute), Home: home})
	f := report.Facts
	f.Dir = &cwd
	return f, programs(report)
}

// programs are the names by which a command starts programs, where they are known.
func programs(report classify.Report) []string {
	var names []string
	for _, part := range report.Parts {
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
	for _, name := range c.programs {
		if strings.ContainsRune(name, '/') {
			continue
		}
		if found := c.tool.lookup(name); found != "" && c.tool.inRoots(found) {
			return agenttool.Failure(agenttool.PolicyBlocked, "planted_program", fmt.Sprintf(
				"%s is %s, which lies in the workspace and is not the program that was judged: call it by that path, and it is decided as what it is",
				name, found))
		}
	}
	return nil
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
