package program

import "strings"

// judgeDpkg: without an action that is known to ask there is another one, or none.
func judgeDpkg(a *Args, u *Use) {
	if !a.Has("--list", "--status", "--listfiles", "--search", "--print-avail", "--audit", "--verify", "--get-selections",
		"--print-architecture", "--print-foreign-architectures", "--compare-versions", "--help", "--version") {
		u.Add(Writes, "changes installed packages")
	}
}

// judgeRPM: even a query makes the database if there is none, in the home on systems of other packages.
func judgeRPM(a *Args, u *Use) {
	switch first := a.Argv[min(1, len(a.Argv)-1)]; {
	case len(a.Operands) == 1 && first.Static && first.Text == "--version":
	case first.Static && (strings.HasPrefix(first.Text, "-q") || first.Text == "--query"):
		u.Add(Writes, "creates its database if there is none")
		u.Unknown("rpm: options may run commands", first)
	default:
		u.Add(Writes, "changes installed packages")
		u.Unknown("rpm: packages run scripts", first)
	}
}

func judgePipInstall(a *Args, u *Use) {
	u.Reasons = append(u.Reasons, because("installs packages, runs their code and reaches the index of pip's configuration"))
	localPackages(a, u)
}

// judgePipList: whether there is a newer pip is not looked at, since PIP_DISABLE_PIP_VERSION_CHECK is among the variables of commands.
func judgePipList(a *Args, u *Use) {
	if a.Has("--outdated", "--uptodate") {
		u.Add(Reaches, "asks the index which versions there are")
		u.Add(NotConcurrent, "writes the index's answers into a cache")
	}
}

// judgePackages finds commands that remove packages.
func judgePackages(a *Args, u *Use) {
	for _, w := range a.Operands {
		switch w.Text {
		case "remove", "purge", "autoremove", "uninstall", "erase", "-r", "-P", "--purge", "--remove", "-R", "-Rns",
			"-Rs", "-e":
			u.Add(Destroys, "removes packages: "+w.Text)
			return
		}
	}
}
