package literal

import "bytes"

// naive is the definition of Index.
func naive(b, text []byte, fold bool) int {
	for i := 0; i+len(text) <= len(b); i++ {
		if same(b[i:i+len(text)], text, fold) {
			return i
		}
	}
	return -1
}

func same(a, b []byte, fold bool) bool {
	if !fold {
		return bytes.Equal(a, b)
	}
	for i := range a {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

// scans are the ways to search that this processor has.
func scans() map[string]bool {
	all := map[string]bool{"words": false}
	if wide {
		all["wide"] = true
	}
	return all
}
