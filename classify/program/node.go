package program

import (
	"slices"
	"strings"
)

// fetching are the subcommands of package managers of languages that fetch packages, or talk with the registry of their
// configuration.
var fetching = WordSet(`install i ci add remove rm uninstall update up upgrade import dedupe prune rebuild link unlink fetch publish login logout
	audit outdated info view create init dlx npm patch patch-commit deploy set self-update self sync lock pip tool python require search
	download push pull inject reinstall`)

// judgePackageManager is the Judge of package managers of languages. They run code of the project, unless their first word fetches packages.
func judgePackageManager(a *Args, u *Use) {
	words := a.Operands
	for len(words) > 0 && strings.HasPrefix(words[0].Text, "-") {
		words = words[1:]
	}
	asks := slices.ContainsFunc(a.Operands, func(w Word) bool { return w.Static && (w.Text == "--version" || w.Text == "-v" || w.Text == "--help") })
	bare := len(words) == 0 && !asks && strings.HasPrefix(a.Argv[0].Text, "yarn") // which installs
	if bare || len(words) > 0 && (!words[0].Static || fetching[words[0].Text]) {
		u.Add(Reaches, "runs code of packages, which it fetches from the registry of its configuration")
		localPackages(a, u)
		return
	}
	u.Reasons, u.Locks = append(u.Reasons, because("runs code of this project")), nil
}

// judgeUv: uv answers with its version and does nothing else.
func judgeUv(a *Args, u *Use) {
	if words := a.Operands; len(words) == 1 && words[0].Static && words[0].Text == "--version" {
		u.Effects, u.Locks = nil, nil
		return
	}
	judgePackageManager(a, u)
}

func judgeNpmInstall(a *Args, u *Use) {
	u.Reasons = append(u.Reasons, because("changes node_modules, runs scripts of packages and reaches the registry of npm's configuration"))
	localPackages(a, u)
}

// judgeNpm: without a subcommand npm shows its help, and writes a log of that.
func judgeNpm(a *Args, u *Use) {
	if len(a.Operands) == 0 && !a.Has("--version") {
		u.Add(Writes, "npm writes a log, to where .npmrc says")
	}
}
