package program

// grepOptions are those of GNU grep 3.11 with the additions of BSD; all of them only read.
const grepOptions = `-E,--extended-regexp -F,--fixed-strings -G,--basic-regexp -P,--perl-regexp -e,--regexp:text
	-f,--file:read -i,-y,--ignore-case --no-ignore-case -w,--word-regexp -x,--line-regexp -s,--no-messages
	-v,--invert-match -V,--version --help -m,--max-count:text -b,--byte-offset -n,--line-number --line-buffered
	-H,--with-filename -h,--no-filename --label:text -o,--only-matching -q,--quiet,--silent --binary-files:text -a,--text
	-I -D,--devices:text -L,--files-without-match -l,--files-with-matches -c,--count -T,--initial-tab
	-B,--before-context:text -A,--after-context:text -C,--context:text -num --group-separator:text --no-group-separator
	--color?:text --colour?:text -U,--binary -u,--unix-byte-offsets`

// grepSpecs describes grep and the scripts that run it on compressed files.
func grepSpecs() []*Spec {
	return []*Spec{
		{
			Names: "grep egrep fgrep rgrep", Operands: "pattern*", Abbreviates: true, Harmless: true, Judge: judgeGrep,
			Options: grepOptions + ` -z,--null-data -d,--directories:action -r,--recursive
				-R,--dereference-recursive!reads_elsewhere --include:text --exclude:text --exclude-from:read --exclude-dir:text
				--include-dir:text -Z,--null -O -S -p`,
		},
		// A file of patterns is copied to a temporary one by these scripts, so it has an effect.
		{
			Names: "zgrep zegrep zfgrep xzgrep xzegrep xzfgrep lzgrep", Operands: "pattern*", Judge: judgeGrep,
			Options: `-E,--extended-regexp -F,--fixed-strings -G,--basic-regexp -P,--perl-regexp -e,--regexp:text
				-f,--file:read!writes -i,--ignore-case -w,--word-regexp -x,--line-regexp -s,--no-messages -v,--invert-match
				-V,--version --help -m,--max-count:text -b,--byte-offset -n,--line-number -H,--with-filename -h,--no-filename
				-o,--only-matching -q,--quiet,--silent -a,--text -I -L,--files-without-match -l,--files-with-matches -c,--count
				-B:text -A:text -C:text`,
		},
	}
}

// judgeGrep tells the pattern from the files.
func judgeGrep(a *Args, u *Use) {
	files := a.Values("pattern")
	if !a.oneOf("--regexp", "--file") && len(files) > 0 {
		if first := files[0]; first.Static || !first.Many {
			files = files[1:]
		}
	}
	recursive := a.oneOf("--recursive", "--dereference-recursive") || a.Argv[0].Text == "rgrep"
	for _, action := range a.Values("action") {
		recursive = recursive || action.Text != "skip" && action.Text != "read"
	}
	if recursive {
		u.Add(ReadsTree, "grep reads all files below a directory")
		if len(files) == 0 {
			u.Reads = append(u.Reads, Lit("."))
		}
	}
	for _, w := range files {
		if !w.Static || w.Text != "-" {
			u.Reads = append(u.Reads, w)
		}
	}
}
