package claudecode

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
)

// The bounds of a search by Claude Code: the files that are looked at for secrets, and the names that are left out.
const (
	maxSearched = 400_000
	maxSpared   = 50
)

// spare keeps Grep of Claude Code from secrets below the directory that it searches: it gets a glob that leaves them out. Where a glob of
// its own may match one, it is denied.
func (a *answer) spare(c call, secret func(string) bool) error {
	names, err := secretNames(c.Input.Path, secret)
	if err != nil || len(names) == 0 {
		return err
	}
	glob, _ := c.Raw["glob"].(string)
	at := slices.IndexFunc(names, func(name string) bool {
		return glob != "" && mayMatch(glob, name) || strings.ContainsAny(name, " ,!*?[]{}\\\t\n")
	})
	switch {
	case at >= 0 || len(names) > maxSpared:
		name := names[max(0, at)]
		*a = answer{Verdict: agenttool.Deny, Reason: "toolhost: the search may read " + visible.Text(name) + ", which holds secrets: " +
			"search with rg in Bash, which cannot, or with a glob that leaves it out"}
	case glob == "" && len(names) == 1:
		a.Input = c.Raw
		a.Input["glob"] = "!" + names[0]
	case glob == "":
		a.Input = c.Raw
		a.Input["glob"] = "!{" + strings.Join(names, ",") + "}"
	}
	return nil
}

// mayMatch reports whether a glob of rg may match a file with a name.
func mayMatch(glob, name string) bool {
	if strings.ContainsAny(glob, " !\\[\t\n") || strings.Contains(glob, "{") && strings.Contains(glob, "/") {
		return true
	}
	base := strings.ToLower(glob[strings.LastIndexByte(glob, '/')+1:])
	matches, err := doublestar.Match(cmp.Or(base, "*"), strings.ToLower(name))
	return matches || err != nil || base == "**" || strings.Contains(base, ",") && !strings.Contains(base, "{")
}

var errSearched = errors.New("the directory has too many files to look for secrets among them: search with rg in Bash")

// secretNames returns the names of files below a directory that calls do not read, sorted. A search follows no link, but one to it.
func secretNames(dir string, secret func(string) bool) (names []string, err error) {
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("the directory cannot be searched: %w", err)
	}
	seen := 0
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if seen++; seen > maxSearched {
			return errSearched
		}
		if err == nil && entry.Type().IsRegular() && secret(path) {
			names = append(names, entry.Name())
		}
		return nil // a directory that cannot be read has nothing for the search
	})
	slices.Sort(names)
	return slices.Compact(names), err
}
