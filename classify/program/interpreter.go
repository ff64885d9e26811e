package program

// interpreterSpecs describes the interpreters: all but a question for the version runs code.
func interpreterSpecs() []*Spec {
	return []*Spec{
		asksVersion(`python python2 python3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14
			pypy pypy3`,
			" --version -V -VV --help -h "),
		asksVersion("node nodejs", " --version -v --help -h --v8-options "),
		asksVersion("ruby irb", " --version -v -h --help "),
		asksVersion("perl", " --version -v -h "),
		asksVersion("php", " --version -v -h --help "),
		asksVersion("java", " --version -version -fullversion --full-version --help -help -h "),
		asksVersion("javac", " --version -version --help -help "),
		asksVersion("lua luajit", " -v "),
		asksVersion(`Rscript R julia ghc ghci elixir iex scala kotlin groovy clojure ocaml racket guile swipl gdb
			lldb `+
			"swift dart crystal nim zig bun deno ts-node tsx tclsh wish expect osascript", " --version "),
	}
}

// asksVersion describes a program that is harmless with one of these words alone, and runs code with anything else.
func asksVersion(names, harmless string) *Spec {
	return &Spec{Names: names, Raw: true, Judge: func(a *Args, u *Use) {
		if len(a.Operands) == 1 && a.Operands[0].Static && listed(harmless, a.Operands[0].Text) {
			return
		}
		u.Add(RunsCode, "runs a program in its language, which nobody has seen")
		if len(a.Operands) == 0 {
			u.Add(Interactive, "reads its program from standard input")
		}
	}}
}
