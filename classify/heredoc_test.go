package classify

import (
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// delimiterInside are here-documents whose delimiter line stands inside what the parser takes for one expansion. Bash ends each
// at that line and runs the lines after it.
var delimiterInside = []struct{ name, text string }{
	{"a default", "cat <<E\n${x:-\nE\nrm -rf victim\n: }\nE"},
	{"a prefix that is removed", "cat <<E\n${x#\nE\nrm -rf victim\n: }\nE"},
	{"a suffix that is removed", "cat <<E\n${x%\nE\nrm -rf victim\n: }\nE"},
	{"a pattern that is replaced", "cat <<E\n${x/\nE\nrm -rf victim\n: }\nE"},
	{"a replacement", "cat <<E\n${x/a/\nE\nrm -rf victim\n: }\nE"},
	{"an alternative", "cat <<E\nbody ${x:+\nE\nrm -rf victim\n: }\nE"},
	{"a default in quotes", "cat <<E\n${x:-\"\nE\nrm -rf victim\n: \"}\nE"},
	{"a substitution with quotes", "cat <<E\n\"$(echo '\nE\nrm -rf victim\n: ')\"\nE"},
	{"a substitution with double quotes", "cat <<E\n$(echo \"\nE\nrm -rf victim\n: \")\nE"},
	{"a substitution over lines", "cat <<E\n$(echo\nE\nrm -rf victim\n: )\nE"},
	{"a comment in a substitution", "cat <<E\n$(echo #\nE\nrm -rf victim\n: )\nE"},
	{"backquotes", "cat <<E\n`echo '\nE\nrm -rf victim\n: '`\nE"},
	{"backquotes over lines", "cat <<E\n`echo\nE\nrm -rf victim\n: `\nE"},
	{"arithmetic", "cat <<E\n$((1 +\nE\nrm -rf victim\n: 1))\nE"},
	{"a here-document in a here-document", "cat <<E\n$(cat <<F\nE\nrm -rf victim\n: <<F\nF\n)\nE"},
	{"a quoted one in one", "cat <<E\n$(cat <<'F'\nE\nrm -rf victim\n: <<'F'\nF\n)\nE"},
	{"tabs", "cat <<-E\n\t${x:-\n\tE\nrm -rf victim\n: }\n\tE"},
	{"the second of one line", "cat <<A <<E\nA\n${x:-\nE\nrm -rf victim\n: }\nE"},
	{"the first of one line", "cat <<A <<E\n${x:-\nA\nE\nrm -rf victim\n: }\nA\nE"},
	{"in a substitution", "echo $(cat <<E\n${x:-\nE\nrm -rf victim\n: }\nE\n)"},
	{"in a quoted substitution", "echo \"$(cat <<E\n${x:-\nE\nrm -rf victim\n: }\nE\n)\""},
	{"in backquotes", "echo `cat <<E\n${x:-\nE\nrm -rf victim\n: }\nE\n`"},
	{"in a shell", "bash -c 'cat <<E\n${x:-\nE\nrm -rf victim\n: }\nE'"},
	{"in eval", "eval 'cat <<E\n${x:-\nE\nrm -rf victim\n: }\nE'"},
	{"in a group", "{ cat; } <<E\n${x:-\nE\nrm -rf victim\n: }\nE"},
	{"in a function", "f1() { cat <<E\n${x:-\nE\nrm -rf victim\n: }\nE\n}; f1"},
	{"a long delimiter", "cat <<END-1.x_\n${x:-\nEND-1.x_\nrm -rf victim\n: }\nEND-1.x_"},
	{"a delimiter over two lines", "cat <<EOF\n${x:-\nEO\\\nF\nrm -rf victim\n: }\nEOF"},
	{"a delimiter behind a joined line", "cat <<EOF\n\\\nEOF\nrm -rf victim\n: }\nEOF"},
	{"a delimiter before a joined line", "cat <<EOF\nEOF\\\n\nrm -rf victim\nEOF"},
	{"an odd delimiter", "cat <<E+F\n${x:-\nE+F\nrm -rf victim\n: }\nE+F"},
	{"an empty delimiter", "cat <<\"\"\n\nrm -rf victim\n\n"},
	{"no last delimiter", "cat <<E\n${x:-\nE\nrm -rf victim\n: }"},
}

// TestDelimiterInAnExpansion: the parser reads on to the end of an expansion, bash only to the delimiter line.
func TestDelimiterInAnExpansion(t *testing.T) {
	want := []string{"rm", "-rf", "victim"}
	for _, tt := range delimiterInside {
		t.Run(tt.name, func(t *testing.T) {
			got := Command(tt.text, testContext)
			whole := !strings.HasPrefix(tt.text, "eval ") // the part is eval with its text, to which its rules apply
			if got.ReadOnly == agenttool.Yes || whole && (got.PartsComplete == agenttool.Yes || got.Commands != nil) {
				t.Errorf("%q: read_only %v, parts_complete %v, commands %q", tt.text, got.ReadOnly, got.PartsComplete, got.Commands)
			}
			mentioned := func(argv []string) bool { return slices.Equal(argv, want) }
			if !slices.ContainsFunc(got.Mentions, mentioned) {
				t.Errorf("%q: %q is not among the mentions %q", tt.text, want, got.Mentions)
			}
			if got.Destructive != agenttool.Yes {
				t.Errorf("%q: destructive %v, want yes: %v", tt.text, got.Destructive, got.Reasons)
			}
			if unix := strings.ReplaceAll(tt.text, "\n", "\r\n"); readOnly(unix) {
				t.Errorf("%q is called read-only", unix)
			}
		})
	}
}

// TestHereDocumentsThatEndForAll: ordinary documents stay proved.
func TestHereDocumentsThatEndForAll(t *testing.T) {
	for _, text := range []string{
		"cat <<E\nbody\nE",
		"cat <<EOF\nENDEOF\n EOF\n${x:-y} $(date)\nEOF\nls",
		"cat <<'E'\n${x:-\n$(rm\n`\nE\nls",
		"cat <<-E\n\tbody\n\tE\nls",
		"cat <<A <<B\na\nA\nb ${x:-\n}\nB\nls",
		"echo \"$(cat <<'E'\nit's (\nE\n)\"",
		"echo $(cat <<E\nbody\nE\n)",
		"cat <<E\n${x:-\n}\n$(echo a\necho b)\nE\nls",
		"cat <<E\n$(cat <<'F'\ninner\nF\n)\nE",
	} {
		if got := Command(text, testContext); got.ReadOnly != agenttool.Yes {
			t.Errorf("%q: read_only %v: %v", text, got.ReadOnly, got.Reasons)
		}
	}
}
