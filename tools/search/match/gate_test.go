package match

import "testing"

func TestChoose(t *testing.T) {
	tests := []struct {
		name, pattern string
		o             Options
		clause, also  string
		sure          bool
	}{
		{"a text", "foo", Options{}, "foo", "", true},
		{"even a frequent one", "e", Options{}, "e", "", true},
		{"alternatives", "foo|bar", Options{}, "foo|bar", "", true},
		{"a text that is not all", `foobarbaz\d`, Options{}, "foobarbaz", "", false},
		{"two texts", `SetFinalizer.*err`, Options{}, "SetFinalizer", "err", false},
		{"one text holds the other", `x[ab]cdefghij\w`, Options{}, "xacdefghij|xbcdefghij", "", false},
		{"no text", `\w+`, Options{}, "", "", false},
		{"a poor text", `e\w`, Options{}, "", "", false},
		{"what may be in a line end", "foo\\r", Options{}, "foo\r", "", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			p, err := Compile(tc.pattern, tc.o)
			if err != nil {
				t.Fatal(err)
			}
			w := p.way
			if show(w.clause) != tc.clause || show(w.also) != tc.also || w.sure != tc.sure {
				t.Errorf("clause %q, also %q, sure %v, want %q, %q, %v", show(w.clause), show(w.also), w.sure, tc.clause,
					tc.also, tc.sure)
			}
		})
	}
}

func TestTrust(t *testing.T) {
	var trust trust
	for range 10 {
		trust.pass(trialSize)
		trust.check(100)
	}
	if trust.lost() {
		t.Error("lost though little was checked")
	}
	trust.check(trialSize / 2)
	trust.pass(trialSize)
	if !trust.lost() {
		t.Error("not lost though half was checked")
	}
	trust.walk(timeOff - 1)
	if !trust.lost() {
		t.Error("back too early")
	}
	trust.walk(1)
	if trust.lost() {
		t.Error("never back")
	}
}

func TestWaits(t *testing.T) {
	tests := []struct {
		pattern string
		want    bool
	}{
		{`=\s*\d`, true},
		{`=\s*é`, true},
		{`é+=\d`, false},
		{`\b=\d`, false},
		{`\d=`, false},
		{`^=\d`, false},
		{`=$`, true},
	}
	for _, tc := range tests {
		p, err := Compile(tc.pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.letters = newAlphabet(p.prog)
		if got := p.Matcher().walker.a.waits('='); got != tc.want {
			t.Errorf("%s: %v", tc.pattern, got)
		}
	}
}
