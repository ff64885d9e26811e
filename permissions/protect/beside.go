package protect

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"toolhost/agenttool"
)

// Bounds on the places outside the roots that a session keeps maps of, and on the repositories found there.
const (
	maxBeside   = 32
	maxPointing = 256
)

// beside are the maps of places outside the roots that calls write, by their directories. They are made when a decision or a command needs
// them.
type beside struct {
	maps     map[string]besideMap
	order    []string // the oldest first
	pointing []GitDir // the repositories there: their configuration may point into the roots
}

type besideMap struct {
	m      *Map
	serves int // it was made after that many Invalidates
	begun  time.Time
}

// Including is Map with the protected names of further places, which a call writes: files and directories outside the roots, absolute and
// resolved, there or not. Of a directory all below it counts, of a file the directory that it is in; and the repositories around them.
func (c *Cache) Including(ctx context.Context, places []string) (*Map, error) {
	m, err := c.Map(ctx)
	if err != nil {
		return nil, err
	}
	dirs, shallow := c.placesBeside(m, places)
	if len(dirs)+len(shallow) == 0 {
		return m, nil
	}
	c.outside.Lock()
	defer c.outside.Unlock()
	var maps []*Map
	for i, dir := range slices.Concat(dirs, shallow) {
		of, err := c.mapBeside(ctx, m, dir, i >= len(dirs))
		if err != nil {
			return nil, err
		}
		maps = append(maps, of)
	}
	var repositories []GitDir
	for _, of := range maps {
		holding, err := around(of.Roots[0])
		if err != nil {
			return nil, err
		}
		repositories = append(append(repositories, of.Git...), holding...)
	}
	if c.pointsFrom(repositories) {
		if m, err = c.Map(ctx); err != nil {
			return nil, err
		}
	}
	g := *m
	g.beside = maps
	return &g, nil
}

// placesBeside returns the directories outside the roots that a search for protected names has to read: dirs with everything below them, and
// shallow without. A directory that holds the roots or the home is shallow.
func (c *Cache) placesBeside(m *Map, places []string) (dirs, shallow []string) {
	for _, place := range places {
		place = path.Clean(place)
		system := slices.ContainsFunc([]string{"/dev", "/proc", "/sys"}, func(dir string) bool { return agenttool.Within(dir, place) })
		if !path.IsAbs(place) || system || rootOf(m.inner, place) != "" {
			continue
		}
		dir := place
		info, err := os.Lstat(dir)
		for ; err != nil || !info.IsDir(); info, err = os.Lstat(dir) {
			dir = path.Dir(dir)
		}
		holds := func(inner string) bool { return inner != "" && agenttool.Within(dir, inner) }
		whole := dir == place && !holds(c.options.Home) && !slices.ContainsFunc(m.Roots, holds)
		switch {
		case whole && !slices.Contains(dirs, dir):
			dirs = append(dirs, dir)
		case !whole && !slices.Contains(shallow, dir):
			shallow = append(shallow, dir)
		}
	}
	return Outermost(dirs), shallow
}

// mapBeside returns the map of one directory. If the directory cannot be read, its map is incomplete and names it. The error is a shortage of
// the machine.
func (c *Cache) mapBeside(ctx context.Context, of *Map, dir string, shallow bool) (*Map, error) {
	key := dir
	if shallow {
		key += "/"
	}
	c.mu.Lock()
	wanted, options := c.wanted, c.options
	c.mu.Unlock()
	if known, ok := c.beside.maps[key]; ok && known.serves == wanted && time.Since(known.begun) < c.age && known.m.current() {
		return known.m, nil
	}
	options.Roots, options.Shallow, options.ReadDeny, options.Sealed = []string{dir}, shallow, nil, nil
	repositories, err := around(dir)
	if err != nil {
		return nil, err
	}
	options.Pointing = slices.Concat(of.Git, repositories)
	begun := time.Now()
	m, err := Scan(ctx, options)
	if agenttool.IsShortage(err) {
		return nil, err
	}
	if err != nil {
		return &Map{Roots: []string{dir}, inner: []string{dir}, blind: true, deny: of.deny, Partial: []Gap{{Path: dir, Reason: "not looked into: " + err.Error(), Bound: true, Blind: true}}}, nil
	}
	if c.beside.maps == nil {
		c.beside.maps = make(map[string]besideMap)
	}
	c.beside.order = append(slices.DeleteFunc(c.beside.order, func(k string) bool { return k == key }), key)
	if len(c.beside.order) > maxBeside {
		delete(c.beside.maps, c.beside.order[0])
		c.beside.order = c.beside.order[1:]
	}
	c.beside.maps[key] = besideMap{m, wanted, begun}
	return m, nil
}

// pointsFrom notes repositories outside the roots, and reports whether there are new ones: what they point to in the roots is looked for again.
func (c *Cache) pointsFrom(repositories []GitDir) (more bool) {
	for _, git := range repositories {
		if !slices.Contains(c.beside.pointing, git) && len(c.beside.pointing) < maxPointing {
			c.beside.pointing, more = append(slices.Clip(c.beside.pointing), git), true
		}
	}
	if more {
		c.mu.Lock()
		c.options.Pointing = c.beside.pointing
		c.mu.Unlock()
		c.Invalidate()
	}
	return more
}

// around are the git directories of the repositories that hold a directory, whoever they belong to. It fails if the machine is short of something.
func around(dir string) (found []GitDir, err error) {
	for top := dir; top != "/"; top = filepath.Dir(top) {
		git := filepath.Join(top, ".git")
		info, err := os.Stat(git)
		switch {
		case err == nil && info.IsDir():
			found = append(found, GitDir{git, top})
		case err == nil:
			target, err := namedIn(git, "gitdir:")
			if err == nil {
				found = append(found, GitDir{target, top})
				var common string
				if common, err = namedIn(filepath.Join(target, "commondir"), ""); err == nil {
					found = append(found, GitDir{common, ""})
				}
			}
			if agenttool.IsShortage(err) {
				return nil, err
			}
		case IsGitDir(top):
			found = append(found, GitDir{top, ""})
		}
	}
	return found, nil
}
