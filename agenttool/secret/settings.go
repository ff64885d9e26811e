package secret

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
)

// settingNames are ends of the names of settings that hold secrets, in files and in code: password: X, DB_PASSWORD = 'X', <password>X</…>,
// --password X, IDENTIFIED BY 'X', and "password X" of a .netrc.
var settingNames = []string{
	"assword", "ASSWORD", "asswd", "ASSWD", "assphrase", "ASSPHRASE", "ecret", "ECRET", "oken", "OKEN", "pi_key", "PI_KEY", "pi-key", "pikey", "piKey", "PIKEY",
	"piKEY", "ccess_key", "ccessKey", "ACCESS_KEY", "pass", "Pass", "_PASS", "pwd", "PWD", "Pwd", "masterauth",
	"_auth", "IDENTIFIED BY", "uth_key", "ncryption_key", "igning_key", "ecret_key", "ecretKey", "SECRET_KEY", `"auth"`,
}

// strongNames announce a password: what a person chose, which need not look random.
var strongNames = []string{"assword", "asswd", "assphrase", "pass", "pwd", "masterauth", "identified by"}

// setsValue dismisses names that no value follows.
func setsValue(b []byte, at, n int) bool {
	i := at + n
	if i >= len(b) || bytes.IndexByte([]byte(" \t:=\"'\\>],"), b[i]) < 0 {
		return false
	}
	if b[i] != ' ' && b[i] != '\t' {
		return true
	}
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	if i == len(b) || b[i] == ':' || b[i] == '=' {
		return i < len(b)
	}
	name := b[dotted.back(b, at) : at+n]
	return bytes.HasPrefix(name, []byte("--")) || bytes.HasSuffix(name, []byte("assword")) || bytes.HasSuffix(name, []byte("ASSWORD")) ||
		bytes.HasSuffix(name, []byte("pass")) || bytes.HasSuffix(name, []byte("auth")) || bytes.HasSuffix(name, []byte("IDENTIFIED BY"))
}

// setting finds the value that stands behind the name of a setting.
func setting(b []byte, at, n int) (int, int) {
	if !setsValue(b, at, n) {
		return 0, 0
	}
	from := dotted.back(b, at)
	name := string(b[from : at+n])
	end, sign := separator(b, at+n)
	if sign == 0 {
		return 0, 0
	}
	if c := b[at]; from < at && (c == 'p' && letters[b[at-1]] && !strings.HasSuffix(name, "requirepass") || c == 'P' && b[at-1] >= 'A' && b[at-1] <= 'Z') {
		return 0, 0 // compass and COMPASS
	}
	strong := strongName(name)
	if !strong && !weakName(name) {
		return 0, 0
	}
	start, stop, quoted := valueAt(b, end, sign)
	if stop <= start {
		return 0, 0
	}
	v := b[start:stop]
	switch {
	case bytes.HasPrefix(b[at:], []byte("auth\"")) || bytes.HasPrefix(b[at:], []byte(`"auth"`)): // of a registry: base64 of a name and a password
		if login, err := base64.StdEncoding.DecodeString(string(v)); sign != ':' || err != nil || bytes.IndexByte(login, ':') <= 0 {
			return 0, 0
		}
		return start, stop
	case sign == ' ':
		if !spoken(b, from, at, name, v, quoted) {
			return 0, 0
		}
		return start, stop
	case sign == ',' && (from < 2 || b[from-2] != '('): // a list of names
		return 0, 0
	case sign == '>':
		if from == 0 || b[from-1] != '<' && b[from-1] != ':' {
			return 0, 0
		}
	case !quoted && sign == '=' && end == at+n+1 && from > 0 && bytes.IndexByte([]byte("?&; \"'"), b[from-1]) >= 0: // of an address or a connection
		for i := start; i < stop; i++ {
			if bytes.IndexByte([]byte("&;\"'`<>)\\,"), b[i]) >= 0 {
				stop, v = i, b[start:i]
			}
		}
	case !quoted && !ownLine(b, from, stop):
		return 0, 0
	}
	if Placeholder(v) || !likelySecret(v, strong, quoted) && !(sign == ':' && strong && passwordBesideUser(b, from, v)) {
		return 0, 0
	}
	return start, stop
}

// passwordBesideUser reports whether a value of small letters alone is a password: it stands in YAML, which has no commas at the ends of its lines,
// is long or stands beside a name of who or what it opens, and is no word that describes a password.
func passwordBesideUser(b []byte, from int, v []byte) bool {
	for _, c := range v {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	if slices.ContainsFunc(describing, func(word string) bool { return bytes.Contains(v, []byte(word)) }) {
		return false
	}
	const lines = 3 // before it, and behind
	at := bytes.LastIndexByte(b[:from], '\n') + 1
	indent := b[at:from]
	if len(bytes.Trim(indent, " ")) > 0 && string(bytes.TrimLeft(indent, " ")) != "- " {
		return false
	}
	above, below := bytes.Split(b[max(0, at-400):at], []byte("\n")), bytes.Split(b[from:min(len(b), from+400)], []byte("\n"))
	above = above[max(0, len(above)-1-lines) : len(above)-1]
	slices.Reverse(above) // the nearest first
	found := len(v) >= longWord
	for _, near := range [2][][]byte{above, below[1:min(len(below), lines+1)]} {
		for _, line := range near {
			line = bytes.TrimRight(line, " \r")
			entry := bytes.TrimLeft(line, " -")
			if len(entry) > 0 && len(line)-len(entry) < len(indent) {
				break // another mapping
			}
			if len(entry) == 0 || len(line)-len(entry) > len(indent) {
				continue
			}
			if bytes.IndexByte([]byte(",;{("), line[len(line)-1]) >= 0 {
				return false
			}
			name, value, isEntry := bytes.Cut(entry, []byte(":"))
			lower := strings.ToLower(string(name))
			found = found || isEntry && len(bytes.TrimSpace(value)) > 0 && slices.ContainsFunc(openedNames, func(end string) bool { return lower == end || strings.HasSuffix(lower, "_"+end) })
		}
	}
	return found
}

// longWord is how many letters a word has that describes no password: it is one.
const longWord = 12

// openedNames are the names of who or what a password opens, in YAML.
var openedNames = []string{"user", "username", "login", "host", "hostname", "database", "db", "email", "adapter"}

// describing are parts of words that stand in the place of a password without being one: types, and what it is called in languages of small Latin
// letters.
var describing = []string{
	"pass", "secret", "pwd", "string", "bytes", "text", "null", "none", "true", "false", "requ", "option", "hidden", "crypt", "hash", "valid", "correction", "empty", "value",
	"input", "field", "type", "bool", "number", "integer", "varchar", "char", "credential", "token", "missing", "undefined", "example", "changeit", "wacht", "jelszo", "parol", "lozinka",
	"salasana", "adgang", "losenord", "geslo", "heslo", "haslo", "senha", "sifre", "contras", "motde",
}

// separator returns the end of what separates a name from its value, and its sign; 0 if there is none. A blank alone counts as ' '.
func separator(b []byte, i int) (end int, sign byte) {
	for i < len(b) && (b[i] == '"' || b[i] == '\'' || b[i] == '\\' || b[i] == ']') {
		i++
	}
	blank := i
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	if i == len(b) {
		return i, 0
	}
	switch c := b[i]; {
	case c == '>' || c == ',' && (b[blank-1] == '"' || b[blank-1] == '\''):
		sign = c
	case c == ':' && i+1 < len(b) && b[i+1] == '=', c == '=' && i+1 < len(b) && b[i+1] == '>':
		sign = '='
		i++
	case c == '=' && i+1 < len(b) && (b[i+1] == '=' || b[i+1] == '~') || c == ':' && i+1 < len(b) && b[i+1] == ':':
		return i, 0
	case c == ':' || c == '=':
		sign = c
	case blank < i:
		return i, ' '
	default:
		return i, 0
	}
	i++
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return i, sign
}

// valueAt returns the value that begins at i, within its quotes.
func valueAt(b []byte, i int, sign byte) (start, end int, quoted bool) {
	if i >= len(b) {
		return i, i, false
	}
	switch c := b[i]; {
	case c == '"' || c == '\'' || c == '`':
		end = valueEnd(b, i+1, c)
		return i + 1, end, end < len(b) && b[end] == c
	case c == '\\' && i+1 < len(b) && b[i+1] == '"':
		end = valueEnd(b, i+2, '\\')
		return i + 2, end, end < len(b) && b[end] == '\\'
	}
	end = i
	for end < len(b) && b[end] > ' ' && (sign != '>' || b[end] != '<') {
		end++
	}
	if sign == '>' {
		return i, end, end < len(b) && b[end] == '<'
	}
	return i, end, false
}

// strongName reports whether a name announces a password.
func strongName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(strongNames, func(end string) bool { return strings.HasSuffix(strings.Trim(name, `"`), end) })
}

// weakName reports whether a name announces a secret that a machine made. Names of keys in a protocol, such as shared_secret, do not.
func weakName(name string) bool {
	last := strings.Trim(name[strings.LastIndexAny(name, ".:")+1:], `"'-`)
	if Variable(last) && upperCase([]byte(last)) || Member([]byte(last)) || last == "auth" {
		return true
	}
	last = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(last))
	return slices.ContainsFunc([]string{
		"token", "secret", "apikey", "secretkey", "accesskey", "authkey", "auth", "encryptionkey", "signingkey", "clientsecret", "appsecret", "apisecret",
		"consumersecret", "webhooksecret", "jwtsecret", "sessionsecret", "cookiesecret", "accesstoken", "authtoken", "apitoken", "bottoken", "refreshtoken",
	}, func(end string) bool { return last == end || strings.HasSuffix(last, end) && len(end) > 6 })
}

// spoken reports whether a value behind a name and a blank is a secret: that of an option, of an SQL statement, of a .netrc or a server's
// configuration.
func spoken(b []byte, from, at int, name string, v []byte, quoted bool) bool {
	lower := strings.ToLower(name)
	switch {
	case strings.HasPrefix(name, "--"):
		return !Placeholder(v) && likelySecret(v, true, quoted) && v[0] != '-'
	case lower == "requirepass" || lower == "masterauth":
		return !noArgument(string(v))
	case Variable(name) && upperCase([]byte(name)) && slices.ContainsFunc([]string{"ENV ", "ARG ", "setenv "}, func(word string) bool { return bytes.HasSuffix(b[:from], []byte(word)) }):
		return !noArgument(string(v))
	case quoted && (at == 0 || b[at-1] != '.') && (name == "IDENTIFIED BY" || name == "PASSWORD"):
		return !noArgument(string(v))
	case lower == "password" || lower == "passwd":
		const near = 200
		before := strings.Fields(string(b[max(0, from-near):from]))
		n := len(before)
		login := n > 1 && (before[n-2] == "login" || before[n-2] == "machine") // of a .netrc
		return login && (slices.Contains(before, "machine") || slices.Contains(before, "default")) && !noArgument(string(v))
	}
	return false
}

// ownLine reports whether the line of a setting has nothing but its name and its value, as in YAML, in properties and in INI.
func ownLine(b []byte, from, end int) bool {
	begin := max(bytes.LastIndexByte(b[:from], '\n')+1, bytes.LastIndex(b[:from], []byte(`\n`))+2)
	if bytes.LastIndex(b[:from], []byte(`\n`)) < 0 {
		begin = bytes.LastIndexByte(b[:from], '\n') + 1
	}
	before := bytes.TrimLeft(b[begin:from], "+-> \t\"'0123456789|")
	for _, word := range []string{"export ", "set ", "ENV ", "ARG ", "//"} {
		if bytes.HasPrefix(before, []byte(word)) {
			before = nil
		}
	}
	if i := bytes.LastIndexByte(before, ':'); i >= 0 { // of a search: file.yml:12:password: x
		before = bytes.TrimLeft(before[i+1:], " \t")
	}
	rest := b[end:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	rest = bytes.TrimSpace(rest)
	return len(before) == 0 && (len(rest) == 0 || rest[0] == '#')
}

// likelySecret reports whether a value behind a telling name looks like a secret. One that is a name or a word is none: code has such names,
// too. A password needs a digit or a sign; other secrets need to look random.
func likelySecret(v []byte, strong, quoted bool) bool {
	if len(v) > 512 || bytes.ContainsAny(v, " \t{}<>|") || bytes.Contains(v, []byte("...")) || bytes.Contains(v, []byte("…")) {
		return false
	}
	if !quoted && bytes.ContainsAny(v, "()[];,\"'`") || bytes.HasPrefix(v, []byte("/")) || bytes.HasPrefix(v, []byte("./")) || bytes.Contains(v, []byte("://")) {
		return false
	}
	for _, reference := range []string{"process.env", "os.environ", "env.", "secrets."} {
		if bytes.HasPrefix(v, []byte(reference)) {
			return false
		}
	}
	if bytes.IndexByte([]byte("&*+\\"), v[0]) >= 0 || bytes.Contains(v, []byte("==")) && !bytes.HasSuffix(v, []byte("==")) { // an operator, an escape
		return false
	}
	digits := bytes.ContainsAny(v, "0123456789")
	if !strong {
		return len(v) >= 12 && digits && Random(v) && !dashedWords(v) && !(bytes.ContainsAny(v, "./:") && !manyKinds(v))
	}
	signs := bytes.ContainsAny(v, "!#%^=?@~$") && len(v) >= 8
	if !digits && !signs || typeName(v) || expression(v) {
		return false
	}
	return Random(v) || signs || digits && !dashedWords(v)
}

// identified finds the password of a statement of SQL in small letters, which is English, too, but for the quote.
func identified(b []byte, at, n int) (int, int) {
	end := valueEnd(b, at+n, '\'')
	if end == len(b) || b[end] != '\'' || noArgument(string(b[at+n:end])) || !likelySecret(b[at+n:end], true, true) {
		return 0, 0
	}
	return at + n, end
}

// pgpass finds the password in a line of a .pgpass: host, port, database, user and password, between colons.
func pgpass(b []byte, at, n int) (int, int) {
	line := bytes.LastIndexByte(b[:at], '\n') + 1
	fields := bytes.SplitN(b[at+n:], []byte(":"), 3)
	if len(fields) < 3 || at == line || bytes.ContainsAny(b[line:at], " /:\"'") || bytes.ContainsAny(fields[0], " /\n\"'") || bytes.ContainsAny(fields[1], " /\n\"'") {
		return 0, 0
	}
	start := at + n + len(fields[0]) + len(fields[1]) + 2
	end := valueEnd(b, start, 0)
	if noArgument(string(b[start:end])) {
		return 0, 0
	}
	return start, end
}

// typeName reports whether a value is the name of a type or of an algorithm.
func typeName(v []byte) bool {
	word := strings.ToLower(string(bytes.TrimRight(v, "0123456789")))
	return len(word) < len(v) && slices.Contains([]string{"int", "uint", "float", "bytes", "utf", "utf-", "base", "sha", "sha-", "md", "hmac", "hmacsha", "aes", "aes-", "rsa",
		"oauth", "varchar", "char", "bcrypt", "ed", "v", "latin", "str", "arg", "test", "user", "password", "secret", "token", "key"}, word)
}

// dashedWords reports whether a value is words joined by dashes or the like, as identifiers of settings are: words of one case, and numbers
// of one or two digits.
func dashedWords(v []byte) bool {
	parts := bytes.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("-_./:", r) })
	if len(parts) < 2 {
		return false
	}
	for _, part := range parts {
		word := bytes.TrimRight(part, "0123456789")
		if len(part)-len(word) > 2 && len(word) > 0 || !bytes.Equal(bytes.ToLower(word), word) && !bytes.Equal(bytes.ToUpper(word), word) || bytes.ContainsAny(word, "0123456789!@#$%^&*+=?~") {
			return false
		}
	}
	return true
}
