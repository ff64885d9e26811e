package program

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var awkPrograms = []struct {
	name, program string
	want          string // "prints", what it does besides, or "?" if it is not understood
}{
	{"fields", "{print $1, $NF}", "prints"},
	{"pattern", "$1 > 5", "prints"},
	{"greater in a regular expression", "/a>b/{print}", "prints"},
	{"greater in brackets", "{print ($1 > 5)}", "prints"},
	{"greater in a condition", "{if ($1 > 3) print $2; else print}", "prints"},
	{"greater in an expression", "{x = $1 > 3; print x}", "prints"},
	{"greater in a string", `{print "a > b | c"}`, "prints"},
	{"greater in a comment", "{print # > \"f\"\n}", "prints"},
	{"greater or equal", "{print $1 >= 3}", "prints"},
	{"division", "{s += $1 / 2 / NR} END {print s/NR, (s+1)/2, a[1]/2}", "prints"},
	{"regular expression or division", "!/a/ && $1/2 > 3 {n++} END {print n}", "prints"},
	{"regular expression in a call", `{gsub(/"/, "\\\""); print}`, "prints"},
	{"regular expression after a condition", "{if (x) /a/; print}", "prints"},
	{"slash in brackets", "/[^/]*$/ {print}", "prints"},
	{"function", "function f(x) {return x > 1}\n{print f($1)}", "prints"},
	{"loop", "{for (i = 1; i < NF; i++) a[$i]++} END {for (k in a) print k, a[k]}", "prints"},
	{"format", `{printf "%-10s %s\n", $1, $2}`, "prints"},
	{"format in brackets", `{printf("%d\n", $1 > 2)}`, "prints"},
	{"standard error", `{print > "/dev/stderr"; print $1 >> "/dev/stdout"}`, "prints"},
	{"or", "$1 == 1 || $2 == 2", "prints"},
	{"continued lines", "{print $1,\n\n $2}", "prints"},
	{"semicolons and newlines", "BEGIN {FS = \":\"};\n\n{print $1};", "prints"},
	{"first file", "FILENAME == ARGV[1] {a[$0]; next} !($0 in a)", "prints"},
	{"length alone", "length > 80", "prints"},
	{"getline", "{while ((getline line) > 0) n++} END {print n}", "prints"},
	{"getline in a getline", `BEGIN {getline x[(getline y)] < "/inet/tcp/0/h/9"}`, "elsewhere reaches"},
	{"getline in the field of a getline", `{getline $(getline) < "/etc/passwd"; print}`, "r:/etc/passwd"},
	{"getline after a getline", `{(getline x); y < z; getline w < "f"}`, "r:f"},
	{"comparison after a getline", `BEGIN {while ((getline line < "f") > 0 && n < 5) n++}`, "r:f"},
	{"reads a file", `BEGIN {while ((getline x < "/etc/passwd") > 0) print x}`, "r:/etc/passwd"},
	{"reads its input", `BEGIN {getline x < "-"}`, "prints"},

	{"write", `{print $1 > "f"}`, "w:f"},
	{"append", `{printf "%s", $1 >> "f"}`, "w:f"},
	{"write after brackets", `{print ($1)(2) > "f"}`, "w:f"},
	{"write after a list in brackets", `{print($1, 2)>"f"}`, "w:f"},
	{"write after a continued line", "{print $1,\n\n2 > \"f\"}", "w:f"},
	{"write after a backslash", "{print $1 \\\n > \"f\"}", "w:f"},
	{"write after an operator", "{print $1 ~\n/x/ > \"f\"}", "w:f"},
	{"write after a comment", "{print $1, # x\n 2 > \"f\"}", "w:f"},
	{"write without words", `{print>"f"}`, "w:f"},
	{"write in a condition", `{if ($1 > 2) print > "f"}`, "w:f"},
	{"write after a division", `{print $1/2 > "f"; x = 1/2}`, "w:f"},
	{"write to what looks like the output", `{print > "-"}`, "w:./-"},
	{"write to almost the output", `{print > "/dev/stdout" ".bak"}`, "?"},
	{"write in one reading of brackets", `/[/]/ {print > "f"} #]/`, "w:f"},
	{"write to what is computed", "{print $1 > $2}", "?"},
	{"write to an escaped name", `{print > "\x66"}`, "?"},

	{"command", `BEGIN {system("id")}`, "sh:id"},
	{"command with a space", `BEGIN { system ("id") }`, "sh:id"},
	{"command of what is computed", `BEGIN {system("rm " x)}`, "?"},
	{"output to a command", `{print | "sort -u"}`, "sh:sort -u"},
	{"output to what is computed", `{print | "cat > " x}`, "?"},
	{"input from a command", `BEGIN {while (("date" | getline x) > 0) print x}`, "sh:date"},
	{"input from what is computed", `BEGIN {"rm " x | getline}`, "?"},
	{"input from joined strings", `BEGIN {x = "rm " "y" | getline}`, "?"},
	{"both ways", `BEGIN {print "x" |& "cat"}`, "?"},
	{"connection", `BEGIN {s = "/inet/tcp/0/h/80"; print "x" |& s}`, "?"},
	{"connection to read from", `BEGIN {getline x < "/inet/tcp/0/h/80"}`, "elsewhere reaches"},
	{"reads what is computed", "{getline x < $1}", "elsewhere reaches"},
	{"name of a function at run time", `BEGIN {f = "system"; @f("id")}`, "?"},
	{"include", `@include "x"`, "?"},
	{"load", `@load "filefuncs"`, "?"},
	{"other operands", `BEGIN {ARGV[1] = "/inet/tcp/0/h/80"; ARGC = 2}`, "?"},
	{"other operands in a call", `BEGIN {split("a b", ARGV)}`, "?"},
	{"other operands by substitution", `BEGIN {sub(/a/, "b", ARGV[1])}`, "?"},
	{"table of symbols", `BEGIN {SYMTAB["x"] = 1}`, "?"},

	{"slash after a keyword", `length /"/ ; {system("x")} #"`, "?"},
	{"slash after a string", `{print "a" /"/ ; system("x") }#"/`, "?"},
	{"slash after an increment", `{x++ /"/ ; system("x") }#"/`, "?"},
	{"slash in the next line of brackets", "{x = (a\n/ system(\"id\") / 1)}", "?"},
	{"string without an end", "{print \"a\n\"}", "?"},
	{"open brace", "{print", "?"},
	{"print where none can be", `{x = (print > "f")}`, "?"},
	{"carriage return", "{print\r> \"f\"}", "?"},
	{"other letters", "{print \u00a0}", "?"},
}

// awkTold says what both readings of a program find.
func awkTold(program string) string {
	u := &Use{Understood: true}
	judgeAwkProgram(program, Word{}, u)
	if !u.Understood {
		return "?"
	}
	var parts []string
	for _, w := range u.Reads {
		parts = append(parts, "r:"+w.Text)
	}
	for _, w := range u.Writes {
		parts = append(parts, "w:"+w.Text)
	}
	for _, c := range u.Runs {
		parts = append(parts, "sh:"+c.Shell.Text)
	}
	if slices.Contains(u.Effects, ReadsElsewhere) {
		parts = append(parts, "elsewhere")
	}
	if slices.Contains(u.Effects, Reaches) {
		parts = append(parts, "reaches")
	}
	if len(parts) == 0 {
		return "prints"
	}
	return strings.Join(slices.Compact(parts), " ")
}

func TestAwkPrograms(t *testing.T) {
	for _, test := range awkPrograms {
		t.Run(test.name, func(t *testing.T) {
			if got := awkTold(test.program); got != test.want {
				u := &Use{}
				judgeAwkProgram(test.program, Word{}, u)
				t.Errorf("%q: got %q, want %q; %v", test.program, got, test.want, u.Reasons)
			}
		})
	}
}

func TestAwkCommandLines(t *testing.T) {
	checkText(t, []textCase{
		{"awk '{print $1}' f", "r:f"},
		{"awk -F: -v x=1 '{print}' f", "r:f"},
		{`awk -v "$x" 1 f`, "?"},
		{`awk -v x="$x" 1 f`, "r:f"},
		{`gawk -v x=1 --re-interval 1 f`, "r:f"},
		{`awk -SF 'BEGIN{system("x")}' 1 f`, "?"},
		{`awk -bv 'BEGIN{system("x")}' 1 f`, "?"},
		{`awk -vF 1 f`, "?"},
		{`awk --assign 'BEGIN{system("x")}' 1 f`, "?"},
		{`awk -n 1 f`, "?"},
		{"awk 1 x=1 f -", "r:f"},
		{"awk 1 *", "r:…"},
		{"gawk -e 1 f", "r:f"},
		{"gawk --sand 1 f", "r:f"},
		{"awk --version", ""},
		{`awk 1 "$f"`, "reaches r:…"},
		{"awk 1 /inet/tcp/0/h/80", "reaches"},
		{"awk '{print > \"out\"}' f", "r:f w:out"},
		{"gawk --source 'BEGIN{print > \"f\"}'", "w:f"},
		{"awk '{print | \"sort\"}' f", "runs_code r:f sh:sort"},
		{"awk 'BEGIN{system(\"id\")}'", "runs_code sh:id"},
		{"awk -h 'BEGIN{system(\"x\")}'", "?"},
		{"gawk -o/tmp/p 'BEGIN{}'", "writes w:/tmp/p"},
		{"gawk -d 1 f", "writes r:f"},
		{"gawk --prof=x 1 f", "writes r:f w:x"},
		{"awk -f prog f", "?"},
		{"awk -fprog f", "?"},
		{"gawk -i inplace 1 f", "?"},
		{"gawk -l x 1", "?"},
		{"gawk -E prog f", "?"},
		{"awk $x f", "?"},
		{"awk {print}$x f", "?"},
		{"awk", "?"},
	})
}

// awkPieces are what generated programs are made of.
var awkPieces = []string{
	"{", "}", "(", ")", "[", "]", "print ", "printf ", ">", ">>", "|", "|&", "/", "/", "\"", "\"", "\"out\"",
	"\"touch out\"", "a", "$1", "1", " ", "\n", ";", ",", "getline", "<", "if (a) ", "while (0) ",
	"for (;0;) ", "else ", "do ", "BEGIN", "END", "#", "\\", "\\\n", "!", "~", "==", "&&", "||", "?", ":",
	"++", "--", "+", "/x/", "/[/]/", "/[^/]/", "/]/", "in ", "length", "system", "system(\"touch out\")",
	"print > \"out\"", "print 1, ", "{print}", "f(", "function f(x) {", "return ", "exit ", "next", "case ",
	"switch (a) {", "printf(\"x\")", "x = ", "x++", "/\"/", "\"/\"", "[a]",
}

func awkGenerated(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(3) > 0 {
		b.WriteString("BEGIN {")
	}
	for range 1 + r.IntN(10) {
		b.WriteString(awkPieces[r.IntN(len(awkPieces))])
	}
	if r.IntN(3) > 0 {
		b.WriteString("}")
	}
	return b.String()
}

// TestAwkAgrees runs programs that are said to print alone in every awk there is, and looks whether they do.
func TestAwkAgrees(t *testing.T) {
	for _, awk := range [][]string{{"mawk"}, {"gawk"}, {"original-awk"}, {"busybox", "awk"}} {
		t.Run(strings.Join(awk, " "), func(t *testing.T) {
			lab := newLab(t, awk[0])
			r := rand.New(rand.NewPCG(1, 2))
			ran := 0
			for range lab.rounds * 100 {
				program := awkGenerated(r)
				if awkTold(program) != "prints" {
					continue
				}
				if ran++; ran > lab.rounds {
					break
				}
				lab.run(t, program, append(slices.Clone(awk), "--", program, "input")...)
			}
			lab.clean(t, ran)
		})
	}
}

func FuzzAwk(f *testing.F) {
	for _, test := range awkPrograms {
		f.Add(test.program)
	}
	f.Fuzz(func(t *testing.T, program string) {
		u := &Use{Understood: true}
		judgeAwkProgram(program, Word{}, u)
		if !u.Understood {
			return
		}
		then := &Use{Understood: true}
		judgeAwkProgram(program+"\nEND { print > \"FUZZ\"; system(\"FUZZ\") }", Word{}, then)
		writes := slices.ContainsFunc(then.Writes, func(w Word) bool { return w.Text == "FUZZ" })
		runs := slices.ContainsFunc(then.Runs, func(c Command) bool { return c.Shell.Text == "FUZZ" })
		if then.Understood && (!writes || !runs) {
			t.Errorf("%q: a write and a command in an action of their own are not found: %v", program, then)
		}
	})
}
