package program

import (
	"slices"
	"strings"
)

// writerSpecs describes the programs that make, change and remove files, so that their writes are known. Except for -help and
// -version, none of them is ever read-only.
func writerSpecs() []*Spec {
	return append(makerSpecs(), append(copierSpecs(), removerSpecs()...)...)
}

func removerSpecs() []*Spec {
	return []*Spec{
		{Names: "rm", Operands: "file*", Abbreviates: true, Loses: true, Judge: judgeDestroyer,
			Options: `-f,--force -i -I --interactive?:text --one-file-system --no-preserve-root --preserve-root?:text
				-r,-R,--recursive -d,--dir -v,--verbose` + helpVersion},
		{Names: "rmdir", Operands: "file*", Abbreviates: true, Loses: true, Judge: judgeDestroyer,
			Options: "--ignore-fail-on-non-empty -p,--parents -v,--verbose" + helpVersion},
		{Names: "unlink", Operands: "file*", Options: helpVersion, Loses: true, Judge: judgeDestroyer},
		{Names: "shred", Operands: "file*", Abbreviates: true, Loses: true, Judge: judgeDestroyer,
			Options: `-f,--force -n,--iterations:text --random-source:read -s,--size:text -u --remove?:text -v,--verbose
				-x,--exact -z,--zero` + helpVersion},
		{Names: "truncate", Operands: "file*", Abbreviates: true, Loses: true, Judge: judgeDestroyer,
			Options: "-c,--no-create -o,--io-blocks -r,--reference:read -s,--size:text" + helpVersion},
	}
}

func copierSpecs() []*Spec {
	return []*Spec{
		{Names: "mv", Operands: "file*", Abbreviates: true, Judge: judgeMove,
			Options: `--backup?:text -b --debug --exchange -f,--force -i,--interactive -n,--no-clobber!adds --no-copy
				--strip-trailing-slashes -S,--suffix:text -t,--target-directory:file -T,--no-target-directory -u
				--update?:text -v,--verbose -Z,--context` + helpVersion},
		{Names: "cp", Operands: "source*", Abbreviates: true, Judge: judgeCopy,
			Options: `-a,--archive --attributes-only --backup?:text -b --copy-contents -d --debug -f,--force -i,--interactive
				-H -l,--link -L,--dereference -n,--no-clobber!adds -P,--no-dereference -p --preserve?:text --no-preserve:text
				--parents -R,-r,--recursive --reflink?:text --remove-destination --sparse:text --strip-trailing-slashes
				-s,--symbolic-link -S,--suffix:text -t,--target-directory:file -T,--no-target-directory -u --update?:text
				-v,--verbose -x,--one-file-system -Z --context?:text --keep-directory-symlink` + helpVersion},
		{Names: "ln", Operands: "source*", Abbreviates: true, Judge: judgeCopy,
			Options: `--backup?:text -b -d,-F,--directory -f,--force -i,--interactive -L,--logical -n,--no-dereference
				-P,--physical -r,--relative -s,--symbolic -S,--suffix:text -t,--target-directory:file
				-T,--no-target-directory -v,--verbose` + helpVersion},
		{Names: "link", Operands: "read file", Effects: "adds", Options: helpVersion},
		{Names: "install", Operands: "source*", Abbreviates: true, Judge: judgeCopy,
			Options: `--backup?:text -b -c -C,--compare -d,--directory -D --debug -g,--group:text -m,--mode:text -o,--owner:text
				-p,--preserve-timestamps -s,--strip!runs_code --strip-program:run -S,--suffix:text
				-t,--target-directory:file -T,--no-target-directory -v,--verbose --preserve-context -Z --context?:text` +
				helpVersion},
	}
}

func makerSpecs() []*Spec {
	return []*Spec{
		{Names: "touch", Operands: "file*", Effects: "adds", Abbreviates: true,
			Options: `-a -c,--no-create -d,--date:text -f -h,--no-dereference -m -r,--reference:read -t:text --time:text` +
				helpVersion},
		{Names: "mkdir", Operands: "file*", Effects: "adds", Abbreviates: true, Judge: judgeMkdir,
			Options: "-m,--mode:text -p,--parents -v,--verbose -Z --context?:text" + helpVersion},
		{Names: "mkfifo", Operands: "file*", Effects: "adds", Abbreviates: true, Options: "-m,--mode:text -Z --context?:text" + helpVersion},
		{Names: "mknod", Operands: "file text text? text?", Effects: "adds", Abbreviates: true,
			Options: "-m,--mode:text -Z --context?:text" + helpVersion},
		{Names: "mktemp", Operands: "text?", Effects: "adds", Abbreviates: true, Judge: judgeMktemp,
			Options: "-d,--directory -u,--dry-run -q,--quiet --suffix:text -p:text --tmpdir?:text -t" + helpVersion},
		{Names: "chmod", Operands: "change*", Effects: "adds", Abbreviates: true, Loses: true, Judge: judgeChange,
			Options: `-c,--changes -f,--silent,--quiet -v,--verbose --no-preserve-root --preserve-root --reference:read
				-R,--recursive --dereference -h,--no-dereference -H -L -P -r,-w,-x,-X,-s,-t,-u,-g,-o,-a` + helpVersion},
		{Names: "chown chgrp", Operands: "change*", Effects: "adds", Abbreviates: true, Loses: true, Judge: judgeChange,
			Options: `-c,--changes -f,--silent,--quiet -v,--verbose --dereference -h,--no-dereference --from:text
				--no-preserve-root --preserve-root --reference:read -R,--recursive -H -L -P` + helpVersion},
		{Names: "tee", Operands: "file*", Abbreviates: true,
			Options: "-a,--append!adds -i,--ignore-interrupts -p --output-error?:text" + helpVersion},
		{Names: "split", Operands: "read? prefix?", Abbreviates: true, Judge: judgeSplit,
			Options: `-a,--suffix-length:text --additional-suffix:text -b,--bytes:text -C,--line-bytes:text -d
				--numeric-suffixes?:text -x --hex-suffixes?:text -e,--elide-empty-files --filter:run!runs_code -l,--lines:text
				-n,--number:text -t,--separator:text -u,--unbuffered --verbose -num` + helpVersion},
		{Names: "csplit", Operands: "read text*", Abbreviates: true, Judge: judgeSplit,
			Options: `-b,--suffix-format:text -f,--prefix:prefix -k,--keep-files --suppress-matched -n,--digits:text
				-s,--quiet,--silent -z,--elide-empty-files` + helpVersion},
		{Names: "sync", Operands: "read*", Abbreviates: true, Effects: "writes adds",
			Options: "-d,--data -f,--file-system" + helpVersion},
	}
}

func judgeMkdir(a *Args, u *Use) { makesDirs(u, a.Values("file")) }

// makesDirs notes that a directory is made at each of some paths that the use writes.
func makesDirs(u *Use, dirs []Word) {
	for i := range u.Writes {
		u.Writes[i].Makes = u.Writes[i].Makes || slices.Contains(dirs, u.Writes[i])
	}
}

// asksOnly reports whether a use only shows its help.
func asksOnly(a *Args, u *Use) bool {
	return u.Understood && a.oneOf("--help", "--version") && len(a.Operands) == 0
}

func judgeDestroyer(a *Args, u *Use) {
	if asksOnly(a, u) {
		return
	}
	switch a.Argv[0].Text {
	case "shred", "truncate":
		u.Add(Destroys, "overwrites files")
	case "rmdir":
		u.Add(Destroys, "deletes directories")
	default:
		u.Add(Destroys, "deletes files")
	}
}

// judgeCopy: the last operand is written, unless a directory for all was named before; ln and install have their own
// exceptions.
func judgeCopy(a *Args, u *Use) {
	defer judgeBackup(a, u)
	name, words := a.Argv[0].Text, a.Values("source")
	if asksOnly(a, u) || len(words) == 0 {
		return
	}
	if name == "ln" && !a.Has("--force") || name == "install" && a.Has("--directory") {
		u.Effects = append(u.Effects, Adds)
	}
	last := len(words) - 1
	switch {
	case name == "install" && a.Has("--directory"):
		u.Writes = append(u.Writes, words...)
		return
	case a.Has("--target-directory"):
		last = len(words)
	case last == 0 && name == "ln":
		u.Writes = append(u.Writes, lastName(words[0]))
		return
	case words[last].Many && !words[last].Static:
		u.Writes = append(u.Writes, words...)
		return
	}
	u.Reads = append(u.Reads, words[:last]...)
	u.Writes = append(u.Writes, words[last:]...)
}

// judgeMove: later commands read the moved files under another name.
func judgeMove(a *Args, u *Use) {
	defer judgeBackup(a, u)
	words := a.Operands
	if n := len(words); n > 0 && !a.Has("--target-directory") {
		words = words[:n-1]
	}
	u.Reads = append(u.Reads, words...)
}

// judgeBackup: the old file is kept under another name, which depends on existing files. Where the target is a file, and the name
// not numbered, that is the name with the suffix.
func judgeBackup(a *Args, u *Use) {
	if !a.oneOf("--backup", "-b", "--suffix") {
		return
	}
	suffix := Lit("~")
	for _, o := range a.Options {
		if o.Name == "--suffix" {
			suffix = o.Value
		}
	}
	if n := len(u.Writes); n > 0 && !a.oneOf("--target-directory", "--directory") && !strings.HasSuffix(u.Writes[n-1].Text, "/") {
		kept := u.Writes[n-1]
		if kept.Static {
			kept.Text += suffix.Text
		}
		kept.Static = kept.Static && suffix.Static
		u.Writes = append(u.Writes, kept)
	}
	u.Add(WritesElsewhere, a.Argv[0].Text+" keeps the old file under another name")
}

// lastName is the name under which ln makes a link in the working directory.
func lastName(w Word) Word {
	if !w.Static {
		return Word{Line: w.Line, Column: w.Column}
	}
	text := w.Text
	for len(text) > 1 && text[len(text)-1] == '/' {
		text = text[:len(text)-1]
	}
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] == '/' {
			text = text[i+1:]
			break
		}
	}
	w.Text = text
	return w
}

// judgeChange: the first operand is the mode or the owner, unless an option was that.
func judgeChange(a *Args, u *Use) {
	words := a.Values("change")
	if !a.oneOf("--reference", "-a") && len(words) > 0 && (words[0].Static || !words[0].Many) {
		words = words[1:]
	}
	u.Writes = append(u.Writes, words...)
	if a.Has("--recursive") && len(words) > 0 {
		u.Add(Writes, "changes all files below a directory")
		if slices.ContainsFunc(words, wholeSystem) {
			u.Add(Destroys, "loses the permissions of a whole system")
		}
	}
}

// wholeSystem reports whether a path is the root, a directory right below it, or a home.
func wholeSystem(w Word) bool {
	dir, all := strings.CutSuffix(w.Text, "/*")
	dir = strings.TrimSuffix(dir, "/")
	if strings.HasPrefix(w.Text, "/") && (dir == "" || strings.LastIndexByte(dir, '/') == 0) {
		return true
	}
	return dir == "~" || dir == "$HOME" || all && dir == ""
}

func judgeMktemp(a *Args, u *Use) {
	if !asksOnly(a, u) && !a.Has("--dry-run") {
		u.Add(Writes, "creates a file or a directory")
	}
}

// judgeSplit: the names that are made begin with a prefix.
func judgeSplit(a *Args, u *Use) {
	if asksOnly(a, u) {
		return
	}
	prefix := Word{Text: "x"}
	if a.Argv[0].Text == "csplit" {
		prefix.Text = "xx"
	}
	for _, w := range a.Values("prefix") {
		prefix = w
		prefix.Static = false
	}
	u.Add(Writes, "creates files")
	u.Writes = append(u.Writes, prefix)
}
