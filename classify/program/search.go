package program

import "strings"

// searchSpecs describes rg, ag and fd.
func searchSpecs() []*Spec {
	return []*Spec{
		{Names: "rg ripgrep", Options: rgOptions, Operands: "operand*", Effects: "reads_tree", Judge: judgeRg},
		{Names: "ag", Options: agOptions, Operands: "operand*", Effects: "reads_tree", Judge: judgeAg},
		{Names: "fd fdfind", Carries: "command=-x,-X,--exec,--exec-batch within", Effects: "reads_tree", Raw: true, Exact: true, Judge: judgeFd},
	}
}

// rgOptions are those of ripgrep 13 and 14. --search-zip runs decompressors, --pre and --hostname-bin what they name.
const rgOptions = `-A,--after-context:text -B,--before-context:text -C,--context:text --auto-hybrid-regex
	--no-auto-hybrid-regex --binary --no-binary --block-buffered --no-block-buffered -b,--byte-offset --no-byte-offset
	-s,--case-sensitive --color:text --colors:text --column --no-column --context-separator:text --no-context-separator
	-c,--count --count-matches --crlf --no-crlf --debug --trace --dfa-size-limit:text -E,--encoding:text --no-encoding
	--engine?:text --field-context-separator:text --field-match-separator:text -f,--file:read --files
	-l,--files-with-matches --files-without-match -F,--fixed-strings --no-fixed-strings -L,--follow!reads_elsewhere --no-follow
	-g,--glob:text --glob-case-insensitive --no-glob-case-insensitive -h --help --heading --no-heading -.,--hidden
	--no-hidden --iglob:text -i,--ignore-case --ignore --no-ignore --ignore-file:read --ignore-file-case-insensitive
	--no-ignore-file-case-insensitive --include-zero --no-include-zero -v,--invert-match --no-invert-match --json
	--no-json --line-buffered --no-line-buffered -n,--line-number -x,--line-regexp -M,--max-columns:text
	--max-columns-preview --no-max-columns-preview -m,--max-count:text -d,--max-depth,--maxdepth:text
	--max-filesize:text --messages --no-messages --mmap --no-mmap -U,--multiline --no-multiline --multiline-dotall
	--no-multiline-dotall --no-config -I,--no-filename --ignore-dot --no-ignore-dot --ignore-exclude --no-ignore-exclude
	--ignore-files --no-ignore-files --ignore-global --no-ignore-global --ignore-messages --no-ignore-messages
	--ignore-parent --no-ignore-parent --ignore-vcs --no-ignore-vcs -N,--no-line-number --pcre2-unicode
	--no-pcre2-unicode --require-git --no-require-git --unicode --no-unicode -0,--null --null-data --one-file-system
	--no-one-file-system -o,--only-matching --passthru --passthrough --path-separator:text -P,--pcre2 --no-pcre2
	--pcre2-version --pre:run!runs_code --no-pre --pre-glob:text -p,--pretty -q,--quiet --regex-size-limit:text
	-e,--regexp:text -r,--replace:text -z,--search-zip!runs_code --no-search-zip -S,--smart-case --sort:text
	--sortr:text --sort-files --no-sort-files --stats --no-stats --stop-on-nonmatch -a,--text --no-text
	-j,--threads:text --trim --no-trim -t,--type:text --type-add:text --type-clear:text --type-list -T,--type-not:text
	-u,--unrestricted -V,--version --vimgrep -H,--with-filename -w,--word-regexp --hyperlink-format:text
	--hostname-bin:run!runs_code --generate:text`

// judgeRg tells the pattern from the paths.
func judgeRg(a *Args, u *Use) {
	paths := a.Values("operand")
	if !a.oneOf("--regexp", "--file", "--files", "--type-list", "--version", "--pcre2-version") && len(paths) > 0 {
		if paths[0].Many && !paths[0].Glob {
			return // all may be paths; the first stays without a meaning
		}
		paths = paths[1:]
	}
	for _, w := range paths {
		if !w.Static || w.Text != "-" {
			u.Reads = append(u.Reads, w)
		}
	}
}

// agOptions leave out --pager, which runs its value. ag accepts abbreviations of options without a value; this description does
// not.
const agOptions = `--ackmate -A,--after?:lines -B,--before?:lines --break --nobreak -c,--count --color --nocolor
	--color-line-number:text --color-match:text --color-path:text --column --nocolumn --filename --nofilename
	-H,--heading --noheading -C,--context?:lines --group --nogroup -g,--filename-pattern:text -l,--files-with-matches
	-L,--files-without-matches --print-all-files --numbers --nonumbers -o,--only-matching --print-long-lines
	--passthrough --passthru --silent --stats --stats-only --vimgrep -0,--null,--print0 -a,--all-types --depth:text
	-f,--follow!reads_elsewhere --nofollow -F,--fixed-strings -G,--file-search-regex:text --hidden -i,--ignore-case --ignore:text
	--ignore-dir:text -m,--max-count:text --one-device -p,--path-to-ignore:read -Q,--literal -s,--case-sensitive
	-S,--smart-case --search-binary -t,--all-text -u,--unrestricted -U,--skip-vcs-ignores -v,--invert-match
	-w,--word-regexp -W,--width:text -z,--search-zip --list-file-types -V,--version -h,--help --workers:text --parallel
	--affinity --noaffinity --cc --cpp --css --go --html --java --js --json --make --markdown --md --perl --php --py
	--python --ruby --rust --shell --sql --swift --ts --xml --yaml`

func judgeAg(a *Args, u *Use) {
	for _, w := range a.Values("lines") {
		if !w.Number && (!w.Static || !digits(w.Text)) { // which ag takes again and again, for ever
			u.Unknown("ag: "+spelled(w)+" is no number", w)
		}
	}
	paths := a.Values("operand")
	if !a.oneOf("--filename-pattern", "--list-file-types", "--version") && len(paths) > 0 {
		paths = paths[1:]
	}
	u.Reads = append(u.Reads, paths...)
}

// fdSearch are the options of fd before a command to run.
var fdSearch = &Spec{
	Names: "fd",
	Options: `-H,--hidden --no-hidden -I,--no-ignore --ignore --no-ignore-vcs --ignore-vcs --no-ignore-parent
		--ignore-parent --no-global-ignore-file --no-require-git --require-git -u,--unrestricted -s,--case-sensitive
		-i,--ignore-case -g,--glob --regex -F,--fixed-strings --and:text -a,--absolute-path --relative-path
		-l,--list-details -L,--follow!reads_elsewhere --no-follow -p,--full-path -0,--print0 -d,--max-depth:text --maxdepth:text
		--min-depth:text --exact-depth:text -E,--exclude:text --prune -t,--type:text -e,--extension:text -S,--size:text
		--changed-within:text --change-newer-than:text --newer:text --changed-after:text --changed-before:text
		--change-older-than:text --older:text -o,--owner:text --batch-size:text --ignore-file:read -c,--color:text
		-j,--threads:text --max-results:text -1 -q,--quiet --has-results --show-errors --base-directory:read
		--path-separator:text --search-path:read --strip-cwd-prefix --one-file-system --mount --xdev -h,--help
		-V,--version`,
	Operands: "operand*",
	Judge:    judgeFdSearch,
}

func judgeFdSearch(a *Args, u *Use) {
	paths := a.Values("operand")
	if len(paths) > 0 {
		paths = paths[1:]
	}
	u.Reads = append(u.Reads, paths...)
}

// judgeFd takes the command of -x or -X out, up to a word ;, and judges the rest as a search.
func judgeFd(a *Args, u *Use) {
	argv := a.Argv
	for i, w := range argv {
		if i == 0 || !w.Static || !fdRuns(w.Text) {
			continue
		}
		end := len(argv)
		for j, inner := range argv[i+1:] {
			if inner.Static && inner.Text == ";" {
				end = i + 1 + j
				break
			}
			if inner.Many && !inner.Glob || !inner.Static && inner.Text == "" {
				u.Unknown("fd: this word may end the command", inner)
			}
		}
		judgeFdCommand(argv[i+1:end], u)
		argv = append(append([]Word{}, argv[:i]...), argv[min(end+1, len(argv)):]...)
		break
	}
	_, search := Parse(fdSearch, argv)
	u.absorb(search)
}

// fdRuns recognises -x and -X, alone or at the end of a group.
func fdRuns(text string) bool {
	switch text {
	case "-x", "-X", "--exec", "--exec-batch":
		return true
	}
	n := len(text)
	return n > 2 && text[0] == '-' && (text[n-1] == 'x' || text[n-1] == 'X') && strings.Trim(text[1:n-1],
		"HIusigFalLp0q1") == ""
}

// judgeFdCommand adds the command of -x, with the found paths in the place of {}, {.}, {/}, {//} and {/.} or at the end. Only some
// versions put ./ before a path, so the paths are unknown.
func judgeFdCommand(words []Word, u *Use) {
	placed := false
	argv := make([]Word, len(words))
	for i, w := range words {
		argv[i] = w
		for _, placeholder := range []string{"{}", "{.}", "{/}", "{//}", "{/.}"} {
			if strings.Contains(w.Text, placeholder) {
				argv[i] = replaced(argv[i], placeholder, Word{})
				placed = true
			}
		}
	}
	u.Runs = append(u.Runs, Command{Argv: argv, More: !placed})
}
