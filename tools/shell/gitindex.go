package shell

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"toolhost/tools/gitindex"
)

// maxIndex bounds the bytes read of git's index.
const maxIndex = 16 << 20

// indexNames calls do for each path in the index of the repository of dir, relative to its top, until do returns
// false. It reports whether do returned true for all. Without a repository or an index there are none.
func indexNames(dir string, do func(path string) bool) bool {
	git, found := findGit(dir)
	return !found || readIndex(git, func(e gitindex.Entry) bool { return do(string(e.Path)) })
}

// readIndex does the same for the index of a git directory, with all that git stores about a file.
func readIndex(git string, do func(gitindex.Entry) bool) bool {
	f, err := os.Open(filepath.Join(git, "index"))
	if err != nil {
		return os.IsNotExist(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > maxIndex {
		return false
	}
	return nil == gitindex.NewReader(io.LimitReader(f, maxIndex), gitindex.SHA1).Entries(func(e gitindex.Entry) error {
		if !do(e) {
			return errStopped
		}
		return nil
	})
}

var errStopped = errors.New("no more entries are wanted")
