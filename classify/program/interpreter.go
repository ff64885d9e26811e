package program

// interpreterSpecs describes the interpreters: all but a question for the version runs code.
func interpreterSpecs() []*Spec {
	return []*Spec{
		orBuilds(interprets(`python python2 python3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14
			pypy pypy3`,
			" --version -V -VV --help -h ")),
		orChecks(interprets("node nodejs", " --version -v --help -h --v8-options "), " --check -c "),
		interprets("ruby irb", " --version -v -h --help "),
		interprets("perl", " --version -v -h "),
		orChecks(interprets("php", " --version -v -h --help "), " -l --syntax-check "),
		carrying("", interprets("java", " --version -version -fullversion --full-version --help -help -h ")),
		asksVersion("javac", " --version -version --help -help "),
		interprets("lua luajit", " -v "),
		interprets(`Rscript R julia ghc ghci elixir iex groovy ocaml racket guile swipl `+
			"swift dart crystal nim deno ts-node tsx", " --version "),
		carrying("command script", interprets("gdb lldb", " --version ")),
		// These have no such question, or not for sure: they may read a program from stdin, or from a file of that name.
		carrying("command script", interprets("expect", "")),
		{Names: "tclsh wish osascript clojure clj scala kotlin zig", Raw: true, Effects: "runs_code", Carries: "script",
			Judge: reason("runs code in its own language, which toolhost does not read")},
	}
}

// asksVersion describes a program that is harmless with one of these words alone, and runs code with anything else.
func asksVersion(names, harmless string) *Spec {
	questions := WordSet(harmless)
	return &Spec{Names: names, Raw: true, Judge: func(a *Args, u *Use) {
		if len(a.Operands) == 1 && a.Operands[0].Static && questions[a.Operands[0].Text] {
			return
		}
		u.Add(RunsCode, "runs code in its own language, which toolhost does not read")
	}}
}

// interprets describes one that reads its program from standard input where no file is named.
func interprets(names, harmless string) *Spec {
	s := carrying("script", asksVersion(names, harmless))
	otherwise := s.Judge
	s.Judge = func(a *Args, u *Use) {
		otherwise(a, u)
		if len(a.Operands) == 0 {
			u.Add(Interactive, "reads its program from standard input")
		}
	}
	return s
}

// projectModules are modules of Python that build, test or check a project, as the programs of the same names do.
var projectModules = WordSet("pytest unittest tox nox coverage mypy pyright black isort flake8 pylint ruff build bandit pre_commit doctest nose2")

// orBuilds adds that -m with one of those modules runs code of this project.
func orBuilds(s *Spec) *Spec {
	otherwise := s.Judge
	s.Judge = func(a *Args, u *Use) {
		if words := a.Operands; len(words) > 1 && words[0].Static && words[0].Text == "-m" && words[1].Static &&
			projectModules[words[1].Text] {
			u.Add(RunsCode, "runs code of this project")
			u.Effects = append(u.Effects, Writes)
			return
		}
		otherwise(a, u)
	}
	return s
}

// orChecks adds, for interpreters that run nothing then, neither blocks that come first nor what a first line #! names,
// that one of these options and a file only check the syntax of the file.
func orChecks(s *Spec, options string) *Spec {
	checks := WordSet(options)
	otherwise := s.Judge
	s.Judge = func(a *Args, u *Use) {
		words := a.Operands
		if len(words) == 2 && words[0].Static && checks[words[0].Text] &&
			words[1].Text != "" && words[1].Text[0] != '-' && (words[1].Static || !words[1].Many) {
			u.Reads = append(u.Reads, words[1])
			return
		}
		otherwise(a, u)
	}
	return s
}
