package mcp

import (
	"strconv"
	"strings"

	"toolhost/agenttool/json"
)

// canonical returns one JSON text for all spellings of a value: a client that sends it again may order its members
// otherwise, and write 1 for 1.0. It returns invalid JSON unchanged.
func canonical(input []byte) []byte {
	var value any
	if json.Unmarshal(input, &value) != nil {
		return input
	}
	b, err := json.Marshal(normal(value))
	if err != nil {
		return input
	}
	return b
}

// normal writes the numbers of a value in one way. It changes the value.
func normal(value any) any {
	switch v := value.(type) {
	case json.Number:
		return normalNumber(v)
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = normal(v[name])
		}
	}
	return value
}

// maxExponent bounds the exponents that are counted with. A number beyond it stays as it is spelled.
const maxExponent = 1 << 30

// normalNumber writes a number as an integer that does not end in 0, and a power of ten. Nothing is rounded: numbers are
// the same only if their decimals are.
func normalNumber(n json.Number) json.Number {
	text, negative := strings.CutPrefix(string(n), "-")
	mantissa, power := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		var err error
		mantissa = text[:i]
		if power, err = strconv.Atoi(text[i+1:]); err != nil || power > maxExponent || power < -maxExponent {
			return n
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	significant := strings.TrimRight(digits, "0")
	power += len(digits) - len(significant) - len(fraction)
	if negative {
		significant = "-" + significant
	}
	return json.Number(significant + "e" + strconv.Itoa(power))
}
