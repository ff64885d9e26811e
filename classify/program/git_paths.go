package program

import "strings"

// gitOperands returns the paths among operands that may be revisions or paths: behind -- only paths, before it revisions, without
// it either. The part after the colon of REVISION:PATH is a path too.
func gitOperands(a *Args, operands []Word) []Word {
	var paths []Word
	after, dashed := afterDashes(a.Argv), hasDashes(a.Argv)
	for i, w := range operands {
		switch {
		case i >= len(operands)-after:
			paths = append(paths, gitPathspec(w)...)
		case !w.Static:
			paths = append(paths, gitUnknownOperand(w)...)
		default:
			paths = append(paths, gitOperand(w, dashed)...)
		}
	}
	return paths
}

// gitUnknownOperand returns the path of a partly unknown word: none if it begins as only a revision does.
func gitUnknownOperand(w Word) []Word {
	if w.Token {
		return nil
	}
	if at := strings.IndexByte(w.Text, ':'); at >= 0 {
		w.Text = w.Text[at+1:]
		return []Word{w}
	}
	at := strings.IndexAny(w.Text, "~^@./")
	if at > 0 && w.Text[at] != '/' && (w.Text[at] != '.' || strings.HasPrefix(w.Text[at:], "..")) {
		return nil
	}
	return []Word{w}
}

// gitOperand returns the path of a word that git takes for a revision if one has that name, else for a path.
func gitOperand(w Word, onlyRevision bool) []Word {
	if gitRelative(w.Text) {
		return nil
	}
	at := gitColon(w.Text)
	if at < 0 {
		if onlyRevision {
			return nil
		}
		w.Maybe = true
		return []Word{w}
	}
	if at == 0 && len(w.Text) > 1 && strings.IndexByte("(!^/", w.Text[1]) >= 0 {
		words := gitPathspec(w)
		for i := range words {
			words[i].Maybe = true // or the first commit whose message matches
		}
		return words
	}
	blob, whole := w, w
	blob.Text = w.Text[at+1:]
	if at == 0 && len(blob.Text) > 1 && blob.Text[1] == ':' && blob.Text[0] >= '0' && blob.Text[0] <= '3' {
		blob.Text = blob.Text[2:] // a stage of the index
	}
	blob.Top = !strings.HasPrefix(blob.Text, "./") && !strings.HasPrefix(blob.Text, "../")
	whole.Maybe = true
	switch looks := strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "."); {
	case blob.Text == "" && !looks:
		return nil
	case looks && !onlyRevision:
		return []Word{blob, whole}
	}
	return []Word{blob}
}

// gitRelative reports whether a word is a revision that begins at HEAD or the like: HEAD~2, @{u}, HEAD^..ORIG_HEAD.
func gitRelative(text string) bool {
	for _, dots := range []string{"...", ".."} {
		if from, to, ok := strings.Cut(text, dots); ok {
			return (from != "" || to != "") && (from == "" || gitFromHead(from)) && (to == "" || gitFromHead(to))
		}
	}
	return gitFromHead(strings.TrimPrefix(text, "^"))
}

// gitFromHead reports whether a word is one of git's names for a commit, and steps from there.
func gitFromHead(text string) bool {
	for _, name := range [...]string{"HEAD", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD", "stash", "@"} {
		if rest, ok := strings.CutPrefix(text, name); ok && gitSteps(rest) {
			return true
		}
	}
	return strings.HasPrefix(text, "@{") && gitSteps(text)
}

// gitSteps reports whether a text is nothing but steps from a commit: ~2, ^, @{1}, ^{tree}.
func gitSteps(text string) bool {
	for text != "" {
		switch {
		case text[0] == '~' || text[0] == '^' && !strings.HasPrefix(text, "^{"):
			text = strings.TrimLeft(text[1:], "0123456789")
		case strings.HasPrefix(text, "@{") || strings.HasPrefix(text, "^{") || text[0] == '{':
			end := strings.IndexByte(text, '}')
			if end < 0 {
				return false
			}
			text = text[end+1:]
		default:
			return false
		}
	}
	return true
}

// gitColon returns where the colon of REVISION:PATH stands: the first outside braces; -1 if there is none.
func gitColon(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ':':
			if depth <= 0 {
				return i
			}
		}
	}
	return -1
}

// gitPathspec returns the paths of a pathspec: its text, and the directory of its first wildcard. An exclusion has none.
func gitPathspec(w Word) []Word {
	switch rest, magic := strings.CutPrefix(w.Text, ":"); {
	case !magic:
	case strings.HasPrefix(rest, "("):
		words, path, closed := strings.Cut(rest[1:], ")")
		if !closed && !w.Static || closed && gitMagic(words, "exclude") {
			break
		}
		w.Text, w.Top = path, gitMagic(words, "top")
	default:
		path := strings.TrimLeft(rest, "/!^:")
		if strings.ContainsAny(rest[:len(rest)-len(path)], "!^") {
			return nil
		}
		w.Top = strings.Contains(rest[:len(rest)-len(path)], "/")
		w.Text = path
	}
	if strings.HasPrefix(w.Text, ":(") {
		return nil
	}
	if at := strings.IndexAny(w.Text, `*?[\`); at >= 0 && w.Static {
		start := w
		start.Text = "."
		if slash := strings.LastIndexByte(w.Text[:at], '/'); slash > 0 {
			start.Text = w.Text[:slash]
		} else if slash == 0 {
			start.Text = "/"
		}
		return []Word{start, w}
	}
	if w.Text == "" && w.Static {
		w.Text = "."
	}
	return []Word{w}
}

func gitMagic(words, word string) bool {
	for each := range strings.SplitSeq(words, ",") {
		if each == word {
			return true
		}
	}
	return false
}

// gitLines returns the files in values of -L START,END:FILE and -L :FUNCTION:FILE. A colon may belong to the part before the file
// or to its name.
func gitLines(values []Word) []Word {
	var files []Word
	for _, w := range values {
		rest, found := w.Text, false
		for {
			var ok bool
			_, rest, ok = strings.Cut(rest, ":")
			if !ok {
				break
			}
			found = true
			if rest != "" || !w.Static {
				files = append(files, Word{Text: rest, Static: w.Static, Maybe: true, Line: w.Line, Column: w.Column})
			}
		}
		if !found && !w.Static {
			files = append(files, w)
		}
	}
	return files
}

// gitLooks records operands whose names git looks up without reading the files.
func gitLooks(a *Args, u *Use) {
	for i, w := range a.Operands {
		if w.Static && a.Kinds[i] == "pathspec" {
			u.Looks = append(u.Looks, gitPathspec(w)...)
		}
	}
}

func hasDashes(argv []Word) bool {
	for _, w := range argv {
		if w.Static && w.Text == "--" {
			return true
		}
	}
	return false
}

// afterDashes counts the words that follow the first --.
func afterDashes(argv []Word) int {
	for i, w := range argv {
		if w.Static && w.Text == "--" {
			return len(argv) - i - 1
		}
	}
	return 0
}
