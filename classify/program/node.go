package program

// nodeSpecs describes the package managers of JavaScript. Of npm some commands only look, but all write a log and an
// update notice, to where a .npmrc of the project says (measured); yarn and pnpm run the version
// of themselves that the project names, whatever they are asked.
func nodeSpecs() []*Spec {
	const shown = ` --json --no-json -l,--long --no-long -p,--parseable --no-color --color:text --silent -s -q,--quiet
		-d -g,--global --no-update-notifier --loglevel:text --no-fund --no-audit `
	const tree = shown + " -a,--all --depth:text --omit:text --include:text --prod --dev --link --package-lock-only "
	return []*Spec{
		{Names: "npm", Options: shown + "-v,--version -h,--help", Operands: "sub?", Sub: []*Spec{
			{Names: "ls list ll la explain why query", Options: tree, Operands: "text*",
				Effects: "reads_tree writes",
				Judge:   reason("npm writes a log, to where .npmrc says")},
			{Names: "view info show v outdated search ping", Options: tree, Operands: "text*",
				Effects: "reaches writes",
				Judge:   reason("asks the registry, and writes a log")},
			{Names: "root prefix bin", Options: shown, Operands: "", Effects: "writes", Judge: effectsAlone},
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
				Raw: true, Effects: "writes reaches runs_code",
				Judge: reason("changes node_modules and runs scripts of packages")},
			{Names: "run run-script test t tst start stop restart exec x", Raw: true, Effects: "writes runs_code",
				Judge: reason("runs what package.json names")},
			{Names: `publish unpublish deprecate owner access token login logout adduser dist-tag team profile star hook
				org`,
				Raw: true, Effects: "writes reaches", Judge: reason("changes something at the registry")},
			{Names: "audit whoami", Raw: true, Effects: "writes reaches",
				Judge: reason("asks the registry; audit fix changes node_modules")},
			{Names: "cache set version fund pack shrinkwrap doctor edit explore repo docs bugs completion", Raw: true,
				Effects: "writes runs_code", Judge: effectsAlone},
		}},
		{Names: "npx bunx pnpx", Raw: true, Effects: "writes reaches runs_code",
			Judge: reason("downloads and runs a package")},
		{Names: "yarn yarnpkg pnpm corepack", Raw: true, Effects: "writes reaches runs_code",
			Judge: reason("runs the version of itself that the project names")},
		{Names: `tsc eslint prettier jest vitest mocha webpack vite rollup esbuild next nuxt turbo nx babel tsup swc
			biome playwright cypress stylelint lerna gulp grunt nodemon concurrently parcel ng vue astro svelte-kit
			remix expo`,
			Raw: true, Effects: "writes runs_code", Judge: reason("runs what its configuration names, and may write")},
	}
}
