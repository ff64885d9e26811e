package protect

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// maxLookedUp bounds the size of a directory that a pattern outside the roots is looked up in.
const maxLookedUp = 4096

// elsewhere masks the secrets that the patterns name by an absolute path, wherever they are. These masks are few, since the list
// is, so nothing that commands make can use up what is left for them.
func (b *builder) elsewhere() {
	plain, wild := b.m.deny.elsewhere(b.tree.roots)
	for _, pattern := range wild {
		found, ok := b.listed(pattern)
		if !ok {
			b.gap(pattern, "not masked: a pattern with wildcards outside the roots cannot become a mask")
		}
		plain = append(plain, found...)
	}
	for _, file := range b.remaining(plain) {
		if denied, _ := b.m.deny.denied(fold(file), false); !denied {
			continue
		}
		if b.isFar(file) {
			b.gap(file, "not masked: another machine's file system, or one that a program serves, is mounted there")
			continue
		}
		var stat unix.Stat_t
		switch err := unix.Lstat(file, &stat); {
		case err != nil:
		case kindOf(&stat) == Symlink && b.tree.root(file) != "":
			b.maskTarget(file)
		case kindOf(&stat) == Symlink:
			b.maskOutside(file, false)
		case b.tree.root(file) != "" || b.inHome(file) || reachable(file, &stat):
			b.maskPath(file, false)
		}
	}
}

// remaining returns the paths without those outside the roots where there was nothing the last time they were all looked at.
func (b *builder) remaining(files []string) []string {
	now := time.Now()
	fresh := now.Sub(b.held.outside.at) < DefaultAge
	if !fresh {
		b.held.outside = outside{at: now}
	}
	known := b.held.outside.files
	kept := slices.DeleteFunc(files, func(file string) bool {
		if b.tree.root(file) != "" {
			return false
		}
		if fresh {
			return !slices.Contains(known, file)
		}
		var stat unix.Stat_t
		if !b.isFar(file) && unix.Lstat(file, &stat) != nil {
			return true
		}
		b.held.outside.files = append(b.held.outside.files, file)
		return false
	})
	return kept
}

// listed returns the files of one directory that a pattern means, if its wildcards are in its last name alone.
func (b *builder) listed(pattern string) (found []string, ok bool) {
	dir, base := path.Split(pattern)
	if strings.ContainsAny(dir, wildcards) || b.isFar(dir) {
		return nil, false
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, os.IsNotExist(err)
	}
	defer f.Close()
	names, err := f.Readdirnames(maxLookedUp)
	for _, name := range names {
		if match, _ := doublestar.Match(base, fold(name)); match {
			found = append(found, filepath.Join(dir, name))
		}
	}
	return found, len(names) < maxLookedUp && (err == nil || len(names) == 0)
}

// reachable reports whether there is anything of a file or directory outside the roots that this person could read.
func reachable(file string, stat *unix.Stat_t) bool {
	if kindOf(stat) != Dir {
		return (kindOf(stat) != File || stat.Size > 0) && unix.Access(file, unix.R_OK) == nil
	}
	if unix.Access(file, unix.X_OK) != nil {
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return true // it can be entered, but not listed
	}
	defer f.Close()
	names, _ := f.Readdirnames(1)
	return len(names) > 0
}

// isFar reports whether a lookup of the path may wait for another machine, unless a root lies on the same mount: work there waits
// anyway.
func (b *builder) isFar(file string) bool {
	file = path.Clean(file)
	for _, mount := range b.far {
		if agenttool.Within(mount, file) && !slices.ContainsFunc(b.tree.roots, within(mount)) {
			return true
		}
	}
	return false
}
