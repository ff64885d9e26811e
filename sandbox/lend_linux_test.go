package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLoanIsReturned: what a command made under a missing name that the decision named as written, it also removes, makes again and sees
// gone, in a directory of the host and in one of the sandbox's own. A file that took the name meanwhile stays.
func TestLoanIsReturned(t *testing.T) {
	shown := ""
	b := homeBench(t, func(o *Options) {
		shown = filepath.Join(o.Home, "shown")
		must(t, os.Mkdir(shown, 0o755))
		o.Show = append(o.Show, shown)
	})
	b.write(t, "src/a/f", "content\n")
	must(t, os.Symlink("a/f", filepath.Join(b.ws, "src/link")))
	for _, dir := range []string{b.home, shown} {
		for name, line := range map[string]string{
			"a copy":                "cp -r src $X && cat $X/a/f && rm -rf $X && [ ! -e $X ]",
			"a file":                "echo x > $X && cat $X && rm $X && [ ! -e $X ]",
			"made again":            "for i in 1 2 3; do mkdir $X && echo $i > $X/f && rm -r $X || exit 1; done; [ ! -e $X ]",
			"a file, then a folder": "echo x > $X && rm $X && mkdir $X && rmdir $X && echo y > $X && rm $X",
			"from inside":           "mkdir $X && cd $X && rmdir ../made && cd / && [ ! -e $X ]",
			"not empty":             "mkdir $X && echo x > $X/f && ! rmdir $X 2>/dev/null && cat $X/f && rm -r $X",
			"deep":                  "mkdir -p $X/a/b/c && rm -rf $X && [ ! -e $X ]",
			"by its parent":         "cd $(dirname $X) && mkdir -p made/x/y && rmdir -p made/x/y 2>/dev/null; [ ! -e made ]",
		} {
			path := filepath.Join(dir, "made")
			r := b.runProfile(t, Profile{Access: Workspace, Write: []string{path}}, "set -e; X="+path+"; "+line)
			if _, err := os.Lstat(path); r.err != nil || r.exit != 0 || !os.IsNotExist(err) {
				t.Errorf("%s in %s: exit %d, %v, %v\n%s", name, dir, r.exit, r.err, err, r.out)
			}
			must(t, os.RemoveAll(path))
		}
		path := filepath.Join(dir, "taken")
		p := b.start(t, Profile{Access: Workspace, Write: []string{path}}, "mkdir "+path+"; touch begun; until [ -e go ]; do sleep 0.01; done; rmdir "+path)
		b.await(t, "begun")
		must(t, os.Rename(path, path+".old"))
		must(t, os.Mkdir(path, 0o755))
		b.write(t, "go", "")
		<-p.Gone()
		for _, left := range []string{path, path + ".old"} {
			if _, err := os.Lstat(left); err != nil {
				t.Errorf("what the user put in its place: %v", err)
			}
		}
		for _, name := range []string{"begun", "go"} {
			must(t, os.Remove(filepath.Join(b.ws, name)))
		}
	}
}
