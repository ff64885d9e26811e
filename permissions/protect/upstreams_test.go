package protect

import (
	"strings"
	"testing"
)

const configWithRemote = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = ../origin.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"

// TestUpstreams: which changes of a git configuration are no more than upstreams of branches, and what is then written.
func TestUpstreams(t *testing.T) {
	const (
		main  = "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
		topic = "[branch \"fix/a-1\"]\n\tremote = origin\n\tmerge = refs/heads/fix/a-1\n\trebase = true\n"
		local = "[branch \"x\"]\n\tremote = .\n\tmerge = refs/heads/main\n"
	)
	base := configWithRemote
	for _, tt := range []struct {
		name, old, changed, want string // want: empty where the change is refused
	}{
		{"a branch follows", base, base + main, base + main},
		{"one more", base + main, base + main + topic, base + main + topic},
		{"of this repository", base, base + local, base + local},
		{"one follows no more", base + main + topic, base + topic, base + topic},
		{"the last one", base + main, base, base},
		{"another upstream", base + main, base + strings.Replace(main, "heads/main", "heads/next", 1), base + strings.Replace(main, "heads/main", "heads/next", 1)},
		{"renamed in its place", base + main + "[user]\n\tname = me\n", base + strings.Replace(main, `"main"`, `"trunk"`, 1) + "[user]\n\tname = me\n",
			base + "[user]\n\tname = me\n" + strings.Replace(main, `"main"`, `"trunk"`, 1)},
		{"nothing", base + main, base + main, base + main},
		{"a comment of the user", "# mine\n" + base, "# mine\n" + base + main, "# mine\n" + base + main},
		{"a user's branch section as it was", base + "[branch \"d\"]\n\tdescription = say \"hi\"\n", base + "[branch \"d\"]\n\tdescription = say \"hi\"\n" + main,
			base + "[branch \"d\"]\n\tdescription = say \"hi\"\n" + main},
		{"no end of line", strings.TrimSuffix(base, "\n"), strings.TrimSuffix(base, "\n"), strings.TrimSuffix(base, "\n")},

		{"another section", base, base + "[alias]\n\tst = !evil\n", ""},
		{"another value", base, strings.Replace(base, "false", "true", 1), ""},
		{"a program beside it", base, base + main + "[core]\n\tfsmonitor = ./evil\n", ""},
		{"a comment beside it", base, base + "# x\n" + main, ""},
		{"an address as remote", base, base + strings.Replace(main, "origin", "https://evil", 1), ""},
		{"a helper as remote", base, base + strings.Replace(main, "= origin", "= ext::evil", 1), ""},
		{"a remote that is not there", base, base + strings.Replace(main, "origin", "other", 1), ""},
		{"an option as remote", base, base + strings.Replace(main, "= origin", "= --upload-pack=x", 1), ""},
		{"no reference", base, base + strings.Replace(main, "refs/heads/main", "main", 1), ""},
		{"another key", base, base + strings.Replace(main, "remote", "pushRemote", 1), ""},
		{"a section in its line", base, base + "[branch \"main\"] remote = origin\n", ""},
		{"a section behind a value", base, base + strings.Replace(main, "heads/main", "heads/main\n\t[core] pager = x", 1), ""},
		{"a continued line", base, base + strings.Replace(main, "= origin\n", "= \\\norigin\n", 1), ""},
		{"a quote left open", base, base + strings.Replace(main, "= origin", "= \"origin", 1), ""},
		{"a carriage return", base, base + strings.Replace(main, "origin", "origin\r", 1), ""},
		{"twice", base, base + main + main, ""},
		{"a name that hides one", base, base + strings.Replace(main, `"main"`, `"main\"] x"`, 1), ""},
		{"an old text that is not understood", base + "[core] pager = cat\n", base + "[core] pager = cat\n" + main, ""},
		{"another order of sections", base + "[user]\n\tname = me\n", "[user]\n\tname = me\n" + base + main, ""},
		{"nothing is left", base + main, "", ""},
	} {
		got, ok := Upstreams(tt.old, tt.changed)
		if ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s: %v\n%s", tt.name, ok, got)
		}
	}
}

// FuzzUpstreams: git reads from what is written, besides sections of branches, the same as from the old text.
func FuzzUpstreams(f *testing.F) {
	f.Add(configWithRemote + "[branch \"x\"]\n\tremote = origin\n")
	f.Add(configWithRemote + "[branch \"x\"]\n\tremote = origin\n[alias]\n\ta = b\n")
	f.Fuzz(func(t *testing.T, changed string) {
		text, ok := Upstreams(configWithRemote, changed)
		if !ok {
			return
		}
		if !strings.HasPrefix(text, configWithRemote) {
			t.Fatalf("the old text is not kept:\n%q", text)
		}
		for _, k := range gitKeys(text[len(configWithRemote):]) {
			if k.section != "branch" || GitRuns(k.section, k.sub, k.key, k.value) || k.key == "remote" && k.value != "." && k.value != "origin" {
				t.Fatalf("%s = %q", k.name(), k.value)
			}
		}
	})
}
