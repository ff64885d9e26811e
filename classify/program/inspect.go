package program

import "strings"

// inspectSpecs describes replacements of cat, ls and wc, and programs that check or summarise files without running code of the
// project.
func inspectSpecs() []*Spec {
	return []*Spec{
		{Names: "bat batcat", Operands: "page*", Effects: "pages", Judge: judgeBat,
			// --pager and --lessopen run their values.
			Options: `-A,--show-all -p,--plain -l,--language:text -H,--highlight-line:text --file-name:text
				--diff-context:text --tabs:text --wrap:text --terminal-width:text -n,--number --color:text --italic-text:text
				--decorations:text -f,--force-colorization --paging:text -P,--no-paging -m,--map-syntax:text
				--ignored-suffix:text --theme:text --list-themes --style:text -r,--line-range:text -L,--list-languages
				-u,--unbuffered -S,--chop-long-lines -s,--squeeze-blank --no-config -h,--help -V,--version`},
		{Names: "eza exa lsd", Operands: "read*", Effects: "reads_tree",
			Options: `-1,--oneline -a,--all -A,--almost-all -d -l,--long -g,--group -h,--header -i,--inode -r,--reverse
				-R,--recurse -T,--tree -L,--level:text -F,--classify -G,--grid -x,--across -s,--sort:text
				--group-directories-first --icons --color:text --no-icons --git --git-ignore -D,--only-dirs -f,--only-files
				-I,--ignore-glob:text -m,--modified -U,--created -u,--accessed -t,--time:text --time-style:text -b,--binary
				-B,--bytes -n,--numeric -H,--links -S,--blocksize --no-permissions --no-user --no-time --no-filesize -v,--version`},
		{Names: "tokei", Operands: "read*", Effects: "reads_tree",
			Options: `-C,--compact -c,--columns:text -e,--exclude:text -f,--files --hidden -l,--languages --no-ignore
				--no-ignore-parent --no-ignore-dot --no-ignore-vcs -o,--output:text -s,--sort:text -t,--type,--types:text
				-n,--num-format:text -v,--verbose -h,--help -V,--version`},
		{Names: "cloc", Operands: "read*", Effects: "reads_tree",
			Options: `--quiet --by-file --by-file-by-lang --json --csv --yaml --md --exclude-dir:text --include-lang:text --exclude-lang:text
				--exclude-ext:text --include-ext:text --not-match-d:text --not-match-f:text --match-f:text --fullpath --skip-uniqueness --hide-rate
				--sum-one --progress-rate:text --timeout:text --max-file-size:text --version --show-lang?:text`},
		{Names: "pkg-config pkgconf", Operands: "text*",
			Options: `--modversion --version --cflags --cflags-only-I --cflags-only-other --libs --libs-only-l --libs-only-L --libs-only-other --static
				--exists --print-errors --short-errors --silence-errors --list-all --list-package-names --variable:text --print-variables
				--print-provides --print-requires --print-requires-private --atleast-version:text --exact-version:text --max-version:text`},
		{Names: "shellcheck", Operands: "read*",
			Options: `-a,--check-sourced!reads_elsewhere -C,--color?:text -i,--include:text -e,--exclude:text -f,--format:text
				--list-optional --norc -o,--enable:text -P,--source-path:text!reads_elsewhere -s,--shell:text -S,--severity:text
				-V,--version -W,--wiki-link-count:text -x,--external-sources!reads_elsewhere --help`},
		{Names: "xmllint", Ungrouped: true, Operands: "document*", Judge: judgeXMLLint,
			// Schemas and definitions that are elsewhere are not fetched without an option that asks for it.
			Options: `--noout --format --xpath:text --nonet --recover --huge --html --htmlout --nowrap --quiet --nowarning
				--noblanks --nocdata --encode:text --pretty:text --c14n --c14n11 --exc-c14n --nsclean --dropdtd --nocatalogs
				--stream --timing --version`},
		// A file with the suffix of a compressed one becomes a part of a command line, so only stdin is here.
		{Names: "diffstat", Operands: "", Options: `-b -c -C -d -e:write -E -f:text -h -k -K -l -m -n:text -N:text -o:write
				-p:text -q -r:text -R -s -t -T -u -v -V -w:text`},
		{Names: "ar", Raw: true, Judge: judgeAr},
		{Names: "ul", Operands: "read*", Options: "-t,-T,--terminal:text -i,--indicated -h,--help -V,--version"},
		{Names: "mcookie", Options: "-f,--file:read -m,--max-size:text -v,--verbose -h,--help -V,--version"},
	}
}

// judgeBat: bat cache changes the cache, if there is no file of that name.
func judgeBat(a *Args, u *Use) {
	for i, w := range a.Values("page") {
		if i == 0 && (!w.Static && w.Text == "" || w.Text == "cache") {
			u.Unknown("bat: "+spelled(w)+" may be a subcommand", w)
		}
		if w.Text != "-" {
			u.Reads = append(u.Reads, w)
		}
	}
}

func judgeXMLLint(a *Args, u *Use) {
	for _, w := range a.Values("document") {
		switch {
		case strings.Contains(w.Text, "://"):
			u.Hosts = append(u.Hosts, w)
			u.Add(Reaches, "xmllint fetches "+spelled(w))
		case !w.Static && w.Text == "":
			u.Add(Reaches, "xmllint may fetch what is not known")
		case w.Text != "-":
			u.Reads = append(u.Reads, w)
		}
	}
}

// judgeAr knows two commands, to list and to print; their letters are the first word, with a dash or without.
func judgeAr(a *Args, u *Use) {
	words := a.Operands
	if len(words) == 1 && words[0].Static && (words[0].Text == "--version" || words[0].Text == "--help") {
		return
	}
	for i, w := range words {
		text := w.Text
		switch {
		case i == 0:
			text = strings.TrimPrefix(text, "-")
			if !w.Static || strings.Trim(text, "tpvOP") != "" || !strings.ContainsAny(text, "tp") {
				u.Unknown("ar: "+spelled(w)+" may change the archive", w)
				return
			}
		case !w.Static && text == "", strings.HasPrefix(text, "-"), strings.HasPrefix(text, "@"):
			u.Unknown("ar: "+spelled(w)+" may be an option, or name a file of them", w)
		case i == 1:
			u.Reads = append(u.Reads, w)
		}
	}
}
