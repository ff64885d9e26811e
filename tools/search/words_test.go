package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/build"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"toolhost/agenttool"
	"toolhost/tools/encoding"
)

// TestWordsOfRealFiles checks that grep finds a random word of any text file that read shows, in files of this machine:
// those below the directories of TOOLHOST_FILE_ROOTS, a list like PATH, else Go's own. TOOLHOST_FILES is how many, 300
// unless it is set. testdata/encodings.sh is the long form.
func TestWordsOfRealFiles(t *testing.T) {
	roots, wanted := os.Getenv("TOOLHOST_FILE_ROOTS"), 300
	if n, err := strconv.Atoi(os.Getenv("TOOLHOST_FILES")); err == nil {
		wanted = n
	}
	if roots == "" {
		roots = filepath.Join(build.Default.GOROOT, "src")
	}
	r := rand.New(rand.NewPCG(5, 6))
	counts := map[string]int{}
	for _, name := range someFiles(filepath.SplitList(roots), wanted, r) {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		found := encoding.Recognise(raw)
		if !found.Encoding.IsText() {
			counts["no text"]++
			continue
		}
		text, _ := found.Text(raw)
		word, line := randomWord(text, r)
		if word == "" {
			counts["no word"]++
			continue
		}
		counts[found.Encoding.String()]++
		dir := filepath.Dir(name)
		tr, err := open(t, dir)
		if err != nil {
			t.Fatal(err)
		}
		matches := tr.find(t, map[string]any{"pattern": regexp.QuoteMeta(word), "path": agenttool.SpellPath(name), "limit": 10_000})
		if matches == nil {
			counts["denied or too large"]++
			continue
		}
		if !matches[line] {
			t.Errorf("%s, %s, line %d: %q is not found", name, found.Encoding, line, word)
		}
		tr.ws.Close()
		tr.engine.Close()
	}
	t.Log(counts)
	if counts["utf-8"] == 0 {
		t.Error("no file was searched")
	}
}

// someFiles returns up to n regular files below roots, chosen at random, each root about as often.
func someFiles(roots []string, n int, r *rand.Rand) (chosen []string) {
	for i, root := range roots {
		var all []string
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				all = append(all, path)
			}
			return nil
		})
		share := min((n-len(chosen))/(len(roots)-i), len(all))
		for _, at := range r.Perm(len(all))[:share] {
			chosen = append(chosen, all[at])
		}
	}
	return chosen
}

// randomWord returns a run of letters and digits of a text, with a character beyond ASCII if a line that is chosen has
// one, and the number of its line.
func randomWord(text []byte, r *rand.Rand) (word string, line int) {
	lines := bytes.Split(text, []byte("\n"))
	for range 50 {
		at := r.IntN(len(lines))
		words := strings.FieldsFunc(string(lines[at]), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
		if len(words) == 0 || len(lines[at]) > 1<<20 {
			continue
		}
		word = words[r.IntN(len(words))]
		for _, w := range words {
			if strings.ContainsFunc(w, func(c rune) bool { return c > unicode.MaxASCII }) {
				word = w
			}
		}
		return word, at + 1
	}
	return "", 0
}

// find returns the lines of the matches, over all pages; nil if the file is skipped.
func (tr tree) find(t *testing.T, input map[string]any) map[int]bool {
	t.Helper()
	lines := map[int]bool{}
	for {
		call, err := tr.bind(t, tr.newGrep(), input)
		if e, ok := errors.AsType[*agenttool.Error](err); ok && e.Class == agenttool.PermissionDenied {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		out, err := run(t, tr.newGrep(), call)
		if err != nil {
			t.Fatalf("%v: %v", input, err)
		}
		result := out.Structured.(grepResult)
		if result.Skipped.Denied+result.Skipped.TooLarge > 0 {
			return nil
		}
		for _, m := range result.Matches {
			lines[m.Line] = true
		}
		if result.NextOffset == nil {
			return lines
		}
		input["offset"] = json.Number(strconv.Itoa(*result.NextOffset))
	}
}
