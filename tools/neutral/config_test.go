package neutral

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// configs are files that git reads, and files that it refuses.
var configs = []string{
	"", "[core]\n\tbare = false\n", "[diff \"jpg\"]\n\ttextconv = exif\n", "[diff \"a b\\\"c\\\\d\"]command=x", "[filter.LFS]\nClean = \"git-lfs clean -- %f\"\n",
	"[a]b", "[a]b=c ; d\n[A \"X.y\"] Z = \" q \" # c\ne=f\\\ng\n", "\ufeff[core]\r\n\tx = y\r\n", "[a]\nb = \\x\n", "[a\n", "[a \"b]\n", "b = c\n", "[a]\n1b = c\n",
	"[a]\nb c\n", "[a]b = \"x", "[a]b = \"x\ny\"\n", "[a] ; c\n b = d", "[a]b\n=c\n", "[a][b]c=d", "[a]\nb = x\ty  z \n", "[-a.B-]c-d = 1\n", "[]\na=b\n", "[a]b=1\\",
	"[a \"b\\\nc\"]d=e\n", "[ a]b=c", "[a\t\"x\"]b=c", "[a]\rb=c\n", "[a]b=\r\n", "[a]b=c\rd\n", "[diff.x.y]textconv=z", "[a]b # c\n", "[include]\n\tpath = ~/x\n", "[a \"\"]b=c", "[a] b = c\\\n",
}

func FuzzParseConfig(f *testing.F) {
	for _, text := range configs {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { agrees(t, text) })
}

// agrees fails if git reads a file in another way. What git takes may be refused.
func agrees(t *testing.T, text string) {
	t.Helper()
	entries, err := parseConfig(text)
	if err != nil || len(text) > 1<<10 {
		return
	}
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "config", "--file", file, "--list", "-z", "--no-includes")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	if err != nil {
		return // git reads nothing of it
	}
	var want, got []string
	for each := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		if key, value, _ := strings.Cut(string(each), "\n"); key != "" {
			want = append(want, key+"="+blank(value))
		}
	}
	for _, e := range entries {
		got = append(got, e.Key+"="+blank(e.Value))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q: %q, and git says %q", text, got, want)
	}
}

// blank takes all blanks for the same: versions of git differ in them.
func blank(value string) string { return strings.NewReplacer("\t", " ", "\r", " ").Replace(value) }

func TestParseConfig(t *testing.T) {
	refused := 0
	for _, text := range configs {
		agrees(t, text)
		if _, err := parseConfig(text); err != nil {
			refused++
		}
	}
	if refused < 8 || refused > 18 {
		t.Errorf("%d of %d files are refused", refused, len(configs))
	}
	for _, tt := range []struct{ text, want string }{
		{"[diff \"JPG x\"]\n TextConv = exif \"-a\"  b ; c\n", "diff.JPG x.textconv=exif -a  b"},
		{"[filter.LFS]\nclean\n", "filter.lfs.clean="},
		{"[a \"b\\\"c\\\\\"]d = \"e\\tf\"\\\n g", "a.b\"c\\.d=e\tf g"},
	} {
		got, err := parseConfig(tt.text)
		if err != nil || len(got) != 1 || got[0].Key+"="+got[0].Value != tt.want {
			t.Errorf("%q: %v, %v; want %q", tt.text, got, err, tt.want)
		}
	}
}
