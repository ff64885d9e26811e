package program

import (
	"slices"
	"strings"
)

// findAlone are the words of an expression that take none after them.
var findAlone = WordSet(`( ) ! , -a -and -o -or -not -true -false -print -print0 -ls -prune -quit -daystart -depth -d -follow
	-mount -xdev -noleaf -nouser -nogroup -empty -readable -writable -executable -warn -nowarn -ignore_readdir_race
	-noignore_readdir_race -help --help -version --version`)

// findText are those that take a word that means nothing beyond the search.
var findText = WordSet(`-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size
	-mtime -atime -ctime -mmin -amin -cmin -perm -user -group -uid -gid -links -inum -maxdepth -mindepth -fstype
	-regextype -used -context -printf`)

// findRead are those that take a path that is looked at.
var findRead = WordSet("-newer -anewer -cnewer -samefile -files0-from")

// findWrite are those that take a path that is written.
var findWrite = WordSet("-fprint -fprint0 -fls -fprintf")

// finder is the state of one judgement.
type finder struct {
	words  []Word
	next   int
	starts []Word
	use    *Use
	name   string // pattern of every name that can reach this place, as Word.Pattern is; "" is anything
}

func judgeFind(a *Args, u *Use) {
	f := &finder{words: a.Argv[1:], use: u}
	f.startsFromFile()
	f.options()
	f.paths()
	for f.next < len(f.words) {
		f.primary(f.take())
	}
	if len(f.starts) == 0 {
		f.starts = []Word{Lit(".")}
	}
	u.Reads = append(u.Reads, f.starts...)
}

// startsFromFile looks for -files0-from, which may stand after an action: the found paths are then unknown.
func (f *finder) startsFromFile() {
	for _, w := range f.words {
		if w.Static && w.Text == "-files0-from" {
			f.starts = []Word{{Line: w.Line, Column: w.Column}}
			f.use.Add(ReadsElsewhere, "the paths to search come from a file")
			return
		}
	}
}

func (f *finder) take() Word {
	w := f.words[f.next]
	f.next++
	return w
}

// options reads the options before the paths: -H -L -P -Olevel -D topics.
func (f *finder) options() {
	for f.next < len(f.words) && f.words[f.next].Static {
		switch text := f.words[f.next].Text; {
		case text == "-H" || text == "-L" || text == "-P" || text == "--":
		case strings.HasPrefix(text, "-O") && Digits(text[2:]):
		case text == "-D" && f.next+1 < len(f.words) && f.words[f.next+1].Static:
			f.next++
		default:
			return
		}
		f.next++
	}
}

// paths takes the places to start from, up to the first word that begins an expression.
func (f *finder) paths() {
	for f.next < len(f.words) {
		w := f.words[f.next]
		if !f.path(w) {
			return
		}
		f.starts = append(f.starts, w)
		f.next++
	}
}

// path reports whether a word is surely a path, or several.
func (f *finder) path(w Word) bool {
	if w.Text == "" {
		return w.Static || w.Name && !w.Many // which a glob may not be: find . *
	}
	if w.Many && !w.Glob {
		return false
	}
	return w.Text[0] != '-' && w.Text != ";" && w.Text != "(" && w.Text != "!" && w.Text != ")" && w.Text != ","
}

// primary judges one word of the expression with those that belong to it.
func (f *finder) primary(w Word) {
	switch {
	case !w.Static:
		f.use.Unknown("find: a word that is not static may become an action", w)
	case findAlone[w.Text]:
	case findText[w.Text] || newerThan(w.Text, true):
		if value := f.value(w); w.Text == "-name" && value.Static {
			f.named(value.Text)
		}
	case findRead[w.Text] || newerThan(w.Text, false):
		f.use.Reads = append(f.use.Reads, f.value(w))
	case findWrite[w.Text]:
		f.output(w)
	case w.Text == "-delete":
		f.use.Add(Destroys, "removes the files that it finds")
		f.use.Add(Writes, "removes the files that it finds")
	case w.Text == "-exec" || w.Text == "-execdir" || w.Text == "-ok" || w.Text == "-okdir":
		f.command(w)
	case f.path(w): // find says that paths must come first
		f.starts = append(f.starts, w)
	default:
		f.use.Unknown("find: "+w.Text+" is not known", w)
	}
}

// newerThan recognises -newerXY. The value is a time if Y is t, else a path.
func newerThan(text string, isTime bool) bool {
	const prefix = "-newer"
	return len(text) == len(prefix)+2 && strings.HasPrefix(text, prefix) && strings.IndexByte("aBcm", text[6]) >= 0 &&
		(isTime && text[7] == 't' || !isTime && strings.IndexByte("aBcm", text[7]) >= 0)
}

// value takes the word after a primary.
func (f *finder) value(of Word) Word {
	if f.next >= len(f.words) {
		f.use.Unknown("find: "+of.Text+" needs a word", of)
		return of
	}
	w := f.take()
	if w.Many && !(w.Glob && f.path(w)) {
		f.use.Unknown("find: this may become several words, of which all but the first are an expression", w)
	}
	return w
}

func (f *finder) output(w Word) {
	to := f.value(w)
	if !to.Static || to.Text != "/dev/stdout" && to.Text != "/dev/stderr" {
		f.use.Writes = append(f.use.Writes, to)
	}
	if w.Text == "-fprintf" {
		f.value(w)
	}
}

// command takes the words of -exec and its like up to the ; that ends them, or for the two that do not ask the + after
// {}. Without an end find refuses the whole, so that nothing runs.
func (f *finder) command(action Word) {
	asks := action.Text == "-ok" || action.Text == "-okdir"
	for begin := f.next; f.next < len(f.words); {
		w := f.take()
		end := f.next - 1
		more := !asks && w.Static && w.Text == "+" && end > begin && f.words[end-1].Text == "{}" && f.words[end-1].Static
		if w.Static && w.Text == ";" || more {
			f.runs(f.words[begin:end], more)
			f.told(action, asks)
			return
		}
		if !w.Static && (w.Many && !w.Glob || w.Text == "" || w.Text[0] == ';' || w.Text[0] == '+') {
			f.use.Unknown("find: this word may end the command, and an expression would follow", w)
		}
	}
	f.use.Unknown("find: "+action.Text+" has no end", action)
}

// told adds what the action is besides the command.
func (f *finder) told(action Word, asks bool) {
	if asks {
		f.use.Add(Interactive, action.Text+" asks before each command")
	}
	if strings.HasSuffix(action.Text, "dir") {
		f.use.Unknown("find: "+action.Text+" runs in directories that are not known", action)
	}
}

// runs adds the command with {} replaced by the found paths, which begin like the starting points. Starting points with the same
// first character share one command.
func (f *finder) runs(words []Word, more bool) {
	if len(words) == 0 {
		f.use.Unknown("find: there is no command", Word{})
		return
	}
	for _, start := range f.beginnings() {
		found := Word{Text: start, Many: more, Glob: more && start != ""}.matching(f.pattern())
		argv := make([]Word, len(words))
		for i, w := range words {
			argv[i] = replaced(w, "{}", found)
		}
		f.use.Runs = append(f.use.Runs, Command{Argv: argv})
	}
}

// beginnings returns the possible beginnings of found paths, "" if they are unknown or too many.
func (f *finder) beginnings() []string {
	const maxBeginnings = 4
	if len(f.starts) == 0 {
		return []string{"."}
	}
	var list []string
	for _, start := range f.starts {
		if start.Text == "" {
			return []string{""}
		}
		i := slices.IndexFunc(list, func(s string) bool { return s[0] == start.Text[0] })
		if i < 0 {
			list = append(list, start.Text)
			continue
		}
		list[i] = list[i][:CommonPrefix(list[i], start.Text)]
	}
	if len(list) > maxBeginnings {
		return []string{""}
	}
	return list
}

// CommonPrefix returns how many bytes two texts begin with alike.
func CommonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// replaced returns a word with a placeholder replaced; only its beginning is known.
func replaced(w Word, placeholder string, by Word) Word {
	before, _, ok := strings.Cut(w.Text, placeholder)
	if !ok {
		return w
	}
	by.Line, by.Column = w.Line, w.Column
	by.Static = false
	if before != "" || w.Text != placeholder {
		by.Many, by.Glob = false, false
		by = by.matching("")
	}
	by.Text = before + by.Text
	return by
}

// QuotePattern returns the pattern that matches a text and nothing else, see [Word].
func QuotePattern(text string) string {
	if !strings.ContainsAny(text, `*?[\`) {
		return text
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(text)
}

// named takes note that all that comes by here has a name like the value of -name.
func (f *finder) named(value string) {
	if !strings.ContainsAny(value, `[]\/`) {
		f.name = strings.ReplaceAll(value, "?", "*")
	}
}

// pattern returns the pattern of the paths that reach an action, "" if it is unknown: with several starting points, or with links
// followed.
func (f *finder) pattern() string {
	if len(f.starts) > 1 || f.has("-L", "-H", "-follow") {
		return ""
	}
	start, name := Lit("."), f.name
	if len(f.starts) == 1 {
		start = f.starts[0]
	}
	if name == "" || f.has("-o", "-or", "!", "-not", "(", ")", ",") {
		name = "*"
	}
	if !start.Static {
		return ""
	}
	return QuotePattern(start.Text) + "/**/" + name
}

// has reports whether a word is one of some.
func (f *finder) has(any ...string) bool {
	return slices.ContainsFunc(f.words, func(w Word) bool { return slices.Contains(any, w.Text) })
}
