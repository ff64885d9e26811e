package program

import (
	"slices"
	"strings"
)

// installDirs are the directories below a prefix into which builds install.
var installDirs = []string{"bin", "lib", "include", "share/man"}

// judgeMakeInstall names the directories into which `make install PREFIX=/dir` installs, as makefiles have it by convention. The makefile
// may write others.
func judgeMakeInstall(a *Args, u *Use) {
	installs, prefix := false, ""
	for _, w := range a.Operands {
		name, dir, assigned := strings.Cut(w.Text, "=")
		switch {
		case !w.Static:
		case assigned && (name == "PREFIX" || name == "prefix") && strings.HasPrefix(dir, "/"):
			prefix = strings.TrimRight(dir, "/")
		case w.Text == "install" || strings.HasPrefix(w.Text, "install-"):
			installs = true
		}
	}
	if !installs || prefix == "" {
		return
	}
	for _, dir := range installDirs {
		u.Writes = append(u.Writes, Lit(prefix+"/"+dir))
	}
	u.Add(WritesElsewhere, "installs below "+prefix)
}

// judgeGoInstall names the directory into which go installs programs.
func judgeGoInstall(_ *Args, u *Use) {
	u.Reasons = append(u.Reasons, because("runs code of this project"))
	u.Effects, u.Homely = append(u.Effects, WritesElsewhere), append(u.Homely, HomeWrite{"go/bin", []string{"GOBIN", "GOPATH"}})
}

// archives are the ends of names of packages in one file.
var archives = []string{".tgz", ".tar.gz", ".tar", ".whl", ".zip"}

// localPackages names the archives and directories among the packages that a package manager installs. It builds in a directory, or
// links it and changes the modes of its programs.
func localPackages(a *Args, u *Use) {
	for _, w := range a.Operands {
		w.Text = strings.TrimPrefix(w.Text, "file:")
		if !w.Static || !strings.HasPrefix(w.Text, "/") && !strings.HasPrefix(w.Text, "./") && !strings.HasPrefix(w.Text, "../") {
			continue
		}
		u.Reads = append(u.Reads, w)
		if !slices.ContainsFunc(archives, func(end string) bool { return strings.HasSuffix(w.Text, end) }) {
			u.Writes = append(u.Writes, w)
		}
	}
	if len(u.Writes) > 0 {
		u.Effects = append(u.Effects, WritesElsewhere)
	}
}
