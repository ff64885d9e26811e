package search

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"toolhost/agenttool"
	"toolhost/tools/search/engine"
)

// shortOfFiles tells the test in a child process that it may use up its descriptors.
const shortOfFiles = "TOOLHOST_TEST_SHORT_OF_FILES"

// With few descriptors left, or none, a search finds all that there is or fails in words: nothing is left out, no rule of an ignore
// file either, and once there are descriptors again it finds all. The first search of an engine lists the tree; others go by what
// is known of it.
func TestNoDescriptors(t *testing.T) {
	if os.Getenv(shortOfFiles) == "" {
		c := exec.Command(os.Args[0], "-test.run=^TestNoDescriptors$", "-test.v")
		c.Env = append(os.Environ(), shortOfFiles+"=1")
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	tr := plant(t, map[string]string{
		"a": "needle\n", "d1/b": "needle\n", "d1/d2/c": "needle\n", "d1/d2/d3/d": "needle\n", "e/f": "needle\n",
		"e/.ignore": "junk\n", "e/junk": "needle\n", ".ignore": "/trash\n", "trash": "needle\n",
	})
	limit := syscall.Rlimit{Cur: 128, Max: 128}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []engine.Mode{engine.Strict, engine.Off} {
		for free := range 12 {
			for _, warm := range []bool{false, true} {
				t.Run(fmt.Sprint(mode, "/", free, "/", warm), func(t *testing.T) {
					tr := tr
					tr.engine = engine.New(engine.Options{Index: mode, IndexFrom: 1})
					defer tr.engine.Close()
					if warm {
						tr.foundAll(t)
					}
					restore := useUp(t, free)
					for _, tool := range []agenttool.Tool{tr.newGrep(), tr.newGlob()} {
						total, err := tr.total(t, tool)
						if err == nil && total != 5 {
							t.Errorf("%s: %d of 5 found, and no error", tool.Describe().Declaration.Name, total)
						}
						if err == nil {
							if free == 0 {
								t.Errorf("%s needed no descriptor: this tests nothing", tool.Describe().Declaration.Name)
							}
							continue
						}
						e := agenttool.AsError(err, agenttool.ExecutionFailed)
						if e.Class != agenttool.DependencyUnavailable || e.Code != agenttool.ResourceExhausted || !strings.Contains(e.Message, "too many open files") {
							t.Errorf("%s: %s/%s: %s", tool.Describe().Declaration.Name, e.Class, e.Code, e.Message)
						}
					}
					restore()
					tr.foundAll(t)
				})
			}
		}
	}
}

// total runs a tool and returns how much it found.
func (tr tree) total(t *testing.T, tool agenttool.Tool) (int, error) {
	t.Helper()
	input := `{"pattern":"needle"}`
	if tool.Describe().Declaration.Name == "glob" {
		input = `{"pattern":"**","sort":"modified"}`
	}
	call, err := tr.bind(t, tool, input)
	if err != nil {
		return 0, err
	}
	out, err := run(t, tool, call)
	if err != nil {
		return 0, err
	}
	switch r := out.Structured.(type) {
	case grepResult:
		return r.Total, nil
	case globResult:
		return r.Total, nil
	}
	t.Fatalf("%T", out.Structured)
	return 0, nil
}

func (tr tree) foundAll(t *testing.T) {
	t.Helper()
	for _, tool := range []agenttool.Tool{tr.newGrep(), tr.newGlob()} {
		if total, err := tr.total(t, tool); err != nil || total != 5 {
			t.Errorf("%s: %d found, %v", tool.Describe().Declaration.Name, total, err)
		}
	}
}

// useUp opens files until there is room for only so many more.
func useUp(t *testing.T, free int) (restore func()) {
	t.Helper()
	var open []int
	for {
		fd, err := syscall.Dup(0)
		if err != nil {
			break
		}
		open = append(open, fd)
	}
	for range min(free, len(open)) {
		syscall.Close(open[len(open)-1])
		open = open[:len(open)-1]
	}
	return func() {
		for _, fd := range open {
			syscall.Close(fd)
		}
	}
}
