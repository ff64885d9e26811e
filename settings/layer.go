package settings

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"

	"toolhost/agenttool"
)

// layer is a file, and what it says.
type layer struct {
	Layer
	values  *Settings // never nil
	content []byte    // as it was read; nil: it does not exist
	gitDirs []string  // whose index was asked
	sure    bool      // Supplied, and not only because git was at work
}

// Files lists the layers, weakest first, with their sources and files and nothing else.
func (o Options) Files() []Layer {
	all := []Layer{
		{Source: agenttool.SourceUser, File: o.User}, {Source: agenttool.SourceProject, File: o.Project}, {Source: agenttool.SourceLocal, File: o.Local},
		{Source: agenttool.SourceFlag, File: o.Flag}, {Source: agenttool.SourceManaged, File: o.Managed},
	}
	var named []Layer
	for _, l := range all {
		if l.File != "" {
			named = append(named, l)
		}
	}
	return named
}

// read reads all layers. Of a file that is broken, the layer is what it was before; nil: it is empty.
func (o Options) read(before []*layer) (layers []*layer, problems []Problem) {
	for i, named := range o.Files() {
		var last *layer
		if before != nil {
			last = before[i]
		}
		l, wrong := o.readLayer(named, last)
		if len(wrong) > 0 && last != nil {
			kept := *last
			kept.Exists = true
			if l.Supplied {
				kept.Supplied, kept.Why = true, l.Why
			}
			kept.gitDirs = l.gitDirs
			l = &kept
		}
		layers, problems = append(layers, l), append(problems, wrong...)
	}
	return layers, problems
}

// readLayer reads one layer. last is what it was before, or nil.
func (o Options) readLayer(named Layer, last *layer) (*layer, []Problem) {
	l := &layer{Layer: named, values: &Settings{}}
	inProject := l.inProject()
	content, info, err := readFile(l.File, !inProject)
	if missing(err) && l.Source != agenttool.SourceFlag {
		return l, nil
	}
	l.Exists = true
	if inProject {
		l.judge(content, info, last)
	}
	if err == nil && !inProject {
		err = checkOwner(l.File, info)
	}
	if err != nil {
		return l, []Problem{{File: l.File, Message: "cannot be used: " + err.Error()}}
	}
	l.content = content
	if last != nil && last.content != nil && bytes.Equal(last.content, content) {
		l.values = last.values
		return l, nil
	}
	values, problems := o.decode(l.Source, l.File, content)
	if values != nil {
		l.values = values
	}
	return l, problems
}

// inProject reports whether the layer's file lies in the project.
func (l Layer) inProject() bool {
	return l.Source == agenttool.SourceProject || l.Source == agenttool.SourceLocal
}

// judge says whether the project supplied the file, and why. It must be asked after the file was read: a file that
// git has just written is in git's index by then, or git still holds the index.
func (l *layer) judge(content []byte, info fs.FileInfo, last *layer) {
	if l.Source == agenttool.SourceProject {
		l.Supplied, l.Why = true, "it is the project's file"
		return
	}
	found := judge(l.File)
	if found.busy && last != nil && content != nil && bytes.Equal(last.content, content) {
		found.supplied, found.why = last.Supplied, last.Why // git is at work, but not on this file
	}
	if !found.supplied && last != nil && last.sure && content != nil && bytes.Equal(last.content, content) {
		found.supplied, found.why = true, last.Why // a command may have hidden from git whose it is
	}
	if !found.supplied && info != nil {
		if err := checkOwner(l.File, info); err != nil {
			found.supplied, found.why = true, err.Error()
		}
	}
	l.Supplied, l.Why, l.gitDirs = found.supplied, found.why, found.gitDirs
	l.sure = found.supplied && (!found.busy || last != nil && last.sure)
}

// judge says whether whoever made the project may have made the local file in it.
func judge(file string) verdict {
	dir := filepath.Dir(file)
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() || err != nil && !missing(err) {
		return verdict{supplied: true, why: filepath.Base(dir) + " is no directory of the workspace itself"}
	}
	return tracked(file)
}
