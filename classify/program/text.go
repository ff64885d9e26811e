package program

import "strings"

// textSpecs describes the programs that read text and write it to their output: GNU coreutils as of 9.5, util-linux, and the
// additions of the BSD programs of the same names.
func textSpecs() []*Spec {
	return append(append(lineSpecs(), columnSpecs()...),
		&Spec{
			Names: "sort", Operands: "read*", Abbreviates: true,
			Options: `-b,--ignore-leading-blanks -d,--dictionary-order -f,--ignore-case -g,--general-numeric-sort
				-i,--ignore-nonprinting -M,--month-sort -h,--human-numeric-sort -n,--numeric-sort -R,--random-sort
				--random-source:read -r,--reverse --sort:text -V,--version-sort --batch-size:text -c,--check?:text -C
				--compress-program:run!runs_code --debug --files0-from:read!reads_elsewhere -k,--key:text -m,--merge -o,--output:file
				-s,--stable -S,--buffer-size:text -t,--field-separator:text -T,--temporary-directory:file --parallel:text
				-u,--unique -z,--zero-terminated` + helpVersion,
		},
		&Spec{
			Names: "uniq", Operands: "read write?", Abbreviates: true,
			Options: `-c,--count -d,--repeated -D --all-repeated?:text -f,--skip-fields:text --group?:text -i,--ignore-case
				-s,--skip-chars:text -u,--unique -z,--zero-terminated -w,--check-chars:text` + helpVersion,
		},
		&Spec{
			Names: "shuf", Operands: "item*", Abbreviates: true, Judge: judgeShuf,
			Options: `-e,--echo -i,--input-range:text -n,--head-count:text -o,--output:file --random-source:read -r,--repeat
				-z,--zero-terminated` + helpVersion,
		},
		&Spec{
			Names: "ptx", Operands: "read*", Abbreviates: true,
			Options: `-A,--auto-reference -G,--traditional!writes -F,--flag-truncation:text -M,--macro-name:text -O
				--format:text -R,--right-side-refs -S,--sentence-regexp:text -T -W,--word-regexp:text -b,--break-file:read
				-f,--ignore-case -g,--gap-size:text -i,--ignore-file:read -o,--only-file:read -r,--references
				-t,--typeset-mode -w,--width:text` + helpVersion,
		},
		&Spec{
			Names: "iconv", Operands: "read*", Abbreviates: true, Judge: judgeIconv,
			Options: `-f,--from-code:charset -t,--to-code:charset -l,--list -c -o,--output:write -s,--silent --verbose --usage
				-V` + helpVersion,
		},
		&Spec{Names: "xxd", Raw: true, Exact: true, Judge: judgeXxd},
		&Spec{
			Names: "bc", Operands: "read*",
			Options: `-e,--expression:text -f,--file:read -h,--help -i,--interactive!interactive -l,--mathlib -q,--quiet
				-s,--standard -w,--warn -v,--version`,
		},
		&Spec{
			Names: "diff", Operands: "read*", Abbreviates: true, Harmless: true, Judge: judgeDiff,
			Options: `--normal -q,--brief -s,--report-identical-files -c -C:text --context?:text -u -U:text --unified?:text
				-e,--ed -n,--rcs -y,--side-by-side -W,--width:text --left-column --suppress-common-lines -p,--show-c-function
				-F,--show-function-line:text -L,--label:text -t,--expand-tabs -T,--initial-tab --tabsize:text
				--suppress-blank-empty -l,--paginate -r,--recursive!reads_tree,reads_elsewhere --no-dereference -N,--new-file -P
				--unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case -x,--exclude:text
				-X,--exclude-from:read -S,--starting-file:text --from-file:read --to-file:read -i,--ignore-case
				-E,--ignore-tab-expansion -Z,--ignore-trailing-space -b,--ignore-space-change -w,--ignore-all-space
				-B,--ignore-blank-lines -I,--ignore-matching-lines:text -a,--text --strip-trailing-cr -D,--ifdef:text
				--old-group-format:text --new-group-format:text --unchanged-group-format:text --changed-group-format:text
				--line-format:text --old-line-format:text --new-line-format:text --unchanged-line-format:text -d,--minimal
				--horizon-lines:text --speed-large-files --color?:text --palette:text --binary -H -h -num --help -v,--version`,
		},
		&Spec{
			Names: "diff3", Operands: "read read read", Abbreviates: true,
			Options: `-A,--show-all -e,--ed -E,--show-overlap -3,--easy-only -x,--overlap-only -X -i -m,--merge -a,--text
				--strip-trailing-cr -T,--initial-tab --diff-program:run!runs_code -L,--label:text --help -v,--version`,
		},
		&Spec{
			Names: "cmp", Operands: "read read? text? text?", Abbreviates: true, Harmless: true,
			Options: `-b,--print-bytes -i,--ignore-initial:text -l,--verbose -n,--bytes:text -s,--quiet,--silent --help
				-v,--version`,
		},
	)
}

// lineSpecs describes programs that pass lines on, some of them, or in another order.
func lineSpecs() []*Spec {
	return []*Spec{
		{Names: "cat", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-A,--show-all -b,--number-nonblank -e -E,--show-ends -n,--number -s,--squeeze-blank -t -T,--show-tabs
				-u -v,--show-nonprinting` + helpVersion},
		{Names: "head", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-c,--bytes:text -n,--lines:text -q,--quiet,--silent -v,--verbose -z,--zero-terminated -num` + helpVersion},
		{Names: "tail", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-c,--bytes:text --debug -f!long_running --follow?:text!long_running -F!long_running -n,--lines:text
				--max-unchanged-stats:text --pid:text -q,--quiet,--silent -r --retry -s,--sleep-interval:text -v,--verbose
				-z,--zero-terminated -num` + helpVersion},
		{Names: "wc", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-c,--bytes -m,--chars -l,--lines --files0-from:read!reads_elsewhere -L,--max-line-length -w,--words
				--total:text` + helpVersion},
		{Names: "tac", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-b,--before -r,--regex -s,--separator:text` + helpVersion},
		{Names: "nl", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-b,--body-numbering:text -d,--section-delimiter:text -f,--footer-numbering:text
				-h,--header-numbering:text -i,--line-increment,--page-increment:text -l,--join-blank-lines:text
				-n,--number-format:text -p,--no-renumber -s,--number-separator:text -v,--starting-line-number:text
				-w,--number-width:text` + helpVersion},
		{Names: "comm", Operands: "read read", Abbreviates: true, Harmless: true,
			Options: `-1 -2 -3 -i --check-order --nocheck-order --output-delimiter:text --total -z,--zero-terminated` +
				helpVersion},
		{Names: "join", Operands: "read read", Abbreviates: true, Harmless: true,
			Options: `-a:text -e:text -i,--ignore-case -j:text -o:text -t:text -v:text -1:text -2:text --check-order
				--nocheck-order --header -z,--zero-terminated` + helpVersion},
		{Names: "tsort", Operands: "read?", Options: helpVersion, Harmless: true},
		{Names: "rev", Operands: "read*", Options: "-0,--zero -h,--help -V,--version", Harmless: true},
		{Names: "strings", Operands: "named*", Harmless: true, Judge: judgeStrings,
			Options: `-a,--all -d,--data -f,--print-file-name -n,--bytes:text -t,--radix:text -w,--include-all-whitespace -o
				-T,--target:text -e,--encoding:text -U,--unicode:text -s,--output-separator:text -h,--help -v,-V,--version
				-num`},
		{Names: "look", Operands: "text read?", Harmless: true,
			Options: "-a,--alternative -b -d,--alphanum -f,--ignore-case -t,--terminate:text -h,--help -V,--version"},
	}
}

// columnSpecs describes programs that change what is in a line.
func columnSpecs() []*Spec {
	return []*Spec{
		{Names: "cut", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-b,--bytes:text -c,--characters:text -d,--delimiter:text -f,--fields:text -n -w --complement
				-s,--only-delimited --output-delimiter:text -z,--zero-terminated` + helpVersion},
		{Names: "tr", Operands: "text*", Abbreviates: true, Harmless: true,
			Options: `-c,-C,--complement -d,--delete -s,--squeeze-repeats -t,--truncate-set1 -u` + helpVersion},
		{Names: "paste", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-d,--delimiters:text -s,--serial -z,--zero-terminated` + helpVersion},
		{Names: "fold", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-b,--bytes -c,--characters -s,--spaces -w,--width:text -num` + helpVersion},
		{Names: "fmt", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-c,--crown-margin -p,--prefix:text -s,--split-only -t,--tagged-paragraph -u,--uniform-spacing
				-w,--width:text -g,--goal:text -num` + helpVersion},
		{Names: "expand unexpand", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-a,--all --first-only -i,--initial -t,--tabs:text -num` + helpVersion},
		{Names: "pr", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `--pages:text --columns:text -a,--across -c,--show-control-chars -d,--double-space
				-D,--date-format:text -e,--expand-tabs?:text -F,-f,--form-feed -h,--header:text -i,--output-tabs?:text
				-J,--join-lines -l,--length:text -m,--merge -n,--number-lines?:text -N,--first-line-number:text
				-o,--indent:text -r,--no-file-warnings -s,--separator?:text -S,--sep-string?:text -t,--omit-header
				-T,--omit-pagination -v,--show-nonprinting -w,--width:text -W,--page-width:text -num` + helpVersion},
		{Names: "column", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-t,--table -n,--table-name:text -O,--table-order:text -C,--table-column:text -N,--table-columns:text
				-l,--table-columns-limit:text -E,--table-noextreme:text -d,--table-noheadings -m,--table-maxout
				-e,--table-header-repeat -H,--table-hide:text -R,--table-right:text -T,--table-truncate:text
				-W,--table-wrap:text -K,--table-header-as-columns -L,--keep-empty-lines -J,--json -r,--tree:text
				-i,--tree-id:text -p,--tree-parent:text -c,--output-width:text -o,--output-separator:text
				-s,--separator:text -S,--use-spaces:text -x,--fillrows -h,--help -V,--version`},
		{Names: "colrm", Operands: "text*", Options: "-h,--help -V,--version", Harmless: true},
		{Names: "col", Operands: "", Harmless: true,
			Options: "-b,--no-backspaces -f,--fine -p,--pass -h,--tabs -x,--spaces -l,--lines:text -H,--help -v,--version"},
		{Names: "od", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-A,--address-radix:text --endian:text -j,--skip-bytes:text -N,--read-bytes:text -S:text --strings?:text
				-t,--format:text -v,--output-duplicates -w,--width?:text --traditional -a -b -c -d -f -h -H -i -l -o -s -x -B
				-D -e -F -I -L -O -X` + helpVersion},
		{Names: "hexdump hd", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-b,--one-byte-octal -X,--one-byte-hex -c,--one-byte-char -C,--canonical -d,--two-bytes-decimal
				-o,--two-bytes-octal -x,--two-bytes-hex -L,--color?:text -e,--format:text -f,--format-file:read
				-n,--length:text -s,--skip:text -v,--no-squeezing -h,--help -V,--version`},
		// On other systems than Linux base64 has -o, which writes.
		{Names: "base64 base32 basenc", Operands: "read?", Abbreviates: true,
			Options: `--base64 --base64url --base32 --base32hex --base16 --base2msbf --base2lsbf --base58 --z85 -d,--decode
				-i,--ignore-garbage -w,--wrap:text` + helpVersion},
	}
}

// judgeShuf tells files from the words of shuf -e.
func judgeShuf(a *Args, u *Use) {
	if a.oneOf("--repeat", "-r") && !a.oneOf("--head-count", "-n") {
		u.Add(LongRunning, "shuf --repeat does not end")
	}
	if a.Has("--echo") {
		return
	}
	for _, w := range a.Values("item") {
		if !w.Static || w.Text != "-" {
			u.Reads = append(u.Reads, w)
		}
	}
}

// judgeIconv lets only names of character sets pass: with a slash they may be files that describe one.
func judgeIconv(a *Args, u *Use) {
	for _, w := range a.Values("charset") {
		name := strings.ToUpper(w.Text)
		for _, suffix := range []string{"//IGNORE", "//TRANSLIT", "//IGNORE", "//"} {
			name = strings.TrimSuffix(name, suffix)
		}
		if !w.Static || strings.Contains(name, "/") {
			u.Unknown("iconv: "+spelled(w)+" may be a file", w)
		}
	}
}

// judgeStrings tells files from @file, which holds more words.
func judgeStrings(a *Args, u *Use) {
	for _, w := range a.Values("named") {
		if strings.HasPrefix(w.Text, "@") {
			u.Add(ReadsElsewhere, "strings: the names of files stand in "+w.Text)
			w = part(w, 1)
		}
		u.Reads = append(u.Reads, w)
	}
}

// The options of xxd: alone, with a value in the same word or the next. They end at the first operand, are not grouped,
// and letters after the first are not looked at, which is why only whole spellings are in the table.
var (
	xxdAlone = WordSet(`-a -autoskip -b -bits -C -capitalize -e -E -EBCDIC -i -include -p -ps -plain -postscript -r -revert -u -d
 -v -version -h -help`)
	xxdNumbers = WordSet("-c -g -l -o -s") // with digits in the same word
	xxdValued  = WordSet("-c -cols -g -groupsize -l -len -n -name -o -offset -s -seek -skip -R")
)

// judgeXxd finds the files; the second is written.
func judgeXxd(a *Args, u *Use) {
	words := a.Operands
	for len(words) > 0 && words[0].Static && len(words[0].Text) > 1 && words[0].Text[0] == '-' {
		text := words[0].Text
		switch {
		case text == "--":
			judgeXxdFiles(words[1:], u)
			return
		case xxdAlone[text]:
			words = words[1:]
		case xxdValued[text] && len(words) > 1 && (words[1].Static || !words[1].Many):
			words = words[2:]
		case xxdNumbers[text[:2]] && digits(text[2:]):
			words = words[1:]
		default:
			u.Unknown("xxd: the option "+text+" is not known", words[0])
			return
		}
	}
	judgeXxdFiles(words, u)
}

func judgeXxdFiles(words []Word, u *Use) {
	for i, w := range words {
		switch {
		case w.Many || i > 1 || i == 0 && !w.Static && (w.Text == "" || w.Text[0] == '-'):
			u.Unknown("xxd: which file "+spelled(w)+" is, is not known", w)
		case w.Static && w.Text == "-":
		case i == 0:
			u.Reads = append(u.Reads, w)
		default:
			u.Writes = append(u.Writes, w)
		}
	}
}

// judgeDiff: diff reads the files of two directories, and follows links in them. A word that is spelled like a file is taken for
// one: if it is a directory, diff shows the targets of its links, which only -r would name.
func judgeDiff(a *Args, u *Use) {
	for _, w := range a.Operands {
		name := w.Text[strings.LastIndexByte(w.Text, '/')+1:]
		if w.Static && (w.Text == "-" || w.Text == "/dev/fd/"+name) {
			continue
		}
		if !a.Has("--no-dereference") && (!w.Static || !strings.Contains(strings.TrimLeft(name, "."), ".")) {
			u.Add(ReadsElsewhere, "diff: files of a directory may be links")
			return
		}
	}
}
