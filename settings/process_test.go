package settings

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool"
)

// TestMain lets the test binary be one of several processes that edit a file, or the one that is killed.
func TestMain(m *testing.M) {
	file := os.Getenv("SETTINGS_TEST_FILE")
	switch who := os.Getenv("SETTINGS_TEST_PROCESS"); who {
	case "":
		os.Exit(m.Run())
	case "killed":
		err := locked(file, func() error {
			return replaceFile(file, []byte(`{"mode": "plan"}`), nil, steps{beforeRename: func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }})
		})
		fmt.Println("alive:", err)
	default:
		for i := range 10 {
			if err := AddRule(file, agenttool.Allow, "Shell("+who+" "+strconv.Itoa(i)+")", time.Time{}); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			time.Sleep(2 * lockTry) // as no person writes without a pause: who waits gets its turn
		}
	}
}

// process starts the test binary as one of them.
func process(t *testing.T, who, file string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SETTINGS_TEST_PROCESS="+who, "SETTINGS_TEST_FILE="+file)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestProcessesAddAtOnce(t *testing.T) {
	p := newPlace(t)
	p.write(p.User, "{\n  // kept\n  \"permissions\": {\"allow\": []}\n}\n")
	var all []*exec.Cmd
	for i := range 8 {
		all = append(all, process(t, fmt.Sprintf("p%d", i), p.User))
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if rules := texts(p.load(), agenttool.Allow); len(rules) != 80 {
		t.Errorf("%d rules of 80", len(rules))
	}
	if content, _ := os.ReadFile(p.User); !strings.Contains(string(content), "  // kept\n") {
		t.Errorf("the comment is gone:\n%s", content)
	}
	if left, _ := os.ReadDir(filepath.Dir(p.User)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestKilledBeforeTheRename leaves the old file, and nothing that stands in the way of the next one.
func TestKilledBeforeTheRename(t *testing.T) {
	p := newPlace(t)
	p.write(p.User, "{} // old")
	if err := process(t, "killed", p.User).Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("it was not killed: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(p.User)); len(left) != 3 {
		t.Fatalf("it was killed too early or too late: %v", left)
	}
	if content, err := os.ReadFile(p.User); string(content) != "{} // old" {
		t.Errorf("the old file became %s, %v", content, err)
	}
	p.must(AddRule(p.User, agenttool.Deny, "x", time.Time{}))
	same(t, "deny", texts(p.load(), agenttool.Deny), "x")
	if left, _ := os.ReadDir(filepath.Dir(p.User)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
