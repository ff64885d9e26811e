package program

import "strings"

// helpVersion are the two options that every GNU program has.
const helpVersion = " --help --version"

// coreutilSpecs describes the GNU core utilities that show names, attributes and the system, as of version 9.5, with the additions
// of the BSD programs of the same names.
func coreutilSpecs() []*Spec {
	return append(nameSpecs(),
		&Spec{
			Names: "ls dir vdir", Operands: "read*", Abbreviates: true, Harmless: true, Judge: judgeHere,
			Options: `-a,--all -A,--almost-all --author -b,--escape --block-size:text -B,--ignore-backups -c -C
				--color?:text -d,--directory -D,--dired -f -F,--classify?:text --file-type --format:text --full-time -g
				--group-directories-first -G,--no-group -h,--human-readable --si -H,--dereference-command-line
				--dereference-command-line-symlink-to-dir --hide:text --hyperlink?:text --indicator-style:text -i,--inode
				-I,--ignore:text -k,--kibibytes -l -L,--dereference -m -n,--numeric-uid-gid -N,--literal -o -p
				-q,--hide-control-chars --show-control-chars -Q,--quote-name --quoting-style:text -r,--reverse
				-R,--recursive!reads_tree -s,--size -S --sort:text --time:text --time-style:text -t -T,--tabsize:text -u
				-U -v -w,--width:text -x -X -Z,--context --zero -1` + helpVersion,
		},
		&Spec{
			Names: "stat", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-L,--dereference -f,--file-system --cached:text -c,--format:text --printf:text -t,--terse` + helpVersion,
		},
		&Spec{
			Names: "du", Operands: "read*", Effects: "reads_tree", Abbreviates: true, Harmless: true, Judge: judgeHere,
			Options: `-0,--null -a,--all -A,--apparent-size -B,--block-size:text -b,--bytes -c,--total -D,--dereference-args
				-d,--max-depth:text --files0-from:read!reads_elsewhere -H -h,--human-readable --inodes -k -L,--dereference!reads_elsewhere
				-l,--count-links -m -P,--no-dereference -S,--separate-dirs --si -s,--summarize -t,--threshold:text
				--time?:text --time-style:text -X,--exclude-from:read --exclude:text -x,--one-file-system` + helpVersion,
		},
		&Spec{
			Names: "df", Operands: "read*", Effects: "observes_host", Abbreviates: true, Harmless: true,
			Options: `-a,--all -B,--block-size:text -h,--human-readable -H,--si -i,--inodes -k -l,--local -m --no-sync
				--output?:text -P,--portability --sync -t,--type:text --total -T,--print-type -x,--exclude-type:text -v` +
				helpVersion,
		},
		&Spec{
			Names: "date", Operands: "when*", Abbreviates: true, Judge: judgeDate,
			Options: `-d,--date:text --debug -f,--file:read -I,--iso-8601?:text --resolution -R,--rfc-email,--rfc-2822
				--rfc-3339:text -r,--reference:read -s,--set:text!writes -u,--utc,--universal,--uct` + helpVersion,
		},
		&Spec{
			Names: "dd", Raw: true, Exact: true, Loses: true, Judge: judgeDD,
		},
		&Spec{Names: "sleep", Operands: "span*", Options: helpVersion, Abbreviates: true, Harmless: true, Judge: judgeSleep},
		&Spec{Names: "yes", Operands: "text*", Options: helpVersion, Effects: "long_running", Harmless: true},
		&Spec{Names: "seq", Operands: "number*", Abbreviates: true, Harmless: true, InOrder: true, Judge: judgeSeq,
			Options: `-f,--format:text -s,--separator:text -w,--equal-width -num` + helpVersion},
		&Spec{Names: "factor", Operands: "text*", Options: "-h,--exponents" + helpVersion, Harmless: true},
		&Spec{Names: "numfmt", Operands: "text*", Abbreviates: true, Harmless: true,
			Options: `--debug -d,--delimiter:text --field:text --format:text --from:text --from-unit:text --grouping
				--header?:text --invalid:text --padding:text --round:text --suffix:text --to:text --to-unit:text
				-z,--zero-terminated` + helpVersion},
		&Spec{Names: "true false : arch whoami logname hostid tty", Operands: "text*", Harmless: true,
			Options: "-s,--silent,--quiet" + helpVersion},
		&Spec{Names: "printf echo expr test [ pwd", Raw: true, Harmless: true, Judge: anyWords},
		&Spec{Names: "printenv", Operands: "text*", Options: "-0,--null" + helpVersion, Abbreviates: true, Harmless: true},
		&Spec{Names: "id groups", Operands: "text*", Abbreviates: true, Harmless: true,
			Options: `-a -Z,--context -g,--group -G,--groups -n,--name -r,--real -u,--user -z,--zero -p -P` + helpVersion},
		&Spec{Names: "uname", Operands: "", Abbreviates: true, Harmless: true,
			Options: `-a,--all -s,--kernel-name,--sysname -n,--nodename -r,--kernel-release,--release -v,--kernel-version
				-m,--machine -p,--processor -i,--hardware-platform -o,--operating-system` + helpVersion},
		&Spec{Names: "nproc", Operands: "", Options: "--all --ignore:text" + helpVersion, Abbreviates: true, Harmless: true},
	)
}

// nameSpecs describes the programs that look at names and links.
func nameSpecs() []*Spec {
	return []*Spec{
		{Names: "readlink", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-f,--canonicalize -e,--canonicalize-existing -m,--canonicalize-missing -n,--no-newline -q,--quiet
				-s,--silent -v,--verbose -z,--zero` + helpVersion},
		{Names: "realpath", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: `-E,--canonicalize -e,--canonicalize-existing -m,--canonicalize-missing -L,--logical -P,--physical
				-q,--quiet --relative-to:read --relative-base:read -s,--strip,--no-symlinks -z,--zero` + helpVersion},
		{Names: "dirname", Operands: "text*", Options: "-z,--zero" + helpVersion, Abbreviates: true, Harmless: true},
		{Names: "basename", Operands: "text*", Abbreviates: true, Harmless: true,
			Options: "-a,--multiple -s,--suffix:text -z,--zero" + helpVersion},
		{Names: "pathchk", Operands: "text*", Options: "-p -P --portability" + helpVersion, Abbreviates: true, Harmless: true},
		{Names: "which", Operands: "text*", Harmless: true,
			Options: `-a,--all -i,--read-alias --skip-alias --read-functions --skip-functions --skip-dot --skip-tilde
				--show-dot --show-tilde --tty-only -s` + helpVersion},
		{
			Names: "tree", Operands: "read*", Effects: "reads_tree", Judge: judgeTree,
			// -R runs tree again, which writes 00Tree.html.
			Options: `-a -d -l!reads_elsewhere -f -x -L:text -R!writes -P:text -I:text --gitignore --gitfile:read --ignore-case --matchdirs
				--metafirst --prune --info --infofile:read --noreport --charset:text --filelimit:text -o:file -q -N -Q -p -u
				-g -s -h --si --du -D --timefmt:text -F --inodes --device -v -t -c -U -r --dirsfirst --filesfirst --sort:text
				-i -A -S -n -C -X -J -H:text -T:text --nolinks --hintro:read --houtro:read --fromfile!reads_elsewhere
				--fromtabfile!reads_elsewhere --fflinks` + helpVersion,
		},
		{Names: "locate plocate mlocate slocate", Operands: "text*", Effects: "reads_elsewhere", Abbreviates: true,
			Harmless: true,
			Options: `-A,--all -b,--basename -c,--count -d,--database:read -e,--existing -E,--non-existing -L,--follow
				-P,-H,--nofollow -i,--ignore-case -p,--ignore-spaces -l,--limit,-n:text -N,--literal -m,--mmap -0,--null
				-S,--statistics -q,--quiet -r,--regexp --regex -s,--stdio -w,--wholename` + helpVersion},
		{
			Names: "file", Operands: "read*",
			// -m names a database that is parsed, -z runs decompressors, -S leaves the jail: not here.
			Options: `-v -b,--brief -c,--checking-printout -C,--compile!writes -d,--debug -e,--exclude:text
				--exclude-quiet:text -E -f,--files-from:read!reads_elsewhere -F,--separator:text -i,--mime --apple --extension
				--mime-type --mime-encoding -k,--keep-going -l,--list -L,--dereference -h,--no-dereference -n,--no-buffer
				-N,--no-pad -0,--print0 -p,--preserve-date!writes -P,--parameter:text -r,--raw -s,--special-files` + helpVersion,
		},
	}
}

// anyWords is for programs that do nothing, whatever their words are.
func anyWords(*Args, *Use) {}

// judgeHere is for programs that look at the working directory if no operand names another.
func judgeHere(a *Args, u *Use) {
	if len(a.Operands) == 0 {
		u.Reads = append(u.Reads, Lit("."))
	}
}

// judgeDate tells a format, which begins with +, from a time to be set.
func judgeDate(a *Args, u *Use) {
	for _, w := range a.Values("when") {
		switch {
		case strings.HasPrefix(w.Text, "+"):
		case w.Static:
			u.Add(Writes, "date: an operand that is no format sets the clock")
		default:
			u.Unknown("date: an operand that is not static may set the clock", w)
		}
	}
}

// ddKeys are the operands of dd that mean nothing beyond the copy.
var ddKeys = WordSet("bs ibs obs cbs count skip seek iseek oseek conv iflag oflag status files fillchar speed")

func judgeDD(a *Args, u *Use) {
	for _, w := range a.Operands {
		key, _, ok := strings.Cut(w.Text, "=")
		switch value := part(w, min(len(key)+1, len(w.Text))); {
		case w.Static && (w.Text == "--help" || w.Text == "--version" || w.Text == "--"):
		case !ok || w.Many && !w.Static && !w.Glob:
			u.Unknown("dd: what "+spelled(w)+" does is not known", w)
		case key == "if":
			u.Reads = append(u.Reads, value)
		case key == "of" && value.Static && (value.Text == "/dev/stdout" || value.Text == "/dev/null"):
		case key == "of":
			if value.Static && value.Text == "-" {
				value.Text = "./-"
			}
			u.Writes = append(u.Writes, value)
			u.Add(Destroys, "overwrites what of= names")
		case !ddKeys[key]:
			u.Unknown("dd: the operand "+key+" is not known", w)
		}
	}
}

// judgeSeq finds a sequence without end, or one that is as good as that.
func judgeSeq(a *Args, u *Use) {
	for _, w := range a.Operands {
		text := strings.ToLower(strings.TrimLeft(w.Text, "+-"))
		if strings.HasPrefix("infinity", text) && len(text) >= 3 || len(text) > 9 && digits(text) || strings.ContainsAny(text, "ex") && text != "" && w.Static {
			u.Add(LongRunning, "seq "+w.Text+" does not end")
		}
	}
}

// judgeSleep finds a sleep that does not end: for ever, or for a day and more.
func judgeSleep(a *Args, u *Use) {
	for _, w := range a.Values("span") {
		text := strings.ToLower(w.Text)
		number := strings.TrimRight(text, "smhd")
		if strings.HasPrefix(text, "inf") || strings.HasSuffix(text, "d") || digits(number) && len(number) > 4 {
			u.Add(LongRunning, "sleep: "+w.Text+" is very long")
		}
	}
}

// judgeTree refuses what tree takes apart in its own way: the value of a letter is the next word, even where other
// letters follow in the same one.
func judgeTree(a *Args, u *Use) {
	judgeHere(a, u)
	for _, w := range a.Argv[1:] {
		if len(w.Text) < 2 || w.Text[0] != '-' || w.Text[1] == '-' {
			continue
		}
		i := strings.IndexAny(w.Text, "LPIoHT")
		if i > 0 && i < len(w.Text)-1 && !(w.Text[i] == 'L' && digits(w.Text[i+1:])) {
			u.Unknown("tree: the value of a letter is the next word, and letters follow in "+w.Text, w)
		}
	}
}
