package files

import (
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeExactly decodes input into v and refuses text that would not arrive as it was sent: encoding/json puts U+FFFD
// in the place of what is not valid, and a file would keep that.
func decodeExactly(input json.RawMessage, v any) error {
	if !utf8.Valid(input) {
		return badInput(errors.New("it is not valid UTF-8; nothing was changed"))
	}
	if err := json.Unmarshal(input, v); err != nil {
		return badInput(err)
	}
	if hasLoneSurrogate(input) {
		return badInput(errors.New(`a \u escape is half of a surrogate pair; nothing was changed`))
	}
	return nil
}

// hasLoneSurrogate reports whether a string of the valid JSON text b escapes half a character.
func hasLoneSurrogate(b []byte) bool {
	for i := 0; i+1 < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		i++ // the escaped character
		r := escaped(b[i:])
		if !utf16.IsSurrogate(r) {
			continue
		}
		i += len("uD800")
		if i+1 >= len(b) || b[i] != '\\' || utf16.DecodeRune(r, escaped(b[i+1:])) == utf8.RuneError {
			return true
		}
		i += len("uDC00")
	}
	return false
}

// escaped returns the code unit that b, which begins behind a backslash, escapes as uXXXX; 0 for other escapes.
func escaped(b []byte) rune {
	if len(b) < 5 || b[0] != 'u' {
		return 0
	}
	n, _ := strconv.ParseUint(string(b[1:5]), 16, 16) // valid JSON has four digits there
	return rune(n)
}
