package program

import "strings"

// gitHistorySpecs describes the commands that show commits and changes.
func gitHistorySpecs() []*Spec {
	return []*Spec{
		{Names: "log show whatchanged", Options: gitLogOptions, Operands: "rev*", Effects: "reads_tree",
			Judge: judgeGitLog},
		{Names: "reflog", Options: gitLogOptions, Operands: "rev*", Loses: true, Judge: judgeGitReflog},
		{Names: "diff", Options: gitDiffOptions + `-s --cached,--staged --merge-base --no-index -1,--base -2,--ours
			-3,--theirs -0 -q -c --cc -m -r -t --combined-all-paths --diff-merges:gitmerges --abbrev?:text --no-abbrev`,
			Operands: "rev*", Effects: "reads_tree not_concurrent", Judge: judgeGitDiff},
		{Names: "diff-tree diff-index", Options: gitRevisionOptions + gitDiffOptions + "-s --cached --merge-base",
			Operands: "rev*", Effects: "reads_tree", Judge: judgeGitLog},
		{Names: "diff-files", Options: gitDiffOptions + `-s -q -0 -1,--base -2,--ours -3,--theirs -c --cc -m -r -t
			--abbrev?:text --no-abbrev`, Operands: "rev*", Effects: "reads_tree", Judge: judgeGitLog},
		{Names: "range-diff", Options: gitDiffOptions + `-s --creation-factor:text --no-dual-color --dual-color
			--notes?:text --no-notes --left-only --right-only --abbrev?:text`, Operands: "rev*", Effects: "reads_tree",
			Judge: judgeGitShow},
		{Names: "rev-list", Options: gitRevisionOptions + `--quiet --count --objects --objects-edge --disk-usage?:text
			--unpacked --header --object-names --no-object-names --timestamp --commit-header --no-commit-header
			--use-bitmap-index --in-commit-order --bisect-vars --bisect-all`, Operands: "rev*", Judge: judgeGitLog},
		{Names: "shortlog", Options: gitShortlogOptions, Operands: "rev*", Judge: judgeGitShow},
		{Names: "blame annotate", Options: `--incremental -b --root --show-stats --progress --no-progress --score-debug
			-f,--show-name -n,--show-number -p,--porcelain --line-porcelain -c -t -l -s -e,--show-email -w
			--ignore-rev:text --ignore-revs-file:read --color-lines --color-by-age --minimal -S:read --contents:read
			-C?:text -M?:text -L:text --abbrev?:text --date:text --since:text --first-parent --reverse --encoding:text
			--no-textconv --textconv!runs_code --output:write!writes`,
			Operands: "rev*", Judge: judgeGitBlame},
		{Names: "describe", Options: `--contains --debug --all --tags --long --no-long --first-parent --abbrev?:text
			--no-abbrev --exact-match --candidates:text --match:text --no-match --exclude:text --no-exclude --always
			--dirty?:text!not_concurrent --broken?:text!not_concurrent`, Operands: "rev*", Abbreviates: true,
			Judge: judgeGitShow},
		{Names: "cherry", Options: "-v,--verbose --abbrev?:text", Operands: "rev*", Abbreviates: true,
			Judge: judgeGitShow},
		{Names: "grep", Options: gitGrepOptions, Operands: "rev*", Effects: "reads_tree", Abbreviates: true,
			Judge: judgeGitGrep},
	}
}

// gitShortlogOptions leave out --format: shortlog passes it on to the log machinery, which then reads stdin.
const gitShortlogOptions = `-num -c,--committer -n,--numbered -s,--summary -e,--email -w?:text --group:text --all
	--branches?:text --tags?:text --remotes?:text --not --since:text --after:text --until:text --before:text
	--author:text --grep:text --no-merges --merges --first-parent --format?:gitformat --date:text --max-count:text
	--skip:text --output:write!writes`

const gitGrepOptions = `-num --cached --no-index --index --untracked --no-untracked --exclude-standard
	--no-exclude-standard --recurse-submodules --no-recurse-submodules -v,--invert-match -i,--ignore-case
	-w,--word-regexp -a,--text -I -r,--recursive --no-recursive --max-depth:text -E,--extended-regexp -G,--basic-regexp
	-F,--fixed-strings -P,--perl-regexp -n,--line-number --no-line-number --column --no-column -h -H --full-name
	--no-full-name -l,--files-with-matches,--name-only -L,--files-without-match -z,--null -o,--only-matching -c,--count
	--color?:text --no-color --break --no-break --heading --no-heading -C,--context:text -B,--before-context:text
	-A,--after-context:text --threads:text -p,--show-function -W,--function-context -f:read -e:text --and --or --not
	-q,--quiet --all-match -m,--max-count:text --no-textconv --textconv!runs_code --ext-grep!runs_code
	-O,--open-files-in-pager?:run!runs_code`

// gitObjectSpecs describes the commands that look into the object store and the index.
func gitObjectSpecs() []*Spec {
	return []*Spec{
		{Names: "rev-parse merge-base name-rev ls-tree show-ref count-objects check-ref-format check-mailmap patch-id",
			Harmless: true, Operands: "text*", Options: gitPlumbingOptions},
		{Names: "cat-file", Options: `-e -p -t -s -z -Z --allow-unknown-type --use-mailmap --mailmap --no-mailmap
			--batch?:text!reads_elsewhere --batch-check?:text --batch-command?:text!reads_elsewhere --batch-all-objects --buffer --no-buffer
			--follow-symlinks --unordered --path:text --textconv!runs_code --filters!runs_code`,
			Operands: "rev*", Effects: "reads_tree", Judge: judgeGitShow},
		{Names: "ls-files", Options: `-z -t -v -f -c,--cached -d,--deleted -m,--modified -o,--others -i,--ignored
			-s,--stage -k,--killed --directory --no-directory --eol --empty-directory --no-empty-directory -u,--unmerged
			--resolve-undo -x,--exclude:text -X,--exclude-from:read --exclude-per-directory:text --exclude-standard
			--full-name --recurse-submodules --error-unmatch --with-tree:text --abbrev?:text --debug --deduplicate
			--sparse --format:text`, Operands: "text*", Harmless: true, Abbreviates: true, Judge: gitLooks},
		{Names: "check-ignore", Options: "-q,--quiet -v,--verbose --stdin -z -n,--non-matching --no-index",
			Operands: "text*", Harmless: true, Abbreviates: true, Judge: gitLooks},
		{Names: "check-attr", Options: "-a,--all --cached --stdin -z --source:text", Operands: "text*", Harmless: true,
			Abbreviates: true, Judge: gitLooks},
		{Names: "hash-object", Options: `-t:text -w!writes --stdin --stdin-paths!reads_elsewhere --no-filters --path:text
			--literally`, Operands: "read*"},
		{Names: "for-each-ref", Options: gitListOptions + `-s,--shell -p,--perl --python --tcl --count:text
			--ignore-case --omit-empty --exclude:text --stdin --include-root-refs`, Operands: "text*",
			Judge: judgeGitFormats},
		{Names: "verify-pack", Options: "-v,--verbose -s,--stat-only --object-format:text", Operands: "read*"},
		{Names: "verify-commit verify-tag", Options: "-v,--verbose --raw --format:text", Operands: "text*",
			Effects: "runs_code", Judge: reason("checks a signature with the program that gpg.program names")},
		{Names: "fsck", Options: `-v,--verbose --unreachable --dangling --no-dangling --tags --root --cache --reflogs
			--no-reflogs --full --no-full --connectivity-only --strict --no-strict --progress --no-progress
			--name-objects --no-name-objects --lost-found!writes`, Operands: "text*", Abbreviates: true},
		{Names: "bundle", Operands: "sub?", Sub: []*Spec{
			{Names: "verify list-heads", Options: "-q,--quiet", Operands: "read text*"},
			{Names: "create", Options: "-q,--quiet --progress --all --branches --tags --version:text",
				Operands: "write text*"},
			{Names: "unbundle", Options: "--progress", Operands: "read text*", Effects: "writes"},
		}},
		{Names: "archive", Options: `--format?:archive --prefix?:text --add-file?:read --add-virtual-file?:text
			-o,--output:write!writes --worktree-attributes -v,--verbose -num -l,--list --remote:host!runs_code
			--exec:run!runs_code`, Operands: "rev*", Effects: "reads_tree", Abbreviates: true, Judge: judgeGitArchive},
		{Names: "version", Options: "--build-options"},
		{Names: "help", Options: "-a,--all -g,--guides -c,--config -v,--verbose -m,--man --user-interfaces",
			Operands: "topic?", Effects: "pages", Judge: judgeMan},
		{Names: "var", Options: "-l", Operands: "text?"},
		{Names: "stripspace", Options: "-s,--strip-comments -c,--comment-lines"},
	}
}

// gitPlumbingOptions are those options of harmless commands whose values could be taken for a path or a new option.
const gitPlumbingOptions = `--abbrev-ref?:text --short?:text --verify -q,--quiet --show-toplevel --git-dir
	--git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository
	--is-shallow-repository --show-prefix --show-cdup --show-superproject-working-tree --show-object-format?:text
	--symbolic --symbolic-full-name --all --branches?:text --tags?:text --remotes?:text --glob?:text --not --sq
	--revs-only --no-revs --flags --no-flags --default:text --prefix:text --git-path:text --since?:text --after?:text
	--until?:text --before?:text --disambiguate?:text --resolve-git-dir:text --path-format?:text --shared-index-path
	--local-env-vars --exclude?:text -a --octopus --independent --is-ancestor --fork-point --name-only --refs:text
	--always --undefined --annotate-stdin -d -r -t -z -l,--long --name-status --object-only --full-name --full-tree
	--format:text --abbrev?:text --head --heads -s,--hash?:text --dereference -v,--verbose -H,--human-readable
	--normalize --allow-onelevel --refspec-pattern --branch --stdin --stable --unstable --verbatim`

// judgeGitShow judges revisions, paths and formats.
func judgeGitShow(a *Args, u *Use) {
	judgeGitFormats(a, u)
	u.Reads = append(u.Reads, gitOperands(a, a.Operands)...)
	u.Reads = append(u.Reads, gitLines(a.Values("gitlines"))...)
	for _, o := range a.Options {
		if o.Name == "--submodule" && (o.Value.Text == "diff" || o.Has && !o.Value.Static) {
			u.Unknown("git runs in submodules to show this, with the configuration of each", o.Value)
		}
	}
	for _, format := range a.Values("gitmerges") {
		switch format.Text {
		case "off", "none", "on", "m", "first-parent", "1", "separate", "combined", "c", "dense-combined", "cc":
		default:
			u.Unknown("this way to show merges may write objects: "+format.Text, format)
		}
	}
}

// judgeGitBlame also looks at the word after -- and a file: blame takes it for a revision (git blame -- FILE REV), and reads
// revisions as options.
func judgeGitBlame(a *Args, u *Use) {
	judgeGitShow(a, u)
	rest := a.Argv[len(a.Argv)-afterDashes(a.Argv):]
	for i, w := range rest {
		if i > 0 && (!w.Static || strings.HasPrefix(w.Text, "-")) {
			u.Unknown("after -- and a file, blame takes a word for an option", w)
		}
	}
}

// judgeGitLog judges what is made of the options of revisions and of diffs. Only the latter can be grouped: git takes
// -iS for one option that it does not know, and the word after it for an option.
func judgeGitLog(a *Args, u *Use) {
	judgeGitShow(a, u)
	dashes := len(a.Argv) - afterDashes(a.Argv)
	for _, w := range a.Argv[1:dashes] {
		if len(w.Text) > 2 && w.Text[0] == '-' && w.Text[1] != '-' && !gitGroup(w.Text[1:]) {
			u.Unknown("git does not group these options: "+w.Text, w)
		}
	}
}

// gitGroup reports whether git understands the letters after a dash: a number, letters of diff options, one of them possibly with
// the rest as its value, or -nNUMBER and -LRANGE.
func gitGroup(letters string) bool {
	if digits(letters) || letters[0] == 'n' || letters[0] == 'L' {
		return true
	}
	rest := strings.TrimLeft(letters, "puWzDwbaRs")
	return rest == "" || strings.ContainsRune("UXBMClISGO", rune(rest[0]))
}

func judgeGitDiff(a *Args, u *Use) {
	judgeGitLog(a, u)
	if a.Has("--no-index") {
		u.Reads = append(u.Reads, a.Operands...)
	}
	u.Reasons = append(u.Reasons, because("git diff refreshes the index, whatever GIT_OPTIONAL_LOCKS says"))
}

func judgeGitGrep(a *Args, u *Use) {
	operands := a.Operands
	if !a.Has("-e") && !a.Has("-f") && len(operands) > 0 {
		operands = operands[1:]
	}
	if !a.Has("--no-index") {
		u.Reads = append(u.Reads, gitOperands(a, operands)...)
		return
	}
	for _, w := range operands {
		u.Reads = append(u.Reads, gitPathspec(w)...)
	}
}

func judgeGitReflog(a *Args, u *Use) {
	judgeGitLog(a, u)
	if len(a.Operands) == 0 {
		return
	}
	switch verb := a.Operands[0]; {
	case !verb.Static:
		u.Unknown("this may be a subcommand of git reflog", verb)
	case verb.Text == "expire" || verb.Text == "delete" || verb.Text == "drop":
		u.Add(Destroys, "removes entries of the reflog, by which lost commits are found")
		u.Add(Writes, "changes the reflog")
	case verb.Text == "write":
		u.Add(Writes, "changes the reflog")
	}
}

// judgeGitArchive judges the format. Git looks for --output and --remote before it knows the other options, even where
// the value of one should be; so only values in the same word count.
func judgeGitArchive(a *Args, u *Use) {
	judgeGitShow(a, u)
	for _, o := range a.Options {
		if o.Name == "--format" && !o.Has {
			u.Unknown("write --format=NAME in one word", a.Argv[0])
		}
	}
	for _, format := range a.Values("archive") {
		if format.Text != "tar" && format.Text != "zip" || !format.Static {
			u.Add(RunsCode, "this archive format may be a filter that configuration names: "+format.Text)
		}
	}
}

// judgeGitFormats finds placeholders that check signatures, which runs gpg.program.
func judgeGitFormats(a *Args, u *Use) {
	for _, format := range a.Values("gitformat") {
		if !format.Static {
			u.Unknown("a format that is not known may check signatures", format)
		} else if gitSigns(format.Text) {
			u.Add(RunsCode, "%G checks signatures with the program that gpg.program names")
		}
	}
	for _, format := range a.Values("refformat") {
		if !format.Static {
			u.Unknown("a format that is not known may check signatures", format)
		} else if strings.Contains(format.Text, "signature") {
			u.Add(RunsCode, "%(signature) runs the program that gpg.program names")
		}
	}
}

// gitSigns reports whether a format has a placeholder %G…, which a sign or a blank may stand in.
func gitSigns(format string) bool {
	for _, after := range strings.Split(format, "%")[1:] {
		if strings.HasPrefix(strings.TrimLeft(after, "+- "), "G") {
			return true
		}
	}
	return false
}

// afterDashes counts the words that follow the first --.
func afterDashes(argv []Word) int {
	for i, w := range argv {
		if w.Static && w.Text == "--" {
			return len(argv) - i - 1
		}
	}
	return 0
}
