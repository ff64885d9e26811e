package program

import "strings"

// yqCommands are the subcommands of yq that evaluate an expression; yqOldCommands are those of version 3, and some of them write.
var (
	yqCommands    = WordSet("e eval ea eval-all")
	yqOldCommands = WordSet("w write d delete m merge s script x")
)

// yqOperators are the operators of an expression, in one of the two programs at least, that only compute from their input.
// Operators that read files or variables (load, strload, env, envsubst), evaluate text (eval), or run programs (system) are not
// among them.
var yqOperators = WordSet(`abs add alias all all_c anchor and any any_c array_to_map arrays as ascii ascii_downcase ascii_upcase booleans
	bsearch capture ceil collect column combinations comments contains date def del delpaths di document_index documentIndex downcase each
	elif else empty end endswith entries error exp explode fi file_index fileIndex filename filter finites first flatten floor fmod
	foot_comment footComment foreach format_datetime from_entries from_json from_unix from_yaml fromdate fromdateiso8601 fromjson
	from_props from_csv from_tsv from_xml getpath gmtime group_by gsub has head_comment headComment if implode in
	index indices infinite inputs inside is_key isnan isvalid iterables join json keys kind label last leaf_paths length limit line
	line_comment lineComment localtime log ltrimstr map map_values match max max_by min min_by mktime nan normals not now null nulls
	numbers objects omit or parent parents path paths pick pivot pow range recurse reduce repeat reverse rindex round rtrimstr
	scalars select setpath shuffle sort sort_by sort_keys sortKeys splitDoc split_doc split splits sqrt startswith strftime strings
	strptime style sub tag test then to_csv to_entries to_json to_number to_props to_string to_tsv to_unix to_xml to_yaml toarray
	todate tojson tonumber tostring tostream transpose trim ltrim rtrim true false try catch type tz unique unique_by until upcase
	utf8bytelength values walk while with with_dtf with_entries c_comments key base64 uri csv tsv html sh text props yaml xml base64d
	urid sum mean add_tag`)

// judgeYq tells the expression from the files. The first operand may be either, or the name of a subcommand.
func judgeYq(a *Args, u *Use) {
	words := a.Values("argument")
	if len(words) > 0 && words[0].Static && yqCommands[words[0].Text] {
		words = words[1:]
	}
	if len(words) > 0 && words[0].Static && yqOldCommands[words[0].Text] {
		u.Unknown("yq: the subcommand "+words[0].Text+" is not known", words[0])
	}
	if len(words) > 0 && !words[0].Static && words[0].Text == "" {
		u.Unknown("yq: the first operand may be a subcommand", words[0])
	}
	for i, w := range words {
		if !w.Static {
			u.Add(ReadsElsewhere, "yq: the expression is not static")
		}
		if i == 0 {
			judgeYqExpression(w, u)
		}
		u.Reads = append(u.Reads, w) // the first too: it is the expression unless there is a file of that name
	}
	if a.Has("--in-place") {
		u.Writes, u.Reads = append(u.Writes, u.Reads...), nil
	}
	for _, o := range a.Options {
		switch o.Name {
		case "--expression":
			judgeYqExpression(o.Value, u)
		case "--from-file", "--split-exp", "--split-exp-file":
			u.Unknown("yq: the expression in "+o.Name+" is not read", o.Value)
		}
	}
}

// judgeYqExpression finds the operators of an expression that are not known to compute from their input alone.
func judgeYqExpression(w Word, u *Use) {
	if yqFileName(w) {
		return
	}
	switch unknown, ok := yqUnknown(w.Text); {
	case unknown != "":
		u.Unknown("yq: the operator "+unknown+" may read other files, evaluate text or run a program", w)
	case !ok:
		u.Unknown("yq: a string in the expression holds an expression, or has no end", w)
	}
}

// yqUnknown returns the first word of an expression that is no field, variable, key or known operator. It is not ok where a string holds
// an expression or where quotes do not match.
func yqUnknown(text string) (unknown string, ok bool) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := yqStringEnd(text[i+1:])
			if end < 0 {
				return "", false
			}
			i += end + 2
		case c == '\'', c == '`', c == '#', c == '\\', c >= 0x80:
			return "", false // of these the two programs make different things
		case c == '.' || c == '$':
			i++
			if !(i < len(text) && text[i] == '.') {
				i += nameLength(text[i:])
			}
		case nameLength(text[i:]) > 0:
			n := nameLength(text[i:])
			if name := text[i : i+n]; !yqOperators[name] && !Digits(name) {
				return name, true
			}
			i += n
		default:
			i++
		}
	}
	return "", true
}

// yqStringEnd returns where a string ends whose quote was read, -1 if it does not or if an expression stands in it.
func yqStringEnd(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i
		case '\\':
			i++
			if i < len(text) && text[i] == '(' {
				return -1
			}
		}
	}
	return -1
}

// nameLength returns how many bytes of a name a text begins with.
func nameLength(text string) int {
	n := 0
	for n < len(text) && (text[n] == '_' || text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z' || text[n] >= '0' && text[n] <= '9') {
		n++
	}
	return n
}

// yqFileName reports whether a word can be no expression except one of fields, and looks like the name of a file: a.yaml,
// etc/b.json, f.
func yqFileName(w Word) bool {
	stem, ending, ok := cutLast(w.Text, '.')
	if !ok {
		stem, ending = w.Text, "yaml"
	}
	if !w.Static || !yqEndings[ending] || strings.Trim(stem, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") != "" {
		return false
	}
	for rest := stem; rest != ""; {
		n := nameLength(rest)
		if yqReads(rest[:n]) {
			return false
		}
		rest = rest[max(n, 1):]
	}
	return stem != ""
}

// yqReads reports whether a name may begin with that of an operator which does more than compute.
func yqReads(name string) bool {
	for _, reader := range []string{"load", "str", "eval", "env", "system", "import", "include", "input", "exec", "run"} {
		if strings.HasPrefix(name, reader) {
			return true
		}
	}
	return false
}

var yqEndings = WordSet("yaml yml json toml xml csv tsv properties ini hcl lock")

func cutLast(text string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(text, sep); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}
