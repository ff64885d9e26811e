package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// Bounds of a package.json, and of the directories of packages that one names.
const (
	maxManifest = 1 << 20
	maxPackages = 16
)

// refinePackages adds the directories outside of the workspace that a package.json names as packages and that npm links when it installs, and
// writes. It reports whether there are any.
func refinePackages(f *agenttool.Facts, inRoots func(path string) bool) (paths bool) {
	for i := range f.Parts {
		part := &f.Parts[i]
		if !part.Exact || len(part.Argv) < 2 || part.Argv[0] != "npm" || !slices.Contains([]string{"ci", "install", "i"}, part.Argv[1]) || len(part.Dirs) > 1 {
			continue
		}
		dir := filepath.Clean(f.Dir.Absolute)
		if len(part.Dirs) == 1 {
			dir = filepath.Clean(part.Dirs[0])
		}
		markPackages(f, i, inRoots)
		for _, spec := range linkedPackages(filepath.Join(dir, "package.json")) {
			at := agenttool.Path{Spelling: spec, Absolute: spec, By: i + 1}
			if !filepath.IsAbs(spec) {
				at.Absolute = filepath.Join(dir, spec)
			}
			known := slices.ContainsFunc(f.Writes, func(w agenttool.Path) bool { return filepath.Clean(w.Absolute) == filepath.Clean(at.Absolute) })
			info, err := os.Stat(at.Absolute)
			if err == nil && info.IsDir() && !known && !inRoots(at.Absolute) {
				f.Writes, paths = append(slices.Clip(f.Writes), at), true
			}
		}
	}
	return paths
}

// markPackages marks the directories of packages outside of the workspace among the words of a simple command.
func markPackages(f *agenttool.Facts, i int, inRoots func(path string) bool) {
	for n := range f.Writes {
		w := &f.Writes[n]
		info, err := os.Lstat(filepath.Join(w.Absolute, "package.json"))
		if w.By == i+1 && slices.Contains(f.Parts[i].Argv, w.Spelling) && err == nil && info.Mode().IsRegular() && !inRoots(w.Absolute) {
			w.Package = true
		}
	}
}

// linkedPackages are the places that a package.json names as packages, nil if it names too many or cannot be read.
func linkedPackages(file string) (dirs []string) {
	text, ok := readAtMost(file, maxManifest)
	var manifest struct {
		Dependencies         map[string]string `json:"dependencies"`
		DevDependencies      map[string]string `json:"devDependencies"`
		OptionalDependencies map[string]string `json:"optionalDependencies"`
	}
	if !ok || json.Unmarshal(text, &manifest) != nil {
		return nil
	}
	for _, all := range []map[string]string{manifest.Dependencies, manifest.DevDependencies, manifest.OptionalDependencies} {
		for _, spec := range all {
			for _, prefix := range []string{"file:", "link:"} {
				if dir, named := strings.CutPrefix(spec, prefix); named && dir != "" && !strings.HasPrefix(dir, "~") {
					dirs = append(dirs, dir)
				}
			}
		}
	}
	if slices.Sort(dirs); len(dirs) > maxPackages {
		return nil
	}
	return slices.Compact(dirs)
}
