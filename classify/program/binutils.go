package program

import "strings"

// judgeObject refuses @file, whose words may be options.
func judgeObject(a *Args, u *Use) {
	name := a.Argv[0].Text
	for _, w := range a.Argv[1:] {
		if strings.HasPrefix(w.Text, "@") {
			u.Unknown(name+": options may stand in "+spelled(w), w)
		}
	}
	for _, w := range a.Values("object") {
		if !w.Static && w.Text == "" {
			u.Unknown(name+": options may stand in a file that "+spelled(w)+" names", w)
		}
		u.Reads = append(u.Reads, w)
	}
	if len(a.Values("object")) == 0 && (name == "nm" || name == "size" || name == "objdump") {
		u.Reads = append(u.Reads, Lit("a.out"))
	}
}

func judgeLdd(a *Args, u *Use) {
	for _, w := range a.Values("object") {
		u.Reads = append(u.Reads, w)
		if w.Static && !strings.Contains(w.Text, "..") && (strings.HasPrefix(w.Text, "/usr/") || strings.HasPrefix(w.Text, "/bin/") || strings.HasPrefix(w.Text, "/lib/")) {
			continue // a program of the system does no more than it is linked for
		}
		u.Add(RunsCode, "ldd may run "+spelled(w))
	}
}

// judgeLdconfig: without an option that says else, it makes the cache anew.
func judgeLdconfig(a *Args, u *Use) {
	if !a.Has("--print-cache", "--version", "--help") {
		u.Add(Writes, "ldconfig writes its cache and links")
	}
}

// judgeNames refuses @file among names: it stands for the words of that file.
func judgeNames(a *Args, u *Use) {
	for _, w := range a.Operands {
		if !w.Static || strings.HasPrefix(w.Text, "@") {
			u.Unknown("a name that begins with @ stands for the words of a file", w)
		}
	}
}
