package secret

import (
	"bytes"
	"hash/crc32"
)

// checked returns the form of tokens with size letters after the prefix, where the last six are a checksum. A correct
// checksum proves a token that stands within other letters, or that does not look random. A wrong one proves nothing:
// the issuer may have changed the rule.
func checked(kind string, a *alphabet, size int, prefixes ...string) form {
	return form{kind: kind, literals: prefixes, letters: a, find: func(b []byte, at, n int) (int, int) {
		end := a.run(b, at+n)
		switch {
		case end-at-n < size:
			return 0, 0
		case sumMatches(b[at+n : at+n+size]):
			return at, at + n + size
		case !Random(b[at+n : end]):
			return 0, 0
		}
		return at, end
	}}
}

// sumMatches reports whether the last six letters of a token are the CRC-32 of the others in base 62, as GitHub and npm
// write it.
func sumMatches(body []byte) bool {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	split := len(body) - 6
	var want [6]byte
	sum := crc32.ChecksumIEEE(body[:split])
	for i := len(want) - 1; i >= 0; i-- {
		want[i] = digits[sum%62]
		sum /= 62
	}
	return bytes.Equal(body[split:], want[:])
}

// after returns a search for a value of at least least letters of a behind the literal, which is no part of it.
func after(a *alphabet, least int) func(b []byte, at, n int) (int, int) {
	return func(b []byte, at, n int) (int, int) {
		start := at + n
		end := a.run(b, start)
		if end-start < least || !Random(b[start:end]) {
			return 0, 0
		}
		return start, end
	}
}

// telegram finds the token of a bot: 8 to 10 digits, a colon, and 35 letters that begin with AA.
func telegram(b []byte, at, _ int) (int, int) {
	start, end := set("0-9").back(b, at), dashed.run(b, at+1)
	if at-start < 8 || at-start > 10 || end-at-1 != 35 || !Random(b[at+3:end]) {
		return 0, 0
	}
	return start, end
}

// discord finds the address of a webhook: digits, a slash and 60 letters or more.
func discord(b []byte, at, n int) (int, int) {
	slash := set("0-9").run(b, at+n)
	if slash == at+n || slash == len(b) || b[slash] != '/' {
		return 0, 0
	}
	return after(dashed, 60)(b, slash, 1)
}

// sendgrid finds SG., 22 letters, a dot and 43 letters.
func sendgrid(b []byte, at, n int) (int, int) {
	dot := dashed.run(b, at+n)
	if dot-at-n != 22 || dot == len(b) || b[dot] != '.' || !alone(b, at) {
		return 0, 0
	}
	end := dashed.run(b, dot+1)
	if end-dot-1 != 43 {
		return 0, 0
	}
	return at, end
}

var awsID = set("0-9A-Z")

// awsKey finds the id of an access key: AKIA or ASIA, and 16 upper-case letters or digits.
func awsKey(b []byte, at, n int) (int, int) {
	end := awsID.run(b, at+n)
	if end-at-n != 16 || !alone(b, at) || end < len(b) && words[b[end]] || !Random(append(bytes.Clone(b[at+n:end]), 'a')) {
		return 0, 0
	}
	return at, end
}

// awsBeside finds the secret access key near the id of an access key: 40 letters of base64.
func awsBeside(b []byte, at, n int) (int, int) {
	const near = 300
	start, end := awsKey(b, at, n)
	if end == 0 {
		return 0, 0
	}
	if from, to := awsSecret(b, end, min(len(b), end+near)); to > 0 {
		return from, to
	}
	return awsSecret(b, max(0, start-near), start)
}

// awsNamed finds the secret access key behind its name.
func awsNamed(b []byte, at, n int) (int, int) {
	return awsSecret(b, at+n, min(len(b), at+n+64))
}

var awsLetters = set("0-9A-Za-z+/")

// awsSecret finds the first run of exactly 40 letters that looks random between two places.
func awsSecret(b []byte, from, to int) (int, int) {
	for i := from; i < to; i++ {
		if !awsLetters[b[i]] {
			continue
		}
		end := awsLetters.run(b, i)
		if end-i == 40 && manyKinds(b[i:end]) {
			return i, end
		}
		i = end
	}
	return 0, 0
}

// manyKinds reports whether b has digits and letters of both cases, which digests in hexadecimal have not.
func manyKinds(b []byte) bool {
	return bytes.ContainsAny(b, "0123456789") && bytes.ContainsFunc(b, func(r rune) bool { return r >= 'A' && r <= 'Z' }) &&
		bytes.ContainsFunc(b, func(r rune) bool { return r >= 'a' && r <= 'z' })
}

var azureLetters = set("0-9A-Za-z_.~-")

// azureSecret finds the secret of an Azure application: 3 letters, a digit, Q~ and 31 to 34 letters.
func azureSecret(b []byte, at, n int) (int, int) {
	start, end := at-3, azureLetters.run(b, at+n)
	if start < 0 || azureLetters.back(b, at) > start || end-at-n < 31 || !Random(b[at+n:end]) {
		return 0, 0
	}
	return start, min(end, at+n+34)
}

// openAI finds the older keys, which have T3BlbkFJ ("OpenAI" in base64) in the middle.
func openAI(b []byte, at, n int) (int, int) {
	from, end := dashed.back(b, at), dashed.run(b, at+n)
	start := bytes.LastIndex(b[from:at], []byte("sk-"))
	if start < 0 || end-at-n < 20 {
		return 0, 0
	}
	return from + start, end
}

// skKey finds keys of the many services that write sk- and 32 letters or more, without further structure.
func skKey(b []byte, at, n int) (int, int) {
	end := letters.run(b, at+n)
	if end-at-n < 32 || !alone(b, at) || !Random(b[at+n:end]) || end < len(b) && dashed[b[end]] {
		return 0, 0
	}
	return at, end
}

// jwt finds a signed token in JSON Web Token form: header, payload and signature in base64. The literal begins the payload.
func jwt(b []byte, at, _ int) (int, int) {
	start := dashed.back(b, at)
	dot := dashed.run(b, at+1)
	if head := bytes.Index(b[start:at], []byte("eyJ")); head < 0 || dot-at < 8 || dot == len(b) || b[dot] != '.' {
		return 0, 0
	} else {
		start += head
	}
	end := dashed.run(b, dot+1)
	if at-start < 10 || end-dot-1 < 16 {
		return 0, 0
	}
	return start, end
}
