// Package program describes programs by data: their options, the effect of each
// option, and their operands. Anything missing in a description is not understood, and is unsafe.
//
// A description is a [Spec]. The files of the directory tables have all of them:
//
//	# Comments stand before their subject.
//	md5sum sha1sum sha256sum
//		is abbreviates harmless
//		operands read*
//		-b,--binary --tag -t,--text -z,--zero -c,--check!reads_elsewhere --ignore-missing
//		--quiet --status --strict -w,--warn --help --version
//
// The first line has the names. The properties stand a tab further in, one a line, and an empty line ends the entry:
//
//	-a --all           options; they may take several lines
//	operands KINDS     Spec.Operands, and likewise effects, locks, carries
//	is WORDS           abbreviates, ungrouped, inorder, harmless, raw, exact, partial, loses, passes: the fields of Spec with these names;
//	                   any: its effects say all that matters, whatever its words are
//	asks WORDS         of a raw one: one of these words alone is a question, and the program does nothing
//	judge NAME         Spec.Judge, by its name in registry.go
//	because TEXT       a Judge that only explains the effects
//	gitfiles NAMES     a Judge that only names files below the git directory that are written
//	also NAMES         more names
//	like NAME          the properties of "define NAME", a part that several programs have in common
//	sub NAMES          a subcommand, which is described a further tab in
//
// Options are written in a small language, one token an option:
//
//	-a                 an option without a value; options of one letter may be grouped unless it is ungrouped
//	--all              the same, long; a unique beginning counts if it abbreviates
//	-a,--all           two spellings of one option
//	-n,--lines:count   an option with a value: the next word, or the rest of this one (-n5, --lines=5)
//	--color?:choice    a value only in the same word (--color, --color=auto; for a letter: -i, -iSUFFIX)
//	-num               the form -5, -20
//
// and the kinds of value are
//
//	read    the path of a file or directory that is read; - is stdin
//	look    the path of one of which no more is read than name and attributes
//	write   the path of a file that is made or changed; - and /dev/stdout are not
//	file    the same where - is the name of a file, as in sort -o - and mkdir -
//	host    a host or URL that is reached
//	run     a program, or a command line for the shell, that is run
//	script  text in the program's own language, judged by Spec.Judge
//	count, date, choice, match, label, id, ref, away
//	        no path, and the kind says why: see nameless
//	NAME    anything else: kept for Spec.Judge under that name
//
// After the kind, ! and words say more of the use as a whole: -f,--follow!long_running, -i?:label!writes, --watch!long_running,interactive.
// The words are the names of [Effect].
//
// Operands are described as a list of kinds, one for each, the last with * for all that follow or ? if it may be
// absent: "read*", "script read*", "read write?", "match*", "command" (the rest is a command line), "" (none allowed).
//
// With subcommands, options are those before the subcommand. A name of a subcommand may look like an option
// ("--version"). Operands is then "", or "sub?" where the program may be used without a subcommand.
//
// The lenient analysis, which looks at words that may not be understood, uses the same description: command operands and options of the
// kind run tell it where commands are, Spec.Carries where other code is, effects and Spec.Loses which words destroy. A Partial
// description has only these.
//
// The word -- ends the options, except in an Ungrouped description that does not list it: find goes on after it.
package program

import (
	"slices"
	"strings"
)

// Word is one word of a command line after quote removal, as far as it can be known.
type Word struct {
	Text   string // the whole word if Static, else what it surely begins with
	Static bool   // nothing is expanded in it
	Glob   bool   // not static because of a glob alone: it becomes names that begin with Text, or itself
	Many   bool   // not static, and may become no word or several; a glob always is
	Local  bool   // not static, Text is empty, and its expansion begins with no slash
	Number bool   // not static; expands to nothing or to one decimal integer
	Maybe  bool   // in Reads: a path only if there is such a file, else something else
	Top    bool   // in Reads: relative to the top of the work tree of git
	Makes  bool   // in Writes: a directory is made there
	Lines  bool   // not static; expands to nothing or to decimal integers in lines of their own
	// Unquoted says that it is a variable that holds the name of a file, and stands without quotes.
	Unquoted bool
	// Name says that it expands to names of files alone, and none begins with a dash. A caller that uses facts that depend on it
	// must check the disk, see agenttool.Glob.
	Name bool
	// Token says that it begins with the name of a commit, a date or the like, without a slash or a dash in front, and that the
	// rest makes no path of it: HASH..HEAD. It may be empty.
	Token bool

	Line   int // where it stands, both from 1
	Column int

	shape *Shape // nil: of no shape that is known
}

// Shape is further knowledge about a word that is not static. It is kept apart because few words have any.
type Shape struct {
	// Pattern matches every name that the word can expand to, if those are names of files alone; "" if it is unknown. It is matched
	// component by component. In it * stands for any bytes without a slash, \ quotes the next byte, and a whole component ** stands
	// for nested directories, or none, as find visits them.
	Pattern string
	// Without lists bytes that none of these names may contain, since they would split or change a printed name.
	Without string
	// Flat says that none of these names may be that of a directory, whose content would be printed.
	Flat bool
	// Sample is the whole word with 0 for each unknown decimal integer; each may be missing, or be several in lines of their own.
	// It is "" if anything else is unknown.
	Sample string
}

// Shape returns the further knowledge about a word.
func (w *Word) Shape() Shape {
	if w.shape == nil {
		return Shape{}
	}
	return *w.shape
}

// Shaped returns the word with another shape.
func (w Word) Shaped(s Shape) Word {
	w.shape = nil
	if s != (Shape{}) {
		w.shape = &s
	}
	return w
}

// matching returns the word with a pattern alone.
func (w Word) matching(pattern string) Word { return w.Shaped(Shape{Pattern: pattern}) }

// Lit returns a static word at no place, for tests and tables.
func Lit(text string) Word { return Word{Text: text, Static: true} }

// HomeWrite is a directory of the home that a program writes.
type HomeWrite struct {
	Dir   string   // relative to the home
	Moved []string // variables that name another one
}

// Effect names what a use may do besides reading and writing the paths that it names.
type Effect string

// The effects. Without any, and without writes, a use is read-only.
const (
	Writes          Effect = "writes"           // changes something, named or not; old content may be lost
	GitConfig       Effect = "git_config"       // changes the configuration of a git repository
	GitUpstream     Effect = "git_upstream"     // notes in the configuration of a git repository which branches its branches follow
	GitGlobal       Effect = "git_global"       // changes git's configuration of the person
	Destroys        Effect = "destroys"         // removes or overwrites what may not come back
	Reaches         Effect = "reaches"          // goes beyond this machine, or to a daemon that may
	LongRunning     Effect = "long_running"     // does not end by itself
	Interactive     Effect = "interactive"      // waits for a terminal
	Pages           Effect = "pages"            // waits for a terminal if it writes to one
	ObservesHost    Effect = "observes_host"    // looks at processes, memory, sockets, users of the machine
	NotConcurrent   Effect = "not_concurrent"   // is not safe beside others although it is read-only (a cache, an index)
	WritesElsewhere Effect = "writes_elsewhere" // makes or changes files beside those that it names
	ReadsElsewhere  Effect = "reads_elsewhere"  // reads user content at paths that it does not name
	ReadsTree       Effect = "reads_tree"       // reads below the directories that it names, or the working directory
	RunsCode        Effect = "runs_code"        // runs code that is not among its words (a build, a plugin, a script)
	RunsHooks       Effect = "runs_hooks"       // runs the hooks of the repository, if it has any
	Adds            Effect = "adds"             // its writes replace nothing, or the old content can be restored
	HostsUnknown    Effect = "hosts_unknown"    // reaches hosts that its words do not name: those of its configuration
	MayReach        Effect = "may_reach"        // asks for the names of hosts, where it can
)

// Args is a command line taken apart by a Spec.
type Args struct {
	Argv     []Word        // all of it, the program's name first
	Options  []GivenOption // in order
	Operands []Word        // in order
	Kinds    []string      // of the operands, in order

	values []Word   // of options and operands, those that name no file left out; nil without a Judge
	kinds  []string // of each of them
}

// Values returns the values and operands of a kind, in order, for a Judge.
func (a *Args) Values(kind string) []Word {
	first := slices.Index(a.kinds, kind)
	if first < 0 {
		return nil
	}
	end := first + 1
	for end < len(a.kinds) && a.kinds[end] == kind {
		end++
	}
	list := a.values[first:end:end]
	for i, k := range a.kinds[end:] {
		if k == kind {
			list = append(list, a.values[end+i])
		}
	}
	return list
}

// GivenOption is an option as it was given.
type GivenOption struct {
	Name  string // the last of its spellings in the Spec: --lines, or -n if there is none
	Value Word
	Has   bool // there is a Value
}

// Has reports whether any of the options was given, by the last of their spellings.
func (a *Args) Has(names ...string) bool {
	return slices.ContainsFunc(a.Options, func(o GivenOption) bool { return slices.Contains(names, o.Name) })
}

// Use describes one run of a program, as far as it is understood.
type Use struct {
	Understood bool     // every word was; if not, nothing below is the whole truth
	Effects    []Effect // the effects of the run
	Reads      []Word
	Looks      []Word // of these no more is read than name and attributes
	Writes     []Word
	Follows    []Word // configurations of git in which it notes which branches its branches follow, and no more
	Hosts      []Word
	Runs       []Command // commands that it runs in turn
	Dir        *Word     // where that starts; nil: where it starts itself
	Locks      []string  // its locks, as in Spec
	Sub        string    // the subcommands, as they stand behind the program's name
	Reasons    []Reason

	// Passes says that all it does is to run the commands in Runs, see Spec.Passes. Given are the variables that it sets for them.
	Passes    bool
	Variables []GivenVariable

	HomeWrites []HomeWrite // directories of the home that it writes

	Remotes []GitRemote // other repositories that git reaches, which its configuration names

	Git *GitUse // of git alone: where it looks for its repository

	gitFiles      []string // written, below the git directory; git itself says where that is
	wordsUnknown  bool     // words are not understood, which may name code
	rawWords      bool     // no description knows what its words do
	knownCodeRuns int      // how many of the effects RunsCode are of code that the project names, or of commands in Runs
}

// GivenVariable is a variable that a program sets for the commands that it runs.
type GivenVariable struct {
	Name  string
	Value Word
}

// GitRemote is a repository by the name that the configuration gives it.
type GitRemote struct {
	Name string // "": the usual one of the branch
	Push bool   // something is sent there
}

// GitUse is where a run of git looks for its repository, and its subcommand.
type GitUse struct {
	Dir    Word   // where -C leads; "": nowhere
	GitDir Word   // the value of --git-dir; "": none
	Verb   string // the subcommand; "" if there is none
}

// NamesCode says why the words of the use may name code or programs that are neither in Runs nor named by the project, "" if they do not.
func (u *Use) NamesCode() string {
	runs := 0
	for _, e := range u.Effects {
		if e == RunsCode {
			runs++
		}
	}
	switch {
	case u.wordsUnknown:
		return u.lastReason(factOf[Writes], "read_only")
	case runs > u.knownCodeRuns:
		return u.lastReason(factOf[RunsCode])
	case u.rawWords && runs+len(u.Writes) > 0, u.rawWords && slices.ContainsFunc(u.Effects, changes):
		return notUnderstood
	}
	return ""
}

// Lost says why words are not understood, so that they may name code; "" if they are.
func (u *Use) Lost() string {
	if !u.wordsUnknown {
		return ""
	}
	return u.lastReason("read_only")
}

// OnlyReads reports whether the use is proved to change and run nothing.
func (u *Use) OnlyReads() bool {
	return u.Understood && len(u.Writes)+len(u.Follows) == 0 && len(u.Runs) == 0 &&
		!slices.ContainsFunc(u.Effects, func(e Effect) bool {
			return changes(e) && e != Reaches || e == RunsCode || e == GitConfig || e == GitUpstream || e == GitGlobal
		})
}

// lastReason returns the last reason for one of some facts, from the Judge or the parser.
func (u *Use) lastReason(facts ...string) string {
	for _, r := range slices.Backward(u.Reasons) {
		if r.Text != "" && slices.Contains(facts, r.Fact) {
			return r.Text
		}
	}
	return notUnderstood
}

const notUnderstood = "has words that toolhost does not understand"

func changes(e Effect) bool { return e == Writes || e == Destroys || e == LongRunning || e == Reaches }

// Add adds an effect with its reason.
func (u *Use) Add(e Effect, reason string) {
	u.Effects = append(u.Effects, e)
	u.Reasons = append(u.Reasons, Reason{Fact: factOf[e], Text: reason})
}

// Unknown says that the use is not understood, and why.
func (u *Use) Unknown(reason string, at Word) {
	u.wordsUnknown = true
	u.unproved(reason, at)
}

// unproved says that it is not known what the use reads or changes, although its words name no code that is not in Runs.
func (u *Use) unproved(reason string, at Word) {
	u.Understood = false
	u.Reasons = append(u.Reasons, Reason{Fact: "read_only", Text: reason, Line: at.Line, Column: at.Column}) // of all facts the first
}

// reads adds files that are read; - is standard input. Some programs take file:///PATH for a path.
func (u *Use) reads(files []Word) {
	for _, w := range files {
		if w.Static && w.Text == "-" {
			continue
		}
		u.Reads = append(u.Reads, w)
		if slash := strings.IndexByte(strings.TrimPrefix(w.Text, "file://"), '/'); slash >= 0 && strings.HasPrefix(w.Text, "file://") {
			u.Reads = append(u.Reads, part(w, len("file://")+slash))
		}
	}
}

// Command is a command line that a program runs.
type Command struct {
	Argv   []Word // the words; nil if it is Shell
	Shell  *Word  // text for a shell: sh -c TEXT
	Joined bool   // ... made of all words from that one on, with a blank between them
	Params []Word // ... with these as $1, $2, …
	Bash   bool   // that shell is bash; if not, it is sh, or the user's login shell
	More   bool   // unknown words may follow (xargs, find -exec with {} only in a word of its own is not More)
	Remote bool   // it runs on another machine or in a container: its paths and processes are not those of this machine
}

// Has reports whether an effect was found.
func (u *Use) Has(e Effect) bool { return slices.Contains(u.Effects, e) }

// absorb adds the findings of another use.
func (u *Use) absorb(v *Use) {
	u.Understood = u.Understood && v.Understood
	u.wordsUnknown, u.rawWords, u.knownCodeRuns = u.wordsUnknown || v.wordsUnknown, u.rawWords || v.rawWords, u.knownCodeRuns+v.knownCodeRuns
	u.Effects = append(u.Effects, v.Effects...)
	u.Reads, u.Looks = append(u.Reads, v.Reads...), append(u.Looks, v.Looks...)
	u.Writes, u.Follows = append(u.Writes, v.Writes...), append(u.Follows, v.Follows...)
	u.Hosts, u.Remotes = append(u.Hosts, v.Hosts...), append(u.Remotes, v.Remotes...)
	u.Runs = append(u.Runs, v.Runs...)
	u.Locks = append(u.Locks, v.Locks...)
	u.HomeWrites = append(u.HomeWrites, v.HomeWrites...)
	u.gitFiles = append(u.gitFiles, v.gitFiles...)
	u.Reasons = append(u.Reasons, v.Reasons...)
}
