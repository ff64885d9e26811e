package program

import (
	"slices"
	"strings"
)

// judgeBuilds is the Judge of programs that run code of the project unless they only answer a question.
func judgeBuilds(_ *Args, u *Use) {
	u.Add(RunsCode, "runs code of this project")
	u.Effects = append(u.Effects, Writes)
}

// judgeMake is that of the programs that obey makefiles.
func judgeMake(a *Args, u *Use) {
	judgeBuilds(a, u)
	judgeMakeInstall(a, u)
}

// judgeCargoMetadata judges cargo metadata. Only with --no-deps it asks no compiler, which .cargo/config.toml may name,
// and has no need to write Cargo.lock.
func judgeCargoMetadata(a *Args, u *Use) {
	if a.Has("--no-deps") {
		return
	}
	u.Add(RunsCode, "asks the compiler that .cargo/config.toml names")
	if !a.Has("--locked", "--frozen") {
		u.Add(Writes, "may write Cargo.lock (with --locked it does not)")
	}
	if !a.Has("--offline", "--frozen") {
		u.Add(Reaches, "may ask the registry of cargo's configuration (with --offline it does not)")
	}
}

func judgeInfrastructure(a *Args, u *Use) {
	for _, w := range a.Operands {
		if w.Text == "destroy" || w.Text == "apply" || w.Text == "down" || w.Text == "-destroy" {
			u.Add(Destroys, "changes or removes infrastructure: "+spelled(w))
			return
		}
	}
}

// judgeGoEnv judges go env, which with no names, or one of the compiler's, asks the C compiler and writes the cache.
func judgeGoEnv(a *Args, u *Use) {
	if len(a.Operands) == 0 || a.Has("-json") || a.Has("-changed") {
		u.Add(NotConcurrent, "asks the C compiler for its flags, and keeps the answer in the build cache")
	}
}

func judgeGoList(a *Args, u *Use) {
	for _, w := range a.Values("gomod") {
		if w.Text != "vendor" && w.Text != "readonly" || !w.Static {
			u.Add(Writes, "may change go.mod: -mod="+spelled(w))
		}
	}
	judgeGoPackages(a, u)
}

// judgeGoPackages takes packages for directories, which are read if they are there: go knows a package by its path, its import
// path or, doc, by a part of that. go asks the module proxy for PACKAGE@VERSION.
func judgeGoPackages(a *Args, u *Use) {
	base := ""
	for _, o := range a.Options {
		if o.Name == "-C" {
			base = o.Value.Text + "/"
		}
	}
	for _, w := range a.Values("package") {
		if strings.Contains(w.Text, "@") || !w.Static {
			u.Add(Reaches, "asks the module proxy of go's configuration for "+spelled(w))
			u.Add(Writes, "writes the module cache")
			return
		}
		w.Maybe, w.Text = true, strings.TrimSuffix(strings.TrimSuffix(w.Text, "..."), "/")
		switch {
		case w.Text == "" && base == "":
			continue
		case !strings.HasPrefix(w.Text, "/"):
			w.Text = base + w.Text
		}
		u.Reads = append(u.Reads, w)
	}
}

// judgeGoTool: the programs behind go tool take options from @file.
func judgeGoTool(a *Args, u *Use) {
	for _, w := range a.Argv[1:] {
		if strings.HasPrefix(w.Text, "@") || w.Text == "" && !w.Static {
			u.Unknown("go tool: words may stand in "+spelled(w), w)
		}
	}
}

func judgeGoModEdit(a *Args, u *Use) {
	if len(a.Operands) == 1 && (a.Operands[0].Text == "-json" || a.Operands[0].Text == "-print") {
		return
	}
	u.Add(Writes, "changes go.mod")
}

func judgeGofmt(a *Args, u *Use) {
	files := a.Values("format")
	u.Reads = append(u.Reads, files...)
	if a.Has("-w") {
		u.Writes = append(u.Writes, files...)
	}
	if len(files) > 0 {
		u.Add(ReadsTree, "gofmt reads below directories")
	}
}

// fetching are the subcommands of package managers of languages that fetch packages, or talk with the registry of their
// configuration.
var fetching = WordSet(`install i ci add remove rm uninstall update up upgrade import dedupe prune rebuild link unlink fetch publish login
	logout audit outdated info view create init dlx npm patch patch-commit deploy set self-update self sync lock pip
	tool python require search download push pull inject reinstall`)

// judgePackageManager is the Judge of package managers of languages. They run code of the project, unless their first word
// fetches packages.
func judgePackageManager(a *Args, u *Use) {
	words := a.Operands
	for len(words) > 0 && strings.HasPrefix(words[0].Text, "-") {
		words = words[1:]
	}
	asks := slices.ContainsFunc(a.Operands, func(w Word) bool {
		return w.Static && (w.Text == "--version" || w.Text == "-v" || w.Text == "--help")
	})
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
	u.Effects, u.HomeWrites = append(u.Effects, WritesElsewhere), append(u.HomeWrites, HomeWrite{"go/bin", []string{"GOBIN", "GOPATH"}})
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

// judgeOwnLanguage is the Judge of programs that run code in a language of their own.
func judgeOwnLanguage(_ *Args, u *Use) {
	u.Add(RunsCode, "runs code in its own language, which toolhost does not read")
}

// judgeInterpreter is that of those that read their program from standard input where no file is named.
func judgeInterpreter(a *Args, u *Use) {
	judgeOwnLanguage(a, u)
	if len(a.Operands) == 0 {
		u.Add(Interactive, "reads its program from standard input")
	}
}

// projectModules are modules of Python that build, test or check a project, as the programs of the same names do.
var projectModules = WordSet(`
	pytest unittest tox nox coverage mypy pyright black isort flake8 pylint ruff build bandit pre_commit doctest nose2`)

// judgePython: -m with one of those modules runs code of this project.
func judgePython(a *Args, u *Use) {
	if words := a.Operands; len(words) > 1 && words[0].Static && words[0].Text == "-m" && words[1].Static && projectModules[words[1].Text] {
		judgeBuilds(a, u)
		return
	}
	judgeInterpreter(a, u)
}

// These options and a file only check the syntax of the file: the interpreters run nothing then, neither blocks that come first nor what
// a first line #! names.
var nodeChecks, phpChecks = WordSet("--check -c"), WordSet("-l --syntax-check")

func judgeNode(a *Args, u *Use) { checksOrRuns(a, u, nodeChecks) }

func judgePHP(a *Args, u *Use) { checksOrRuns(a, u, phpChecks) }

func checksOrRuns(a *Args, u *Use, checks Words) {
	words := a.Operands
	if len(words) == 2 && words[0].Static && checks[words[0].Text] &&
		words[1].Text != "" && words[1].Text[0] != '-' && (words[1].Static || !words[1].Many) {
		u.Reads = append(u.Reads, words[1])
		return
	}
	judgeInterpreter(a, u)
}
