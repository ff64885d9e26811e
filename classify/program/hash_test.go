package program

import "testing"

func TestHash(t *testing.T) {
	checkText(t, []textCase{
		{"md5sum f", "r:f"},
		{"sha256sum -c SUMS", "reads_elsewhere r:SUMS"},
		{"sha512sum --check SUMS", "reads_elsewhere r:SUMS"},
		{"b2sum -l 128 f", "r:f"},
		{"cksum -a sha256 f", "r:f"},
		{"shasum -a 256 f", "r:f"},
	})
}
