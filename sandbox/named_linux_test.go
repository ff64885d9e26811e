package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamesOfTheWorkspace: every name by which the user may have opened the workspace leads to it inside, through links in the home, in /tmp and
// on the way, and shows nothing else of them.
func TestNamesOfTheWorkspace(t *testing.T) {
	for _, level := range []Level{Full, LandlockNotify} {
		var names []string
		b := homeBench(t, func(o *Options) {
			o.Level = level
			ws := o.Roots[0]
			plantIn(t, filepath.Dir(ws), "private/notes.txt")
			for link, target := range map[string]string{
				filepath.Join(o.Home, "proj"):                ws,
				filepath.Join(o.Home, "deep/er/proj"):        ws,
				filepath.Join(o.Home, "parent"):              filepath.Dir(ws),
				filepath.Join(o.Home, "chain"):               "proj",
				filepath.Join(o.Home, "odd\nname\t'\" \xe9"): ws,
				filepath.Join(filepath.Dir(ws), "beside"):    "ws", // in /tmp
				filepath.Join(filepath.Dir(ws), "further"):   "beside",
			} {
				must(t, os.MkdirAll(filepath.Dir(link), 0o755))
				must(t, os.Symlink(target, link))
				if names = append(names, link); filepath.Base(link) == "parent" {
					names[len(names)-1] = filepath.Join(link, "ws")
				}
			}
			o.Named = names
		})
		b.write(t, "f", "content\n")
		for _, name := range names {
			quoted := "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
			line := "cd " + quoted + " && cat f && echo x > " + quoted + "/made && cat made && rm made"
			if level == Full { // below it, files in /tmp show
				line += "; cat ../private/notes.txt 2>/dev/null; true"
			}
			if r := b.runProfile(t, Profile{Access: Workspace}, line); r.err != nil || r.out != "content\nx" {
				t.Errorf("%q at %s: %q, %v", name, level, r.out, r.err)
			}
		}
	}
}
