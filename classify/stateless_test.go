package classify

import "testing"

func TestStateless(t *testing.T) {
	for line, want := range map[string]bool{
		"ls": true, "ls -la | head -3": true, "cd sub && git status": true, "echo $HOME": true, `grep -rn "a b" . > /dev/null`: true,
		"cat < f; wc -l ./f": true, "cat a.txt | head -3": true, "head -n 5 a.txt": true, "git status; ls | grep x": true, "which ls || echo none": true, "printf hi": true,
		"": false, "# x": false, "A=1": false, "PATH=./bin ls": false, "export A=1": false, "alias ls=rm": false, "f() { :; }": false,
		"ls &": false, "ls |& cat &": false, "cat <<X": false, "cat <<< x": false, "ls \\": false, "ls\nrm x": false, "ls $(rm x)": false,
		"ls `rm x`": false, "cat <(ls)": false, "echo ${x:=1}": false, "echo $((x=1))": false, "echo ${x@P}": false, "echo ${!x}": false,
		"printf -v x 1": false, "exec 3<&0": false, "cat {fd}< f": false, "(cd x)": false, "{ ls; }": false, "if true; then ls; fi": false,
		"for i in 1; do ls; done": false, "while read x; do ls; done": false, "read x": false, "source f": false, ". f": false, "eval ls": false,
		"trap ls EXIT": false, "set -x": false, "time ls": false, "! ls": false, "ls !$": false, "$x": false, "l\\s": false, "'ls": false,
		`printf "-v" PATH x`: false, `printf '-'v PATH x`: false, "printf $x y": false, `printf "%s" x`: true, "jobs -x alias ls=rm": false,
		"test -v 'a[x=5]'": false, "[ -v x ]": false, "%1": false, "^ls^rm": false, `"alias" ls=rm`: false, "kill 1": false,
		"[[ -v x ]]": false, "((x=1))": false, "ls\rrm": false, "command ls": false, "unset PATH": false, "hash -p x ls": false,
	} {
		if got := Stateless(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

func TestReplacesShell(t *testing.T) {
	for line, want := range map[string]bool{
		"npm test": true, "git commit -m 'x; y | z'": true, `python3 -c "print(1); print(2)"`: true, "pkill -f 'vite --port 5199'": true, "ls *.go": true,
		"ls\n": true, "  ls  ": true,
		"": false, "# x": false, "a; b": false, "a\nb": false, "a | b": false, "a && b": false, "a &": false, "! a": false, "a > f": false, "X=1 a": false, "X=1": false,
		"(a)": false, "{ a; }": false, "if a; then b; fi": false, "time pgrep -f x": false, "coproc a": false, "eval 'pgrep -f x'": false, "command pgrep x": false,
		"exec a": false, ". ./f": false, "trap 'pgrep x' EXIT": false, "echo $(pgrep -f x)": false, "echo `pgrep -f x`": false, `echo "$(pgrep -f x)"`: false,
		"echo $x": false, "diff <(a) b": false, "'eval' 'pgrep x'": false, `\eval x`: false, "cat <<E\nx\nE": false, "a 'b": false, "-i": true,
	} {
		if got := ReplacesShell(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}
