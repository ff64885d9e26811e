package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/secret"
	"toolhost/permissions/protect"
	"toolhost/permissions/protect/config"
)

// configs are the configuration files of the home directory as the commands of a session see them: files of the session's own, which the
// session writes again, in place, when the person's file has changed. The zero value has none.
type configs struct {
	mu     sync.Mutex
	reader config.Reader
	dir    string
	cache  string // of the workspace, where cargo has its home
	view   *config.View
	files  []configFile // in the order in which they came
	told   []string     // notes that a result had

	caches   gitCaches
	cutFiles map[string]*cutFile // files of projects that commands see without the lines that hold secrets, by path
}

// cutFile is the view of a file in one state of it.
type cutFile struct {
	state unix.Stat_t
	at    placement
	shown bool // false: a secret is left without a line to cut, and the file is masked
}

// configFile is one of them.
type configFile struct {
	at      placement // whence, and where commands see it
	text    string
	partial bool // it lacks something that the person's file has
}

// configsName is the directory of the views in the session's.
const configsName = "config"

// start makes the views, in a directory of the session.
func (c *configs) start(s *Session) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dir = filepath.Join(s.dirs.own.path, configsName)
	c.cache = s.dirs.cache.path
	c.reader = config.Reader{Home: s.view.home, Config: s.o.ConfigHome, Writable: paths(s.view.roots)}
	if s.level != Full { // no mount puts a view into its place
		c.reader.At = func(path string) string { return filepath.Join(c.dir, configName(path)) }
	}
	return c.refresh(s.view)
}

// lost reports whether the directory of the views was removed.
func (c *configs) lost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.files)+len(c.cutFiles) > 0 && !isDir(c.dir)
}

// forget has all views made again.
func (c *configs) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.view, c.files, c.cutFiles = nil, nil, nil
}

// configName is the name of the view of a file.
func configName(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}

// refresh reads what has changed.
func (c *configs) refresh(v *view) error {
	if c.view != nil && !c.view.Stale() {
		return nil
	}
	if v.home.Dir == "" || !v.isClosed(v.home.Dir) {
		c.view = &config.View{}
		return nil
	}
	c.view = c.reader.Read()
	for i := range c.files { // until it is found
		c.files[i].partial = false
	}
	gone := c.paths()
	for _, f := range c.view.Files {
		if !v.isClosed(f.Path) || v.inRoot(f.Path) || v.isHidden(f.Path) || inAny(paths(v.shown), f.Path) || inAny(c.view.Dirs, f.Path) {
			continue
		}
		nothing := len(f.Text) == 0 && !slices.Contains(c.paths(), f.Path)
		if f.Hidden != "" || nothing {
			continue
		}
		gone = slices.DeleteFunc(gone, func(path string) bool { return path == f.Path })
		if err := c.write(f.Path, string(f.Text), !f.Whole); err != nil {
			return err
		}
	}
	for _, path := range gone {
		empty := ""
		if strings.HasSuffix(path, ".xml") {
			empty = "<settings/>\n"
		}
		if err := c.write(path, empty, true); err != nil {
			return err
		}
	}
	c.linkCargo(v)
	if c.reader.At != nil {
		return c.writeGitGlobal()
	}
	return nil
}

// linkCargo has cargo find the person's configuration in the home that it has among the caches. A workspace in the person's home is below
// that configuration, and cargo finds it there; twice found, its lists would be twice as long.
func (c *configs) linkCargo(v *view) {
	inHome := slices.ContainsFunc(v.roots, func(root identity) bool { return agenttool.Within(v.home.Dir, root.path) })
	root, err := os.OpenRoot(c.cache) // which commands write
	if err != nil || inHome {
		return
	}
	defer root.Close()
	for _, name := range []string{"config", "config.toml"} {
		path := filepath.Join(v.home.Dir, ".cargo", name)
		if !slices.Contains(c.paths(), path) || root.MkdirAll("cargo", 0o700) != nil {
			continue
		}
		if c.reader.At != nil {
			path = c.reader.At(path)
		}
		link := filepath.Join("cargo", name)
		if target, err := root.Readlink(link); err == nil && target != path {
			_ = root.Remove(link)
		}
		_ = root.Symlink(path, link) // a file of the workspace's own stays
	}
}

func (c *configs) paths() (paths []string) {
	for _, f := range c.files {
		paths = append(paths, f.at.to)
	}
	return paths
}

// write writes the view of a file. A view that is there keeps its inode, which is what commands have mounted.
func (c *configs) write(path, text string, partial bool) error {
	i := slices.IndexFunc(c.files, func(f configFile) bool { return f.at.to == path })
	if i >= 0 {
		c.files[i].partial = partial
		if c.files[i].text == text {
			return nil
		}
	}
	if err := os.Mkdir(c.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	name := filepath.Join(c.dir, configName(path))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(text), 0)
	err = errors.Join(err, f.Truncate(int64(len(text))), f.Close())
	if err != nil {
		return err
	}
	if i >= 0 {
		c.files[i].text = text
		return nil
	}
	from, err := identify(name)
	c.files = append(c.files, configFile{placement{from: from, to: path, readOnly: true, view: true}, text, partial})
	return err
}

// placements are the views, and the directories of hooks, as they are now.
func (c *configs) placements(v *view) ([]placement, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.view == nil {
		return nil, nil
	}
	if err := c.refresh(v); err != nil {
		return nil, err
	}
	var all []placement
	for _, f := range c.files {
		all = append(all, f.at)
	}
	for _, dir := range c.view.Dirs {
		if id, err := identify(dir); err == nil && v.isClosed(dir) && !v.inRoot(dir) && !v.isHidden(dir) && !inAny(paths(v.shown), dir) {
			all = append(all, placement{from: id, to: dir, readOnly: true})
		}
	}
	return all, nil
}

// cuts are the views of the secrets that commands see without the lines that hold secrets. One of which no view can be made is masked.
func (c *configs) cuts(m *protect.Map) (all []placement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range m.Secrets {
		if e.Kind != protect.File || !m.Cut(e.Path) {
			continue
		}
		if cut := c.cut(e.Path); cut != nil && cut.shown {
			all = append(all, cut.at)
		}
	}
	return all
}

// cachesOf are the views of git's configurations in the caches of the home that hold secrets, and those of which none can be made.
func (c *configs) cachesOf(v *view) (views []placement, masked []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, path := range c.caches.look(v) {
		if cut := c.cut(path); cut != nil && cut.shown {
			views = append(views, cut.at)
		} else {
			masked = append(masked, path)
		}
	}
	return views, masked
}

// cut is the view of a file as it is now; nil if it cannot be read.
func (c *configs) cut(path string) *cutFile {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	var state unix.Stat_t
	if unix.Fstat(fd, &state) != nil || state.Mode&unix.S_IFMT != unix.S_IFREG || state.Size > secret.MaxCut || state.Nlink != 1 {
		return nil
	}
	state.Atim = unix.Timespec{}
	if known := c.cutFiles[path]; known != nil && known.state == state {
		return known
	}
	text, err := io.ReadAll(io.LimitReader(f, secret.MaxCut))
	if err != nil {
		return nil
	}
	cut := &cutFile{state: state}
	if shown, ok := secret.Cut(text); ok {
		name := filepath.Join(c.dir, "cut-"+configName(path))
		if err := os.Mkdir(c.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil
		}
		_ = os.Remove(name) // commands that run keep the view that they have
		if err := os.WriteFile(name, shown, 0o400); err != nil {
			return nil
		}
		from, err := identify(name)
		if err != nil {
			return nil
		}
		cut.at, cut.shown = placement{from: from, to: path, readOnly: true, view: true}, true
	}
	if c.cutFiles == nil {
		c.cutFiles = map[string]*cutFile{}
	}
	c.cutFiles[path] = cut
	return cut
}

// sources are the files of the session that hold the views, and those of the person that are seen whole.
func (c *configs) sources() (paths []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.files {
		paths = append(paths, f.at.from.path)
		if real, err := filepath.EvalSymlinks(f.at.to); err == nil && !f.partial {
			paths = append(paths, real)
		}
	}
	if len(c.files) > 0 {
		paths = append(paths, filepath.Join(c.dir, gitGlobal))
	}
	return paths
}

// gitNames are git's files of a person, in the order in which it reads them.
var gitNames = []string{".config/git/config", ".gitconfig"}

// gitFiles is how many of them have views.
func (c *configs) gitFiles() (n int) {
	for _, f := range c.files {
		if slices.Contains(gitNames, strings.TrimPrefix(f.at.to, c.reader.Home.Dir+"/")) {
			n++
		}
	}
	return n
}

// writeGitGlobal writes the file that includes them.
func (c *configs) writeGitGlobal() error {
	text := ""
	for _, name := range gitNames {
		path := filepath.Join(c.reader.Home.Dir, name)
		if slices.Contains(c.paths(), path) {
			text += "[include]\n\tpath = " + filepath.Join(c.dir, configName(path)) + "\n"
		}
	}
	if text == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(c.dir, gitGlobal), []byte(text), 0o600)
}

// gitGlobal is the file that includes the views of git's files of the person.
const gitGlobal = "gitconfig"

// env leads programs to the views where no mount does. A file that the command may write has none: it is the person's own.
func (c *configs) env(p *plan) (env []string) {
	if p.level == Full {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	git := 0
	for _, f := range c.files {
		name, found := strings.CutPrefix(f.at.to, p.s.view.home.Dir+"/")
		if !found || p.opens(f.at.to) {
			continue
		}
		switch name {
		case gitNames[0], gitNames[1]:
			git++
		case ".npmrc", ".config/pip/pip.conf", ".config/uv/uv.toml", ".config/go/env":
			variable := map[string]string{".npmrc": "npm_config_userconfig", ".config/pip/pip.conf": "PIP_CONFIG_FILE", ".config/uv/uv.toml": "UV_CONFIG_FILE", ".config/go/env": "GOENV"}[name]
			if f.partial {
				env = append(env, variable+"="+f.at.from.path)
			}
		}
	}
	if git > 0 && git == c.gitFiles() {
		env = append(env, "GIT_CONFIG_GLOBAL="+filepath.Join(c.dir, gitGlobal))
	}
	return env
}

// ConfigNotes says what commands do not see of the configuration of some programs that does matter to them: each thing once in a session.
func (s *Session) ConfigNotes(programs []string) (notes []string) {
	c := &s.configs
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.view == nil {
		return nil
	}
	for _, f := range c.view.Files {
		note := f.Note()
		read := slices.ContainsFunc(programs, func(program string) bool { return slices.Contains(f.Programs, program) })
		if note != "" && read && !slices.Contains(c.told, note) {
			c.told = append(c.told, note)
			notes = append(notes, note)
		}
	}
	return notes
}

// replacedByGit reports whether git writes a path of the home by putting another file in its place.
func (c *configs) replacedByGit(path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if name, found := strings.CutPrefix(path, c.reader.Home.Dir+"/"); found && slices.Contains(gitNames, name) {
		return true // it may be missing
	}
	return c.view != nil && slices.ContainsFunc(c.view.Files, func(f config.File) bool { return f.Path == path && f.OfGit })
}
