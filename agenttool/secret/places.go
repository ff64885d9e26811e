package secret

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// places are secrets that are recognized by the text before them.
var places = []form{
	{kind: "private_key", literals: []string{"PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"}, find: privateKey},
	{kind: "private_key", literals: []string{"LS0tLS1CRUdJTi"}, find: encodedKey},
	{kind: "url_password", literals: []string{"://", `:\/\/`, "%3A%2F%2F", "%3a%2f%2f"}, find: userInfo, quick: hasUserInfo},
	{kind: "authorization", literals: []string{"uthorization", "UTHORIZATION", "-Api-Key", "-api-key", "-API-KEY", "-Auth-Token", "-auth-token", "PRIVATE-TOKEN"}, find: header},
	{kind: "authorization", literals: []string{"Bearer ", "bearer ", "Bearer%20"}, find: bearer},
	{kind: KindMember, literals: members, find: member},
	{kind: "assignment", literals: assignments(), find: assignment},
	{kind: "assignment", literals: settingNames, find: setting, quick: setsValue},
	{kind: KindMember, literals: []string{":5432:", ":*:*:"}, find: pgpass},
	{kind: KindMember, literals: []string{"identified by '"}, find: identified},
	{kind: "assignment", literals: []string{"password=", "passwd=", "_token=", "_secret=", "_key="}, find: parameter},
}

// members are the ends of names of JSON members that hold secrets, with the quote behind them.
var members = []string{
	`assword"`, `asswd"`, `phrase"`, `ecret"`, `ecretKey"`, `rivateKey"`, `_key"`, `Key"`, `-key"`, `apikey"`, `oken"`, `uthorization"`, `ssword\"`, `ecret\"`, `oken\"`, `ey\"`,
}

// KindMember is a secret that stands in a member with a secret-looking name.
const KindMember = "member"

// hints are literals that make a record be searched thoroughly: escapes that may hide the literal of a form.
var hints = []form{{literals: []string{`\u00`}, find: nothing, quick: hidesASCII}, {literals: []string{`\\.`}, find: nothing}}

func nothing([]byte, int, int) (int, int) { return 0, 0 }

// hidesASCII reports whether an escape \u00XX stands for a visible character.
func hidesASCII(b []byte, at, n int) bool {
	return at+n < len(b) && b[at+n] >= '2' && b[at+n] <= '7'
}

// secretWords are the words of names of variables that hold secrets. Each ends a part of the name between underscores, as in DB_PASSWORD and
// MYTOKEN. secretEnds are other last parts of such names, as in AWS_KEY: the words alone say nothing.
var (
	secretWords = []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "CREDENTIAL", "CREDENTIALS"}
	secretEnds  = []string{"KEY", "PASS", "PWD", "AUTH"}
)

// assignments are the ends of the names in text, with the sign behind them.
func assignments() (literals []string) {
	for _, word := range secretWords {
		literals = append(literals, word+"=")
	}
	literals = append(literals, "SSHPASS=")
	for _, end := range secretEnds {
		literals = append(literals, "_"+end+"=")
	}
	return literals
}

// Variable reports whether a variable of that name is expected to hold a secret: DB_PASSWORD, GITHUB_TOKEN, AWS_SECRET_ACCESS_KEY.
func Variable(name string) bool {
	parts := strings.Split(strings.ToUpper(name), "_")
	if len(parts) > 1 && slices.Contains(secretEnds, parts[len(parts)-1]) {
		return true
	}
	return slices.ContainsFunc(parts, func(part string) bool {
		return slices.ContainsFunc(secretWords, func(word string) bool { return strings.HasSuffix(part, word) })
	})
}

// secretMembers are names of JSON members whose strings are secrets, in lower case and without separators.
var secretMembers = map[string]bool{
	"password": true, "passwd": true, "passphrase": true, "clientsecret": true, "apikey": true, "accesstoken": true, "refreshtoken": true,
	"authtoken": true, "bearertoken": true, "privatekey": true, "secretkey": true, "secretaccesskey": true, "sessiontoken": true,
	"authorization": true, "proxyauthorization": true, "xapikey": true, "apitoken": true, "secrettoken": true, "webhooksecret": true,
	"signingkey": true, "encryptionkey": true, "idtoken": true,
}

// Member reports whether a member of that name holds a secret.
func Member(name []byte) bool {
	if len(name) > 40 {
		return false
	}
	plain := make([]byte, 0, 40)
	for _, c := range name {
		if c != '_' && c != '-' && c != ' ' {
			plain = append(plain, c|0x20)
		}
	}
	return secretMembers[string(plain)]
}

// maxKey bounds a private key, and so the memory that a stream holds back for one.
const maxKey = 32 << 10

// privateKey finds a private key in PEM, from its first line to its last. A key that is cut off ends with its last line
// of base64.
func privateKey(b []byte, at, n int) (int, int) {
	const begin = "-----BEGIN "
	line := max(0, at-40)
	head := bytes.LastIndex(b[line:at], []byte(begin))
	if end := bytes.LastIndex(b[line:at], []byte("-----END ")); end > head {
		return keyTail(b, line+end, at+n)
	}
	if head < 0 || bytes.ContainsAny(b[line+head+len(begin):at], "-\n") {
		return 0, 0
	}
	end := KeyBody(b[:min(len(b), at+maxKey)], at+n)
	if base64s.run(bytes.Map(dropSpace, b[at+n:end]), 0) < 40 {
		return 0, 0 // a header alone
	}
	if tail := bytes.Index(b[end:min(len(b), end+60)], []byte("PRIVATE KEY")); tail >= 0 {
		end += tail + len("PRIVATE KEY")
		end = set("A-Z -").run(b, end)
	}
	return line + head, end
}

// encodedKey finds a private key in PEM that was encoded in base64 as a whole, as in a kubeconfig.
func encodedKey(b []byte, at, n int) (int, int) {
	const first = 64 // letters of the first line
	end := base64s.run(b, at)
	line := b[at:min(end, at+first)]
	text, err := base64.StdEncoding.DecodeString(string(line[:len(line)/4*4]))
	if err != nil || end-at < 2*first || !bytes.Contains(text, []byte("PRIVATE KEY-----")) {
		return 0, 0
	}
	return at, end
}

// keyTail finds the last lines of a key whose beginning was cut off.
func keyTail(b []byte, end, stop int) (int, int) {
	start := end
	for start > 0 && b[start-1] == '\n' && end-start < maxKey {
		from := bytes.LastIndexByte(b[:start-1], '\n') + 1
		if n := start - 1 - from; n < 4 || n < 40 && start < end || base64s.run(b[:start-1], from) < start-1 {
			break
		}
		start = from
	}
	if end-start < 40 {
		return 0, 0
	}
	return start, stop
}

// KeyBody returns the end of the base64 behind a header line. Lines may be indented, quoted, or joined by an escaped line feed.
func KeyBody(b []byte, i int) int {
	last := i
	for i < len(b) {
		switch c := b[i]; {
		case base64s[c] && c != '-' && c != '_':
			i++
			last = i
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '"' || c == '\'' || c == '+' || c == '>' || c == '|' || c == '#' || c == ',':
			i++
		case c == '\\' && i+1 < len(b) && (b[i+1] == 'n' || b[i+1] == 'r' || b[i+1] == '\n'):
			i += 2
		case c == ':' || c == '.':
			i++ // headers such as Proc-Type and Version
		case c == '-' && i+1 < len(b) && b[i+1] != '-':
			i++
		default:
			return last
		}
	}
	return last
}

func dropSpace(r rune) rune {
	if r < 0x80 && base64s[byte(r)] {
		return r
	}
	return -1
}

var (
	userLetters = set("!-~").without("/?#\"'<>`\\ ,;()|")
	hostStart   = set("0-9A-Za-z[_$%{-")
)

// hasUserInfo reports whether an @ ends the run of letters behind ://.
func hasUserInfo(b []byte, at, n int) bool {
	end := userLetters.run(b, at+n)
	return bytes.IndexByte(b[at+n:end], '@') > 0 || end < len(b) && b[end] == '\\'
}

// userInfo finds the password in a URL, or a name of twenty letters or more without a password, which is a token.
func userInfo(b []byte, at, n int) (int, int) {
	if at == 0 || !letters[b[at-1]] {
		return 0, 0
	}
	start := at + n
	end := userLetters.run(b, start)
	sign := bytes.LastIndexByte(b[start:end], '@')
	if sign <= 0 || start+sign+1 >= len(b) || !hostStart[b[start+sign+1]] {
		return 0, 0
	}
	info := b[start : start+sign]
	colon := bytes.IndexByte(info, ':')
	if colon < 0 && len(info) >= 20 && Random(info) {
		return start, start + sign
	}
	if colon < 0 || Placeholder(info[colon+1:]) {
		return 0, 0
	}
	return start + colon + 1, start + sign
}

// leastValue is the smallest length of a value in a secret's place that makes it a secret.
const leastValue = 6

// Placeholder reports whether a value in a secret's place is none: too short, a reference to a variable, or a word for
// the secret instead of the secret.
func Placeholder(v []byte) bool {
	if len(v) < leastValue || bytes.IndexByte([]byte("$<{%[("), v[0]) >= 0 && v[0] != '%' {
		return true
	}
	if decoded, err := url.PathUnescape(string(v)); err == nil {
		v = []byte(decoded)
	}
	plain := make([]byte, 0, len(v))
	for _, c := range bytes.ToLower(v) {
		switch {
		case c == '@' || c == '4':
			plain = append(plain, 'a')
		case c == '0':
			plain = append(plain, 'o')
		case c >= 'a' && c <= 'z':
			plain = append(plain, c)
		}
	}
	plain = bytes.ReplaceAll(plain, []byte("pff"), []byte("p"))
	switch string(plain) {
	case "mypass", "password", "passwd", "pssword", "psword", "pasword", "passwordfile", "mypassword", "yourpassword", "secret", "mysecret", "yoursecret",
		"token", "yourtoken", "mytoken", "changeme", "example", "redacted", "undefined", "string", "public", "private", "foobar", "default", "nothing":
		return true
	}
	return same(v) || same(plain) && len(plain) > 0 || bytes.HasPrefix(v, []byte("[redacted ")) || bytes.HasSuffix(plain, []byte("ssword")) && len(plain) < 12
}

// same reports whether all bytes are the same, as in **** and xxxx.
func same(v []byte) bool {
	return len(bytes.TrimLeft(v, string(v[:min(1, len(v))]))) == 0
}

// header finds the value of a header such as Authorization: Bearer, in whichever notation.
func header(b []byte, at, n int) (int, int) {
	i := at + n
	for i < len(b) && i < at+n+8 && bytes.IndexByte([]byte("\\\"':= ,\t{"), b[i]) >= 0 {
		i++
	}
	if i == at+n || !bytes.ContainsAny(b[at+n:i], ":=,") {
		return 0, 0
	}
	return credential(b, i)
}

var credentialLetters = set("0-9A-Za-z._~+/=:%-")

// credential finds the credential behind a scheme such as Bearer or Basic, or without one.
func credential(b []byte, i int) (int, int) {
	end := credentialLetters.run(b, i)
	if end < len(b) && b[end] == ' ' && end-i < 12 {
		i = end + 1
		end = credentialLetters.run(b, i)
	}
	if end-i < 8 || Placeholder(b[i:end]) || !Random(b[i:end]) || !bytes.ContainsAny(b[i:end], "0123456789") && end-i < 20 {
		return 0, 0
	}
	return i, end
}

// bearer finds a bearer token without the name of a header.
func bearer(b []byte, at, n int) (int, int) {
	start := at + n
	end := credentialLetters.run(b, start)
	if end-start < 20 || !Random(b[start:end]) || !bytes.ContainsAny(b[start:end], "0123456789") {
		return 0, 0
	}
	return start, end
}

var valueLetters = set("!-~")

// assignment finds the value of a variable with a secret-looking name: NAME=value, in quotes or without.
func assignment(b []byte, at, n int) (int, int) {
	start := at + n
	if start >= len(b) {
		return 0, 0
	}
	quote := byte(0)
	if b[start] == '"' || b[start] == '\'' {
		quote = b[start]
		start++
	} else if b[start] == '\\' && start+1 < len(b) && b[start+1] == '"' {
		quote = '\\'
		start += 2
	}
	end := valueEnd(b, start, quote)
	v := b[start:end]
	name := words.back(b, at)
	if Placeholder(v) || !upperCase(b[name:at+n-1]) || name > 0 && (b[name-1] == '.' || b[name-1] == ',') {
		return 0, 0
	}
	if bytes.HasPrefix(b[at:], []byte("PASS")) && words.run(v, 0) == len(v) {
		return start, end
	}
	if identifier(v) || quote == 0 && expression(v) {
		return 0, 0
	}
	return start, end
}

// parameter finds the value of a parameter such as password= in a URL or a connection string. Code has such names, too,
// and so the value must have a digit.
func parameter(b []byte, at, n int) (int, int) {
	start := at + n
	end := credentialLetters.run(b, start)
	for i := start; i < end; i++ {
		if b[i] == '&' {
			end = i
		}
	}
	v := b[start:end]
	if len(v) < 8 || Placeholder(v) || !Random(v) || !bytes.ContainsAny(v, "0123456789") || expression(v) || end < len(b) && b[end] == '(' {
		return 0, 0
	}
	return start, end
}

func upperCase(name []byte) bool {
	return !bytes.ContainsFunc(name, func(r rune) bool { return r >= 'a' && r <= 'z' })
}

// identifier reports whether a value is a name and no more: the value of a variable _KEY is often the name of a key.
func identifier(v []byte) bool {
	return words.run(v, 0) == len(v) && !bytes.ContainsAny(v, "0123456789")
}

// expression reports whether a value without quotes is code.
func expression(v []byte) bool {
	if bytes.ContainsAny(v, "(){}[]") || bytes.Contains(v, []byte("++")) || bytes.Contains(v, []byte("\\n")) && len(v) < 12 {
		return true
	}
	name := words.run(v, 0)
	return name > 0 && name < len(v)-1 && (v[name] == '.' || v[name] == ',') && identifier(v[:name]) && letters[v[name+1]] && !Random(v[name+1:])
}

// valueEnd returns where a value ends: at its quote, or at the first byte that a shell, a URL or a list does not take as a
// part of it.
func valueEnd(b []byte, i int, quote byte) int {
	for ; i < len(b) && i < 1<<20; i++ {
		c := b[i]
		switch {
		case c == '\n':
			return i
		case quote != 0 && c == quote:
			return i
		case quote == 0 && (!valueLetters[c] && c < 0x80 || bytes.IndexByte([]byte("\"'`;&|<>()"), c) >= 0):
			return i
		}
	}
	return i
}

// member finds the string of a member such as "client_secret": "…" in text that has JSON, Python or Go in it.
func member(b []byte, at, n int) (int, int) {
	end := at + n - 1
	name := dashed.back(b, bytes.LastIndexAny(b[:end], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")+1)
	if name == 0 || b[name-1] != '"' || !Member(bytes.TrimRight(b[name:end], `\`)) {
		return 0, 0
	}
	i := at + n
	for i < len(b) && i < at+n+8 && bytes.IndexByte([]byte(" :\t="), b[i]) >= 0 {
		i++
	}
	quote := bytes.IndexByte(b[i:min(len(b), i+2)], '"')
	if i == at+n || quote < 0 {
		return 0, 0
	}
	start := i + quote + 1
	end = valueEnd(b, start, b[i])
	if v := b[start:end]; Placeholder(v) || !Random(v) || !bytes.ContainsAny(v, "0123456789") || identifier(bytes.TrimRight(v, "0123456789")) && len(v) < 20 {
		return 0, 0
	}
	return start, end
}
