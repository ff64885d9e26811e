package secret

import (
	"bytes"
	"slices"
)

// MaxCut is the size of the longest file that is cut, in bytes.
const MaxCut = 256 << 10

// Cut returns a text of lines without its secrets: addresses without their logins, and without the lines that hold another secret. ok is false
// if a secret is left, or there is none.
func Cut(text []byte) (cut []byte, ok bool) {
	found := All().Find(text)
	if len(found) == 0 {
		return nil, false
	}
	from := 0
	for _, s := range found {
		if s.Start < from { // in a line that is gone
			continue
		}
		start, end := loginAround(text, s)
		if start < 0 {
			start, end = bytes.LastIndexByte(text[:s.Start], '\n')+1, len(text)
			if i := bytes.IndexByte(text[s.End:], '\n'); i >= 0 {
				end = s.End + i + 1
			}
		}
		cut = append(cut, text[from:max(start, from)]...)
		from = max(end, from)
	}
	cut = append(cut, text[from:]...)
	return slices.Clip(cut), len(All().Find(cut)) == 0
}

// loginAround returns the place of the login of an address that a secret stands in, with its @; start is -1 if it stands in none.
func loginAround(text []byte, s Span) (start, end int) {
	line := text[bytes.LastIndexByte(text[:s.Start], '\n')+1 : s.Start]
	scheme := bytes.LastIndex(line, []byte("://"))
	if scheme < 0 || bytes.ContainsAny(line[scheme+3:], "/ \t\"'@") {
		return -1, 0
	}
	end = s.End
	for end < len(text) && userLetters[text[end]] && text[end] != '@' {
		end++
	}
	if end == len(text) || text[end] != '@' {
		return -1, 0
	}
	return s.Start - len(line) + scheme + 3, end + 1
}
