package protect

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sys/unix"
)

// maxLookedUp bounds the size of a directory that a pattern outside the roots is looked up in.
const maxLookedUp = 4096

// remaining returns the paths without those outside the roots where there was nothing the last time they were all looked at.
func (o *outside) remaining(b *builder, files []string) []string {
	now := time.Now()
	fresh := now.Sub(o.at) < DefaultAge
	if !fresh {
		*o = outside{at: now}
	}
	known := o.files
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
		o.files = append(o.files, file)
		return false
	})
	return kept
}

// matching returns the files of one directory that a pattern means, if its wildcards are in its last name alone. A directory that is missing has
// none.
func matching(pattern string, isFar func(string) bool) (found []string, ok bool, err error) {
	dir, base := path.Split(pattern)
	if strings.ContainsAny(dir, wildcards) || isFar(dir) {
		return nil, false, nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, os.IsNotExist(err), err
	}
	defer f.Close()
	names, err := f.Readdirnames(maxLookedUp)
	for _, name := range names {
		if match, _ := doublestar.Match(base, fold(name)); match {
			found = append(found, filepath.Join(dir, name))
		}
	}
	ok = len(names) < maxLookedUp && (err == nil || err == io.EOF)
	return found, ok, err
}

// reachable reports whether there is anything of a file or directory outside the roots that this person could read.
func reachable(file string, stat *unix.Stat_t) bool {
	if kindOf(stat) != Dir {
		return (kindOf(stat) != File || stat.Size > 0) && unix.Access(file, unix.R_OK) == nil
	}
	return enterable(file)
}
