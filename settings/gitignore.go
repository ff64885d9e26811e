package settings

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// localFile is the name of a user's own settings in a project.
const localFile = "settings.local.json"

// ignored are the lines of the .gitignore beside the local file. They match that file, its temporary files and the .gitignore itself.
const ignored = localFile + "*\n.gitignore\n"

// ignoreLocal keeps git from adding the local file of a project, before it is there: a committed file counts as the project's, and
// its rules would not count any more. A .gitignore that is there already is the project's, and gets one more line.
func ignoreLocal(file string) error {
	dir := filepath.Dir(file)
	if filepath.Base(file) != localFile || filepath.Base(dir) != projectDir {
		return nil
	}
	name := filepath.Join(dir, ".gitignore")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return ignoreBesides(name)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(ignored)
	return errors.Join(err, f.Close())
}

// ignoreBesides adds the local file to a .gitignore that does not name it. A link is left alone.
func ignoreBesides(name string) error {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSize {
		return err
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(content) {
		if bytes.HasPrefix(bytes.TrimLeft(line, "/"), []byte(localFile)) {
			return nil
		}
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	text := localFile + "*\n"
	if len(content) > 0 && content[len(content)-1] != '\n' {
		text = "\n" + text
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// projectDir is the name of the directory with a project's settings.
const projectDir = ".toolhost"
