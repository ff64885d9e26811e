package prompt

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/json"
)

// How much a sentence about a call holds.
const (
	maxDeeds = 3   // of the commands of a line
	maxNames = 3   // of the paths of a command
	maxDeed  = 240 // characters
)

// The function what describes the call in one line.
func what(p Prompt) string {
	f := p.Facts
	switch {
	case p.Decision.Reason != nil && p.Decision.Reason.Type == "sandbox_override":
		return cut.Characters(p.Decision.Reason.Detail, maxDeed)
	case len(f.Parts) > 0 || f.Dir != nil || p.Tool == "shell":
		return line{p.Facts, p.Input}.deeds()
	case len(f.Writes) > 0:
		text := changeIn(p).of(f.Writes[0].Spelling)
		if others := len(f.Writes) - 1; others > 0 {
			text += " and " + count.Of(others, "other path")
		}
		return text
	case len(f.Reads) > 0 && f.ReadOnly == agenttool.Yes:
		return "reads " + named(f.Reads)
	}
	return "calls the tool " + p.Tool + " with the input below"
}

// line is a command line with its facts.
type line struct {
	facts *agenttool.Facts
	input json.RawMessage
}

// deed is the effect of one command of a line.
type deed struct {
	text  string
	grave int // the gravest first
}

// deeds describes the commands of the line, but for those that only read.
func (l line) deeds() string {
	f := l.facts
	if len(f.Parts) == 0 && len(f.Writes) == 0 {
		if f.Destructive == agenttool.Yes {
			return "runs a command line that is not understood, and destroys something"
		}
		return "runs a command line that is not understood"
	}
	var all []deed
	add := func(text string, grave int) {
		if text != "" && !slices.ContainsFunc(all, func(d deed) bool { return d.text == text }) {
			all = append(all, deed{text, grave})
		}
	}
	from, to := l.piped()
	for i := range f.Parts {
		switch {
		case f.Parts[i].WrappedBy >= 0 || i == from:
		case i == to:
			add(fmt.Sprintf("downloads a script%s and runs it", source(f.Hosts)), 4)
		default:
			add(l.deed(i, 0), gravity(&f.Parts[i]))
		}
	}
	if paths := written(f.Writes, 0); len(paths) > 0 {
		add(l.redirects()+named(paths), 1)
	}
	if f.PartsComplete != agenttool.Yes {
		add("more that is not understood", -1)
	}
	if len(all) == 0 {
		return "only reads, as far as is known"
	}
	slices.SortStableFunc(all, func(a, b deed) int { return cmp.Compare(b.grave, a.grave) })
	var texts []string
	for _, d := range all[:min(len(all), maxDeeds)] {
		texts = append(texts, d.text)
	}
	if more := len(all) - maxDeeds; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return cut.Characters(strings.Join(texts, "; "), maxDeed)
}

func source(hosts []string) string {
	if len(hosts) == 0 {
		return ""
	}
	return " from " + strings.Join(hosts, ", ")
}

// gravity orders the commands of a line.
func gravity(part *agenttool.Part) int {
	switch {
	case part.Destructive == agenttool.Yes:
		return 5
	case part.MayRun != "":
		return 3
	case part.OpenWorld == agenttool.Yes:
		return 2
	}
	return 1
}

// deed describes the i-th command, with those that it runs; "" if they only read.
func (l line) deed(i, depth int) string {
	part := &l.facts.Parts[i]
	var inner []string
	if depth < 3 {
		for j := i + 1; j < len(l.facts.Parts); j++ {
			if l.facts.Parts[j].WrappedBy == i {
				if text := l.deed(j, depth+1); text != "" {
					inner = append(inner, text)
				}
			}
		}
	}
	own := l.own(i)
	switch {
	case len(inner) == 0:
		return own
	case own == "" || len(part.Argv) > 0 && shells[path.Base(part.Argv[0])]:
		return strings.Join(inner, ", ")
	case len(own) > maxSubject: // the commands that it runs matter more
		return strings.Join(inner, ", ") + ": " + own
	}
	return own + ": " + strings.Join(inner, ", ")
}

// shells only run other commands.
var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "env": true, "time": true, "nohup": true, "xargs": true}

// own describes a command without those that it runs.
func (l line) own(i int) string {
	part := &l.facts.Parts[i]
	if part.ReadOnly == agenttool.Yes && part.OpenWorld == agenttool.No || len(part.Argv) == 0 {
		return ""
	}
	paths := written(l.facts.Writes, i+1)
	if known := cmp.Or(wellKnown(part, paths), l.removal(part)); known != "" {
		return known
	}
	if part.ReadOnly == agenttool.Yes && part.OpenWorld == agenttool.Yes && len(l.facts.Hosts) > 0 {
		return "fetches from " + strings.Join(l.facts.Hosts, ", ")
	}
	subject, verbs := "", []string(nil)
	for _, r := range part.Reasons {
		of, does := cutSubject(r.Text)
		if strings.HasPrefix(does, "writes ") {
			continue // its paths are named below
		}
		subject = cmp.Or(subject, of)
		if !slices.Contains(verbs, does) {
			verbs = append(verbs, does)
		}
	}
	switch {
	case len(paths) > 0 && len(verbs) == 1 && verbs[0] == "rewrites files in place":
		return "rewrites " + named(paths) + " in place"
	case len(paths) > 0:
		verbs = append(verbs, "writes "+named(paths))
	}
	if len(verbs) == 0 {
		return "runs " + short(part.Argv)
	}
	if subject == "" {
		return strings.Join(verbs, ", ")
	}
	if all := short(part.Argv); len(all) <= maxSubject {
		subject = all
	}
	return cut.Characters(subject, maxSubject) + " " + strings.Join(verbs, ", ")
}

// removal describes a script that removes files, as far as its words tell; "" for all others.
func (l line) removal(part *agenttool.Part) string {
	for _, r := range l.facts.Reasons {
		if rest, found := strings.CutPrefix(r.Text, "the script removes files: "); found && r.Line == part.Line && r.Column == part.Column {
			return "runs " + path.Base(part.Argv[0]) + " code that removes files with " + rest
		}
	}
	return ""
}

// maxSubject is about how many characters name a command in a sentence.
const maxSubject = 32

// short is a command in one line.
func short(argv []string) string { return cut.Characters(strings.Join(argv, " "), maxDeed/2) }

// written are the paths that a command writes, by its number from 1; 0 is the shell itself.
func written(paths []agenttool.Path, by int) (own []agenttool.Path) {
	for _, p := range paths {
		if p.By == by {
			own = append(own, p)
		}
	}
	return own
}

// named lists paths. Many are named by their number, and by the directory that holds them all.
func named(paths []agenttool.Path) string {
	if len(paths) > maxNames {
		text := count.Of(len(paths), "path")
		if dir := common(paths); dir != "" {
			text += " below " + dir
		}
		return text
	}
	var names []string
	for _, p := range paths {
		names = append(names, p.Spelling)
	}
	return strings.Join(names, ", ")
}

// common is the directory that all paths name, as they spell it; "" if there is none.
func common(paths []agenttool.Path) string {
	dir := path.Dir(paths[0].Spelling)
	for _, p := range paths[1:] {
		for !agenttool.Within(dir, path.Dir(p.Spelling)) {
			if dir == "." || dir == "/" {
				return ""
			}
			dir = path.Dir(dir)
		}
	}
	if dir == "." || dir == "/" {
		return ""
	}
	return dir + "/"
}

// redirects says whether all redirections of the line append, or not. It does not look into other shells that the line starts.
func (l line) redirects() string {
	file := l.parsed()
	if file == nil || slices.ContainsFunc(l.facts.Parts, func(p agenttool.Part) bool { return p.WrappedBy >= 0 }) {
		return "writes "
	}
	appends := true
	syntax.Walk(file, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok {
			appends = appends && slices.Contains(harmless, r.Op)
		}
		return true
	})
	if appends {
		return "appends to "
	}
	return "writes "
}

// harmless are the redirections that take nothing out of a file.
var harmless = []syntax.RedirOperator{syntax.AppOut, syntax.AppAll, syntax.RdrIn, syntax.DplIn, syntax.DplOut, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc}

// parsed is the command; nil: it cannot be parsed.
func (l line) parsed() *syntax.File {
	var input struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(l.input, &input) != nil {
		return nil
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(input.Command), "")
	if err != nil {
		return nil
	}
	return file
}

// piped returns the command that reaches out and the one that runs its output as code, if a pipe leads from one to the other; else -1.
func (l line) piped() (from, to int) {
	parts := l.facts.Parts
	to = slices.IndexFunc(parts, func(p agenttool.Part) bool {
		return p.WrappedBy < 0 && strings.Contains(p.MayRun, "runs its standard input as code")
	})
	file := l.parsed()
	if to < 0 || file == nil {
		return -1, -1
	}
	from = -1
	syntax.Walk(file, func(n syntax.Node) bool {
		pipe, ok := n.(*syntax.BinaryCmd)
		if !ok || pipe.Op != syntax.Pipe && pipe.Op != syntax.PipeAll || !stands(parts[to], pipe.Y) {
			return true
		}
		if i := slices.IndexFunc(parts, func(p agenttool.Part) bool {
			return p.OpenWorld == agenttool.Yes && p.ReadOnly == agenttool.Yes && stands(p, pipe.X)
		}); i >= 0 {
			from = i
		}
		return true
	})
	if from < 0 {
		to = -1
	}
	return from, to
}

// stands reports whether a part is a command of a statement.
func stands(p agenttool.Part, in *syntax.Stmt) bool {
	at, begin, end := [2]int{p.Line, p.Column}, position(in.Pos()), position(in.End())
	return slices.Compare(at[:], begin[:]) >= 0 && slices.Compare(at[:], end[:]) < 0
}

func position(p syntax.Pos) [2]int { return [2]int{int(p.Line()), int(p.Col())} }

// wellKnown describes the commands that people see most, in plainer words than the classifier; "" for all others.
func wellKnown(part *agenttool.Part, paths []agenttool.Path) string {
	argv, name := part.Argv, path.Base(part.Argv[0])
	operands := slices.DeleteFunc(slices.Clone(argv[1:]), func(word string) bool { return strings.HasPrefix(word, "-") })
	below := ""
	if slices.ContainsFunc(argv[1:], recursive) {
		below = " and all below"
	}
	switch {
	case !part.Exact:
	case (name == "rm" || name == "rmdir" || name == "unlink" || name == "shred") && len(paths) > 0:
		return "deletes " + named(paths) + below
	case name == "rm" && len(operands) > 0:
		return "deletes " + strings.Join(operands, ", ") + below
	case name == "sudo" && len(operands) > 0 && argv[1] == operands[0]:
		return "as root"
	case name == "sudo" || name == "doas":
		return "as another user"
	case len(operands) > 1 && slices.Contains(installers[name], operands[0]) && plainly(argv[1:]):
		return "installs " + cut.Characters(strings.Join(operands[1:], ", "), maxDeed/2) + ", and may run code of it"
	case name == "mkdir" && len(paths) > 0:
		return "makes the directory " + named(paths)
	case (name == "mv" || name == "cp") && len(operands) == 2 && len(argv) < 5 && len(paths) > 0:
		return map[string]string{"mv": "moves ", "cp": "copies "}[name] + operands[0] + " to " + named(paths[len(paths)-1:])
	case name == "git" && len(operands) > 0 && argv[1] == operands[0]:
		return gitDoes(argv[1:], operands[1:])
	}
	return ""
}

// installers are programs that install packages, and the words by which they do.
var installers = map[string][]string{
	"apt-get": {"install"}, "apt": {"install"}, "dnf": {"install"}, "yum": {"install"}, "apk": {"add"}, "brew": {"install"},
	"npm": {"install", "i", "add"}, "pnpm": {"add"}, "yarn": {"add"}, "pip": {"install"}, "pip3": {"install"}, "gem": {"install"}, "cargo": {"install", "add"},
}

// plainly reports whether the words of an installer do no more than a sentence about its packages says: apt-get install NAME- removes one.
func plainly(words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool {
		return strings.HasSuffix(word, "-") || strings.HasPrefix(word, "-") && !slices.Contains([]string{"-y", "--yes", "-q", "-qq", "--quiet", "-D", "--save-dev"}, word)
	})
}

// recursive reports whether a word is the option that makes rm go below directories.
func recursive(word string) bool {
	return word == "--recursive" || strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.ContainsAny(word, "rR")
}

// gitDoes describes the subcommands of git that people see most.
func gitDoes(words, operands []string) string {
	forced := slices.ContainsFunc(words, func(word string) bool {
		return strings.HasPrefix(word, "--force") || word == "-f" || strings.HasPrefix(word, "+")
	})
	switch words[0] {
	case "commit":
		return "makes a commit"
	case "push":
		text := "pushes"
		if len(operands) > 1 {
			text += " " + strings.Join(operands[1:], ", ")
		}
		if len(operands) > 0 {
			text += " to " + operands[0]
		}
		if forced {
			text += ", and overwrites what is there"
		}
		return text
	case "reset":
		if hard := slices.Contains(words, "--hard"); hard && len(operands) == 1 && operands[0] != "HEAD" {
			return "moves the branch to " + operands[0] + ": changes that are not committed are lost"
		} else if hard {
			return "resets the work tree: changes that are not committed are lost"
		}
	}
	return ""
}
