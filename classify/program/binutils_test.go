package program

import "testing"

func TestBinutils(t *testing.T) {
	checkText(t, []textCase{
		{"nm -C f", "r:f"},
		{"nm @f", "?"},
		{"nm --plugin=./x.so f", "runs_code r:f sh:./x.so"},
		{"nm --plug=x f", "runs_code r:f sh:x"},
		{"nm", "r:a.out"},
		{"size f", "r:f"},
		{"readelf -h f", "r:f"},
		{"readelf -wi f", "reaches reads_elsewhere r:f"},
		{"objdump -d f", "r:f"},
		{"objdump -S f", "reads_elsewhere r:f"},
		{"objdump -dr @x", "?"},
		{"ldd f", "runs_code r:f"},
		{"ldd --version", ""},
		{"ldconfig -p", ""},
		{"ldconfig", "writes"},
	})
}
