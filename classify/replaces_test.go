package classify

import "testing"

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
