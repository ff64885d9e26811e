package program

import (
	"slices"
	"strings"
)

// judgeShuf tells files from the words of shuf -e.
func judgeShuf(a *Args, u *Use) {
	if a.Has("--repeat", "-r") && !a.Has("--head-count", "-n") {
		u.Add(LongRunning, "shuf --repeat does not end")
	}
	if !a.Has("--echo") {
		u.reads(a.Values("item"))
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

// judgePDFText knows what is written only if both operands are there: of one document, the text goes to a file beside it.
func judgePDFText(a *Args, u *Use) {
	several := slices.ContainsFunc(a.Operands, func(w Word) bool { return w.Many })
	if several || len(a.Operands) != 2 && !a.Has("-v", "-h", "-help", "--help", "-?", "-listenc") {
		u.Unknown("pdftotext writes a file beside the document unless its second operand is -", a.Argv[0])
	}
}

// judgeStrings tells files from @file, which holds more words.
func judgeStrings(a *Args, u *Use) {
	for _, o := range a.Options {
		if strings.HasPrefix(o.Value.Text, "@") {
			u.Unknown("strings: options may stand in "+spelled(o.Value), o.Value)
		}
	}
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
		case xxdNumbers[text[:2]] && Digits(text[2:]):
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

// judgeGrep tells the pattern from the files.
func judgeGrep(a *Args, u *Use) {
	files := a.Values("pattern")
	if !a.Has("--regexp", "--file") && len(files) > 0 {
		if first := files[0]; first.Static || !first.Many {
			files = files[1:]
		}
	}
	recursive := a.Has("--recursive", "--dereference-recursive") || a.Argv[0].Text == "rgrep"
	for _, action := range a.Values("action") {
		recursive = recursive || action.Text != "skip" && action.Text != "read"
	}
	if recursive {
		u.Add(ReadsTree, "grep reads all files below a directory")
		if len(files) == 0 {
			u.Reads = append(u.Reads, Lit("."))
		}
	}
	u.reads(files)
}

// judgeLess refuses what less takes for more than it seems: commands that begin with +, letters after a number, and
// letters after the $ that ends a text.
func judgeLess(a *Args, u *Use) {
	for _, w := range a.Values("number") {
		if !w.Static || strings.Trim(w.Text, "0123456789.,-") != "" {
			u.Unknown("less: options may follow the number in "+spelled(w), w)
		}
	}
	for _, w := range a.Values("phrase") {
		if !w.Static || strings.ContainsAny(w.Text, "$\\\n\r") {
			u.Unknown("less: options may follow a $ in "+spelled(w), w)
		}
	}
	u.Writes = append(u.Writes, a.Values("logfile")...)
	for _, w := range a.Values("page") {
		if strings.HasPrefix(w.Text, "+") || w.Text == "" {
			u.Unknown("less: "+spelled(w)+" may be a command", w)
		} else if w.Text != "-" {
			u.Reads = append(u.Reads, w)
		}
	}
}

// judgeMore tells files from +line and +/pattern.
func judgeMore(a *Args, u *Use) {
	for _, w := range a.Values("page") {
		if !strings.HasPrefix(w.Text, "+") {
			u.Reads = append(u.Reads, w)
		}
	}
}

// judgeMan: a topic with a slash is a file, whose text is a program for groff.
func judgeMan(a *Args, u *Use) {
	for _, w := range a.Values("topic") {
		if !w.Static || strings.Contains(w.Text, "/") {
			u.Unknown("man: "+spelled(w)+" may be a file", w)
		}
	}
}

// judgeTput: init and reset run what the terminal's description names.
func judgeTput(a *Args, u *Use) {
	for _, w := range a.Values("capability") {
		if !w.Static || w.Text == "init" || w.Text == "reset" || w.Text == "" {
			u.Unknown("tput: "+spelled(w)+" may change the terminal or run its program", w)
		}
	}
	for _, o := range a.Options {
		if o.Name == "-T" && (!o.Value.Static || strings.Contains(o.Value.Text, "/")) {
			u.Unknown("tput: the terminal "+spelled(o.Value)+" may be described by a file", o.Value)
		}
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

// judgeObject refuses @file, whose words may be options.
func judgeObject(a *Args, u *Use) {
	name := a.Argv[0].Text
	for _, w := range a.Argv[1:] {
		if strings.HasPrefix(w.Text, "@") {
			u.Unknown(name+": options may stand in "+spelled(w), w)
		}
	}
	for _, w := range a.Values("object") {
		if !w.Static && w.Text == "" {
			u.Unknown(name+": options may stand in a file that "+spelled(w)+" names", w)
		}
		u.Reads = append(u.Reads, w)
	}
	if len(a.Values("object")) == 0 && (name == "nm" || name == "size" || name == "objdump") {
		u.Reads = append(u.Reads, Lit("a.out"))
	}
}

func judgeLdd(a *Args, u *Use) {
	for _, w := range a.Values("object") {
		u.Reads = append(u.Reads, w)
		ofSystem := strings.HasPrefix(w.Text, "/usr/") || strings.HasPrefix(w.Text, "/bin/") || strings.HasPrefix(w.Text, "/lib/")
		if w.Static && ofSystem && !strings.Contains(w.Text, "..") {
			continue // a program of the system does no more than it is linked for
		}
		u.Add(RunsCode, "ldd may run "+spelled(w))
	}
}

// judgeLdconfig: without an option that says else, it makes the cache anew.
func judgeLdconfig(a *Args, u *Use) {
	if !a.Has("--print-cache", "--version", "--help") {
		u.Add(Writes, "ldconfig writes its cache and links")
	}
}

// judgeNames refuses @file among names: it stands for the words of that file.
func judgeNames(a *Args, u *Use) {
	for _, w := range a.Argv[1:] {
		if strings.HasPrefix(w.Text, "@") || w.Text == "" && !w.Static {
			u.Unknown("a word that begins with @ stands for the words of a file", w)
		}
	}
}

// judgeEditor: an editor waits for a terminal, unless an option says that a script drives it.
func judgeEditor(a *Args, u *Use) {
	for _, w := range a.Operands {
		switch w.Text {
		case "-e", "-E", "-s", "-es", "-Es", "--headless", "--batch", "-batch", "--version", "--help":
			u.Reasons = append(u.Reasons, because("runs code of its configuration"))
			return
		}
		if strings.HasPrefix(w.Text, "--script") {
			return
		}
	}
	u.Add(Interactive, "waits for a person at a terminal")
}
