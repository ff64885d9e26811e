// Package workspace resolves the paths in calls and opens them, so that the opened file is the one that was resolved.
//
// Locate follows the links of a path once, before any decision, and records the resolved path and the root that
// contains it. After the decision the resolved path is opened without following links, by descriptor below the root
// if there is one: a link that was planted in between causes an error.
//
//	w, err := workspace.Open([]string{"/home/me/project"})
//	p, err := workspace.Path(scope, "src/main.go")  // pure
//	err = w.Locate(&p)                              // p.Resolved, p.Root
//	f, err := w.OpenFile(p)                         // regular files only
//
// Containment is decided by whole path components of the resolved path and enforced by the kernel (openat2 with
// RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS; without openat2, one openat with O_NOFOLLOW per component).
package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// Workspace is a set of open roots. It is safe for use by several goroutines.
type Workspace struct {
	roots   []*root
	private []string
	view    view
	secrets func() (*protect.Map, error) // nil: there are none
}

type root struct {
	path   string      // absolute, without links
	named  string      // absolute, as given
	opened os.FileInfo // of dir; nil if it may change, see unmoved
	shown  bool        // at another place, see Show: it belongs to the session and not to the workspace

	again func() error // see Show

	mu  sync.Mutex // guards the next
	dir *Dir       // nil if there is none yet
}

// Open opens dirs as roots; the first is the workspace itself. Nothing below the private directories is ever opened;
// they need not exist yet.
func Open(dirs []string, private ...string) (*Workspace, error) {
	w := &Workspace{}
	for _, d := range dirs {
		r, err := openRoot(d)
		if err != nil {
			w.Close()
			return nil, err
		}
		w.roots = append(w.roots, r)
	}
	for _, p := range private {
		resolved, err := w.view.resolve(p)
		if err != nil {
			w.Close()
			return nil, fmt.Errorf("private directory %s: %w", p, err)
		}
		w.private = append(w.private, resolved)
	}
	return w, nil
}

func openRoot(name string) (*root, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("workspace root %s: %w", name, err)
	}
	resolved, err := view{}.resolve(abs)
	if err != nil {
		return nil, fmt.Errorf("workspace root %s: %w", name, err)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return nil, fmt.Errorf("workspace root %s: %w", name, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("workspace root %s: not a directory", name)
	}
	f, err := os.Open(resolved)
	if err != nil {
		return nil, fmt.Errorf("workspace root %s: %w", name, errors.Unwrap(err))
	}
	opened, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("workspace root %s: %w", name, err)
	}
	return &root{path: resolved, named: abs, dir: &Dir{f: f}, opened: opened}, nil
}

// Close closes the roots.
func (w *Workspace) Close() {
	for _, r := range w.roots {
		if r.dir != nil {
			r.dir.Close()
		}
	}
}

// Named returns the names by which roots were given that have links in them.
func (w *Workspace) Named() (names []string) {
	for _, r := range w.roots {
		if r.named != "" && r.named != r.path {
			names = append(names, r.named)
		}
	}
	return names
}

// Roots returns the roots with all links resolved, the workspace first.
func (w *Workspace) Roots() []string {
	paths := make([]string, len(w.roots))
	for i, r := range w.roots {
		paths[i] = r.path
	}
	return slices.DeleteFunc(paths, func(path string) bool { return w.rootOf(path).shown })
}

// Path returns the path that spelling means in scope: $'…' is decoded as by agenttool.ParsePath, ~ and ~/x are below
// the home directory, other relative paths below scope.Dir. It does no IO. Its errors are of class invalid_arguments.
func Path(scope agenttool.Scope, spelling string) (agenttool.Path, error) {
	spelling = agenttool.ParsePath(spelling)
	p := agenttool.Path{Spelling: agenttool.SpellPath(spelling)}
	switch {
	case spelling == "":
		return p, agenttool.Failure(agenttool.InvalidArguments, "empty_path", "the path is empty: name a file or directory")
	case strings.ContainsRune(spelling, 0):
		return p, agenttool.Failure(agenttool.InvalidArguments, "bad_path",
			fmt.Sprintf("path %q holds a NUL byte: no file can have that name", spelling))
	case filepath.IsAbs(spelling):
		p.Absolute = spelling
	case (spelling == "~" || strings.HasPrefix(spelling, "~/")) && scope.Home != "":
		p.Absolute = scope.Home + spelling[1:]
	default: // not cleaned: "link/.." is not "."
		p.Absolute = strings.TrimSuffix(scope.Dir, "/") + "/" + spelling
	}
	return p, nil
}

// Locate follows the links of p.Absolute and fills in Resolved and Root. A missing path is resolved up to its deepest
// existing parent. Errors are of class invalid_arguments, or setup_required with code workspace_moved if a root of
// the session was moved.
func (w *Workspace) Locate(p *agenttool.Path) error {
	if err := w.unmoved(*p); err != nil {
		return err
	}
	var resolved string
	err := errElsewhere
	if !w.view.covers(p.Absolute) {
		resolved, err = withoutLinks(p.Absolute)
	}
	if err != nil {
		resolved, err = w.view.resolve(p.Absolute)
	}
	if err != nil {
		return pathError("path_unresolvable", p.Spelling, err)
	}
	p.Resolved, p.Root, p.Seen, p.Private = resolved, "", "", w.Private(resolved)
	if r := w.rootOf(resolved); r != nil {
		p.Root = r.path
		if r.shown {
			p.Seen = w.Seen(resolved)
		}
	}
	return nil
}

// Private reports whether the resolved path lies in a directory that calls cannot see.
func (w *Workspace) Private(resolved string) bool {
	if r := w.rootOf(resolved); r != nil && r.shown {
		return false
	}
	for _, dir := range w.private {
		if agenttool.Within(dir, resolved) {
			return true
		}
	}
	return false
}

// rootOf returns the innermost root that contains the resolved path, or nil.
func (w *Workspace) rootOf(resolved string) *root {
	var best *root
	for _, r := range w.roots {
		if agenttool.Within(r.path, resolved) && (best == nil || len(r.path) > len(best.path)) {
			best = r
		}
	}
	return best
}

// OpenFile opens a located path for reading. It never blocks on a FIFO or device: anything but a regular file is an
// error of class invalid_arguments. A secret that commands see without the lines that hold secrets is opened so, in memory.
func (w *Workspace) OpenFile(p agenttool.Path) (*os.File, error) {
	f, err := w.open(p, os.O_RDONLY|syscall.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notAFile(p, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func notAFile(p agenttool.Path, info os.FileInfo) error {
	return agenttool.Failure(agenttool.InvalidArguments, "not_a_file",
		fmt.Sprintf("%s is %s, not a regular file", p.Spelling, kind(info.Mode())))
}

// OpenDir opens a located directory.
func (w *Workspace) OpenDir(p agenttool.Path) (*Dir, error) {
	f, err := w.open(p, os.O_RDONLY|syscall.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return &Dir{f: f}, nil
}

// Parent opens the directory that contains a located path and returns the path's last name. With create, it creates
// missing directories, with mode 0777 less the umask.
func (w *Workspace) Parent(p agenttool.Path, create bool) (*Dir, string, error) {
	if w.Private(p.Resolved) {
		return nil, "", privateError(p)
	}
	if p.Resolved == "/" || p.Resolved == p.Root {
		return nil, "", agenttool.Failure(agenttool.InvalidArguments, "not_a_file",
			fmt.Sprintf("%s is a directory, not a regular file", p.Spelling))
	}
	up := p
	up.Resolved = filepath.Dir(p.Resolved)
	dir, err := w.OpenDir(up)
	if err == nil || !create || !errors.Is(err, os.ErrNotExist) || up.Resolved == p.Root { // a root is not made
		return dir, filepath.Base(p.Resolved), err
	}
	above, name, err := w.Parent(up, true)
	if err != nil {
		return nil, "", err
	}
	defer above.Close()
	if err := above.Mkdir(name, 0o777); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, "", pathError("mkdir_failed", up.Resolved, err)
	}
	dir, err = w.OpenDir(up)
	return dir, filepath.Base(p.Resolved), err
}

// open opens the resolved place of p without following links.
func (w *Workspace) open(p agenttool.Path, flags int) (*os.File, error) {
	if p.Resolved == "" {
		return nil, fmt.Errorf("open %s: path was never located (this is a bug in toolhost)", p.Spelling)
	}
	if w.Private(p.Resolved) {
		return nil, privateError(p)
	}
	if err := w.unmoved(p); err != nil {
		return nil, err
	}
	secrets, err := w.Secrets()
	if err != nil {
		return nil, err
	}
	cut := false
	if err := secrets.Path(p.Spelling, p.Resolved); err != nil {
		if cut = secrets.Cut(p.Resolved); !cut {
			return nil, err
		}
	}
	if flags&syscall.O_DIRECTORY == 0 { // even a non-blocking open of a FIFO would unblock a writer that waits for a reader
		const special = os.ModeNamedPipe | os.ModeSocket | os.ModeDevice
		if info, err := os.Lstat(p.Resolved); err == nil && info.Mode()&special != 0 {
			return nil, notAFile(p, info)
		}
	}
	base, rel := &Dir{}, p.Resolved
	if r := w.rootOf(p.Resolved); r != nil {
		dir, err := r.directory()
		if err != nil {
			return nil, err
		}
		if dir != nil {
			base, rel = dir, relative(r.path, p.Resolved)
		}
	}
	f, err := base.beneath(rel, flags)
	if err != nil {
		return nil, pathError("open_failed", p.Spelling, err)
	}
	if cut && flags&syscall.O_DIRECTORY == 0 {
		return secrets.View(p.Spelling, f)
	}
	if err := secrets.File(p.Spelling, p.Resolved, f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func privateError(p agenttool.Path) error {
	return agenttool.Failure(agenttool.PermissionDenied, "private_path",
		p.Spelling+" is toolhost's own state: results are read by reference, with agenttool/read_result")
}

// relative returns path below dir, "." for dir itself.
func relative(dir, path string) string {
	if path == dir {
		return "."
	}
	return strings.TrimPrefix(path[len(dir):], "/")
}

// pathError turns a failed system call into an error that a model can act on.
func pathError(code, name string, err error) error {
	if e := agenttool.SystemFailure("open "+name, err); e != nil {
		return e
	}
	class := agenttool.ExecutionFailed
	message := fmt.Sprintf("%s: %v", name, reason(err))
	switch {
	case errors.Is(err, os.ErrNotExist):
		class, code = agenttool.InvalidArguments, "not_found"
		message = name + " does not exist"
	case errors.Is(err, syscall.ENOTDIR):
		class, code = agenttool.InvalidArguments, "not_a_directory"
		message = name + ": a part of the path is not a directory"
	case errors.Is(err, syscall.ELOOP):
		class, code = agenttool.PolicyBlocked, "path_changed"
		message = name + ": too many links, or a link was put in its way after it was resolved; nothing was opened"
	case errors.Is(err, syscall.ENAMETOOLONG):
		class, code = agenttool.InvalidArguments, "bad_path"
		message = name + ": the name is too long for the file system"
	case errors.Is(err, os.ErrPermission):
		code = "permission"
		message = name + ": the file system's permissions do not allow it"
	}
	return agenttool.Failure(class, code, message).Because(err)
}

// reason strips the call and the path that os errors repeat.
func reason(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

// kind names what a file is.
func kind(m os.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&os.ModeNamedPipe != 0:
		return "a FIFO"
	case m&os.ModeSocket != 0:
		return "a socket"
	case m&os.ModeDevice != 0:
		return "a device"
	case m&os.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "something else"
}

// unmoved fails if the path of the workspace, or of the root that a call names, no longer leads to the directory that
// was opened. Otherwise descriptors would reach the opened directory while results name another.
func (w *Workspace) unmoved(p agenttool.Path) error {
	for i, r := range w.roots {
		named := i == 0 || agenttool.Within(r.path, filepath.Clean(p.Absolute)) || agenttool.Within(r.path, p.Resolved)
		if !named || r.opened == nil {
			continue
		}
		if err := r.unmoved(); err != nil {
			return err
		}
	}
	return nil
}
