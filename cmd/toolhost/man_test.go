package main

import (
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

var manDir = flag.String("man", "", "directory into which TestManPages writes the manual pages; they are for a release")

// TestManPages writes a manual page of each command, and has man read them.
func TestManPages(t *testing.T) {
	t.Parallel()
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	root := newRoot()
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "toolhost " + release, Manual: "toolhost"}, dir); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if commands := shown(root); err != nil || len(pages) != commands {
		t.Fatalf("%d pages of %d commands: %v", len(pages), commands, err)
	}
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip("the program man is missing: nothing reads the pages")
	}
	for _, page := range pages {
		out, err := exec.Command("man", "--warnings", "-l", page).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "NAME") || strings.Contains(string(out), "warning") {
			t.Errorf("%s: %v\n%.300s", filepath.Base(page), err, out)
		}
	}
}

// shown counts a command and those below it, as far as help lists them.
func shown(c *cobra.Command) (n int) {
	if c.HasParent() && (!c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand()) {
		return 0
	}
	for _, sub := range c.Commands() {
		n += shown(sub)
	}
	return n + 1
}
