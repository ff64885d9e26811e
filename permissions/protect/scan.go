package protect

import (
	"context"
	"path"
	"slices"
	"time"

	"toolhost/agenttool"
)

const (
	defaultEntries = 400_000
	defaultTime    = 500 * time.Millisecond
)

func (o Options) withDefaults() Options {
	if o.MaxEntries <= 0 {
		o.MaxEntries = defaultEntries
	}
	if o.MaxTime <= 0 {
		o.MaxTime = defaultTime
	}
	if o.GitConfigs == nil {
		o.GitConfigs = []string{"/etc/gitconfig"}
		if o.Home != "" {
			o.GitConfigs = append(o.GitConfigs, path.Join(o.Home, ".gitconfig"), path.Join(o.Home, ".config/git/config"))
		}
	}
	return o
}

// Scan walks the roots once and returns the protected names in them.
//
// The walk goes breadth first and stops at MaxEntries or MaxTime; node_modules, sealed directories and odd corners of git
// directories come last. It follows no link, enters no file system of another machine, and does not block on any entry. A root that
// cannot be opened, a malformed pattern and the end of ctx are errors; every other failure is a Gap of the Map.
func Scan(ctx context.Context, options Options) (*Map, error) {
	return scanWith(ctx, options, &coverHistory{})
}

// scanWith is Scan in a session that covered things before.
func scanWith(ctx context.Context, options Options, session *coverHistory) (*Map, error) {
	options = options.withDefaults()
	t, err := openTree(options.Roots)
	if err != nil {
		return nil, err
	}
	defer t.close()
	deny, err := session.compiled(options, t.roots)
	if err != nil {
		return nil, err
	}
	far, err := farMounts()
	t.noted(err)
	inner := cleaned(options.Roots)
	slices.Reverse(inner)
	b := &builder{
		tree: t, options: options, far: far,
		m: &Map{
			Roots: t.roots, inner: inner, deny: deny, names: make(map[string]Rule), dirs: make(map[string]struct{}),
			secrets: make(map[identity]Rule), home: options.Home,
		},
		git: make(map[string]string), watch: make(map[string]bool), linked: make(map[identity]Rule),
		tops: make(map[string]bool), sources: make(map[string]bool),
		budget: budget{inside: maxInside}, held: session,
	}
	t.far = b.isFar
	for _, root := range t.roots {
		b.watch[root] = !options.Shallow // of a file its directory is a root, which may be one of hooks
	}
	w := &walk{builder: b, limit: options.MaxEntries, buf: make([]byte, listBuffer)}
	b.elsewhere()
	bounded(ctx, options.MaxTime, w.run)
	b.m.listed = w.entries
	b.recall()
	bounded(ctx, options.MaxTime, b.gitDirs)
	b.pointing()
	b.gitConfigs()
	for _, file := range options.Sealed {
		b.sealAt(file, Denied)
	}
	if home := options.Home; home != "" && t.root(home) != "" {
		for _, n := range HomeNames() {
			b.sealAt(agenttool.Join(home, n.Path), n.Rule)
		}
	}
	b.homeLinks()
	b.follow()
	bounded(ctx, options.MaxTime, func(ctx context.Context) { b.aliases(ctx, w) })
	b.finish()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if t.short != nil {
		return nil, t.short
	}
	session.note(b.m)
	return b.m, nil
}
