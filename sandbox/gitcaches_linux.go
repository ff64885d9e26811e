package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolhost/permissions/protect"
)

// Tool chains and caches of a home directory have clones of repositories, and the address of a clone may have a login in it: go/pkg/mod/cache/vcs,
// .cargo/git, .cache/pre-commit, Homebrew, plugins of version managers. They are found by what they are, wherever commands see them, and commands
// see their configuration as they see the workspace's: without what is secret.

// gitCaches are the configurations of git directories in the places of the home that commands see. The zero value has looked at nothing.
type gitCaches struct {
	at      time.Time // of the last look
	configs []string  // with secrets in them
	short   bool      // a bound kept the look from reaching all
}

// Bounds of a look. Go's module cache has hundreds of thousands of entries, and clones in one directory alone.
const (
	cachesDepth   = 5
	cachesEntries = 20_000
	cachesTime    = 250 * time.Millisecond
	modCacheName  = "go/pkg/mod"
	modCacheVCS   = "cache/vcs"
)

// look finds the configurations with secrets, at most once in [protect.DefaultAge].
func (g *gitCaches) look(v *view) []string {
	if !g.at.IsZero() && time.Since(g.at) < protect.DefaultAge {
		return g.configs
	}
	first := g.at.IsZero()
	g.at = time.Now()
	var next []string
	for _, at := range v.shown {
		if !v.isClosed(at.path) || v.inRoot(at.path) {
			continue
		}
		if strings.HasSuffix(at.path, "/"+modCacheName) {
			at.path = filepath.Join(at.path, modCacheVCS)
		}
		next = append(next, at.path)
	}
	var found []string
	entries, deadline := 0, g.at.Add(cachesTime)
	g.short = false
	for depth := 0; depth <= cachesDepth && len(next) > 0; depth++ {
		dirs := next
		next = nil
		for _, dir := range dirs {
			if entries > cachesEntries || !first && time.Now().After(deadline) {
				g.short = true
				break
			}
			names, below := entriesOf(dir)
			entries += len(names)
			switch {
			case slices.Contains(names, "HEAD") && slices.Contains(below, "objects"):
				found = append(found, dir)
			case slices.Contains(names, ".git"):
				found = append(found, filepath.Join(dir, ".git"))
				below = slices.DeleteFunc(below, func(name string) bool { return name == ".git" })
				fallthrough
			default:
				for _, name := range below {
					next = append(next, filepath.Join(dir, name))
				}
			}
		}
	}
	var configs []string
	for _, git := range found {
		modules, _ := filepath.Glob(filepath.Join(protect.QuoteGlob(git), "modules", "*", "config"))
		for _, config := range append(modules, filepath.Join(git, "config"), filepath.Join(git, "config.worktree")) {
			if protect.HoldsSecret(config) {
				configs = append(configs, config)
			}
		}
	}
	for _, known := range g.configs { // what a shorter look did not reach stays covered
		if !slices.Contains(configs, known) && g.short {
			configs = append(configs, known)
		}
	}
	g.configs = configs
	return configs
}

// entriesOf are the names in a directory, and the directories among them.
func entriesOf(dir string) (names, below []string) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(cachesEntries)
	for _, e := range entries {
		names = append(names, e.Name())
		if e.IsDir() {
			below = append(below, e.Name())
		}
	}
	return names, below
}
