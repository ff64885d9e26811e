package program

// The options that many git commands share. Each says exactly whether git takes its value from the next word: a
// table that is wrong there would take an option for a value.
//
// The remerge format of merges is missing since it writes objects, and --show-signature, --textconv and --ext-diff
// run programs that configuration names.

// gitDiffOptions are the options of everything that shows a diff.
const gitDiffOptions = `-p,-u,--patch --no-patch -U,--unified?:text -W,--function-context --no-function-context --raw
	--patch-with-raw --patch-with-stat --numstat --shortstat -X,--dirstat?:text --cumulative --dirstat-by-file?:text
	--check --summary --no-summary --name-only --name-status --stat?:text --no-stat --stat-width:text
	--stat-name-width:text --stat-graph-width:text --stat-count:text --compact-summary --no-compact-summary --binary
	--full-index --no-full-index --color?:text --no-color --ws-error-highlight:text -z --src-prefix:text
	--dst-prefix:text --line-prefix:text --no-prefix --default-prefix --inter-hunk-context:text
	--output-indicator-new:text --output-indicator-old:text --output-indicator-context:text -B,--break-rewrites?:text
	-M,--find-renames?:text -D,--irreversible-delete -C,--find-copies?:text --find-copies-harder --no-renames
	--rename-empty --no-rename-empty -l:text --minimal --no-minimal -w,--ignore-all-space -b,--ignore-space-change
	--ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines -I,--ignore-matching-lines:text --indent-heuristic
	--no-indent-heuristic --patience --histogram --diff-algorithm:text --anchored:text --word-diff?:text
	--word-diff-regex:text --color-words?:text --color-moved?:text --no-color-moved --color-moved-ws:text
	--no-color-moved-ws --relative?:text --no-relative -a,--text -R --exit-code --quiet --no-ext-diff --no-textconv
	--ignore-submodules?:text --submodule?:text --ita-invisible-in-index --ita-visible-in-index -S:text -G:text
	--pickaxe-all --pickaxe-regex -O:read --rotate-to:text --skip-to:text --find-object:text --diff-filter:text
	--ext-diff!runs_code --textconv!runs_code --output:write!writes `

// gitRevisionOptions are the options of everything that walks the history.
const gitRevisionOptions = `-num -n:text --max-count:text --skip:text --since:text --after:text --until:text
	--before:text --since-as-filter:text --max-age:text --min-age:text --author:text --committer:text --grep-reflog:text
	--grep:text --all-match --invert-grep -i,--regexp-ignore-case --basic-regexp -E,--extended-regexp -F,--fixed-strings
	-P,--perl-regexp --remove-empty --merges --no-merges --min-parents?:text --no-min-parents --max-parents?:text
	--no-max-parents --first-parent --exclude-first-parent-only --not --all --branches?:text --tags?:text
	--remotes?:text --glob:text --exclude:text --exclude-hidden:text --reflog --alternate-refs --single-worktree
	--ignore-missing --bisect --stdin --cherry-mark --cherry-pick --cherry --left-only --right-only --left-right
	-g,--walk-reflogs --merge --boundary --simplify-by-decoration --simplify-merges --show-pulls --full-history --dense
	--sparse --ancestry-path?:text --date-order --author-date-order --topo-order --reverse --no-walk?:text --do-walk
	--pretty?:gitformat --format?:gitformat --abbrev-commit --no-abbrev-commit --abbrev?:text --no-abbrev --oneline
	--encoding:text --expand-tabs?:text --no-expand-tabs --notes?:text --no-notes --show-notes?:text --standard-notes
	--no-standard-notes --relative-date --date:text --parents --children --graph --no-graph --show-linear-break?:text
	--log-size --full-diff --root --no-commit-id --always -c --cc -m -r -t -v --dd --diff-merges:gitmerges
	--no-diff-merges --combined-all-paths --show-signature!runs_code --no-show-signature `

// gitLogOptions are the options of log, show, whatchanged and reflog besides.
const gitLogOptions = gitRevisionOptions + gitDiffOptions + `-q -s --source --use-mailmap --mailmap --no-mailmap
	--no-use-mailmap --decorate?:text --no-decorate --decorate-refs:text --decorate-refs-exclude:text
	--clear-decorations -L:gitlines --follow `

// gitListOptions are the options of commands that list references: branch, tag and for-each-ref. The value of --contains and its
// like may be left out at the end of the line; git fails if the next word is no commit.
const gitListOptions = `--contains?:text --no-contains?:text --merged?:text --no-merged?:text --points-at:text
	--sort:refformat --no-sort --format:refformat --color?:text --no-color `
