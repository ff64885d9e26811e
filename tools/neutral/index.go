package neutral

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"toolhost/tools/gitindex"
)

const (
	modeGitlink = 0o160000
	maxGitlinks = 256
)

// gitlinks returns the paths of the submodules in the index of a git directory, relative to the top of the work tree.
// hash is the size of an object name in bytes.
func gitlinks(gitDir string, hash int) ([]string, error) {
	links, shared, err := linksOf(filepath.Join(gitDir, "index"), hash)
	if err == nil && shared != "" {
		var more []string
		if more, _, err = linksOf(filepath.Join(gitDir, "sharedindex."+shared), hash); errors.Is(err, os.ErrNotExist) {
			return nil, gitindex.Err
		}
		links = append(links, more...)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return links, err
}

// linksOf returns the submodules in one file, and the name of the file with the rest if the index is split.
func linksOf(name string, hash int) (links []string, shared string, err error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	r := gitindex.NewReader(f, hash)
	err = r.Entries(func(e gitindex.Entry) error {
		if e.Mode()&0o170000 != modeGitlink || len(links) > 0 && links[len(links)-1] == string(e.Path) {
			return nil
		}
		if links = append(links, string(e.Path)); len(links) > maxGitlinks {
			return errors.New("there are too many submodules")
		}
		return nil
	})
	if err == nil {
		shared, err = r.Shared(info.Size())
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	return links, shared, nil
}

// openRegular opens a regular file; it never blocks, and fails for devices, pipes and directories.
func openRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s is no file", name)
	}
	return f, nil
}

// maxFile bounds the size of a configuration file.
const maxFile = 1 << 20

// readRegular reads a small file.
func readRegular(name string) (string, error) {
	f, err := openRegular(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%s is too large", name)
	}
	return string(b), err
}
