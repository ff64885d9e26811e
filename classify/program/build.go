package program

// buildSpecs describes tools that build, test and install: files of the project name the commands that they run, so only printing
// the version is read-only.
//
// make -n is no exception: it expands $(shell …) and runs lines that begin with +.
func buildSpecs() []*Spec {
	return []*Spec{
		{Names: "cargo", Carries: "command=-s,--shell", Effects: "runs_code", Judge: reason("runs the toolchain that rust-toolchain.toml names"),
			Options: `-V,--version -v,--verbose -q,--quiet --list -h,--help --offline --locked --frozen
			--color:text`,
			Operands: "sub?", Sub: []*Spec{
				{Names: "version", Options: "-v,--verbose"},
				{Names: "help", Operands: "text?"},
				{Names: "metadata", Options: `--format-version:text --no-deps --locked --offline --frozen
					--manifest-path:read --color:text -q,--quiet -v,--verbose --filter-platform:text -F,--features:text
					--all-features --no-default-features`,
					Judge: judgeCargoMetadata},
				{Names: "tree", Raw: true, Effects: "writes runs_code",
					Judge: reason("may write Cargo.lock, and asks the compiler that .cargo/config.toml names")},
				{Names: "locate-project read-manifest", Options: `--manifest-path:read
					--message-format:text --workspace`,
					Operands: "text?"},
				{Names: "search info", Raw: true, Effects: "reaches writes", Judge: effectsAlone},
				locking(projectCode("build b check c clippy test t run r bench doc d fix fmt rustc rustdoc expand nextest miri package"), "target"),
				{Names: "install", Raw: true, Effects: "writes reaches runs_code", Locks: "~/.cargo/.package-cache",
					Judge: reason("compiles and installs a package of the registry of cargo's configuration")},
				{Names: "new init", Raw: true, Effects: "writes adds", Judge: effectsAlone},
				{Names: `add remove rm update fetch vendor generate-lockfile publish login logout owner yank uninstall`,
					Raw: true, Effects: "writes reaches adds", Locks: "~/.cargo/.package-cache",
					Judge: reason("reaches the registry of cargo's configuration")},
				{Names: "clean", Raw: true, Effects: "writes destroys", Locks: "target", Judge: effectsAlone},
			}},
		{Names: "rustc", Raw: true, Effects: "runs_code",
			Judge: reason("runs the toolchain that rust-toolchain.toml names")},
		projectCode("rustup"), // whose version says which compiler rust-toolchain.toml names, after asking that
		carrying("command=-", buildsProject(makes, " --version -v --help -h ")),
		buildsProject("gcc g++ cc c++ clang clang++ ld", " --version -v "),
		buildsProject("as", " --version "), // with -v it goes on, and assembles stdin
		carrying("command=run,tool", packageManagers("uv", ".venv")), carrying("command=run", packageManagers("poetry pdm pipenv hatch", "poetry.lock")),
		carrying("command=exec,run", packageManagers("bundle composer gem conda mamba", "")), carrying("command", packageManagers("pipx", "")), fetchedCode("uvx"),
		buildsProject("cmake ninja ruff black isort mypy just", " --version "),
		projectCode(`meson bazel bazelisk buck gradle mvn ant sbt scons rake tox nox task invoke waf autoconf automake
			libtool mix rebar3 flake8 stack cabal dotnet msbuild xcodebuild flutter pod virtualenv pytest py.test unittest nose2 coverage pyright pylint bandit pre-commit rubocop
			rspec phpunit phpstan checkstyle`),
		{Names: "terraform tofu", Operands: "sub?", Ungrouped: true,
			Options: "-version,--version,-v!reaches,not_concurrent -help,--help,-h", Sub: []*Spec{
				{Names: "version", Options: "-json", Ungrouped: true, Effects: "reaches not_concurrent"}, // whether there is a newer one
				{Names: "destroy apply", Raw: true, Effects: "writes reaches destroys runs_code", Judge: effectsAlone},
				{Names: `init plan validate show state output graph providers refresh import taint untaint workspace fmt get
				console test force-unlock login logout metadata modules`, Raw: true,
					Effects: "writes reaches runs_code", Loses: true, Judge: judgeInfrastructure},
			}},
		{Names: "pulumi ansible ansible-playbook packer serverless cdk sam", Raw: true,
			Effects: "writes reaches runs_code", Loses: true, Judge: judgeInfrastructure},
		{Names: "vagrant", Raw: true, Carries: "command", Effects: "writes reaches runs_code", Loses: true, Judge: judgeInfrastructure},
		{Names: "direnv mise asdf devbox nix nix-shell nix-build guix", Raw: true, Carries: "command", Effects: "writes runs_code",
			Judge: reason("runs programs that the environment of the project names")},
	}
}

// makes are the programs that obey makefiles.
const makes = "make gmake"

// projectCode describes programs that run code of this project, of its build files, tests, plugins or configuration, with any
// arguments: they write their results, and everything else is unknown. The facts of all of them are the same, in every language.
func projectCode(names string) *Spec {
	return &Spec{Names: names, Raw: true, Effects: "writes runs_code", Judge: reason("runs code of this project")}
}

// buildsProject describes one that is harmless with one of these words alone, and else runs code of this project.
func buildsProject(names, harmless string) *Spec {
	asks := WordSet(harmless)
	return &Spec{Names: names, Raw: true, Judge: func(a *Args, u *Use) {
		if len(a.Operands) == 1 && a.Operands[0].Static && asks[a.Operands[0].Text] {
			return
		}
		u.Add(RunsCode, "runs code of this project")
		u.Effects = append(u.Effects, Writes)
		if names == makes {
			judgeMakeInstall(a, u)
		}
	}}
}

// fetchedCode describes what runs a program of the project, and fetches a package where the project has none.
func fetchedCode(names string) *Spec {
	return &Spec{Names: names, Raw: true, Carries: "command", Effects: "writes runs_code hosts_unknown",
		Judge: reason("runs a package, which it fetches if the project has none of that name")}
}

// locking adds what a program locks.
func locking(s *Spec, locks string) *Spec {
	s.Locks = locks
	return s
}

// judgeCargoMetadata judges cargo metadata. Only with --no-deps it asks no compiler, which .cargo/config.toml may name,
// and has no need to write Cargo.lock.
func judgeCargoMetadata(a *Args, u *Use) {
	if a.Has("--no-deps") {
		return
	}
	u.Add(RunsCode, "asks the compiler that .cargo/config.toml names")
	if !a.oneOf("--locked", "--frozen") {
		u.Add(Writes, "may write Cargo.lock (with --locked it does not)")
	}
	if !a.oneOf("--offline", "--frozen") {
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
