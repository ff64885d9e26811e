package program

import "strings"

// judgeUnzip: -Z at the beginning makes it zipinfo. Otherwise it extracts unless one of the letters says what else.
func judgeUnzip(a *Args, u *Use) {
	judgeZipinfo(a, u)
	if len(a.Argv) > 1 && a.Argv[1].Static && strings.HasPrefix(a.Argv[1].Text, "-Z") {
		return
	}
	if a.Has("-T") {
		u.Add(Writes, "unzip -T changes the time of the archive")
		u.Writes = append(u.Writes, a.Values("archive")...)
	}
	foreign := a.Has("-Z", "-1", "-2", "-s", "-m")
	shows := a.Has("-l", "-p", "-c", "-t", "-v", "-z")
	if foreign {
		u.Unknown("unzip: the letters are not known together", a.Argv[0])
	}
	if shows || len(a.Operands) == 0 {
		return
	}
	u.Add(Writes, "extracts files")
	into := false
	for i, w := range a.Operands {
		if w.Static && w.Text == "-d" && i+1 < len(a.Operands) {
			u.Writes, into = append(u.Writes, a.Operands[i+1]), true
		}
	}
	if !into && len(a.Values("file")) == 0 {
		u.Writes = append(u.Writes, Lit("."))
	}
}

// judgeZipinfo: the name of the archive may be a pattern of its own.
func judgeZipinfo(a *Args, u *Use) {
	for _, w := range a.Values("archive") {
		u.Reads = append(u.Reads, w)
		if w.Static && strings.ContainsAny(w.Text, "*?[") {
			u.Add(ReadsElsewhere, "the name of the archive is a pattern: "+w.Text)
		}
	}
}
