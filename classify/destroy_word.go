package classify

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxSpelt  = 3 // substitutions in one another whose text is put together
	unknownAt = "\x00"
)

// spellings returns the texts of words, after their braces, as far as they are literal.
func (d *destroyer) spellings(words []*syntax.Word) []string {
	argv := make([]string, 0, len(words))
	for _, word := range words {
		split := *word
		if len(argv) < maxFields && hasBrace(word) && syntax.SplitBraces(&split) && hasBraceExp(split.Parts) {
			if each, ok := expandBraces(split.Parts); ok {
				for _, one := range each {
					argv = append(argv, d.spelling(one.Parts))
				}
				continue
			}
		}
		argv = append(argv, d.spelling(word.Parts))
	}
	return argv
}

// spelling returns the literal text of a word; what is expanded in it and not known becomes a NUL.
func (d *destroyer) spelling(parts []syntax.WordPart) string {
	if len(parts) == 1 {
		if lit, ok := parts[0].(*syntax.Lit); ok && strings.IndexByte(lit.Value, '\\') < 0 {
			return lit.Value
		}
	}
	var b strings.Builder
	for _, part := range parts {
		switch x := part.(type) {
		case *syntax.Lit:
			unescape(&b, x.Value, "")
		case *syntax.SglQuoted:
			text, ok := x.Value, true
			if x.Dollar {
				text, ok = ansiC(x.Value)
			}
			if !ok {
				text = unknownAt
			}
			b.WriteString(text)
		case *syntax.DblQuoted:
			for _, inner := range x.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					unescape(&b, lit.Value, "$`\"\\")
				} else {
					b.WriteString(d.expanded(inner))
				}
			}
		default:
			b.WriteString(d.expanded(part))
		}
	}
	if b.Len() > maxValue && d.within > 0 {
		return unknownAt
	}
	return b.String()
}

// expanded returns what a variable was last given, or what echo or printf prints in a substitution.
func (d *destroyer) expanded(part syntax.WordPart) string {
	switch x := part.(type) {
	case *syntax.ParamExp:
		if text, ok := d.vars[x.Param.Value]; ok && simpleParam(x) {
			return text
		}
	case *syntax.CmdSubst:
		if len(x.Stmts) != 1 || d.within >= maxSpelt {
			break
		}
		call, ok := x.Stmts[0].Cmd.(*syntax.CallExpr)
		if !ok || !prints(call) {
			break
		}
		d.within++
		defer func() { d.within-- }()
		return echoed(d.spellings(call.Args))
	}
	return unknownAt
}

// prints reports whether a command prints its arguments.
func prints(call *syntax.CallExpr) bool {
	if len(call.Args) < 2 {
		return false
	}
	name := call.Args[0].Lit()
	return name == "echo" || name == "printf"
}

// echoed returns what echo or printf prints, near enough.
func echoed(argv []string) string {
	args := argv[1:]
	for len(args) > 1 && (strings.HasPrefix(args[0], "-") || argv[0] == "printf" && strings.HasPrefix(args[0], "%")) {
		args = args[1:]
	}
	return strings.ReplaceAll(strings.Join(args, " "), `\n`, "\n")
}

// expands reports whether a word is nothing but one expansion that is not quoted.
func expands(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	switch word.Parts[0].(type) {
	case *syntax.ParamExp, *syntax.CmdSubst:
		return true
	}
	return false
}

// unescape removes backslashes before the bytes of only, or before any if it is empty.
func unescape(b *strings.Builder, text, only string) {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			switch {
			case text[i+1] == '\n':
				i++
				continue
			case only == "" || strings.IndexByte(only, text[i+1]) >= 0:
				i++
			}
		}
		b.WriteByte(text[i])
	}
}

// unglued returns the value of an option that stands in the same word, or the word if there is none: --split-string=rm,
// -Srm, -vS'rm x'.
func unglued(word string) string {
	if !strings.HasPrefix(word, "-") || len(word) < 3 {
		return word
	}
	if name, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(name, "--") {
		return value
	}
	if at := strings.IndexByte(word, 'S'); at > 0 && at < 5 {
		return word[at+1:]
	}
	if !strings.HasPrefix(word, "--") && strings.ContainsAny(word, " \n") {
		return word[2:]
	}
	return word
}

// assign takes note of what a variable is given.
func (d *destroyer) assign(x *syntax.Assign) {
	if x.Name == nil || x.Index != nil || x.Array != nil || x.Value == nil {
		return
	}
	text := d.spelling(x.Value.Parts)
	if x.Append {
		text = d.vars[x.Name.Value] + text
	}
	switch {
	case len(text) > maxValue || strings.Contains(text, unknownAt):
		delete(d.vars, x.Name.Value)
		return
	case d.vars == nil:
		d.vars = map[string]string{}
	case len(d.vars) >= maxVars:
		return
	}
	d.vars[x.Name.Value] = text
}

// function takes note of a function that runs its arguments, wherever in it.
func (d *destroyer) function(x *syntax.FuncDecl) {
	if x.Name == nil {
		return
	}
	syntax.Walk(x.Body, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		runs := argument(call.Args[0])
		name := path.Base(d.spelling(call.Args[0].Parts))
		for _, word := range call.Args[1:] {
			runs = runs || argument(word) && (wrappers[name] || takers[name] == shellText)
		}
		if runs && len(d.runners) < maxVars {
			if d.runners == nil {
				d.runners = map[string]bool{}
			}
			d.runners[x.Name.Value] = true
		}
		return !runs
	})
}

// argument reports whether a word is $@, $* or $1 and its like.
func argument(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	part := word.Parts[0]
	if quoted, ok := part.(*syntax.DblQuoted); ok {
		part = onlyPart(quoted.Parts)
	}
	x, ok := part.(*syntax.ParamExp)
	return ok && x.Param != nil && (x.Param.Value == "@" || x.Param.Value == "*" || isDigits(x.Param.Value))
}
