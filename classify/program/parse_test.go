package program

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// words reads a command line for tests: ~x is a glob that begins with x, $x an unquoted expansion after x, "x a
// quoted one.
func words(line string) []Word {
	var argv []Word
	for i, text := range strings.Fields(line) {
		w := Word{Text: text, Static: true, Line: 1, Column: i + 1}
		switch {
		case strings.HasSuffix(text, "~"):
			w = Word{Text: strings.TrimSuffix(text, "~"), Glob: true, Many: true}
		case strings.HasSuffix(text, "$"):
			w = Word{Text: strings.TrimSuffix(text, "$"), Many: true}
		case strings.HasSuffix(text, `"`):
			w = Word{Text: strings.TrimSuffix(text, `"`)}
		}
		argv = append(argv, w)
	}
	return argv
}

func spell(list []Word) string {
	var b strings.Builder
	for _, w := range list {
		fmt.Fprintf(&b, "%s ", spelled(w))
	}
	return strings.TrimSpace(b.String())
}

func given(a *Args) string {
	var b strings.Builder
	for _, o := range a.Options {
		b.WriteString(o.Name)
		if o.Has {
			b.WriteString("=" + spelled(o.Value))
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

func judgeNothing(*Args, *Use) {}

var testSpecs = map[string]*Spec{
	"sort": {Names: "sort", Operands: "read*", Abbreviates: true,
		Options: "-r,--reverse -k,--key:label -o,--output:write --compress-program:run --color?:label -i?:label!writes -num"},
	"cat":  {Names: "cat", Operands: "read*", Options: "-n,--number --files0-from:read -f!long_running", Harmless: true},
	"uniq": {Names: "uniq", Operands: "read write?", Options: "-c -f:label"},
	"go":   {Names: "go", Ungrouped: true, InOrder: true, Operands: "label*", Options: "-json -run:label -o:write"},
	"find": {Names: "find", Ungrouped: true, Operands: "read*", Options: "-name:label -type:label"},
	"sed":  {Names: "sed", Operands: "script read*", Options: "-n -e:script", Judge: judgeNothing},
	"nice": {Names: "nice", InOrder: true, Operands: "command", Options: "-n:label"},
	"wait": {Names: "wait", InOrder: true, Operands: "label command", Options: "-s:label"},
	"git": {Names: "git", Options: "-C:dir --no-pager", Judge: judgeNothing, Sub: []*Spec{
		{Names: "status", Options: "-s,--short", Operands: "label*"},
		{Names: "--version"},
		{Names: "remote", Options: "-v", Operands: "sub?", Sub: []*Spec{{Names: "add", Operands: "label host", Effects: "writes"}}},
	}},
	"raw":  {Names: "raw", Raw: true, Judge: func(a *Args, u *Use) { u.Reads = a.Operands }},
	"date": {Names: "date", Operands: "label?", Options: "+x -u"},
	"odd":  {Names: "odd", Operands: "strange*"},
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, line              string
		unknown                 bool
		options, operands       string
		reads, writes, commands string
	}{
		{name: "letters and operands", line: "sort -r a b", options: "--reverse", operands: "a b", reads: "a b"},
		{name: "options after operands", line: "sort a -r", options: "--reverse", operands: "a", reads: "a"},
		{name: "group with a value", line: "sort -rk2 a", options: "--reverse --key=2", operands: "a", reads: "a"},
		{name: "value in the next word", line: "sort -k 2 a", options: "--key=2", operands: "a", reads: "a"},
		{name: "a value that looks like an option", line: "sort -k -o a", options: "--key=-o", operands: "a", reads: "a"},
		{name: "long with =", line: "sort --key=2", options: "--key=2"},
		{name: "long with empty value", line: "sort --key= a", options: "--key=", operands: "a", reads: "a"},
		{name: "long with a word", line: "sort --output f", options: "--output=f", writes: "f"},
		{name: "abbreviated", line: "sort --out=f", options: "--output=f", writes: "f"},
		{name: "ambiguous", line: "sort --co=f", unknown: true},
		{name: "abbreviation of dashes alone", line: "sort --=f", unknown: true},
		{name: "value for an option that has none", line: "sort --reverse=1", unknown: true},
		{name: "optional value needs its own word", line: "sort --color auto", options: "--color", operands: "auto", reads: "auto"},
		{name: "optional value", line: "sort --color=auto", options: "--color=auto"},
		{name: "optional value of a letter", line: "sort -i.bak", options: "-i=.bak"},
		{name: "missing value", line: "sort -k", unknown: true},
		{name: "unknown letter", line: "sort -rz a", unknown: true, operands: "a", reads: "a"},
		{name: "unknown long", line: "sort --frob", unknown: true},
		{name: "number", line: "sort -25", options: "-num=25"},
		{name: "-- ends options", line: "sort -- -r", operands: "-r", reads: "-r"},
		{name: "- is stdin", line: "sort -", operands: "-"},
		{name: "- as output is stdout", line: "sort -o -", options: "--output=-"},

		{name: "glob that cannot be an option", line: "sort src/~", operands: "src/…", reads: "src/…"},
		{name: "glob that may be an option", line: "sort ~", unknown: true, operands: "…", reads: "…"},
		{name: "glob after --", line: "sort -- ~", operands: "…", reads: "…"},
		{name: "quoted with a beginning", line: `sort a"`, operands: "a…", reads: "a…"},
		{name: "quoted without", line: `sort "`, unknown: true, operands: "…", reads: "…"},
		{name: "unquoted with a beginning may split", line: "sort a$", unknown: true, operands: "a…", reads: "a…"},
		{name: "quoted as a value", line: `sort -k " a`, options: "--key=…", operands: "a", reads: "a"},
		{name: "unquoted as a value", line: "sort -k $ a", unknown: true, options: "--key=…", operands: "a", reads: "a"},
		{name: "quoted after =", line: `sort --key="`, options: "--key=…"},
		{name: "unquoted after =", line: `sort --key=$`, unknown: true, operands: "--key=…", reads: "--key=…"},
		{name: "quoted output", line: `sort --output="`, options: "--output=…", writes: "…"},
		{name: "value that may be empty", line: `sort -k"`, unknown: true, operands: "-k…", reads: "-k…"},
		{name: "value that is not empty", line: `sort -k1"`, options: "--key=1…"},
		{name: "letters that may grow", line: `sort -r"`, unknown: true, operands: "-r…", reads: "-r…"},

		{name: "harmless takes anything", line: "cat $ a", operands: "… a", reads: "… … a"},
		{name: "but not an unknown option", line: "cat -q a", unknown: true, operands: "a", reads: "a"},

		{name: "second operand", line: "uniq a b", operands: "a b", reads: "a", writes: "b"},
		{name: "third operand", line: "uniq a b c", unknown: true, operands: "a b c", reads: "a", writes: "b"},
		{name: "a glob may be both", line: "uniq a~", operands: "a…", reads: "a…", writes: "a…"},
		{name: "what follows a glob may be either", line: "uniq a~ b", operands: "a… b", reads: "a… b", writes: "a… b"},
		{name: "glob as value moves the rest", line: "uniq -f a~ b", unknown: true, options: "-f=a…", operands: "b", reads: "b", writes: "b"},

		{name: "ungrouped", line: "go -json x", options: "-json", operands: "x"},
		{name: "ungrouped letters are no group", line: "find -nt x", unknown: true, operands: "x", reads: "x"},
		{name: "ungrouped with =", line: "go -run=x y -o z", options: "-run=x", operands: "y -o z"},
		{name: "ungrouped -- is not the end", line: "find -- . -delete", unknown: true, operands: ".", reads: "."},

		{name: "script", line: "sed -n p f", options: "-n", operands: "p f", reads: "f"},
		{name: "command", line: "nice -n 5 rm -rf x", options: "-n=5", operands: "rm -rf x", commands: "rm -rf x"},
		{name: "label before a command", line: "wait -s KILL 5 ls -l", options: "-s=KILL", operands: "5 ls -l", commands: "ls -l"},
		{name: "label that may be an option", line: `wait " ls`, unknown: true, operands: "… ls", commands: "ls"},
		{name: "dynamic command", line: `nice $ x`, unknown: true, operands: "… x", commands: "… x"},
		{name: "in order", line: `go x "`, operands: "x …"},

		{name: "subcommand", line: "git --no-pager status -s", options: "--short"},
		{name: "subcommand option before it", line: "git -s status", unknown: true},
		{name: "no subcommand", line: "git", unknown: true},
		{name: "unknown subcommand", line: "git frob", unknown: true},
		{name: "dynamic subcommand", line: `git "`, unknown: true},
		{name: "subcommand like an option", line: "git --version"},
		{name: "after --", line: "git -- status", unknown: true},
		{name: "absent subcommand", line: "git remote -v", options: "-v"},
		{name: "raw", line: "raw -a b", operands: "-a b", reads: "-a b"},
		{name: "plus", line: "date +x -u", options: "+x -u"},
		{name: "dynamic plus may be an option", line: `date +"`, unknown: true, operands: "+…"},
		{name: "nobody judges", line: "odd x", unknown: true, operands: "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			argv := words(tt.line)
			args, use := Parse(testSpecs[argv[0].Text], argv)
			var commands string
			for _, c := range use.Runs {
				commands += spell(c.Argv)
			}
			got := []string{given(args), spell(args.Operands), spell(use.Reads), spell(use.Writes), commands}
			want := []string{tt.options, tt.operands, tt.reads, tt.writes, tt.commands}
			if use.Understood == tt.unknown || !tt.unknown && !slices.Equal(got, want) ||
				tt.operands != "" && spell(args.Operands) != tt.operands || spell(use.Writes) != tt.writes {
				t.Errorf("%s:\n got understood %v, %q\nwant           %v, %q\n%v", tt.line, use.Understood, got, !tt.unknown, want, use.Reasons)
			}
		})
	}
}

func TestParseEffects(t *testing.T) {
	tests := []struct {
		name, line string
		want       []Effect
	}{
		{"of an option", "sort -i", []Effect{Writes}},
		{"of a subcommand", "git remote add x host", []Effect{Writes, Reaches}},
		{"of every option where a word is unknown", "cat $ $", []Effect{LongRunning}},
		{"none", "sort -r", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			argv := words(tt.line)
			_, use := Parse(testSpecs[argv[0].Text], argv)
			if !slices.Equal(use.Effects, tt.want) || len(use.Effects) > 0 && len(use.AllReasons()) == 0 {
				t.Errorf("got %v %v, want %v", use.Effects, use.Reasons, tt.want)
			}
		})
	}
}

// faults returns what is wrong with a description and those of its subcommands.
func faults(s *Spec) []string {
	var all []string
	for _, f := range s.table().faults {
		all = append(all, s.Names+": "+f)
	}
	for _, sub := range s.Sub {
		for _, f := range faults(sub) {
			all = append(all, s.Names+" "+f)
		}
	}
	return all
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name string
		spec Spec
		want string
	}{
		{"no dash", Spec{Options: "all"}, "want a name"},
		{"twice", Spec{Options: "-a,--all -a"}, "twice"},
		{"effect", Spec{Options: "-a!explodes"}, "explodes"},
		{"effects", Spec{Effects: "explodes"}, "explodes"},
		{"empty kind", Spec{Options: "-a:"}, "no kind"},
		{"unjudged", Spec{Options: "-a:odd"}, "judges"},
		{"unjudged operand", Spec{Operands: "odd*"}, "judges"},
		{"after the rest", Spec{Operands: "read* write"}, "follows"},
		{"subcommand", Spec{Sub: []*Spec{{Names: "x"}, {Names: "x"}}}, "twice"},
		{"inner", Spec{Sub: []*Spec{{Names: "x", Options: "y"}}}, "want a name"},
	}
	for i := range tests {
		t.Run(tests[i].name, func(t *testing.T) {
			if got := strings.Join(faults(&tests[i].spec), "\n"); !strings.Contains(got, tests[i].want) {
				t.Errorf("got %q, want %q", got, tests[i].want)
			}
		})
	}
}

// A word that is not static never makes a command line better understood than one that is left out.
func FuzzParse(f *testing.F) {
	f.Add("sort -rk2 a")
	f.Add(`wait -s " 5 ls`)
	f.Fuzz(func(t *testing.T, line string) {
		argv := words(line)
		if len(argv) == 0 || len(argv) > 50 || testSpecs[argv[0].Text] == nil {
			return
		}
		spec := testSpecs[argv[0].Text]
		_, before := Parse(spec, argv)
		_, after := Parse(spec, append(slices.Clone(argv), Lit("--no-such-option"), Lit("--no-such-option")))
		if after.Understood && !before.Understood {
			t.Errorf("%q is understood only with an unknown option", line)
		}
	})
}
