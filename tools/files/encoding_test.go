package files

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/tools/encoding"
)

// legacyFiles are texts in encodings in which a byte of ASCII can be a part of a character.
var legacyFiles = []struct{ name, content, shown string }{
	{"shift_jis", "int x;\n// \x83\x5c\n", "int x;\n// ソ\n"},
	{"gbk", "int x;\n// \x81\x5c\xc4\xe3\xba\xc3\xb5\xc4\n", "int x;\n// 乗你好的\n"},
	{"big5", "int x;\n// \xb3\x5c\xa7\x41\xa6\x6e\xaa\xba\n", "int x;\n// 許你好的\n"},
	{"gb18030", "int x;\n// \x81\x5c\xc4\xe3\xba\xc3\x95\x32\x82\x36\n", "int x;\n// 乗你好𠀀\n"},
	{"euc-jp", "int x;\n// \xa5\xbd\xa1\xa3\xa4\xb9\xa4\xeb\n", "int x;\n// ソ。する\n"},
	{"euc-kr", "int x;\n// \xb0\xa1\xb4\xd9 \x81\x5a\n", "int x;\n// 가다 갴\n"},
	{"windows-1252", "He said \x93hello\x94 \x96 \x805\n", "He said “hello” – €5\n"},
}

// numbered returns text as read shows it, without notes.
func numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, line)
	}
	return b.String()
}

// TestCharactersAreShown reads files in each encoding.
func TestCharactersAreShown(t *testing.T) {
	for _, tt := range legacyFiles {
		p := newProject(t, Options{})
		p.put("f", tt.content)
		out, err := p.run("read", in{"path": "f"})
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Content[0].Text; !strings.HasPrefix(got, numbered(tt.shown)) || !strings.Contains(got, tt.name) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// TestNoCharacterIsCut tries to replace what is a part of a character: a backslash, and each byte above ASCII as it is in other encodings.
func TestNoCharacterIsCut(t *testing.T) {
	for _, tt := range legacyFiles {
		for _, all := range []bool{false, true} {
			for _, old := range []string{`\`, "¥", "³", "ƒ", "Ä", "ã", "½", "Z", "A", "n", "2"} {
				if strings.Contains(tt.shown, old) {
					continue
				}
				p := newProject(t, Options{})
				p.put("f", tt.content)
				_, err := p.run("edit", in{"path": "f", "old_string": old, "new_string": "/", "replace_all": all})
				if err == nil || p.get("f") != tt.content {
					t.Errorf("%s: %q was replaced: %q, %v", tt.name, old, p.get("f"), err)
				}
			}
		}
	}
}

// TestCharactersAreReplaced edits each file in its own characters, and ASCII beside them: all other bytes stay.
func TestCharactersAreReplaced(t *testing.T) {
	for _, tt := range []struct{ name, content, old, new, want string }{
		{"ASCII beside a kana", "int x;\n// \x83\x5c\n", "int", "var", "var x;\n// \x83\x5c\n"},
		{"a kana", "int x;\n// \x83\x5c\n", "// ソ", "// ソ表", "int x;\n// \x83\x5c\x95\x5c\n"},
		{"the whole line", "// \x83\x5c\\\n", "// ソ\\", "// ソ/", "// \x83\x5c/\n"},
		{"quotes", "He said \x93hello\x94 \x96 \x805\n", "“hello” – €5", "‘hi’ — €6…", "He said \x91hi\x92 \x97 \x806\x85\n"},
		{"an unusual spelling stays", "\x81\xca \xfa\x54 x \x83\x5c\n", "x", "y", "\x81\xca \xfa\x54 y \x83\x5c\n"},
		{"undefined bytes stay", "\x81\x8d\x8f\x90\x9d caf\xe9\n", "caf", "the", "\x81\x8d\x8f\x90\x9d the\xe9\n"},
		{"UTF-16 without a mark", "a\x00\xe9\x00\r\x00\n\x00b\x00\n\x00", "é\nb", "è\nc", "a\x00\xe8\x00\r\x00\n\x00c\x00\n\x00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put("f", tt.content)
			if _, err := p.edit("f", tt.old, tt.new); err != nil || p.get("f") != tt.want {
				t.Errorf("% x, %v; want % x", p.get("f"), err, tt.want)
			}
		})
	}
}

// TestPatchesAndWritesKeepEncodings changes the first line of each file, by a patch and by writing all of it.
func TestPatchesAndWritesKeepEncodings(t *testing.T) {
	for _, tt := range legacyFiles[:6] {
		want := strings.Replace(tt.content, "int x", "var y", 1)
		p := newProject(t, Options{})
		p.put("f", tt.content)
		patch := "*** Begin Patch\n*** Update File: f\n@@\n-int x;\n+var y;\n // " + strings.Split(tt.shown, "// ")[1] + "*** End Patch"
		out, err := p.run("edit", in{"patch": patch})
		if err != nil || p.get("f") != want {
			t.Errorf("%s: a patch made % x, %v", tt.name, p.get("f"), err)
		}
		if err == nil && !strings.Contains(out.Content[1].Diff, strings.Split(tt.shown, "\n")[1]) {
			t.Errorf("%s: the diff is %s", tt.name, out.Content[1].Diff)
		}
		p.put("f", tt.content)
		p.read("f")
		r, err := p.write("f", tt.shown)
		if err != nil || !r.Unchanged {
			t.Errorf("%s: writing what was read: %+v, %v", tt.name, r, err)
		}
		r, err = p.write("f", strings.Replace(tt.shown, "int x", "var y", 1))
		if err != nil || p.get("f") != want || fmt.Sprint(r.Encoding) != tt.name {
			t.Errorf("%s: writing made % x, %v, %s", tt.name, p.get("f"), err, r.Encoding)
		}
	}
}

// TestDeclaredEncodingCutsNoCharacter: a caller who is wrong about the encoding damages no character of the one that the file seems to have.
func TestDeclaredEncodingCutsNoCharacter(t *testing.T) {
	p := newProject(t, Options{})
	for _, c := range []struct{ name, text, declared, old string }{
		{"gbk", strings.Repeat("\xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6\xbc\xf2\xb5\xa5\xb5\xc4\xce\xc4\xbc\xfe\xa1\xa3 \xd5\x5a\n", 8), "windows-1252", "Z"},
		{"shift_jis", strings.Repeat("\x82\xb1\x82\xea\x82\xcd\x83\x65\x83\x58\x83\x67\x82\xc5\x82\xb7 \x95\x5c\n", 8), "windows-1252", "\\"},
		{"utf-8", "caf\xc3\xa9 na\xc3\xafve\n", "windows-1252", "\u00a9"},
	} {
		p.put(c.name, c.text)
		_, err := p.run("edit", in{"path": c.name, "old_string": c.old, "new_string": "x", "replace_all": true, "encoding": c.declared})
		wantError(t, err, agenttool.InvalidArguments, "encoding", c.name)
		if p.get(c.name) != c.text {
			t.Errorf("%s: %q", c.name, p.get(c.name))
		}
	}
	p.put("plain", "cafe\n") // nothing contradicts
	if _, err := p.run("edit", in{"path": "plain", "old_string": "cafe", "new_string": "café", "encoding": "windows-1252"}); err != nil || p.get("plain") != "caf\xe9\n" {
		t.Errorf("%q, %v", p.get("plain"), err)
	}
}

// TestEncodingIsSaid reads, edits and writes files whose encoding the caller knows.
func TestEncodingIsSaid(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", "f\xfcr\n")
	_, err := p.edit("f", "ü", "ue")
	wantError(t, err, agenttool.InvalidArguments, "encoding", "windows-1252", "gbk", "nothing was changed")
	for _, unknown := range []string{"read", "write", "edit"} {
		input := map[string]in{"read": {"path": "f"}, "write": {"path": "f", "content": ""}, "edit": {"path": "f", "old_string": "a", "new_string": "b"}}[unknown]
		input["encoding"] = "klingon"
		_, err := p.run(unknown, input)
		wantError(t, err, agenttool.InvalidArguments, "bad_value", "klingon", "utf-8", "shift_jis", "big5")
	}
	if _, err := p.run("edit", in{"path": "f", "old_string": "ü", "new_string": "ue", "encoding": "latin1"}); err != nil || p.get("f") != "fuer\n" {
		t.Errorf("%q, %v", p.get("f"), err)
	}
	p.put("f", "\xd2\xbb\xd0\xa9\n") // GBK, and UTF-8 by chance
	if _, text := p.readInput(in{"path": "f"}); !strings.Contains(text, "һЩ") {
		t.Errorf("%q", text)
	}
	if _, text := p.readInput(in{"path": "f", "encoding": "gb2312"}); !strings.Contains(text, "一些") {
		t.Errorf("%q", text)
	}
	if _, err := p.run("edit", in{"path": "f", "old_string": "些", "new_string": "个", "encoding": "gb2312"}); err != nil || p.get("f") != "\xd2\xbb\xb8\xf6\n" {
		t.Errorf("% x, %v", p.get("f"), err)
	}
	for _, tool := range []in{{"path": "f"}, {"path": "f", "old_string": "a", "new_string": "b"}} {
		tool["encoding"] = "utf-8"
		name := "read"
		if len(tool) > 2 {
			name = "edit"
		}
		_, err := p.run(name, tool)
		wantError(t, err, agenttool.InvalidArguments, "encoding", "f is not utf-8")
	}
	p.put("little", "\xff\xfea\x00")
	_, err = p.run("read", in{"path": "little", "encoding": "utf-16be"})
	wantError(t, err, agenttool.InvalidArguments, "bad_value", "utf-16le")
	p.read("f")
	if _, err := p.run("write", in{"path": "f", "content": "一个\n", "encoding": "utf-8"}); err != nil || p.get("f") != "一个\n" {
		t.Errorf("converted to %q, %v", p.get("f"), err)
	}
	for name, want := range map[string]string{"sjis": "\x83\x5c\n", "utf-16": "\xff\xfe\xbd\x30\n\x00", "utf-16be": "\xfe\xff\x30\xbd\x00\n"} {
		if _, err := p.run("write", in{"path": "new-" + name, "content": "ソ\n", "encoding": name}); err != nil || p.get("new-"+name) != want {
			t.Errorf("%s: % x, %v", name, p.get("new-"+name), err)
		}
	}
	_, err = p.run("write", in{"path": "other", "content": "한\n", "encoding": "sjis"})
	wantError(t, err, agenttool.InvalidArguments, "encoding", "U+D55C", "shift_jis", "nothing was changed")
	if _, err := p.run("edit", in{"patch": "*** Begin Patch\n*** Add File: added\n+ソ\n*** End Patch", "encoding": "sjis"}); err != nil || p.get("added") != "\x83\x5c\n" {
		t.Errorf("% x, %v", p.get("added"), err)
	}
}

// TestISO2022IsRefused: the meaning of its bytes depends on those before them.
func TestISO2022IsRefused(t *testing.T) {
	p := newProject(t, Options{})
	content := "a \x1b$B4A;z\x1b(B b\n"
	p.put("f", content)
	if _, text := p.read("f"); !strings.Contains(text, "iso-2022") {
		t.Errorf("%q", text)
	}
	_, edit := p.edit("f", "b", "c")
	_, write := p.write("f", "b\n")
	_, patch := p.run("edit", in{"patch": "*** Begin Patch\n*** Update File: f\n@@\n+x\n*** End Patch"})
	for _, err := range []error{edit, write, patch} {
		wantError(t, err, agenttool.InvalidArguments, "encoding", "ISO-2022", "iconv")
	}
	if p.get("f") != content {
		t.Errorf("%q", p.get("f"))
	}
	if _, err := p.run("edit", in{"path": "f", "old_string": " b", "new_string": " c", "encoding": "utf-8"}); err != nil {
		t.Error(err)
	}
}

// TestLargeLegacyFiles reads pages of files that are not held in memory, wherever a chunk ends.
func TestLargeLegacyFiles(t *testing.T) {
	for _, tt := range legacyFiles {
		p := newProject(t, Options{})
		unit := tt.content + strings.Repeat("x", 13) + "\n"
		times := 3*memoryOnly/len(unit) + 1
		p.put("f", strings.Repeat(unit, times))
		per := strings.Count(unit, "\n")
		for _, at := range []int{0, times / 3, times - 1} {
			r, text := p.readInput(in{"path": "f", "offset": at*per + 1, "limit": per - 1})
			want := fmt.Sprintf("%6d\t%s\n", at*per+per-1, strings.Split(tt.shown, "\n")[per-2])
			if !strings.Contains(text, want) || r.TotalLines != int64(times*per) || fmt.Sprint(r.Encoding) != tt.name {
				t.Errorf("%s: %q, %d lines, %s", tt.name, text, r.TotalLines, r.Encoding)
			}
		}
	}
	p := newProject(t, Options{})
	wide := bytes.Repeat([]byte("a\x00\xe9\x00\n\x00"), memoryOnly)
	p.put("f", string(wide))
	if r, text := p.readInput(in{"path": "f", "offset": memoryOnly / 2, "limit": 1}); !strings.Contains(text, "\taé\n") || r.TotalLines != memoryOnly {
		t.Errorf("%q, %d lines", text, r.TotalLines)
	}
}

// TestTextThatChangesWhileItIsDecoded appends to a file between its opening and the passes that recognise its encoding.
func TestTextThatChangesWhileItIsDecoded(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", strings.Repeat("caf\xe9\n", memoryOnly/4))
	f := must[*os.File](t)(os.Open(p.path("f")))
	defer f.Close()
	c := must[*content](t)(openContent(f))
	p.at("f", memoryOnly, "more")
	wantError(t, c.survey(t.Context(), encoding.Binary), agenttool.ExecutionFailed, "changed_while_read", "read it again")
}

// TestEditsLikeIconv has iconv convert a file to UTF-8 and back, with the same edit in between.
func TestEditsLikeIconv(t *testing.T) {
	iconv, err := exec.LookPath("iconv")
	if err != nil {
		t.Skip("iconv is not installed: apt-get install libc-bin")
	}
	convert := func(from, to, text string) string {
		c := exec.Command(iconv, "-f", from, "-t", to)
		c.Stdin = strings.NewReader(text)
		return string(must[[]byte](t)(c.Output()))
	}
	for _, tt := range legacyFiles[:6] {
		name := map[string]string{"euc-kr": "uhc"}[tt.name]
		if name == "" {
			name = tt.name
		}
		word := []rune(strings.Split(tt.shown, "// ")[1])[:2]
		want := convert("utf-8", name, strings.ReplaceAll(convert(name, "utf-8", tt.content), string(word), string(word[1])))
		p := newProject(t, Options{})
		p.put("f", tt.content)
		input := in{"path": "f", "old_string": string(word), "new_string": string(word[1]), "replace_all": true, "encoding": tt.name}
		if _, err := p.run("edit", input); err != nil || p.get("f") != want {
			t.Errorf("%s: % x, %v; iconv makes % x", tt.name, p.get("f"), err, want)
		}
	}
}
