package files

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/tools/encoding"
)

// The long form of these tests is testdata/encodings.sh, which sets these variables.
const (
	editsVariable = "TOOLHOST_EDITS"      // random edits to make
	filesVariable = "TOOLHOST_FILES"      // real files to take
	rootsVariable = "TOOLHOST_FILE_ROOTS" // directories to take them from, separated by colons
)

func numberFrom(t *testing.T, variable string, usual int) int {
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// words are characters that texts in an encoding have, some with several spellings, and bytes that are ASCII elsewhere.
var words = map[encoding.Encoding][]string{
	encoding.UTF8:        {"é", "日本", "😀", "ß", "한", "\u0301"},
	encoding.UTF16LE:     {"é", "日本", "😀", "ß", "한", "一"},
	encoding.UTF16BE:     {"é", "日本", "😀", "ß", "한", "一"},
	encoding.Windows1252: {"é", "“", "”", "€", "ß", "für", "\u0081"},
	encoding.ShiftJIS:    {"ソ", "表", "能", "日本", "の", "ｱ", "∪", "纊", "―"},
	encoding.EUCJP:       {"ソ", "表", "日本", "の", "です", "ｱ", "仡"},
	encoding.EUCKR:       {"한", "글", "갴", "안녕", "갂", "을", "漢"},
	encoding.GBK:         {"你", "好", "的", "乗", "中文", "，", "乂"},
	encoding.GB18030:     {"你", "好", "𠀀", "乗", "的", "😀", "ᠠ"},
	encoding.Big5:        {"許", "功", "蓋", "你", "的", "中文", "，"},
}

// TestEditsOfRandomTexts edits random texts in each encoding as edit does. An edit that is made replaces the matches in the text that is
// shown, and cuts no character of the encoding that the text was written in.
func TestEditsOfRandomTexts(t *testing.T) {
	edits := numberFrom(t, editsVariable, 5_000)
	for e := encoding.UTF8; e <= encoding.Big5; e++ {
		marks := []bool{false}
		if e.Mark() != "" {
			marks = append(marks, true)
		}
		for _, mark := range marks {
			t.Run(fmt.Sprintf("%s,mark=%t", e, mark), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(e), 7))
				made, refused, other := 0, 0, 0
				for made < edits/13+1 && !t.Failed() {
					text := randomWords(r, e, 3+r.IntN(40))
					raw := must[[]byte](t)(e.Encode([]byte(text)))
					if mark {
						raw = append([]byte(e.Mark()), raw...)
					}
					shown, ok := editAtRandom(t, r, e, mark, raw)
					if ok {
						made++
					} else {
						refused++
					}
					if shown != e {
						other++
					}
				}
				t.Logf("%s: %d edits made, %d refused; %d texts were shown in another encoding", e, made, refused, other)
			})
		}
	}
}

func randomWords(r *rand.Rand, e encoding.Encoding, n int) string {
	plain := []string{"a", "b", "/", "\\", "|", "[", "~", "A", "2", " ", " ", "\n", "int x;"}
	var b strings.Builder
	for range n {
		from := words[e]
		if r.IntN(2) == 0 {
			from = plain
		}
		b.WriteString(from[r.IntN(len(from))])
	}
	return b.String()
}

// editAtRandom replaces a part of the text that is shown, and returns the encoding that it is shown in.
func editAtRandom(t *testing.T, r *rand.Rand, written encoding.Encoding, mark bool, raw []byte) (shown encoding.Encoding, made bool) {
	was := &document{exists: true, limit: maxDocument, contents: contents{raw: raw}, path: agenttool.Path{Spelling: "f"}}
	was.form, was.found = inspect(raw, encoding.Binary)
	if was.form.binary {
		return encoding.Binary, false
	}
	was.text, _ = was.found.Text(raw)
	characters := []rune(string(was.text))
	start := r.IntN(len(characters))
	end := min(len(characters), start+1+r.IntN(4))
	e := replacement{OldString: string(characters[start:end]), NewString: randomWords(r, written, r.IntN(3)), ReplaceAll: r.IntN(2) == 0}
	if e.OldString == e.NewString {
		return was.found.Encoding, false
	}
	now, err := editReviser{&session{}, []replacement{e}, ""}.revise(t.Context(), was)
	if err != nil {
		var failure *agenttool.Error
		if !errors.As(err, &failure) || failure.Code != "encoding" && failure.Code != "many_matches" {
			t.Errorf("%q of % x: %v", e.OldString, raw, err)
		}
		return was.found.Encoding, false
	}
	what := fmt.Sprintf("% x, shown as %s, %q for %q: % x", raw, was.found.Encoding, e.NewString, e.OldString, now.raw)
	if want := strings.ReplaceAll(string(was.text), e.OldString, e.NewString); string(now.text) != want {
		t.Errorf("%s: the text is %q", what, now.text)
	}
	fresh, err := was.found.Encoding.Encode([]byte(e.NewString))
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	body := was.found.Body(raw)
	writtenBody := raw
	if mark {
		writtenBody = raw[len(written.Mark()):]
	}
	// What is UTF-8 is UTF-8 and nothing else, and UTF-16 without a mark and without NUL is not recognised: there the encoding must be declared.
	unknown := was.found.Encoding != written && (was.found.Encoding == encoding.UTF8 || written.IsUTF16())
	want := bytes.Clone(raw[:len(raw)-len(body)])
	copied := 0
	for at := 0; ; {
		found := strings.Index(string(was.text[at:]), e.OldString)
		if found < 0 {
			break
		}
		from := offsetOf(was.found.Encoding, body, at+found)
		to := offsetOf(was.found.Encoding, body, at+found+len(e.OldString))
		for _, border := range []int{from, to} {
			inWritten := border + len(raw) - len(body) - (len(raw) - len(writtenBody))
			if !unknown && !written.Decodes(writtenBody[:inWritten]) {
				t.Errorf("%s: byte %d is within a character of %s", what, border, written)
			}
		}
		want = append(append(want, body[copied:from]...), fresh...)
		copied = to
		at += found + len(e.OldString)
	}
	want = append(want, body[copied:]...)
	if !bytes.Equal(now.raw, want) {
		t.Errorf("%s; want % x", what, want)
	}
	if !unknown && !written.Decodes(now.raw[len(raw)-len(writtenBody):]) {
		t.Errorf("%s: it is no longer %s", what, written)
	}
	return was.found.Encoding, true
}

// offsetOf returns the length of the head of raw whose text has a length.
func offsetOf(e encoding.Encoding, raw []byte, length int) int {
	for n := range len(raw) + 1 {
		if text, whole := e.Decode(raw[:n]); whole && len(text) == length {
			return n
		}
	}
	return -1
}

// filesOfMachine returns regular files of this machine that are at most limit bytes long, in a random order.
func filesOfMachine(t *testing.T, limit int64) []string {
	var roots []string
	if text := os.Getenv(rootsVariable); text != "" {
		roots = strings.Split(text, ":")
	} else {
		goroot := must[[]byte](t)(exec.Command("go", "env", "GOROOT").Output())
		roots = []string{filepath.Join(strings.TrimSpace(string(goroot)), "src")}
	}
	var files []string
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			if info, err := d.Info(); err == nil && info.Size() > 0 && info.Size() <= limit {
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(30, 5000))
	r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	return files
}

// TestEditsOfRealUTF8AreNotRefused edits real files that are UTF-8: none is refused for its encoding.
func TestEditsOfRealUTF8AreNotRefused(t *testing.T) {
	wanted := numberFrom(t, filesVariable, 200)
	r := rand.New(rand.NewPCG(30, 1))
	made, ambiguous := 0, 0
	for _, path := range filesOfMachine(t, 1<<20) {
		raw, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
			continue
		}
		was := &document{exists: true, limit: maxDocument, contents: contents{raw: raw}, path: agenttool.Path{Spelling: path}}
		was.form, was.found = inspect(raw, encoding.Binary)
		was.text, _ = was.found.Text(raw)
		characters := []rune(string(was.text))
		if len(characters) == 0 {
			continue
		}
		at := r.IntN(len(characters))
		old := string(characters[at:min(len(characters), at+1+r.IntN(60))])
		e := replacement{OldString: old, NewString: "é — 日本 😀", ReplaceAll: r.IntN(2) == 0}
		now, err := editReviser{&session{}, []replacement{e}, ""}.revise(t.Context(), was)
		var failure *agenttool.Error
		switch {
		case errors.As(err, &failure) && (failure.Code == "many_matches" || failure.Code == "no_match"): // a match that begins within CRLF
			ambiguous++
			continue
		case err != nil:
			t.Errorf("%s: %v", path, err)
		case !bytes.HasPrefix(now.raw, raw[:min(len(raw), len(now.raw), strings.Index(string(raw), old))]) || !utf8.Valid(now.raw):
			t.Errorf("%s: %q became another file", path, old)
		}
		if made++; made == wanted {
			break
		}
	}
	t.Logf("%d edits made; %d more did not match once", made, ambiguous)
	if made < wanted {
		t.Errorf("only %d files were edited", made)
	}
}

// TestWritingWhatWasRead reads copies of real files, whatever they hold, and writes the same text: the bytes stay, or it is refused.
func TestWritingWhatWasRead(t *testing.T) {
	wanted := numberFrom(t, filesVariable, 200)
	p := newProject(t, Options{Durability: func() Durability { return agenttool.NotSynced }})
	kinds := map[string]int{}
	notUTF8 := map[string]string{}
	same, refused := 0, map[string]int{}
	taken, texts := 0, 0
	for _, path := range filesOfMachine(t, 256<<10) {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		taken++
		name := fmt.Sprint("f", taken)
		p.put(name, string(raw))
		text, kind := p.readAll(name)
		if kinds[kind]++; kind != "utf-8" && kind != "binary" && kind != "image" {
			notUTF8[filepath.Base(path)] = kind
		}
		_, err = p.write(name, text)
		var failure *agenttool.Error
		switch now := p.get(name); {
		case errors.As(err, &failure):
			refused[failure.Code]++
			if now != string(raw) {
				t.Errorf("%s: refused (%v), and changed", path, err)
			}
		case err != nil || now != string(raw):
			t.Errorf("%s (%s): %d bytes became %d, %v", path, kind, len(raw), len(now), err)
		default:
			same++
		}
		if err := os.Remove(p.path(name)); err != nil {
			t.Fatal(err)
		}
		if texts = taken - kinds["binary"] - kinds["image"]; texts == wanted {
			break
		}
	}
	t.Logf("%d files, %d of them text: %d stayed the same, refused: %v; read as: %v", taken, texts, same, refused, kinds)
	t.Logf("not UTF-8: %v", notUTF8)
	if texts < wanted || same < texts*9/10 {
		t.Errorf("%d texts, %d of them stayed the same", texts, same)
	}
}

// readAll returns the text of a file as its pages show it, and what it was read as.
func (p *project) readAll(name string) (text, kind string) {
	p.t.Helper()
	var b strings.Builder
	for offset := int64(1); offset > 0; {
		r, page := p.readInput(in{"path": name, "offset": offset})
		if r.Kind != "text" {
			return "", r.Kind
		}
		lines := strings.Split(page, "\n")
		for _, line := range lines[:min(len(lines), int(r.EndLine-r.StartLine)+1)] {
			if _, shown, ok := strings.Cut(line, "\t"); ok {
				b.WriteString(shown + "\n")
			}
		}
		offset = r.NextOffset
		kind = r.Encoding.String()
		if offset == 0 && !r.FinalNewline {
			return strings.TrimSuffix(b.String(), "\n"), kind
		}
	}
	return b.String(), kind
}
