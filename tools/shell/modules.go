package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// maxModules bounds the files of modules that are looked at for one command.
const maxModules = 64

// refineModules finds commands of go that only read, in modules whose go.mod or go.work names directories outside of the workspace: go reads these, and no
// word of the line says so.
func refineModules(f *agenttool.Facts, inRoots func(path string) bool) {
	if f.ReadOnly != agenttool.Yes || f.PathsComplete != agenttool.Yes || f.Dir == nil {
		return
	}
	for i := range f.Parts {
		part := &f.Parts[i]
		if len(part.Argv) < 2 || part.Argv[0] != "go" {
			continue
		}
		dirs := part.Dirs
		if len(dirs) == 0 {
			dirs = []string{f.Dir.Absolute}
		}
		for _, dir := range dirs {
			if at := slices.Index(part.Argv, "-C"); at > 0 && at+1 < len(part.Argv) {
				dir = filepath.Join(dir, part.Argv[at+1])
			}
			named, file := modulesOutside(filepath.Clean(dir), inRoots)
			if named == "" {
				continue
			}
			why := agenttool.Reason{Fact: "paths_complete", Text: "go reads " + named + ", which " + file + " names, outside of the workspace", Line: part.Line, Column: part.Column}
			part.PathsComplete, part.Reasons = agenttool.Unknown, append(slices.Clip(part.Reasons), why)
			f.PathsComplete, f.Reasons = agenttool.Unknown, append(slices.Clip(f.Reasons), why)
			break
		}
	}
}

// modulesOutside returns the first directory outside of the workspace that the module or the workspace of go at a directory names, and the file
// that does.
func modulesOutside(dir string, inRoots func(path string) bool) (named, file string) {
	var files []string
	for _, name := range []string{"go.mod", "go.work"} {
		for at := dir; at != "/" && at != "."; at = filepath.Dir(at) {
			if file := filepath.Join(at, name); isPlainFile(file) {
				files = append(files, file)
				break
			}
		}
	}
	for n := 0; n < len(files) && n < maxModules; n++ {
		text, _ := os.ReadFile(files[n])
		for _, place := range localPlaces(string(text)) {
			if !filepath.IsAbs(place) {
				place = filepath.Join(filepath.Dir(files[n]), place)
			}
			if !inRoots(place) {
				return place, files[n]
			}
			module := filepath.Join(place, "go.mod")
			if filepath.Base(files[n]) == "go.work" && isPlainFile(module) && !slices.Contains(files, module) {
				files = append(files, module)
			}
		}
	}
	return "", ""
}

// localPlaces are the directories that a go.mod or go.work names: go takes what begins with a dot or a slash for one.
func localPlaces(text string) (places []string) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		for _, word := range strings.Fields(line) {
			if word = strings.Trim(word, "\"`"); word == "." || word == ".." || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") || strings.HasPrefix(word, "/") {
				places = append(places, word)
			}
		}
	}
	return places
}
