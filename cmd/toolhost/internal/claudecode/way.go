package claudecode

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"toolhost/agenttool/visible"
)

// way is how a path leads to its file: every directory in which one of its names is looked up, links followed, and the file at its end.
type way struct {
	Dirs []place
	File place
}

// place is a directory or a file, and what tells it from others.
type place struct {
	Path    string // absolute, without links
	Device  uint64
	Inode   uint64 // 0: nothing is there
	Changed int64  // in nanoseconds: its last write, rename, or new name in it. No program sets this time
}

// is reports whether two places are the same directory or file.
func (p place) is(q place) bool { return p.Device == q.Device && p.Inode == q.Inode }

// maxLinks is how many links the kernel follows on one way.
const maxLinks = 40

// wayOf walks an absolute path. Names that are missing belong to the path of the file.
func wayOf(path string) (w way, err error) {
	dir, names := "/", strings.Split(path, "/")
	for links := 0; len(names) > 0; {
		name := names[0]
		names = names[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			dir = filepath.Dir(dir)
			continue
		}
		here, _ := lookAt(dir)
		w.Dirs = append(w.Dirs, here)
		at := filepath.Join(dir, name)
		found, mode := lookAt(at)
		switch {
		case mode.Type() == os.ModeSymlink:
			target, err := os.Readlink(at)
			if links++; err != nil || links > maxLinks {
				return w, fmt.Errorf("%s leads nowhere: it has too many links, or changes now", path)
			}
			if filepath.IsAbs(target) {
				dir = "/"
			}
			names = append(strings.Split(target, "/"), names...)
		case mode.IsDir():
			dir = at
		default:
			found.Path = filepath.Join(append([]string{at}, names...)...)
			w.File = found
			return w, nil
		}
	}
	w.File, _ = lookAt(dir)
	return w, nil
}

// lookAt looks at what has a path, and follows no link.
func lookAt(path string) (place, os.FileMode) {
	info, err := os.Lstat(path)
	if err != nil {
		return place{Path: path}, 0
	}
	stat := info.Sys().(*syscall.Stat_t)
	return place{path, stat.Dev, stat.Ino, stat.Ctim.Nano()}, info.Mode()
}

// leadsElsewhere says why the file that a call of Claude Code has touched may be another than the one at the end of the way that was judged; ""
// if nothing says so. The way now is that after the call. While a command could change it, also traces of a change count that was taken back.
func (w way) leadsElsewhere(now way, c call, inDanger bool) string {
	if now.File.Path != w.File.Path {
		return fmt.Sprintf("it led to %s when toolhost judged it, and leads to %s now", visible.Text(w.File.Path), visible.Text(now.File.Path))
	}
	then := map[string]place{}
	for _, dir := range w.Dirs {
		then[dir.Path] = dir
	}
	for _, dir := range now.Dirs {
		was, parent := then[dir.Path], filepath.Dir(dir.Path)
		if was.Inode != 0 && !was.is(dir) {
			return fmt.Sprintf("%s is another directory than when toolhost judged it", visible.Text(dir.Path))
		}
		above, _ := lookAt(parent)
		if inDanger && parent != dir.Path && was.Changed != dir.Changed && then[parent].Changed != above.Changed {
			return fmt.Sprintf("%s may have been exchanged for a moment: it has changed, and so has the directory that it is in", visible.Text(dir.Path))
		}
	}
	switch {
	case !inDanger:
	case !c.changes() && !w.File.is(now.File):
		return "it is another file than when toolhost judged it"
	case c.changes() && w.File == now.File:
		return fmt.Sprintf("%s has not changed, so that another file has what Claude Code wrote", visible.Text(w.File.Path))
	case c.Tool == "Write" && !holds(now.File.Path, c.Input.Content):
		return fmt.Sprintf("%s does not have the content that Claude Code wrote", visible.Text(w.File.Path))
	}
	return ""
}

// holds reports whether a file has a text, whatever ends its lines.
func holds(path, text string) bool {
	content, err := os.ReadFile(path)
	unix := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }
	return err == nil && bytes.Equal(bytes.TrimPrefix(unix(content), []byte("\ufeff")), bytes.TrimPrefix(unix([]byte(text)), []byte("\ufeff")))
}
