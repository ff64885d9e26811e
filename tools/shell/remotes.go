package shell

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"toolhost/agenttool"
)

// rewritesAddresses reports whether the user's or the machine's configuration may rewrite addresses of repositories,
// or cannot be read.
func rewritesAddresses(home string) bool {
	for _, file := range userConfigs(home) {
		config, ok := readGitConfig(file)
		if !ok && !isMissing(file) || config.rewrites() {
			return true
		}
	}
	return false
}

// userConfigs are the files of the user's and the machine's configuration of git.
func userConfigs(home string) []string {
	return []string{"/etc/gitconfig", filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git/config")}
}

// runsHooks reports whether commits and pushes in a repository may run hooks: they often run code of the work tree.
func runsHooks(git string, config gitConfig, home string) bool {
	const key = "core.hookspath"
	named := func(file string) bool {
		config, _ := readGitConfig(file)
		return len(config[key]) > 0
	}
	entries, err := os.ReadDir(filepath.Join(git, "hooks"))
	return len(config[key]) > 0 || slices.ContainsFunc(userConfigs(home), named) || err != nil && !os.IsNotExist(err) ||
		slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".sample") })
}

func isMissing(file string) bool {
	_, err := os.Lstat(file)
	return os.IsNotExist(err)
}

// headOf returns the branch of a git directory, "" if it has none.
func headOf(git string) string {
	ref := pointedText(filepath.Join(git, "HEAD"))
	branch, _ := strings.CutPrefix(strings.TrimSpace(ref), "ref: refs/heads/")
	if branch == strings.TrimSpace(ref) {
		return ""
	}
	return branch
}

// gitConfig maps section.subsection.key to the values in a git configuration.
type gitConfig map[string][]string

// maxConfig bounds the bytes read of a configuration.
const maxConfig = 256 << 10

// readGitConfig reads a configuration and reports whether it understood everything; it does not understand quotes,
// escapes and continued lines.
func readGitConfig(file string) (gitConfig, bool) {
	b, ok := readAtMost(file, maxConfig)
	if !ok {
		return nil, false
	}
	config, section := gitConfig{}, ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			name, rest, ok := strings.Cut(line[1:], "]")
			if !ok || strings.TrimSpace(rest) != "" {
				return nil, false
			}
			first, sub, quoted := strings.Cut(name, " \"")
			section = strings.ToLower(first) + "."
			if quoted {
				section += strings.TrimSuffix(sub, "\"") + "."
			}
		default:
			key, value, _ := strings.Cut(line, "=")
			if value = strings.TrimSpace(value); strings.ContainsAny(value, "\"\\") && strings.HasSuffix(strings.ToLower(strings.TrimSpace(key)), "url") {
				return nil, false
			}
			key = section + strings.ToLower(strings.TrimSpace(key))
			config[key] = append(config[key], value)
		}
	}
	return config, true
}

// readAtMost reads a regular file of at most limit bytes. It waits for no pipe.
func readAtMost(file string, limit int64) ([]byte, bool) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil, false
	}
	b, err := io.ReadAll(io.LimitReader(f, limit))
	return b, err == nil
}

// rewrites reports whether addresses may be rewritten, by url.*.insteadOf or by an included file.
func (c gitConfig) rewrites() bool {
	for key := range c {
		if strings.HasPrefix(key, "url.") || strings.HasPrefix(key, "include") {
			return true
		}
	}
	return false
}

// plainKeys are the settings of a repository with which commits and pushes run no program, and send no more than the line says.
var plainKeys = map[string][]string{
	"core": {
		"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks", "autocrlf", "safecrlf", "eol",
	},
	"extensions": {"objectformat"}, "user": {"name", "email"}, "submodule": {"url", "active"},
	"remote": {"url", "pushurl", "fetch", "tagopt"}, "branch": {"remote", "pushremote", "merge", "rebase"},
	"push": {"default", "autosetupremote"}, "pull": {"rebase", "ff"},
}

// isPlain reports whether a repository has plain settings only. Others have a push force or delete, or name programs, such as filters.
func (c gitConfig) isPlain() bool {
	for key := range c {
		section, _, _ := strings.Cut(key, ".")
		if !slices.Contains(plainKeys[section], key[strings.LastIndexByte(key, '.')+1:]) {
			return false
		}
	}
	return true
}

// remote returns the name of a remote. An empty name means the upstream of the branch, or origin.
func (c gitConfig) remote(r agenttool.GitRemote, branch string) string {
	name := r.Name
	keys := []string{"branch." + branch + ".remote"}
	if r.Push {
		keys = []string{"branch." + branch + ".pushremote", "remote.pushdefault", "branch." + branch + ".remote"}
	}
	for _, key := range keys {
		if values := c[key]; name == "" && len(values) > 0 {
			name = values[len(values)-1]
		}
	}
	name = cmp.Or(name, "origin")
	return name
}

// addresses returns the addresses of a remote.
func (c gitConfig) addresses(r agenttool.GitRemote, branch string) []string {
	name := c.remote(r, branch)
	if r.Push && len(c["remote."+name+".pushurl"]) > 0 {
		return c["remote."+name+".pushurl"]
	}
	return c["remote."+name+".url"]
}

// hostOf returns the host of a git address, "" for a local path. It reports whether it understood the address.
func hostOf(address string) (string, bool) {
	scheme, rest, isURL := strings.Cut(address, "://")
	switch {
	case strings.Contains(address, "::"), address == "":
		return "", false
	case isURL && scheme == "file":
		return "", true
	case isURL:
		rest, _, _ = strings.Cut(rest, "/")
		host := rest[strings.LastIndexByte(rest, '@')+1:]
		return host, host != ""
	}
	host, _, ok := strings.Cut(address, ":")
	if !ok || strings.Contains(host, "/") {
		return "", true
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	return host, host != ""
}
