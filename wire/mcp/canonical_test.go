package mcp

import (
	"encoding/json"
	"math/big"
	"testing"
)

// TestCanonicalNumbers: numbers are the same if their values are, exactly (F6).
func TestCanonicalNumbers(t *testing.T) {
	for name, same := range map[string][]string{
		"1000": {"1000", "1e3", "1E+3", "1000.0", "0.1e4", "10e2", "1.000e3"}, "0": {"0", "-0", "0.0", "0e5", "-0.00e-7"},
		"-0.05": {"-0.05", "-5e-2", "-0.050"}, "2^53+1": {"9007199254740993", "9007199254740993.0"}, "2^53": {"9007199254740992"},
		"1e400": {"1e400", "10e399"}, "huge": {"1e99999999999999999999"}, "more than is counted with": {"1e2000000000"}, "1": {"1", "1.0", "10e-1"},
		"text": {`"1"`}, "one more zero": {"10000"}, "12": {"12", "1.2e1"}, "21": {"21"},
	} {
		want := string(canonical([]byte(same[0])))
		for _, text := range same {
			if got := string(canonical([]byte(text))); got != want || !json.Valid([]byte(got)) {
				t.Errorf("%s: %s is %s, want %s", name, text, got, want)
			}
		}
	}
	if a, b := canonical([]byte(`{"a":[1.0,{"b":2e1}]}`)), canonical([]byte(`{"a":[1,{"b":20}]}`)); string(a) != string(b) {
		t.Errorf("%s, %s", a, b)
	}
}

// FuzzCanonicalNumber: numbers of the same value have one spelling, which is of that value, and others have another.
func FuzzCanonicalNumber(f *testing.F) {
	for _, n := range []string{"1", "-0.10e2", "100", "1e-7", "123.4560", "0", "9007199254740993"} {
		f.Add(n, "10e-1")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 50 || len(b) > 50 || !isNumber(a) || !isNumber(b) {
			t.Skip()
		}
		x, okX := new(big.Rat).SetString(a)
		y, okY := new(big.Rat).SetString(b)
		if !okX || !okY {
			t.Skip()
		}
		normalA, normalB := normalNumber(json.Number(a)), normalNumber(json.Number(b))
		if again, ok := new(big.Rat).SetString(string(normalA)); !ok || again.Cmp(x) != 0 {
			t.Errorf("%s became %s", a, normalA)
		}
		if (x.Cmp(y) == 0) != (normalA == normalB) {
			t.Errorf("%s is %s, %s is %s", a, normalA, b, normalB)
		}
	})
}

// isNumber reports whether a text is a number of JSON with an exponent that can be counted out.
func isNumber(text string) bool {
	var n json.Number
	return json.Unmarshal([]byte(text), &n) == nil && text[0] != '"' && len(text) < 50 && smallExponent(text)
}

func smallExponent(text string) bool {
	for i, c := range text {
		if c == 'e' || c == 'E' {
			return len(text)-i < 5
		}
	}
	return true
}
