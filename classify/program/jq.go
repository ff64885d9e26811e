package program

import "strings"

// The options of jq, by how many words follow them.
var (
	jqAlone = WordSet(`--ascii-output --binary --build-configuration --color-output --compact-output --debug-dump-disasm
	--debug-trace --debug-trace=all --exit-status --help --join-output --monochrome-output --null-input --raw-input
	--raw-output --raw-output0 --seq --slurp --sort-keys --stream --stream-errors --strip-comments --tab --unbuffered
	--version --yaml-input --yaml-output`)
	jqOne = WordSet("--indent --library-path")
	jqTwo = WordSet("--arg --argjson")
)

// jqLetters are the options of one letter, as far as they are understood in groups.
const jqLetters = "abcehjnrsACMRSV"

// jqWords is the state of judgeJq.
type jqWords struct {
	words        []Word // that were not looked at yet
	use          *Use
	hasFilter    bool
	filterInFile bool
	onlyTexts    bool // after --args and --jsonargs
	onlyOperands bool // after --
}

// judgeJq finds the files that jq reads; it has no other effect. An unknown word makes the files unknown.
func judgeJq(a *Args, u *Use) {
	j := &jqWords{words: a.Operands, use: u}
	for _, w := range j.words {
		j.filterInFile = j.filterInFile || w.Static && (w.Text == "-f" || w.Text == "--from-file")
	}
	for len(j.words) > 0 {
		w := j.words[0]
		j.words = j.words[1:]
		j.word(w)
	}
}

func (j *jqWords) word(w Word) {
	switch {
	case !w.Static:
		j.operand(w)
	case w.Text == "--" && !j.onlyOperands:
		j.onlyOperands = true
	case j.onlyOperands || len(w.Text) < 2 || w.Text[0] != '-':
		j.operand(w)
	case strings.HasPrefix(w.Text, "--"):
		j.long(w)
	default:
		j.short(w)
	}
}

func (j *jqWords) long(w Word) {
	switch {
	case w.Text == "--args" || w.Text == "--jsonargs":
		j.onlyTexts = true
	case w.Text == "--from-file":
	case w.Text == "--rawfile" || w.Text == "--slurpfile" || w.Text == "--argfile":
		j.take()
		j.read(j.take())
	case jqTwo[w.Text]:
		j.take()
		j.take()
	case jqOne[w.Text]:
		j.take()
	case !jqAlone[w.Text]:
		j.use.Add(ReadsElsewhere, "jq: what "+w.Text+" reads is not known")
	}
}

func (j *jqWords) short(w Word) {
	switch {
	case w.Text == "-f":
	case w.Text == "-L":
		j.take()
		j.use.Add(ReadsElsewhere, "jq: which modules it reads is not known")
	case strings.HasPrefix(w.Text, "-L"):
		j.use.Add(ReadsElsewhere, "jq: which modules it reads is not known")
	case strings.Trim(w.Text[1:], jqLetters) != "":
		j.use.Add(ReadsElsewhere, "jq: what "+w.Text+" reads is not known")
	}
}

func (j *jqWords) take() Word {
	if len(j.words) == 0 {
		return Word{Static: true}
	}
	w := j.words[0]
	j.words = j.words[1:]
	return w
}

// operand takes the filter first. With --from-file, it is the name of a file that holds it.
func (j *jqWords) operand(w Word) {
	switch {
	case !j.hasFilter && j.filterInFile:
		j.hasFilter = true
		j.read(w)
		j.use.Add(ReadsElsewhere, "jq: the filter in a file may import others")
	case !j.hasFilter:
		j.hasFilter = true
		if strings.Contains(w.Text, "infinite") || strings.Contains(w.Text, "repeat") {
			j.use.Add(LongRunning, "jq: the filter may not end")
			j.use.unproved("jq: the filter's values may take memory without end", w)
		}
		if jqImports(w) {
			j.use.Add(ReadsElsewhere, "jq: the filter may import files")
		}
		if w.Many && !w.Static {
			j.use.Add(ReadsElsewhere, "jq: which words are files is not known")
		}
	case !j.onlyTexts:
		j.read(w)
	}
}

func (j *jqWords) read(w Word) {
	if !w.Static || w.Text != "" && w.Text != "-" {
		j.use.Reads = append(j.use.Reads, w)
	}
}

// jqImports reports whether a filter may import modules or data. Only its first words can, but where a comment before
// them ends depends on the version.
func jqImports(filter Word) bool {
	begins := strings.TrimLeft(filter.Text, " \t\r\n")
	open := !filter.Static && (begins == "" || begins[0] == '#')
	for _, word := range []string{"import", "include", "module"} {
		open = open || strings.Contains(filter.Text, word) || !filter.Static && strings.HasPrefix(word, begins)
	}
	return open
}
