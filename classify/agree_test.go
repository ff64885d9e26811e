package classify

import (
	"slices"
	"testing"

	"toolhost/agenttool"
)

// TestBashReadsItInAnotherWay: each was believed once, and bash ran something else. The differential fuzzer found most of them.
func TestBashReadsItInAnotherWay(t *testing.T) {
	tests := []struct{ name, text string }{
		{"a substitution is printed anew, without the ; behind a here-document", "echo $(cat <<E\nE\nls; uniq f; ls)"},
		{"a here-document in a substitution ends at a joined line with more behind it", "echo $(true <<E <<E\nE\n\\\nE)\nE\n)"},
		{"a process substitution that begins like an expression", "cat >((m3; cat <<\\F <<\\F\n@(\nF\nF\nF\n))'\"+' # a))"},
		{"and with more on the line of the operator", "echo $(cat <<E | uniq f; ls\nE\n)"},
		{"and with &&", "echo $(cat <<E && uniq f; ls\nE\n)"},
		{"and in a process substitution", "diff <(cat <<E\nE\nls; uniq f; ls) g"},
		{"and in double quotes", "echo \"$(cat <<E\nE\nls; uniq f; ls)\""},
		{"and in a group of a substitution", "echo $({ cat <<E\nE\nls; uniq f; ls; })"},
		{"time behind a pipe is a program", "ls | time wc"},
		{"time behind a pipe on another line is a program", "ls |\ntime wc"},
		{"time behind a pipe that follows a quoted one", "echo a\\|| time wc"},
		{"a coprocess in a substitution gets another name", "echo $(coproc ls)"},
		{"CR LF in quotes", "echo \"\r\n-n\""},
		{"CR LF in single quotes", "echo 'a\r\nb'"},
		{"an escaped CR before a newline", "echo a\\\r\nrm x"},
		{"a here-document joins lines in the quotes of its substitutions", "cat <<E\n$(echo '\\\nx')\nE"},
		{"a comment that a here-document joins", "cat <<E\n$(echo # \\\nrm x\n)\nE"},
		{"tabs that <<- removes in the quotes of a substitution", "cat <<-E\n$(ls \"\n\tx\n\")\n\tE"},
		{"tabs that <<- removes in a here-document of a substitution", "cat <<-E\n$(bash <<'F'\nF\nrm x\n\tF\nF\n)\nE"},
		{"tabs that <<- removes in backquotes", "cat <<-E\n`ls '\n\tx'`\nE"},
		{"a subscript with blanks", "a[1 ; ls]=1"},
		{"a substitution in braces", "${x:-<(ls)}"},
		{"an expression that is a group", "echo $((ls) )"},
		{"a command with a joined name", "l\\\ns -x"},
		{"a word behind a closed descriptor", "ls 2>&-rm x"},
		{"a command behind a closed descriptor", "2>&-rm x"},
		{"a byte that bash uses itself", "echo a\x7fb"},
		{"a parenthesis in an expansion in an expression", "((1 + ${x%%(]]}))"},
		{"a joined operator", "ls &\\\n& pwd"},
		{"a locale in which bytes are split in another way", "LC_ALL=zh_CN.GBK; ls\necho \"中\\\" ; rm x #\""},
		{"such a locale for a shell", "LC_ALL=zh_CN.GBK bash -c 'echo \"中\\\" ; rm x #\"'"},
		{"such a locale that is exported", "export LANG=ja_JP\necho \"中\\\" ; rm x #\""},
		{"such a locale in quotes", "LC_ALL=\"zh_CN.GBK\"; echo \"中\\\" ; rm x #\""},
		{"such a locale that is read", "read LC_CTYPE < f\necho \"中\\\" ; rm x #\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Command(tt.text, testContext)
			if got.ReadOnly == agenttool.Yes || got.PartsComplete == agenttool.Yes || !got.Unmentioned {
				t.Errorf("%q: read_only %v, parts_complete %v, unmentioned %v", tt.text, got.ReadOnly, got.PartsComplete, got.Unmentioned)
			}
		})
	}
}

// TestBracesInAnEscape: $'\x{41}' is one byte to bash.
func TestBracesInAnEscape(t *testing.T) {
	if got := Command(`ls $'\x{41}'`, testContext); got.Commands != nil {
		t.Errorf("commands %q", got.Commands)
	}
}

// TestBracesAroundAnExpansion: bash counts the braces and commas of both.
func TestBracesAroundAnExpansion(t *testing.T) {
	for _, text := range []string{"ls {a,${x-{a,b}} c", "ls {a,${x:+b}1 c"} {
		if got := Command(text, testContext); got.ReadOnly == agenttool.Yes || got.Commands != nil {
			t.Errorf("%q: read_only %v, commands %q", text, got.ReadOnly, got.Commands)
		}
	}
}

// TestOrdinaryLinesAgree: the second reading costs nothing that people write.
func TestOrdinaryLinesAgree(t *testing.T) {
	for _, text := range []string{
		"git commit -m \"$(cat <<'EOF'\nIt's (done)\n\n- \"a\" `b` $c\nEOF\n)\" && git push",
		"cat > f <<'EOF'\n#!/bin/bash\nif [ -n \"$1\" ]; then\n  echo \"${x:-y}\"\nfi\nEOF\nchmod +x f",
		"python3 - <<'EOF'\nprint('''a''')\nEOF",
		"for f in *.go; do\n\techo \"== $f\" # each\n\thead -3 \"$f\"\ndone",
		"case \"$1\" in\n  start|stop) echo \"$1\" ;;\n  -h | --help)\n    echo usage\n    ;;\n  *) exit 1 ;;\nesac",
		"f() {\n  local x=$1; shift\n  echo \"$x\" \"$@\"\n}\nf a b",
		"find . -name '*.go' -exec grep -l \"it's\" {} \\; | xargs -r wc -l | sort -rn",
		"a=$(git log -1 --format='%h %s' | sed 's/\"/\\\\\"/g'); echo \"${a%% *}\" \"${a#* }\" ${#a}",
		"if [[ $a =~ ^([0-9]+)\\.([0-9]+)$ && -f x || ! -d \"y z\" ]]; then echo \"${BASH_REMATCH[1]}\"; fi",
		"arr=(a 'b c' \"$d\"); echo \"${arr[@]:1}\" \"${#arr[@]}\" $((${#arr[@]} - 1))",
		"x=1 y='2 3' make -j4 2>&1 | tee >(grep -c warn) | tail -20",
		"while IFS= read -r line; do echo \"$line\"; done < <(ls)",
		"docker run --rm -v \"$PWD\":/w -w /w img sh -c 'make && echo \"done\"'",
		"awk 'BEGIN { FS = \",\" } $1 ~ /a|b/ { print $2 \"\\t\" $3 }' f.csv",
		"echo a \\\n  b \\\n  c",
		"LC_ALL=C.UTF-8 LANG=de_DE.UTF-8 sort é.txt; echo $LANG ${LC_ALL} 'é'",
		"echo '中\\' ; echo \"ソ表\"",
		"! grep -q x f && time -p ls",
		"{ echo a; echo b; } > f 2>&1 &",
		"cat <<-EOF\n\tOn $(date)\n\tby ${USER:-none}\n\tEOF",
		"export A=b C=\"$D\" && declare -r e=1",
	} {
		if tree := understood(text); tree.failed {
			t.Errorf("%q: %v", text, tree.reason)
		}
	}
}

// TestVariablesThatMayNotHold: what a variable was given in another process, for one command or perhaps not at all is not what a name is
// known to hold.
func TestVariablesThatMayNotHold(t *testing.T) {
	for _, text := range []string{"x=a true; rm${x} f", "(x=a); rm${x} f", "x=a & rm${x} f", "x=a | true; rm$x f", ": $(x=a); rm$x f", "false && x=a; rm$x f",
		"if false; then x=a; fi; rm$x f", "while false; do x=a; done; rm$x f", ": <(x=a); rm$x f"} {
		got := Command(text, testContext)
		if !slices.ContainsFunc(got.Mentions, func(argv []string) bool { return argv[0] == "rm"+agenttool.Unread }) {
			t.Errorf("%q mentions %q", text, got.Mentions)
		}
	}
}

// TestCommandBehindAClosedDescriptor: a rule that forbids rm sees 2>&-rm x.
func TestCommandBehindAClosedDescriptor(t *testing.T) {
	got := Command("2>&-rm -f x", testContext)
	if !slices.ContainsFunc(got.Mentions, func(argv []string) bool { return slices.Equal(argv, []string{"rm", "-f", "x"}) }) {
		t.Errorf("mentions %q", got.Mentions)
	}
}
