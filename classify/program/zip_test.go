package program

import "testing"

func TestZip(t *testing.T) {
	checkText(t, []textCase{
		{"unzip -l a.zip", "r:a.zip"},
		{"unzip -lv a", "r:a"},
		{"unzip a.zip", "writes r:a.zip w:."},
		{"unzip a.zip -l", "writes r:a.zip w:."},
		{"unzip a.zip -d dir", "writes r:a.zip w:dir"},
		{"unzip -o a.zip", "writes r:a.zip w:."},
		{"unzip -p a.zip m", "r:a.zip"},
		{"unzip -tq a.zip", "r:a.zip"},
		{"unzip -Z1 a.zip", "r:a.zip"},
		{"unzip -ZT a.zip", "r:a.zip"},
		{"unzip -T a.zip", "writes r:a.zip w:a.zip,."},
		{"unzip -1Z a.zip", "?"},
		{"unzip --l a.zip", "?"},
		{"unzip -l-l a.zip", "?"},
		{"unzip -l '*.zip'", "reads_elsewhere r:*.zip"},
		{"unzip -v", ""},
		{"zipinfo -1 a.zip", "r:a.zip"},
		{"zip a.zip f", "r:f w:a.zip"},
		{"zip -r - d", "reads_tree r:d"},
		{"zip -rm a.zip d", "destroys reads_tree r:d w:a.zip"},
		{"zip -T -TT ./x a.zip", "?"},
	})
}
