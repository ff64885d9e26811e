package program

import (
	"slices"
	"strings"
)

// nodeSpecs describes the package managers of JavaScript. Some commands of npm only read, but all write a log and an update notice,
// to a place that a .npmrc of the project can name (measured); yarn and pnpm always run the version of themselves that the project
// names.
func nodeSpecs() []*Spec {
	const shown = ` --json --no-json -l,--long --no-long -p,--parseable --no-color --color:text --silent -s -q,--quiet
		-d -g,--global --no-update-notifier --loglevel:text --no-fund --no-audit `
	const tree = shown + " -a,--all --depth:text --omit:text --include:text --prod --dev --link --package-lock-only "
	return []*Spec{
		{Names: "npm", Carries: "command=exec,x", Options: shown + "-v,--version -h,--help", Operands: "sub?", Judge: judgeNpm, Sub: []*Spec{
			{Names: "ls list ll la explain why query", Options: tree, Operands: "text*",
				Effects: "reads_tree writes adds",
				Judge:   reason("writes a log, where .npmrc says")},
			{Names: "view info show v outdated search ping", Options: tree, Operands: "text*",
				Effects: "reaches writes adds",
				Judge:   reason("asks the registry of npm's configuration, and writes a log")},
			{Names: "root prefix bin", Options: shown, Operands: "", Effects: "writes adds", Judge: effectsAlone},
			{Names: "config c", Options: shown, Sub: []*Spec{
				{Names: "list ls get", Options: shown, Operands: "text*", Effects: "writes", Judge: effectsAlone},
				{Names: "set delete edit fix", Raw: true, Effects: "writes", Judge: effectsAlone},
			}},
			{Names: "pkg", Sub: []*Spec{
				{Names: "get", Options: shown, Operands: "text*", Effects: "writes", Judge: effectsAlone},
				{Names: "set delete fix", Raw: true, Effects: "writes", Judge: effectsAlone},
			}},
			{Names: `install i add ci update up upgrade rebuild rb uninstall remove rm un link dedupe prune it cit init
				create`,
				Raw: true, Effects: "writes reaches runs_code", Locks: "node_modules",
				Judge: judgeNpmInstall},
			projectCode("run run-script test t tst start stop restart"), fetchedCode("exec x"),
			{Names: `publish unpublish deprecate owner access token login logout adduser dist-tag team profile star hook
				org`,
				Raw: true, Effects: "writes reaches", Judge: reason("changes data at the registry of npm's configuration")},
			{Names: "audit whoami", Raw: true, Effects: "writes reaches",
				Judge: reason("asks the registry of npm's configuration, and may change node_modules")},
			{Names: "cache set version fund pack shrinkwrap doctor edit explore repo docs bugs completion", Raw: true,
				Effects: "writes runs_code", Judge: effectsAlone},
		}},
		fetchedCode("npx bunx pnpx corepack"),
		carrying("command", packageManagers("yarn yarnpkg pnpm", "node_modules")),
		carrying("command script", packageManagers("bun", "node_modules")),
		projectCode(`tsc eslint prettier jest vitest mocha webpack vite rollup esbuild next nuxt turbo nx babel tsup swc
			biome playwright cypress stylelint lerna gulp grunt parcel ng vue astro svelte-kit
			remix expo`),
		carrying("command", projectCode("nodemon concurrently")),
	}
}

// fetching are the subcommands of package managers of languages that fetch packages, or talk with the registry of their
// configuration.
var fetching = WordSet(`install i ci add remove rm uninstall update up upgrade import dedupe prune rebuild link unlink fetch publish login logout
	audit outdated info view create init dlx npm patch patch-commit deploy set self-update self sync lock pip tool python require search
	download push pull inject reinstall`)

// packageManagers describes those of languages that run code of the project, unless their first word fetches packages.
func packageManagers(names, locks string) *Spec {
	return &Spec{Names: names, Raw: true, Effects: "writes runs_code", Locks: locks, Judge: func(a *Args, u *Use) {
		words := a.Operands
		if len(words) == 1 && words[0].Static && words[0].Text == "--version" && names == "uv" {
			u.Effects, u.Locks = nil, nil
			return
		}
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
	}}
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
