package files

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"toolhost/tools/encoding"
)

// mutatedEdit is an edit that fails, made of lines of a file.
type mutatedEdit struct {
	file, old, now string
	line           int // where it differs
	kinds          []mismatchKind
}

// mutations make edits that models send out of lines [at, at+len(lines)) of a file. They return nil where the lines do not have what they
// change.
var mutations = map[string]func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit{
	"blanks for tabs": func(_ *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		first := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, "\t") })
		for i, line := range lines {
			body := strings.TrimLeft(line, "\t")
			lines[i] = strings.Repeat("    ", len(line)-len(body)) + body
		}
		return &mutatedEdit{line: at + first, kinds: []mismatchKind{indentation}}
	},
	"a block shifted": func(_ *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		first := slices.IndexFunc(lines, func(s string) bool { return strings.TrimSpace(s) != "" })
		for i, line := range lines {
			if strings.TrimSpace(line) != "" {
				lines[i] = "  " + line
			}
		}
		return &mutatedEdit{line: at + first, kinds: []mismatchKind{indentation}}
	},
	"another word": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		return inWord(r, at, lines, []mismatchKind{wording}, func(word string) string { return "q" + word[2:] + "zk" })
	},
	"another case": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		return inWord(r, at, lines, []mismatchKind{letterCase}, func(word string) string {
			if word == strings.ToUpper(word) {
				return strings.ToLower(word)
			}
			return strings.ToUpper(word)
		})
	},
	"an invisible character": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		return inWord(r, at, lines, []mismatchKind{invisible}, func(word string) string { return word[:2] + "\u200b" + word[2:] })
	},
	"a look-alike": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		return inWord(r, at, lines, []mismatchKind{lookAlike}, func(word string) string { return strings.Replace(word, "a", "\u0430", 1) })
	},
	"decomposed letters": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		k := r.IntN(len(lines))
		changed := strings.Replace(lines[k], "e", "é", 1)
		if changed == lines[k] {
			return nil
		}
		file[at+k], lines[k] = changed, norm.NFD.String(changed)
		if !norm.NFC.IsNormalString(changed) {
			return nil
		}
		return &mutatedEdit{line: at + k, kinds: []mismatchKind{unicodeForm}}
	},
	"curly quotes": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		return inLine(r, at, lines, []mismatchKind{typographic}, func(s string) string { return strings.NewReplacer(`"`, "“", "'", "’").Replace(s) })
	},
	"a no-break space": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		return inLine(r, at, lines, []mismatchKind{blankKind}, func(s string) string {
			body := strings.TrimLeft(s, " \t")
			return s[:len(s)-len(body)] + strings.Replace(body, " ", "\u00a0", 1)
		})
	},
	"two blanks": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		return inLine(r, at, lines, []mismatchKind{blanks}, func(s string) string {
			body := strings.TrimSpace(s)
			return strings.Replace(s, body, strings.Replace(body, " ", "  ", 1), 1)
		})
	},
	"trailing blanks": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		return inLine(r, at, lines, []mismatchKind{trailing}, func(s string) string { return s + "  " })
	},
	"a line left out": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		if len(lines) < 4 {
			return nil
		}
		k := 1 + r.IntN(len(lines)-2)
		m := &mutatedEdit{line: at + k, kinds: []mismatchKind{lineMissing}}
		m.old = strings.Join(slices.Delete(lines, k, k+1), "\n")
		return m
	},
	"a line too many": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		if len(lines) < 4 {
			return nil
		}
		k := 1 + r.IntN(len(lines)-2)
		m := &mutatedEdit{line: at + k, kinds: []mismatchKind{lineTooMany}}
		m.old = strings.Join(slices.Insert(lines, k, "\tresult := compute(first, second) // quickly"), "\n")
		return m
	},
	"an ellipsis": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		if len(lines) < 6 {
			return nil
		}
		m := &mutatedEdit{line: at, kinds: []mismatchKind{ellipsis}}
		m.old = strings.Join(slices.Replace(lines, 2, len(lines)-2, "    ..."), "\n")
		return m
	},
	"line numbers": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		for i := range lines {
			lines[i] = fmt.Sprintf("%6d\t%s", at+i+1, lines[i])
		}
		return &mutatedEdit{line: at, kinds: []mismatchKind{lineNumbers}}
	},
	"literal escapes": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		if len(lines) < 2 || strings.Contains(strings.Join(lines, ""), `\`) {
			return nil
		}
		return &mutatedEdit{old: strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(strings.Join(lines, "\n")), line: at, kinds: []mismatchKind{escaped}}
	},
	"escaped quotes": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		text := strings.Join(lines, "\n")
		if !strings.Contains(text, `"`) || strings.Contains(text, `\`) {
			return nil
		}
		return &mutatedEdit{old: strings.ReplaceAll(text, `"`, `\"`), line: at, kinds: []mismatchKind{escaped}}
	},
	"CR LF": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		if len(lines) < 2 {
			return nil
		}
		return &mutatedEdit{old: strings.Join(lines, "\r\n"), line: at, kinds: []mismatchKind{newlineKind}}
	},
	"a line end too many": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		if at+len(lines) >= len(file) || file[at+len(lines)] == "" {
			return nil
		}
		return &mutatedEdit{old: strings.Join(lines, "\n") + "\n\n", line: at + len(lines) - 1, kinds: []mismatchKind{finalNewline}}
	},
	"replaced already": func(r *rand.Rand, file []string, at int, lines []string) *mutatedEdit {
		old := strings.Join(lines, "\n")
		m := inWord(r, at, lines, []mismatchKind{alreadyDone}, func(word string) string { return word + "Old" })
		if m != nil {
			m.now, m.line = old, at
		}
		return m
	},
}

// inLine changes one of the lines.
func inLine(r *rand.Rand, at int, lines []string, kinds []mismatchKind, change func(string) string) *mutatedEdit {
	k := r.IntN(len(lines))
	changed := change(lines[k])
	if changed == lines[k] || strings.TrimSpace(lines[k]) == "" {
		return nil
	}
	lines[k] = changed
	return &mutatedEdit{line: at + k, kinds: kinds}
}

// inWord changes a word of ASCII letters in one of the lines.
func inWord(r *rand.Rand, at int, lines []string, kinds []mismatchKind, change func(string) string) *mutatedEdit {
	return inLine(r, at, lines, kinds, func(line string) string {
		words := strings.FieldsFunc(line, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
		words = slices.DeleteFunc(words, func(s string) bool { return len(s) < 4 })
		if len(words) == 0 {
			return line
		}
		word := words[r.IntN(len(words))]
		return strings.Replace(line, word, change(word), 1)
	})
}

// realFiles returns texts of this machine: of this repository, of Go and its modules, and of packages' documents.
func realFiles(t *testing.T, r *rand.Rand, most int) (texts []string) {
	roots := []string{"../..", "/usr/share/doc"}
	if out, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output(); err == nil {
		for _, dir := range strings.Fields(string(out)) {
			roots = append(roots, filepath.Join(dir, "src"), filepath.Join(dir, "golang.org"), filepath.Join(dir, "github.com"))
		}
	}
	for _, root := range roots {
		var names []string
		filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.Contains(name, "/.git/") && len(names) < 20_000 {
				names = append(names, name)
			}
			return nil
		})
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		taken := 0
		for _, name := range names {
			info, err := os.Stat(name)
			if err != nil || info.Size() < 400 || info.Size() > 200_000 {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil || !utf8.Valid(text) || strings.ContainsAny(string(text), "\x00\r") {
				continue
			}
			texts = append(texts, string(text))
			if taken++; taken == most {
				break
			}
		}
	}
	return texts
}

// TestMutatedEdits makes edits of real files that fail. The line of the first difference and its kind are right in at least 95 of 100, and
// messages are short.
func TestMutatedEdits(t *testing.T) {
	const seed, edits = 30, 600
	r := rand.New(rand.NewPCG(seed, seed))
	texts := realFiles(t, r, 60)
	names := make([]string, 0, len(mutations))
	for name := range mutations {
		names = append(names, name)
	}
	slices.Sort(names)
	made, place, right, hunks, hunkPlace := 0, 0, 0, 0, 0
	var sizes []int
	wrong := map[string]int{}
	for tries := 0; made < edits && tries < 100*edits; tries++ {
		name := names[tries%len(names)]
		file := strings.Split(texts[r.IntN(len(texts))], "\n")
		at := r.IntN(len(file))
		lines := slices.Clone(file[at:min(len(file), at+1+r.IntN(25))])
		span := strings.Join(lines, "\n")
		if strings.TrimSpace(lines[0]) == "" || strings.TrimSpace(lines[len(lines)-1]) == "" || len(span) < 10 ||
			strings.Count(strings.Join(file, "\n"), span) != 1 {
			continue
		}
		m := mutations[name](r, file, at, lines)
		if m == nil {
			continue
		}
		if m.old == "" {
			m.old = strings.Join(lines, "\n")
		}
		m.file = strings.Join(file, "\n")
		if strings.Contains(m.file, m.old) {
			continue
		}
		made++
		scanned, _ := inspect([]byte(m.file), encoding.Binary)
		was := &document{exists: true, contents: contents{raw: []byte(m.file), text: []byte(m.file), form: scanned}}
		_, _, err := replacement{m.old, m.now, false}.apply(t.Context(), was.text, was, nil)
		if err == nil {
			t.Fatalf("%s: it was applied", name)
		}
		err = editReviser{}.named(err, "internal/file.go", 0)
		sizes = append(sizes, len(err.Error()))
		got, _ := explain([]byte(m.file), m.old, m.now, "old_string", "\n", false)
		if name != "CR LF" && name != "literal escapes" && name != "a line end too many" { // as the lines of a hunk
			hunks++
			if of, _ := explain([]byte(m.file), m.old, m.now, patchName, "\n", true); of.line == m.line+1 && slices.Contains(m.kinds, of.kind) {
				hunkPlace++
			}
		}
		rightPlace, rightKind := got.line == m.line+1, slices.Contains(m.kinds, got.kind)
		if rightPlace {
			place++
		}
		if rightKind {
			right++
		}
		if !rightPlace || !rightKind {
			wrong[name]++
			if testing.Verbose() {
				t.Logf("%s: line %d, want %d\n%v\n%s", name, got.line, m.line+1, err, m.old)
			}
		}
	}
	slices.Sort(sizes)
	t.Logf("%d edits: place right %d, kind right %d, bytes p50 %d, p95 %d, max %d; wrong %v; of %d as hunks both right %d", made, place, right,
		sizes[made/2], sizes[made*95/100], sizes[made-1], wrong, hunks, hunkPlace)
	if made < edits || place*100 < made*95 || right*100 < made*95 || hunkPlace*100 < hunks*95 || sizes[made*95/100] > 600 {
		t.Error("too many are wrong, or messages are too long")
	}
}
