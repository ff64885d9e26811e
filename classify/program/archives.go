package program

import "strings"

// judgePacker finds out whether the operands are replaced. Of the options that say what to do the last counts, except
// that --stdout always does.
func judgePacker(a *Args, u *Use) {
	name := a.Argv[0].Text
	kept, stdout := false, a.Has("--stdout", "-o") || strings.HasSuffix(name, "cat")
	for _, o := range a.Options {
		switch o.Name {
		case "--decompress", "--compress", "--uncompress":
			kept = false
		case "--test", "--list":
			kept = true
		}
	}
	if strings.Contains(name, "zstd") {
		judgeZstd(a, u)
	}
	kept = kept || stdout
	lists := a.Values("list")
	u.Reads = append(u.Reads, lists...)
	if a.Has("--files", "--files0", "--filelist") && !kept {
		u.Add(Writes, "replaces the files that a list names")
	}
	for _, w := range a.Values("packed") {
		switch {
		case w.Static && w.Text == "-":
		case kept:
			u.Reads = append(u.Reads, w)
		case a.Has("--keep") || a.Has("-k"):
			u.Reads = append(u.Reads, w)
			u.Writes = append(u.Writes, repacked(name, w))
			if !a.Has("--force", "-f") {
				u.Effects = append(u.Effects, Adds)
			}
		default:
			u.Writes = append(u.Writes, w, repacked(name, w))
			u.Reasons = append(u.Reasons, because("replaces "+spelled(w)))
		}
	}
}

// judgeZstd refuses what zstd takes apart in its own way: the value of -D and -o is the next word, even where letters
// follow in the same one, and letters may follow the number after -T and -M.
func judgeZstd(a *Args, u *Use) {
	for _, w := range a.Values("out") {
		if !w.Static || w.Text != "-" {
			u.Writes = append(u.Writes, w)
		}
	}
	for _, w := range a.Values("digits") {
		if !w.Static || !Digits(w.Text) {
			u.Unknown("zstd: letters may follow the number "+spelled(w), w)
		}
	}
	for _, w := range a.Argv[1:] {
		if len(w.Text) < 2 || w.Text[0] != '-' || w.Text[1] == '-' {
			continue
		}
		if i := strings.IndexAny(w.Text, "Do"); i > 0 && i < len(w.Text)-1 {
			u.Unknown("zstd: the value of a letter is the next word, and letters follow in "+w.Text, w)
		}
	}
}

// packedSuffixes are those of the files that the programs make.
var packedSuffixes = []struct{ program, suffix string }{
	{"bz", ".bz2"}, {"bunzip", ".bz2"}, {"xz", ".xz"}, {"lzma", ".lzma"}, {"zst", ".zst"}, {"lz4", ".lz4"}, {"", ".gz"},
}

// repacked returns the name that is made from another, as far as it can be known.
func repacked(name string, w Word) Word {
	for _, p := range packedSuffixes {
		if !strings.Contains(name, p.program) {
			continue
		}
		if plain, ok := strings.CutSuffix(w.Text, p.suffix); ok {
			w.Text = plain
		} else if w.Static {
			w.Text += p.suffix
		}
		return w
	}
	return w
}

// tarValues are the letters that take a value; in the old form the values are the following words.
const tarValues = "bfgCFHIKLNTVX"

// judgeTar translates the old form first, where the first word is letters without a dash and their values follow in
// their order.
func judgeTar(a *Args, u *Use) {
	if len(a.Argv) < 2 || strings.HasPrefix(a.Argv[1].Text, "-") {
		judgeTarUse(a, u)
		return
	}
	argv, ok := tarDashed(a.Argv)
	if !ok {
		u.Unknown("tar: the first word is not known letters", a.Argv[1])
		return
	}
	args, use := Parse(shared("tarUse"), argv)
	*a, *u = *args, *use
}

// tarDashed gives every letter of the old form its own word, with its value behind it.
func tarDashed(argv []Word) ([]Word, bool) {
	letters, rest := argv[1], argv[2:]
	if !letters.Static {
		return nil, false
	}
	dashed := []Word{argv[0]}
	for _, letter := range letters.Text {
		option := letters
		option.Text = "-" + string(letter)
		dashed = append(dashed, option)
		if !strings.ContainsRune(tarValues, letter) {
			continue
		}
		if len(rest) == 0 || rest[0].Many && !rest[0].Static {
			return nil, false
		}
		dashed, rest = append(dashed, rest[0]), rest[1:]
	}
	return append(dashed, rest...), true
}

// tarFilters are the programs that an option of tar may name safely.
var tarFilters = WordSet("gzip bzip2 xz zstd lz4 lzip lzma pigz pbzip2 lbzip2 pixz unzstd")

func judgeTarUse(a *Args, u *Use) {
	for _, w := range a.Values("filter") {
		if !w.Static || !tarFilters[w.Text] {
			u.Add(RunsCode, "tar runs "+spelled(w))
		}
	}
	for _, w := range a.Values("action") {
		tarAction(w, u)
	}
	changes := a.Has("--concatenate", "--create", "--delete", "--append", "--update")
	extracts := a.Has("--get") && !a.Has("--to-stdout")
	reads := a.Has("--list", "--compare", "--test-label", "--get")
	if !changes && !extracts && !reads && !a.Has("--help", "--usage", "--version", "--show-defaults") {
		u.Unknown("tar: there is no operation", a.Argv[0])
	}
	for _, w := range a.Values("archive") {
		tarArchive(w, changes, a.Has("--force-local"), u)
	}
	if extracts {
		into := a.Values("dir")
		if len(into) == 0 {
			into = []Word{Lit(".")}
		}
		u.Add(Writes, "extracts files")
		u.Writes = append(u.Writes, into...)
	}
	if a.Has("--delete") {
		u.Add(Destroys, "tar removes members from the archive")
	}
	if a.Has("--create", "--append", "--update", "--compare") {
		u.Add(ReadsTree, "tar reads all files below a directory")
		u.Reads = append(append(u.Reads, a.Values("dir")...), a.Values("member")...)
	}
}

// tarActions are the actions of a checkpoint that say something or wait.
var tarActions = WordSet("bell dot echo sleep totals ttyout wait")

// tarAction judges an action of a checkpoint: exec=COMMAND runs in a shell.
func tarAction(w Word, u *Use) {
	name, _, _ := strings.Cut(w.Text, "=")
	command, runs := strings.CutPrefix(w.Text, "exec=")
	switch {
	case !w.Static:
		u.Unknown("has an action that is not known", w)
	case runs:
		w.Text = command
		u.Add(RunsCode, "runs `"+command+"` in a shell")
		u.Runs = append(u.Runs, Command{Shell: &w})
		u.knownCodeRuns++ // it is in Runs
	case !tarActions[name]:
		u.Unknown("has an action that toolhost does not know", w)
	}
}

// tarArchive: a name with a colon before any slash is a file of another host.
func tarArchive(w Word, changes, local bool, u *Use) {
	colon, slash := strings.IndexByte(w.Text, ':'), strings.IndexByte(w.Text, '/')
	switch {
	case local:
	case colon >= 0 && (slash < 0 || colon < slash):
		u.Hosts = append(u.Hosts, Word{Text: w.Text[:colon], Static: true, Line: w.Line, Column: w.Column})
		u.Add(Reaches, "tar asks another host for the archive "+spelled(w))
		if changes {
			u.Add(Writes, "tar changes an archive of another host")
		}
		return
	case !w.Static && slash < 0:
		u.Add(Reaches, "tar may ask another host for the archive "+spelled(w))
	}
	switch {
	case w.Static && w.Text == "-":
	case changes:
		u.Writes = append(u.Writes, w)
	default:
		u.Reads = append(u.Reads, w)
	}
}

// judgeUnzip: -Z at the beginning makes it zipinfo. Otherwise it extracts unless one of the letters says what else.
func judgeUnzip(a *Args, u *Use) {
	judgeZipinfo(a, u)
	if len(a.Argv) > 1 && a.Argv[1].Static && strings.HasPrefix(a.Argv[1].Text, "-Z") {
		return
	}
	if a.Has("-T") {
		u.Add(Writes, "unzip -T changes the time of the archive")
		u.Writes = append(u.Writes, a.Values("archive")...)
	}
	foreign := a.Has("-Z", "-1", "-2", "-s", "-m")
	shows := a.Has("-l", "-p", "-c", "-t", "-v", "-z")
	if foreign {
		u.Unknown("unzip: the letters are not known together", a.Argv[0])
	}
	if shows || len(a.Operands) == 0 {
		return
	}
	u.Add(Writes, "extracts files")
	into := false
	for i, w := range a.Operands {
		if w.Static && w.Text == "-d" && i+1 < len(a.Operands) {
			u.Writes, into = append(u.Writes, a.Operands[i+1]), true
		}
	}
	if !into && len(a.Values("file")) == 0 {
		u.Writes = append(u.Writes, Lit("."))
	}
}

// judgeZipinfo: the name of the archive may be a pattern of its own.
func judgeZipinfo(a *Args, u *Use) {
	for _, w := range a.Values("archive") {
		u.Reads = append(u.Reads, w)
		if w.Static && strings.ContainsAny(w.Text, "*?[") {
			u.Add(ReadsElsewhere, "the name of the archive is a pattern: "+w.Text)
		}
	}
}
