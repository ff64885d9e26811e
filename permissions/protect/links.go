package protect

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// maxLinks is the number of links that one resolution follows, as in the kernel.
const maxLinks = 40

// maxHomeLinks bounds the entries of directories in a home that are looked at for links.
const maxHomeLinks = 2048

// homeLinks seals what start-up files and configuration of the home lead to in the roots: who keeps such files in a repository links to them.
// Of programs only the directory counts, and not each link in it: a workspace builds what is installed by a link.
func (b *builder) homeLinks() {
	home := b.options.Home
	if home == "" || home == "/" {
		return
	}
	if b.isFar(home) {
		return
	}
	top, _, err := b.names(home, maxHomeLinks)
	if err != nil {
		return
	}
	there := make(map[string][]string) // first components by how they fold
	for _, c := range top {
		there[fold(c.name)] = append(there[fold(c.name)], c.name)
	}
	left := maxHomeLinks
	reads := startupFiles{b: b, seen: map[string]bool{}}
	for _, n := range slices.Concat(Names(), HomeNames()) {
		first, rest, _ := strings.Cut(n.Path, "/")
		if n.Hold != Seals || strings.Contains(first, "*") {
			continue
		}
		for _, name := range there[first] {
			b.homeLink(path.Join(home, name, rest), n, &left)
			if n.Rule == ShellStartup && !n.Dir {
				reads.follow(path.Join(home, name, rest))
			}
		}
	}
}

// startupFiles follows the start-up files of a home to what they read and run in the roots.
type startupFiles struct {
	b    *builder
	seen map[string]bool
}

// Bounds of start-up files: how many are read, and their size.
const (
	maxStartupFiles = 64
	maxStartupFile  = 256 << 10
)

// follow seals what a start-up file reads in the roots, there or not, and files there that it names in another way than in an alias. What it reads elsewhere
// is followed.
func (f startupFiles) follow(file string) {
	b := f.b
	place, kind, _ := b.tree.follow(file)
	if kind != File || f.seen[place] || b.tree.root(place) == "" && b.isFar(place) {
		return
	}
	if len(f.seen) >= maxStartupFiles {
		b.unknown(file, "not read: there are too many start-up files")
		return
	}
	f.seen[place] = true
	text, err := b.tree.read(place, maxStartupFile)
	if err != nil {
		return
	}
	b.reads(place)
	for word, sourced := range wordsOfStartup(string(text), b.options.Home) {
		switch at, kind, _ := b.tree.follow(word); {
		case at == "":
		case b.tree.root(at) != "" && (kind == File || sourced && kind == Absent):
			b.sealAt(word, ShellStartup)
			f.follow(word)
		case sourced && kind == File:
			f.follow(word)
		}
	}
}

// wordsOfStartup yields the absolute paths in the text of a start-up file that stand outside of comments and aliases, and whether a file is read there.
func wordsOfStartup(text, home string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for line := range strings.Lines(strings.ReplaceAll(text, "${HOME}", "$HOME")) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "alias ") {
				continue
			}
			before := ""
			for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n'\"`;&|()<>[]=!", r) }) {
				sourced := before == "." || before == "source"
				before = word
				for _, own := range []string{"~/", "$HOME/"} {
					if rest, found := strings.CutPrefix(word, own); found {
						word = agenttool.Join(home, rest)
					}
				}
				if path.IsAbs(word) && len(word) < unix.PathMax && !strings.ContainsAny(word, "$*?{") && !yield(path.Clean(word), sourced) {
					return
				}
			}
		}
	}
}

// homeLink seals the target of one name in the home, and the targets of the links in that directory.
func (b *builder) homeLink(file string, n Name, left *int) {
	place, kind, _ := b.tree.follow(file)
	if place != "" && place != file && b.tree.root(place) != "" {
		b.sealAt(file, n.Rule)
	}
	if kind != Dir || !n.Dir || b.tree.root(file) != "" || path.Base(file) == "bin" || path.Base(file) == "sbin" {
		return
	}
	in, _, err := b.names(place, max(*left, 0))
	if err != nil {
		return
	}
	*left -= len(in)
	for _, c := range in {
		if c.kind == Symlink {
			b.sealInside(agenttool.Join(place, c.name), n.Rule)
		}
	}
}

// sealInside is sealAt for a path outside the roots that counts only if it leads into one.
func (b *builder) sealInside(file string, rule Rule) {
	if place, _, _ := b.tree.resolve(file); place != "" {
		b.sealAt(file, rule)
	}
}

// tooWide says whether sealing or masking the place would take the whole work away: a root or the top of a work tree,
// or something that holds one.
func (b *builder) tooWide(place string) bool {
	for top, whole := range b.watch {
		if whole && agenttool.Within(place, top) {
			return true
		}
	}
	return false
}

// sealAt seals what the configuration names by this path, existing or not, and the links on the way to it.
func (b *builder) sealAt(file string, rule Rule) {
	place, kind := b.through(file, rule)
	switch {
	case place == "":
	case b.tooWide(place):
		b.gap(file, "not sealed: it stands for "+place+", where all the work is")
	default:
		b.seal(place, rule, kind)
	}
}

// through resolves the path and seals the links on the way, which would lead elsewhere if they were replaced.
func (b *builder) through(file string, rule Rule) (place string, kind Kind) {
	place, kind, links := b.tree.resolve(file)
	for _, link := range links {
		b.sealed = append(b.sealed, Entry{link, rule, Symlink})
	}
	return place, kind
}

// follow seals what sealed links lead to, and masks what secret links lead to instead of the links.
func (b *builder) follow() {
	for _, link := range b.links {
		b.sealAt(link.Path, link.Rule)
	}
	secrets := b.secrets
	b.secrets = nil
	for _, entry := range secrets {
		if entry.Kind != Symlink {
			b.secrets = append(b.secrets, entry)
			continue
		}
		b.maskTarget(entry.Path)
	}
}

// maskTarget masks the target of a link in the roots: inside the roots of any kind, in the home directory only a file. Elsewhere
// the sandbox's own view decides, or a repository could hide the system from its own commands.
func (b *builder) maskTarget(link string) {
	place, kind, _ := b.tree.resolve(link)
	content := b.m.deny.denied(fold(link), fold(b.tree.root(link))).content
	switch {
	case place != "" && content != 0 && !content.at(place):
	case place == "" && content != 0: // what lies elsewhere is closed by itself, or the system's
	case place == "":
		b.maskOutside(link, true)
	case b.tooWide(place):
		b.gap(link, "not masked: it stands for "+place+", where all the work is")
	case kind != Absent:
		b.maskPath(place, false)
	}
}

// maskOutside masks what a link leads to outside the roots. One that only a repository vouches for must lead to a file
// in the home directory.
func (b *builder) maskOutside(link string, doubtful bool) {
	home := b.options.Home
	place, err := filepath.EvalSymlinks(link)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || b.isFar(place) || doubtful && (home == "" || !agenttool.Within(home, place)):
		b.gap(link, "not masked: it is a link that leads outside the roots")
	case b.tooWide(place) || home != "" && agenttool.Within(place, home):
		b.gap(link, "not masked: it stands for "+place+", which holds more than secrets")
	default:
		b.maskPath(place, doubtful)
	}
}

// maskPath masks the place, in a root or not; with regular set, only a regular file.
func (b *builder) maskPath(place string, regular bool) {
	var stat unix.Stat_t
	var err error
	if b.tree.root(place) != "" {
		stat, err = b.tree.lstat(place)
	} else {
		err = unix.Lstat(place, &stat)
	}
	if err == nil && (!regular || kindOf(&stat) == File) {
		b.mask(place, &stat)
	}
}

// mask notes a secret, and the identities of the files that it is or holds.
func (b *builder) mask(file string, stat *unix.Stat_t) {
	kind := kindOf(stat)
	b.secrets = append(b.secrets, Entry{file, Secret, kind})
	b.identify(file, Secret, stat)
}

// seal notes a sealed entry, or a name that must stay absent. A link will be followed.
func (b *builder) seal(file string, rule Rule, kind Kind) {
	if tooDeep(b.tree.root(file), file) {
		b.unknown(file, "not sealed: it lies too deep")
		return
	}
	if kind == Symlink {
		b.links = append(b.links, Entry{file, rule, kind})
	}
	b.sealed = append(b.sealed, Entry{file, rule, kind})
}

// How much of protected directories is looked at, one and all, to know their files under other names.
const (
	maxInside     = 8192
	insideEntries = 512
	insideDepth   = 16
)

// identify remembers the files of a protected entry that have other names, and of a secret one all.
func (b *builder) identify(file string, rule Rule, stat *unix.Stat_t) {
	if kindOf(stat) != Dir {
		b.remember(rule, stat)
		return
	}
	rooted := b.tree.root(file) != ""
	if !rooted && !b.inHome(file) {
		return // a directory of the system: only root links its files
	}
	fd, err := -1, error(nil)
	flags := unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	if rooted {
		fd, err = b.tree.open(file, flags)
	} else {
		fd, err = unix.Open(file, flags, 0)
	}
	if b.tree.noted(err) != nil {
		return
	}
	in := inside{b, rule, max(b.inside-insideEntries, 0)}
	if !in.files(fd, insideDepth) && rooted { // no command sees the home directory, to link files of it
		b.gap(file, "its files are not all known under other names: there are too many")
	}
}

// inside looks through one protected directory.
type inside struct {
	*builder
	rule Rule
	stop int // budget to leave for other directories
}

// files remembers the files of an open directory and of those below it, closes it, and says whether those were all.
func (in inside) files(fd, depth int) (all bool) {
	defer unix.Close(fd)
	all = depth > 0
	_ = list(fd, make([]byte, 4096), func(raw []byte, _ Kind) bool {
		in.builder.inside--
		if all = all && in.builder.inside >= in.stop; !all {
			return false
		}
		var stat unix.Stat_t
		name := string(raw)
		if statAt(fd, name, &stat) != nil {
			return true
		}
		if kindOf(&stat) != Dir {
			in.remember(in.rule, &stat)
			return true
		}
		flags := unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
		if sub, err := unix.Openat(fd, name, flags, 0); err == nil {
			all = in.files(sub, depth-1)
		} else {
			_ = in.tree.noted(err)
		}
		return all
	})
	return all
}

func (b *builder) remember(rule Rule, stat *unix.Stat_t) {
	if kindOf(stat) != File {
		return
	}
	id := identityOf(stat)
	if rule == Secret {
		b.m.secrets[id] = rule
	}
	if stat.Nlink > 1 {
		if known, ok := b.linked[id]; !ok || known != Secret {
			b.linked[id] = rule
		}
	}
}

// aliases is the second pass, made only when a protected file has several names: it finds the others in the roots.
func (b *builder) aliases(ctx context.Context, w *walk) {
	for _, entry := range b.sealed {
		if ctx.Err() != nil {
			b.unknown("", "not all protected files are known under other names: the pass took its "+b.options.MaxTime.String())
			return
		}
		if entry.Kind != File && entry.Kind != Dir {
			continue
		}
		if stat, err := b.tree.lstat(entry.Path); err == nil {
			b.identify(entry.Path, entry.Rule, &stat)
		}
	}
	if len(b.linked) == 0 {
		return
	}
	for _, dir := range w.visited {
		if ctx.Err() != nil {
			b.unknown(dir, "not searched for other names of protected files: the pass took its "+b.options.MaxTime.String())
			return
		}
		b.aliasesIn(dir, w)
	}
}

func (b *builder) aliasesIn(dir string, w *walk) {
	fd, err := b.tree.open(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	w.entries = 0
	w.list(fd)
	for _, c := range w.children {
		var stat unix.Stat_t
		if c.kind != File || statAt(fd, c.name, &stat) != nil || stat.Nlink < 2 {
			continue
		}
		switch rule, ok := b.linked[identityOf(&stat)]; {
		case ok && rule == Secret:
			b.secrets = append(b.secrets, Entry{agenttool.Join(dir, c.name), Secret, File})
		case ok:
			b.sealed = append(b.sealed, Entry{agenttool.Join(dir, c.name), rule, File})
		}
	}
}

// elsewhere masks the secrets that the patterns name by an absolute path, wherever they are. These masks are few, since the list
// is, so nothing that commands make can use up what is left for them.
func (b *builder) elsewhere() {
	plain, wild := b.m.deny.elsewhere(b.tree.roots)
	for _, pattern := range wild {
		found, ok, err := matching(pattern, b.isFar)
		if b.tree.noted(err); !ok {
			b.gap(pattern, "not masked: a pattern with wildcards outside the roots cannot become a mask")
		}
		plain = append(plain, found...)
	}
	for _, file := range b.held.outside.remaining(b, plain) {
		if !b.m.deny.denied(fold(file), "").denied {
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

// resolve follows the path as the kernel would, links and ".." included. It returns the last place in the roots, without links, its kind, and
// the links in the roots that it went over; "" if the path ends outside the roots or goes in circles.
func (t *tree) resolve(file string) (place string, kind Kind, links []string) {
	place, kind, links = t.follow(file)
	if t.root(place) == "" {
		return "", Absent, links
	}
	return place, kind, links
}

// follow is resolve for a path that may end outside the roots; "" if it goes in circles. Links outside are followed, but for those on a file
// system that may not answer: a file of the home directory may lead into a root.
func (t *tree) follow(file string) (place string, kind Kind, links []string) {
	place, kind = "/", Dir
	pending := strings.Split(file, "/")
	for followed := 0; len(pending) > 0; {
		name := pending[0]
		pending = pending[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			place, kind = path.Dir(place), Dir
			continue
		}
		place = agenttool.Join(place, name)
		inside := t.root(place) != ""
		if !inside && t.far != nil && t.far(place) {
			continue
		}
		var stat unix.Stat_t
		var err error
		if inside {
			stat, err = t.lstat(place)
		} else {
			err = unix.Lstat(place, &stat)
		}
		if err != nil {
			return path.Join(place, path.Join(pending...)), Absent, links
		}
		if kind = kindOf(&stat); kind != Symlink || slices.Contains(t.roots, place) {
			continue
		}
		var target string
		if inside {
			target, err = t.readlink(place)
			links = append(links, place)
		} else {
			target, err = readlinkAt(unix.AT_FDCWD, place)
		}
		if followed++; err != nil || followed > maxLinks {
			return "", Absent, links
		}
		if place = path.Dir(place); path.IsAbs(target) {
			place = "/"
		}
		pending = append(strings.Split(target, "/"), pending...)
	}
	return place, kind, links
}
