package shell

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/tools/neutral"
	"toolhost/tools/workspace"
)

// takesData lists the programs that only turn their input into output.
var takesData = wordsOf(`
	[ : base64 cat cmp cut echo expand false fmt fold grep head hexdump jq md5sum nl od printf read rev sha1sum sha256sum
	sha512sum sleep sort tac tail test tr true uniq wc xxd
`)

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

// Bind decodes and checks input and computes the facts. Errors are of class invalid_arguments.
func (t *tool) Bind(scope agenttool.Scope, raw json.RawMessage) (agenttool.Call, error) {
	in, err := decode(raw)
	if err != nil {
		return nil, err
	}
	in.Cwd = cmp.Or(in.Cwd, scope.Dir)
	if in.TimeoutMS == 0 {
		in.TimeoutMS = t.o.DefaultTimeout.Milliseconds()
	}
	cwd, err := workspace.Path(scope, in.Cwd)
	if err != nil {
		return nil, err
	}
	in.Cwd = agenttool.SpellPath(cwd.Absolute)
	c := &call{tool: t, input: in, room: scope.Capacity, oldDir: scope.Old}
	c.judge(cwd, scope.Home)
	return c, nil
}

// Moves implements agenttool.Mover.
func (t *tool) Moves(c agenttool.Call) bool {
	command, ok := c.(*call)
	return ok && command.moves()
}
