package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"toolhost/agenttool"
	"toolhost/classify"
)

// TestLocalesThatSplitBytes: in GBK and its like the backslash is a part of the character before it, the string ends, and what follows
// runs. The environment of commands names no such locale.
func TestLocalesThatSplitBytes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	localedef, err := exec.LookPath("localedef")
	if err != nil {
		t.Skip("localedef is not installed")
	}
	gbk, sjis := `echo "中\" ; echo > ran #"`, `echo "А\" ; echo > ran #"`
	for _, l := range []struct{ name, source, charset, text string }{
		{"zh_CN.GBK", "zh_CN", "GBK", gbk}, {"zh_CN", "zh_CN", "GBK", gbk}, {"zh_TW", "zh_TW", "BIG5", gbk}, {"ja_JP.SJIS", "ja_JP", "SHIFT_JIS", sjis},
	} {
		t.Run(l.name, func(t *testing.T) {
			if facts := classify.Command(l.text, classify.Context{Dir: "/w"}); facts.ReadOnly != agenttool.Yes {
				t.Errorf("%s: read_only %v", l.text, facts.ReadOnly)
			}
			locales, dir := t.TempDir(), t.TempDir()
			out, err := exec.Command(localedef, "--no-archive", "-c", "-i", l.source, "-f", l.charset, filepath.Join(locales, l.name)).CombinedOutput()
			if _, made := os.Stat(filepath.Join(locales, l.name, "LC_CTYPE")); made != nil {
				t.Skipf("localedef made no locale: %v: %s", err, out)
			}
			run := func(env []string) bool {
				cmd := exec.Command(bash, "-c", l.text)
				cmd.Dir, cmd.Env = dir, append(env, "LOCPATH="+locales)
				_ = cmd.Run()
				_, err := os.Stat(filepath.Join(dir, "ran"))
				os.Remove(filepath.Join(dir, "ran"))
				return err == nil
			}
			host := []string{"PATH=/usr/bin:/bin", "LC_ALL=" + l.name}
			if !run(host) {
				t.Errorf("in %s, too, what stands in quotes does not run: this shows nothing", l.name)
			}
			if run(Environ(host, dir)) {
				t.Error("what stands in quotes ran")
			}
			tool := tool{o: Options{Added: func() []string { return host }}}
			if run(tool.added(nil)) {
				t.Error("what stands in quotes ran with the variables of the settings")
			}
		})
	}
}
