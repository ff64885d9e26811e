package program

// buildSpecs describes tools that build, test and install: what they run is in files of the project, so nothing but a
// question for the version is read-only.
//
// make -n is no exception: it expands $(shell …) and runs lines that begin with +.
func buildSpecs() []*Spec {
	return []*Spec{
		{Names: "cargo", Effects: "runs_code", Judge: reason("rustup starts the toolchain that rust-toolchain.toml names"),
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
				{Names: `build b check c clippy test t run r bench doc d fix fmt rustc rustdoc expand nextest miri
					install`, Raw: true,
					Effects: "writes runs_code",
					Judge:   reason("compiles and runs code of the project, build scripts first")},
				{Names: `add remove rm update fetch new init vendor generate-lockfile publish login logout owner yank
					uninstall package`,
					Raw: true, Effects: "writes reaches", Judge: effectsAlone},
				{Names: "clean", Raw: true, Effects: "writes destroys", Judge: effectsAlone},
			}},
		{Names: "rustc", Raw: true, Effects: "runs_code",
			Judge: reason("rustup starts the toolchain that rust-toolchain.toml names, which may be any program")},
		projectTools("rustup"), // whose version says which compiler rust-toolchain.toml names, after asking that
		asksVersion("make gmake", " --version -v --help -h "),
		asksVersion("gcc g++ cc c++ clang clang++ ld", " --version -v "),
		asksVersion("as", " --version "), // with -v it goes on, and assembles stdin
		asksVersion("cmake ninja gem uv ruff black isort mypy just", " --version "),
		projectTools(`meson bazel bazelisk buck gradle mvn ant sbt scons rake tox nox task invoke waf autoconf automake
			libtool bundle composer mix rebar3 flake8 stack cabal dotnet msbuild xcodebuild flutter pod pipx poetry pdm uvx conda
			mamba pipenv hatch virtualenv pytest py.test unittest nose2 coverage pyright pylint bandit pre-commit rubocop
			rspec phpunit phpstan checkstyle`),
		{Names: "terraform tofu", Operands: "sub?", Ungrouped: true,
			Options: "-version,--version,-v!reaches,not_concurrent -help,--help,-h", Sub: []*Spec{
				{Names: "version", Options: "-json", Ungrouped: true, Effects: "reaches not_concurrent"}, // whether there is a newer one
				{Names: "destroy apply", Raw: true, Effects: "writes reaches destroys runs_code", Judge: effectsAlone},
				{Names: `init plan validate show state output graph providers refresh import taint untaint workspace fmt get
				console test force-unlock login logout metadata modules`, Raw: true,
					Effects: "writes reaches runs_code", Judge: judgeInfrastructure},
			}},
		{Names: "pulumi ansible ansible-playbook packer vagrant serverless cdk sam", Raw: true,
			Effects: "writes reaches runs_code", Judge: judgeInfrastructure},
		{Names: "direnv mise asdf devbox nix nix-shell nix-build guix", Raw: true, Effects: "writes runs_code",
			Judge: reason("runs what the environment of the project names")},
	}
}

// projectTools describes tools that read options, versions or wrappers of themselves from the project, whatever they are
// asked: .mvn/jvm.config, .rspec, tools/bazel, global.json.
func projectTools(names string) *Spec {
	return &Spec{Names: names, Raw: true, Effects: "writes runs_code",
		Judge: reason("runs what files of the project name")}
}

// judgeCargoMetadata judges cargo metadata. Only with --no-deps it asks no compiler, which .cargo/config.toml may name,
// and has no need to write Cargo.lock.
func judgeCargoMetadata(a *Args, u *Use) {
	if a.Has("--no-deps") {
		return
	}
	u.Add(RunsCode, "asks the compiler that .cargo/config.toml names")
	if !a.oneOf("--locked", "--frozen") {
		u.Add(Writes, "may write Cargo.lock, unless --locked or --frozen is given")
	}
	if !a.oneOf("--offline", "--frozen") {
		u.Add(Reaches, "may ask the registry, unless --offline or --frozen is given")
	}
}

func judgeInfrastructure(a *Args, u *Use) {
	for _, w := range a.Operands {
		if w.Text == "destroy" || w.Text == "apply" || w.Text == "down" || w.Text == "-destroy" {
			u.Add(Destroys, "changes or removes infrastructure: "+w.Text)
			return
		}
	}
}
