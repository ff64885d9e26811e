package program

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
var projectModules = WordSet("pytest unittest tox nox coverage mypy pyright black isort flake8 pylint ruff build bandit pre_commit doctest nose2")

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
