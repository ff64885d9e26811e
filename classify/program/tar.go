package program

import "strings"

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
		u.project++ // it is in Runs
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
