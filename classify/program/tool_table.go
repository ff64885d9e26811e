package program

import (
	"strings"
	"sync"
)

// tools returns the table by name, made at its first use.
var tools = sync.OnceValue(func() map[string]*tool {
	byName := map[string]*tool{}
	for _, table := range []map[string]*tool{goTools(), nodeTools(), pythonTools(), compiledTools(), otherTools()} {
		for names, t := range table {
			for name := range strings.FieldsSeq(names) {
				byName[name] = t
			}
		}
	}
	return byName
})

func goTools() map[string]*tool {
	code := "-exec -toolexec -vettool -overlay -pkgdir -gccgoflags -w telemetry bug"
	return map[string]*tool{
		"go": {
			foreign: "run",
			code:    WordSet(code + " -fix -asmflags"),
			text:    WordSet("-run -bench -skip -list -fuzz -ldflags -gcflags -tags -f"),
			data: WordSet(`-o -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir -timeout -benchtime -count -p -cpu -parallel
				-covermode -coverpkg -vet -mod -json -fuzztime -fuzzminimizetime -shuffle`),
			known: WordSet("build test vet run generate install fmt mod get list env version clean work doc fix help tool"),
			inner: WordSet("cover pprof vet nm objdump addr2line trace fix asm buildid test2json covdata"),
		},
		"goimports gofumpt staticcheck govulncheck gotestsum golangci-lint stringer mockgen ginkgo": {
			code:   WordSet("-vettool --raw-command --post-run-command --custom-gcl custom --exec -exec -toolexec -cpuprofile"),
			config: WordSet("-c --config"), text: WordSet("-r -run -tags --focus --skip -checks"),
			data: WordSet("-o --out-format --junitfile --jsonfile --timeout -destination -source -package -output -type"),
		},
	}
}

func nodeTools() map[string]*tool {
	const loads = ` -r --require --import --loader --experimental-loader --node-options --eval --exec --runner --plugin --plugins --rulesdir
		--resolve-plugins-relative-to --plugin-search-dir --parser --resolver --transform --setupFiles --setupFilesAfterEnv --setup-files --globalSetup
		--globalTeardown --reporters --testRunner --testEnvironment --snapshotSerializers --filter-module --test-runner --ui-module --compilers --nodemon
		--env-file --custom-rules --customSyntax --prepend --banner --footer`
	const packages = ` --script-shell --node-options --userconfig --globalconfig --call --package --shell --git --editor --viewer --browser --init-module
		--require --eval --onload-script --shell-emulator --config.script-shell --use-yarnrc --registry set config set-script
		edit explore dlx create init link patch `
	install := ` run run-script test t tst start stop restart install i ci add remove uninstall un update up upgrade ls list outdated audit pack version
		view info why explain dedupe prune fund doctor ping bin root prefix cache help rebuild build lint format check typecheck dev serve preview dist
		clean coverage e2e unit watch docs import store licenses workspaces workspace node-version`
	return map[string]*tool{
		"npm": {code: WordSet(packages), commands: WordSet("exec x"), known: WordSet(install), text: WordSet("-w --workspace --omit --include --loglevel --tag --reporter"), data: WordSet("--cache")},
		"pnpm yarn yarnpkg": {code: WordSet(packages), commands: WordSet("exec"), known: WordSet(install), scripts: true,
			text: WordSet("-w --filter -F --loglevel --reporter"), data: WordSet("--cache-folder --store-dir")},
		"bun":           {code: WordSet(packages + "-e -p --print --preload exec repl"), commands: WordSet("x"), known: WordSet("run test install i add remove update outdated pm build upgrade audit")},
		"npx pnpx bunx": {code: WordSet("-p --package -c --call --node-options --shell-auto-fallback --registry --userconfig"), runs: true},
		"node nodejs": {code: WordSet("-e --eval -p --print -r --require --import --loader --experimental-loader -i --interactive --inspect --inspect-brk --env-file --run --test-reporter --test-global-setup"),
			files: true, alone: true},
		`eslint prettier tsc jest vitest mocha ava webpack vite rollup esbuild tsup babel swc parcel next nuxt astro svelte-kit svelte-check vue vue-tsc ng nx turbo
		lerna gulp grunt stylelint biome playwright cypress nyc c8 tap storybook depcheck knip madge size-limit tsd typedoc expo remix 
		 markdownlint markdownlint-cli2 cspell commitlint sass postcss tailwindcss oxlint dprint`: {
			code: WordSet(loads), config: WordSet("-c --config -p --project --tsconfig --configFile --ignore-path --rcfile"),
			text: WordSet("-t --testNamePattern -g --grep --testPathPattern --ext --rule --env --global --message"), data: WordSet("-o --output-file --outDir --outFile --cache-location --coverageDirectory --cacheDirectory"),
		},
	}
}

func pythonTools() map[string]*tool {
	modules := WordSet(`pytest unittest pip venv json.tool http.server mypy black ruff isort flake8 pylint build coverage compileall py_compile pyflakes pycodestyle
		bandit tox nox zipfile tarfile ensurepip piptools sphinx mkdocs pre_commit virtualenv site sysconfig platform`)
	return map[string]*tool{
		"python python2 python3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 pypy pypy3": {
			code: WordSet("-c -i - --check-hash-based-pycs"), modules: modules, text: WordSet("-W -X"), files: true, alone: true},
		"pytest py.test": {
			code: WordSet("-p --pdbcls -c --config-file --rootdir --confcutdir -o --override-ini --import-mode --pyargs --trace-config --rsyncdir --tx --python --ds --reactor"),
			text: WordSet("-k -m --durations --tb -n --maxfail --timeout --cov-report -W --deselect --ignore --ignore-glob"),
			data: WordSet("--junitxml --junit-xml --basetemp --cov --html --json-report-file --log-file --cache-dir"),
		},
		"unittest": {text: WordSet("-k -p"), data: WordSet("-s -t")},
		"pip pip3 piptools": {code: WordSet("--python --config-settings -C --global-option --build-option --install-option --editor --log --index-url -i --extra-index-url --find-links -f --proxy --cert config -e --editable"),
			known: WordSet("install uninstall list show freeze check download wheel cache index inspect help compile sync debug hash"), data: WordSet("--target -t --cache-dir --prefix --root"), config: WordSet("-c --constraint")},
		"venv virtualenv ensurepip": {code: WordSet("-p --python --app-data --extra-search-dir --init-app-data")},
		"mypy ruff black isort flake8 pylint pyright pyflakes pycodestyle bandit autopep8 yapf pydocstyle vulture radon": {
			code:   WordSet("--python-executable --load-plugins --init-hook --pythonpath --plugin --plugins --python --local-plugins --custom-typeshed-dir --verifytypes -P --formatter-module --extension-pkg-allow-list --append-config"),
			config: WordSet("--config --config-file --rcfile -c --settings-path --sp"), text: WordSet("--line-length --select --ignore --disable --enable --target-version --exclude --extend-ignore --include --msg-template --format --output-format"),
			data: WordSet("--cache-dir --output-file --stdin-filename"),
		},
		"coverage":              {known: WordSet("report html xml json lcov erase combine annotate debug help"), config: WordSet("--rcfile"), data: WordSet("-o -d")},
		"tox":                   {code: WordSet("-x --override exec devenv --discover --force-dep --installpkg"), config: WordSet("-c --conf"), text: WordSet("-e --env")},
		"nox":                   {code: WordSet("-f --noxfile -P --force-python --extra-python --force-venv-backend"), text: WordSet("-s --session -k -e -t")},
		"pre-commit pre_commit": {code: WordSet("try-repo hook-impl init-templatedir migrate-config"), known: WordSet("run install uninstall autoupdate clean gc install-hooks sample-config validate-config"), config: WordSet("-c --config")},
		"poetry pipenv pdm hatch uv rye": {
			code: WordSet(`config self source shell --with --from --script --python -p --index-url --extra-index-url --default-index --index --find-links --directory --project -C --config-file --config-setting -P
			tool plugin init new --env-file --with-requirements --with-editable --module -m --gui-script`),
			commands: WordSet("run"), known: WordSet("install add remove lock sync update build check show export version tree venv help test fmt format lint env pip cache clean list graph"),
			text: WordSet("--group --extra -E -G --only --without"),
		},
		"json.tool http.server compileall py_compile zipfile tarfile site sysconfig platform sphinx mkdocs build plain-module": {
			code: WordSet("--config-setting -C --handler"), text: WordSet("--bind -b --indent"), data: WordSet("-d --directory --outdir -o")},
	}
}

func compiledTools() map[string]*tool {
	return map[string]*tool{
		"cargo": {
			code: WordSet("--config -Z -C --lockfile-path --runner --with --git --index --registry login publish owner yank"),
			text: WordSet("-p --package --features -F --test --bin --example --bench --exclude --profile --target -j --jobs --message-format --color --skip --filter-expr -E"),
			data: WordSet("--target-dir --out-dir --root"),
			known: WordSet(`build b check c clippy test t run r bench doc d fix fmt tree metadata update fetch add remove rm clean version help search info nextest
			llvm-cov audit deny machete outdated generate-lockfile vendor verify-project locate-project new init package list`),
		},
		"gcc g++ cc c++ clang clang++ gfortran c99": {
			code: WordSet("-wrapper -B -specs --specs -fplugin -Xclang -load -fuse-ld -ld-path --ld-path -Xlinker -T --config --gcc-toolchain -fpass-plugin -no-canonical-prefixes -plugin -Xpreprocessor -Xassembler -cc1 -run -ccc-gcc-name -ccc-install-dir --driver-mode -working-directory"),
			data: WordSet("-o -I -L -isystem -iquote -include -MF -MT -MQ -D -U -l -std"),
		},
		"make gmake": {
			code:   WordSet("--eval -E --environment-overrides -e --include-dir --load"),
			config: WordSet("-f --file --makefile"), data: WordSet("-j --jobs -l -o -W --output-sync -O"),
		},
		"ninja": {code: WordSet("-t"), config: WordSet("-f"), data: WordSet("-j -k -l")},
		"cmake": {
			code: WordSet("-P -C --toolchain --debugger --debugger-pipe --system-information --find-package --open -Wcmd"),
			text: WordSet("-G -A -T --target -t --preset --config --component -W"), data: WordSet("-j --parallel --prefix --graphviz"), defines: true,
			commands: WordSet("-E"),
		},
		"ctest": {code: WordSet("-S -SP --script --script-new-process --build-and-test --build-makeprogram --test-command --overwrite -D --dashboard -T -M --launch"),
			text: WordSet("-R -E -L -LE --tests-regex --exclude-regex -j --parallel --timeout -C"), data: WordSet("--test-dir --output-log -O --output-junit")},
		"meson": {code: WordSet("devenv --wrapper --gdb --gdb-path --native-file --cross-file rewrite wrap"), known: WordSet("setup compile test install configure introspect dist format"), data: WordSet("--prefix"), defines: true},
	}
}

func otherTools() map[string]*tool {
	return map[string]*tool{
		"bundle": {code: WordSet("config plugin console open gem init inject --shebang viz"), commands: WordSet("exec"), known: WordSet("install update check list show outdated lock clean add remove info package pristine doctor")},
		"rake":   {code: WordSet("-e -f -p -r -E -I -R --rakefile --rakelibdir --libdir --require --execute --execute-print --execute-continue")},
		"rspec rubocop": {code: WordSet("-r --require -I --default-path --drb --init --plugin"),
			config: WordSet("-c --config -O --options"), text: WordSet("-e --example -t --tag --only --except"), data: WordSet("-o --out")},
		"mvn mvnw mvnd": {foreign: "-", code: WordSet("-s --settings -gs --global-settings -t --toolchains -gt exec:exec exec:java antrun:run groovy:execute scripts:execute dependency:get archetype:generate --builder"),
			data: WordSet("-pl -rf -T -P -l --log-file"), text: WordSet("-Dtest -Dit.test -DskipTests"), defines: true},
		"gradle gradlew": {code: WordSet("-I --init-script -b --build-file -c --settings-file --include-build -g --gradle-user-home -Dorg.gradle.jvmargs -Dorg.gradle.java.home"),
			text: WordSet("--tests -x --exclude-task"), defines: true},
		"dotnet": {code: WordSet("exec --additionalprobingpath --additional-deps tool workload new nuget script fsi --test-adapter-path --settings -s msbuild"), known: WordSet("build test run restore clean publish format pack add list sln remove watch"),
			text: WordSet("--filter -c --configuration -f --framework -v --verbosity -r --runtime"), data: WordSet("-o --output --results-directory")},
		"composer": {code: WordSet("exec global config init create-project --repository --working-dir -d"), known: WordSet("install update require remove validate dump-autoload show outdated audit run-script test lint check diagnose")},
		"phpunit phpstan": {code: WordSet("--bootstrap --prepend --printer --extension --loader --autoload-file -a --include-path -d"), config: WordSet("-c --configuration"), text: WordSet("--filter --group --level -l --memory-limit"),
			data: WordSet("--log-junit --coverage-html")},
		"mix":        {code: WordSet("eval run cmd do rpc escript.install archive.install --require -r --eval -e -S --cookie"), known: WordSet("test compile format deps.get deps.compile ecto.migrate credo dialyzer docs clean hex.audit")},
		"sqlite3":    {code: WordSet("-init -cmd -A -unsafe-testing -vfs"), text: WordSet("-separator -newline -nullvalue"), sql: true, alone: true},
		"crontab":    {files: true, alone: true, text: WordSet("-u"), code: WordSet("-e")},
		"shellcheck": {code: WordSet("--rcfile"), text: WordSet("-e --exclude -s --shell -f --format -S --severity")},
		"hadolint yamllint actionlint shfmt markdownlint-cli": {code: WordSet("-shellcheck -pyflakes"), config: WordSet("-c --config --config-file -config-file"), text: WordSet("-d --config-data -i -ln -f")},
	}
}
