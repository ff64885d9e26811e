package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/locale"
)

// passed are the variables of the host that a hook sees, besides LC_* and PATH.
var passed = map[string]bool{"HOME": true, "USER": true, "LANG": true, "TZ": true, "TMPDIR": true, "TOOLHOST_HOOK": true}

// defaultPath is the PATH of a hook whose host has none that can be used.
const defaultPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

// environ returns the environment of a hook, sorted. It is built, not inherited: no secrets, no variables that make a shell
// or a loader run code, and locales that make bash read a command as it was analysed. Host is "NAME=value" each; of two values of one name the first counts.
func environ(host []string, workspace string, set map[string]string, own ...string) []string {
	env := map[string]string{"PATH": defaultPath, "TERM": "dumb"}
	seen := map[string]bool{}
	for _, entry := range host {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || seen[name] || hasNUL(value) {
			continue
		}
		seen[name] = true
		switch {
		case name == "PATH":
			env[name] = trustedPath(value, workspace)
		case passed[name] || strings.HasPrefix(name, "LC_"):
			env[name] = value
		}
	}
	for name, value := range set {
		env[name] = value
	}
	list := own
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	list = locale.Environ(list)
	slices.Sort(list)
	return list
}

// trustedPath returns the entries of a PATH that are absolute and outside of the workspace: a file that
// a call can write must not be found as a program that runs as the user.
func trustedPath(path, workspace string) string {
	entries := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
		return !filepath.IsAbs(dir) || agenttool.Within(workspace, filepath.Clean(dir))
	})
	if len(entries) == 0 {
		return defaultPath
	}
	return strings.Join(entries, string(filepath.ListSeparator))
}

// program finds the program of a command: a path is taken as it is, from where the hook runs; a name is looked up in the
// PATH of its own environment.
func program(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	i := slices.IndexFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "PATH=") })
	path := strings.TrimPrefix(env[i], "PATH=")
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(dir) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("there is no program %q in its PATH, %s", name, path)
}
