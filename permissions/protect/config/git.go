package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
	"toolhost/permissions/protect/gitconfig"
)

// maxIncludes is how deep git follows includes. It refuses a configuration that goes on.
const maxIncludes = 10

// gitFile is a configuration file of git in a directory.
type gitFile struct {
	*reading
	dir      string
	programs []string
	depth    int // of the includes that lead to it
}

// errCircle is why a file is hidden that git itself refuses.
var errCircle = errors.New("its includes go in a circle, or deeper than git follows them")

// view returns what commands see of a file, and the keys that they do not see.
func (g gitFile) view(text string) (shown []byte, leftOut []string, err error) {
	if g.depth > maxIncludes {
		return nil, nil, errCircle
	}
	var b strings.Builder
	header := ""
	for s, err := range gitconfig.Parse(text) {
		if err != nil {
			return nil, nil, errors.New("git does not understand it")
		}
		if strings.IndexByte(s.Key, '.') <= 0 { // outside of any section
			leftOut = append(leftOut, s.Key)
			continue
		}
		section, sub, name := split(s.Key)
		value, ok := g.value(section, sub, name, s)
		if errors.Is(ok, errCircle) {
			return nil, nil, errCircle
		}
		key := strings.Trim(section+"."+sub, ".") + "." + name
		if ok != nil {
			leftOut = append(leftOut, WithoutLogins(key))
			continue
		}
		if value != s.Value && section != "include" && section != "includeif" {
			leftOut = append(leftOut, key+loginMark)
		}
		if at := headerOf(section, sub); at != header {
			header = at
			b.WriteString(header + "\n")
		}
		if b.WriteString("\t" + name); !s.Bare {
			b.WriteString(` = "` + escapes.Replace(value) + `"`)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String()), leftOut, nil
}

// split parts a key into section, subsection and name.
func split(key string) (section, sub, name string) {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first == last {
		return key[:first], "", key[last+1:]
	}
	return key[:first], key[first+1 : last], key[last+1:]
}

var (
	escapes    = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)
	subEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
)

// headerOf is a section's line.
func headerOf(section, sub string) string {
	if sub == "" {
		return "[" + section + "]"
	}
	return "[" + section + ` "` + subEscapes.Replace(sub) + `"]`
}

// errLeftOut says that a variable is not shown.
var errLeftOut = errors.New("left out")

// lfsFilters are the programs of git-lfs that git lfs install writes.
var lfsFilters = []string{"git-lfs clean -- %f", "git-lfs smudge -- %f", "git-lfs smudge --skip -- %f", "git-lfs filter-process", "git-lfs filter-process --skip"}

// value is what commands see of a variable's value.
func (g gitFile) value(section, sub, name string, s gitconfig.Setting) (string, error) {
	if section == "include" || section == "includeif" {
		err := g.include(name, s)
		path := filepath.Clean(protect.GitPath(s.Value, g.dir, g.Home.Dir))
		if err == nil && g.At != nil && agenttool.Within(g.Home.Dir, path) {
			return g.At(path), nil
		}
		return s.Value, err
	}
	key := []string{section, sub, name}
	if sub == "" {
		key = []string{section, name}
	}
	lfs := section == "filter" && sub == "lfs" && slices.Contains(lfsFilters, s.Value)
	hooks := section == "core" && name == "hookspath"
	alias := section == "alias" && !strings.HasPrefix(strings.TrimSpace(s.Value), "!")
	clean, ok := withoutLogin(s.Value)
	if strings.HasPrefix(s.Value, "ssh://") || strings.HasPrefix(s.Value, "git+ssh://") {
		clean = s.Value // the user's name on the server
	}
	subClean, _ := withoutLogin(sub)
	if strings.HasPrefix(sub, "ssh://") && !strings.Contains(strings.TrimPrefix(sub, "ssh://"), ":") {
		subClean = sub
	}
	if !ok || subClean != sub || !shows("git", key) || protect.GitRuns(section, sub, name, s.Value) && !lfs && !hooks && !alias {
		return "", errLeftOut
	}
	if section == "alias" && clean != s.Value || section == "url" && clean != s.Value {
		return "", errLeftOut
	}
	g.name(section, name, s.Value)
	return clean, nil
}

// filesNamed are the variables that name files, by their section: git fails, or does something else, without the file.
var filesNamed = map[string][]string{
	"core": {"excludesfile", "attributesfile"}, "commit": {"template"}, "blame": {"ignorerevsfile"}, "mailmap": {"file"}, "http": {"sslcainfo"},
	"gpg": {"allowedsignersfile", "revocationfile"}, "diff": {"orderfile"},
}

// name has what a variable names in the home directory shown, too: files of settings, hooks, and the public half of a key that signs.
func (g gitFile) name(section, name, value string) {
	path := filepath.Clean(protect.GitPath(value, g.dir, g.Home.Dir))
	if !agenttool.Within(g.Home.Dir, path) || path == g.Home.Dir {
		return
	}
	switch {
	case section == "core" && name == "hookspath":
		if info, err := os.Stat(path); err == nil && info.IsDir() && g.Home.Harmless(path) && !g.isWritable(path) && !slices.Contains(g.reading.view.Dirs, path) {
			g.reading.view.Dirs = append(g.reading.view.Dirs, path)
		}
	case section == "user" && name == "signingkey" && !strings.HasPrefix(value, "key::"):
		for _, key := range []string{path, strings.TrimSuffix(path, ".pub") + ".pub"} {
			if strings.HasSuffix(key, ".pub") {
				g.add(key, "public key", g.programs)
			}
		}
	case slices.Contains(filesNamed[section], name) && g.Home.Harmless(path):
		g.add(path, "plain", g.programs)
	}
}

// include reports whether an include stays. The file that it names gets a view of its own, where commands would not see it otherwise.
func (g gitFile) include(name string, s gitconfig.Setting) error {
	if name != "path" {
		return errLeftOut
	}
	path := filepath.Clean(protect.GitPath(s.Value, g.dir, g.Home.Dir))
	if !filepath.IsAbs(path) || g.isWritable(path) {
		return errLeftOut
	}
	i := slices.IndexFunc(g.reading.view.Files, func(f File) bool { return f.Path == path })
	if i >= 0 && g.depth < maxIncludes && g.reading.view.Files[i].Text != nil {
		return nil // it was read before
	}
	g.reading.view.seen = append(g.reading.view.seen, stampOf(path))
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil // git goes on without it
	}
	text, err := g.text(path)
	if err != nil {
		return errLeftOut
	}
	inner := gitFile{g.reading, filepath.Dir(path), g.programs, g.depth + 1}
	shown, leftOut, err := inner.view(string(text))
	if errors.Is(err, errCircle) {
		return err
	}
	if err != nil {
		return errLeftOut
	}
	if !agenttool.Within(g.Home.Dir, path) {
		return nil // commands see it as it is
	}
	slices.Sort(leftOut)
	f := File{Path: path, Programs: g.programs, OfGit: true, Text: shown, LeftOut: slices.Compact(leftOut)}
	if f.Whole = len(leftOut) == 0 && !holdsSecret(text) && g.Home.Harmless(path); f.Whole && g.At == nil {
		f.Text = text
	}
	if i := slices.IndexFunc(g.reading.view.Files, func(f File) bool { return f.Path == path }); i < 0 {
		g.reading.view.Files = append(g.reading.view.Files, f)
	}
	return nil
}
