package protect

import (
	"testing"
)

// TestArms makes a bare repository file by file, in every order that matters.
func TestArms(t *testing.T) {
	for _, c := range []struct {
		name  string
		there []string
		file  string
		want  bool
	}{
		{"the last of three", []string{"x/HEAD", "x/objects/a"}, "x/refs/a", true},
		{"HEAD comes last", []string{"x/refs/a", "x/objects/a"}, "x/HEAD", true},
		{"objects come last", []string{"x/refs/a", "x/HEAD", "x/config"}, "x/objects/pack/a", true},
		{"one of a worktree", []string{"x/HEAD"}, "x/commondir", true},
		{"nothing else", nil, "x/HEAD", false},
		{"two of three", []string{"x/HEAD"}, "x/refs/a", false},
		{"a hook of it", []string{"x/HEAD", "x/refs/", "x/objects/"}, "x/hooks/pre-commit", true},
		{"its configuration", []string{"x/HEAD", "x/refs/", "x/objects/"}, "x/config", true},
		{"an object of it", []string{"x/HEAD", "x/refs/", "x/objects/"}, "x/objects/ab/c", false},
		{"another file in it", []string{"x/HEAD", "x/refs/", "x/objects/"}, "x/description", false},
		{"a config elsewhere", []string{"x/HEAD"}, "x/config", false},
		{"in the hooks of another", []string{"x/HEAD", "x/refs/", "x/objects/"}, "x/hooks/config", true},
		{"hooks of a project", nil, "src/hooks/use.ts", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tempDir(t)
			write(t, root, c.there...)
			if got := arms(root + "/" + c.file); got != c.want {
				t.Errorf("arms(%s) = %v", c.file, got)
			}
		})
	}
}
