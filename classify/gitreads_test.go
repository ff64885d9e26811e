package classify

import (
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// TestGitNamesWhatItReads: a word of git that may be a path is named as one, whatever it looks like, so that a rule that denies reading it
// is about it.
func TestGitNamesWhatItReads(t *testing.T) {
	tests := []struct {
		text string
		want string // spellings that are among the reads, parted by spaces
	}{
		{"git diff --no-index a.txt ../../outside", "a.txt ../../outside"},
		{"git diff --no-index -- a.txt ../../outside", "a.txt ../../outside"},
		{"git diff a.txt ../../outside", "a.txt ../../outside"},
		{"git diff /etc/passwd x", "/etc/passwd x"},
		{"git diff key@home.pem x~", "key@home.pem x~"},
		{"git diff -- key@home.pem a..b", "key@home.pem a..b"},
		{"git diff main..topic", ". main..topic"},
		{"git diff HEAD~1", "."},
		{"git diff HEAD~1...HEAD", "."},
		{"git log '@{u}..'", "."},
		{"git log -- ../../x", "../../x"},
		{"git log -L1,5:secrets/key.txt", "secrets/key.txt"},
		{"git log -L :main:../x.go", "../x.go"},
		{"git log -L/a:b/,+3:x.go", "x.go"},
		{"git log --follow a@b", "a@b"},
		{"git show :path", "path"},
		{"git show :2:path", "path"},
		{"git show HEAD~2:path", "path"},
		{"git show HEAD:../path", "../path"},
		{"git show 'HEAD@{1 day ago}:a:b'", "a:b"},
		{"git cat-file -p HEAD:.env", ".env"},
		{"git cat-file --textconv a@b", "a@b"},
		{"git grep KEY ../../outside", "../../outside"},
		{"git grep --no-index KEY ../x@y", "../x@y"},
		{"git grep --no-index KEY", "."},
		{"git grep -f pats@x", "pats@x"},
		{"git grep KEY -- ':(top)secrets/key.txt'", "secrets/key.txt"},
		{"git grep KEY -- ':(icase,top)secrets/key.txt'", "secrets/key.txt"},
		{"git grep KEY -- ':/secrets/key.txt'", "secrets/key.txt"},
		{"git grep KEY -- 'secrets/*.txt'", "secrets secrets/*.txt"},
		{"git grep KEY -- ':!secrets' src", "src"},
		{"git blame ../../x", "../../x"},
		{"git blame HEAD~1 -- a@b", "a@b"},
		{"git blame --contents ../y x", "../y x"},
		{"git blame -S revs x", "revs x"},
		{"git diff -O../order HEAD", "../order"},
		{"git diff -O ../order HEAD", "../order"},
		{"git archive HEAD ../x", "../x"},
		{"git archive --add-file=../x HEAD", "../x"},
		{"git archive HEAD:sub@x", "sub@x"},
		{"git ls-files --others -X ../file", "../file"},
		{"git ls-files --exclude-from=../file", "../file"},
		{"git ls-files -o ../dir", "../dir"},
		{"git hash-object ../x", "../x"},
		{"git hash-object -t blob a@b c..d", "a@b c..d"},
		{"git apply --check ../p@q", "../p@q"},
		{"git apply --stat a..b", "a..b"},
		{"git bundle verify ../b@c", "../b@c"},
		{"git verify-pack -v ../p..q", "../p..q"},
		{"git config --file ../x@y -l", "../x@y"},
		{"git stash show -p -- a@b", "a@b"},
		{"git range-diff main..a main..b", ". main..a main..b"},
		{"git whatchanged -- x..y", "x..y"},
		{"git shortlog HEAD -- x..y", "x..y"},
		{"git rev-list HEAD -- x..y", "x..y"},
		{"git diff-index HEAD -- x..y", "x..y"},
		{"git diff-files -- x..y", "x..y"},
		{"git diff-tree HEAD x..y", "x..y"},
		{"git reflog show HEAD -- x..y", "x..y"},
		{"git format-patch --stdout HEAD~1 -- x..y", "x..y"},
		{"git status -- ../x", "../x"},
		{"git -C sub diff --no-index a ../../b", "sub/a sub/../../b"},
	}
	for _, tt := range tests {
		f := Command(tt.text, testContext)
		var reads []string
		for _, p := range f.Reads {
			reads = append(reads, p.Spelling)
		}
		for want := range strings.FieldsSeq(tt.want) {
			if !slices.Contains(reads, want) {
				t.Errorf("%q: reads %q, want %q among them", tt.text, reads, want)
			}
		}
	}
}

// TestGitRevisionsAreNoPaths: what can only be a revision is not named as a path.
func TestGitRevisionsAreNoPaths(t *testing.T) {
	for _, text := range []string{
		"git diff HEAD~1", "git diff HEAD^^2", "git log '@{u}..HEAD'", "git log HEAD~5..", "git show HEAD@{2}", "git show @",
		"git log main..topic --", "git diff v1.0^{commit} --", "git show 'HEAD^{/fix the}'",
		"git log -3", "git log --not --all", "git diff FETCH_HEAD...HEAD",
	} {
		f := Command(text, testContext)
		for _, p := range f.Reads {
			if p.Spelling != "." {
				t.Errorf("%q: reads %q", text, p.Spelling)
			}
		}
		if f.ReadOnly != agenttool.Yes || f.PathsComplete != agenttool.Yes {
			t.Errorf("%q: read-only %v, paths complete %v: %v", text, f.ReadOnly, f.PathsComplete, f.Reasons)
		}
	}
}

// TestGitPathsThatAreNotNamed: what git reads by names that come from elsewhere is not said to be known.
func TestGitPathsThatAreNotNamed(t *testing.T) {
	for _, text := range []string{
		"git cat-file --batch", "git cat-file --batch='%(objectname)'", "git cat-file --batch-command", "git hash-object --stdin-paths",
		"git diff --no-index $a b", "git grep --no-index x $a", "git check-attr -a --stdin", "git check-ignore --stdin", "git grep x $rev",
	} {
		if f := Command(text, testContext); f.PathsComplete == agenttool.Yes && (f.ReadOnly == agenttool.Yes) && !strings.Contains(text, "check-") {
			t.Errorf("%q: all paths are said to be known", text)
		}
	}
	for _, text := range []string{"git cat-file --batch-check", "git check-ignore --stdin", "git check-attr -a --stdin"} { // names alone
		if f := Command(text, testContext); f.PathsComplete != agenttool.Yes || f.ReadOnly != agenttool.Yes {
			t.Errorf("%q: read-only %v, paths complete %v", text, f.ReadOnly, f.PathsComplete)
		}
	}
}
