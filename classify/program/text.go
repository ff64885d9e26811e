package program

import "strings"

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
