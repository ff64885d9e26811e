package program

import "testing"

func TestGrep(t *testing.T) {
	checkText(t, []textCase{
		{"grep x f", "r:f"},
		{"grep -rn x .", "reads_tree r:."},
		{"grep -r x", "reads_tree r:."},
		{"grep -e x f", "r:f"},
		{"grep -f pats f", "r:pats,f"},
		{"grep -5 x f", "r:f"},
		{"grep --include='*.go' -rn x d", "reads_tree r:d"},
		{"grep -n -- -x f", "r:f"},
		{"grep $x f", "reads_elsewhere reads_tree r:…,…,…,…,f"},
		{"grep x $f", "reads_elsewhere reads_tree r:…,…,…,…"},
		{`grep "$p" f`, "reads_elsewhere reads_tree r:…,…,…,f"},
		{"grep -d recurse x", "reads_tree r:."},
		{"egrep -c 'a|b' f", "r:f"},
		{"zgrep -i x f.gz", "r:f.gz"},
		{"zgrep -f p f.gz", "writes r:p,f.gz"},
	})
}
