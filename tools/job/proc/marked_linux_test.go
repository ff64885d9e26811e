package proc

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// containsAll reports whether all of wanted are in all.
func containsAll(all, wanted []Process) bool {
	for _, w := range wanted {
		if !slices.ContainsFunc(all, w.Same) {
			return false
		}
	}
	return true
}

func TestMarked(t *testing.T) {
	cmd := exec.Command("sh", "-c",
		"setsid sleep 300 & env -u PROC_TEST_MARK sleep 301 & PROC_TEST_MARK=no sleep 302 & read x")
	cmd.Env = append(os.Environ(), "XPROC_TEST_MARK=wrong", "PROC_TEST_MARK=a b\n=c", "PROC_TEST_MARKS=wrong", "PROC_TEST_OTHER=other")
	j := start(t, false, cmd)
	if !eventually(hang, func() bool {
		names := []string{}
		for _, p := range Below(j.pid) {
			names = append(names, CommandLine(p.PID))
		}
		slices.Sort(names)
		return slices.Equal(names, []string{"sleep 300", "sleep 301", "sleep 302"})
	}) {
		t.Fatalf("got %+v", Below(j.pid))
	}
	asked := []string{}
	got := Marked(func(v string) bool { asked = append(asked, v); return v == "a b\n=c" }, "PROC_TEST_MARK")
	want := slices.DeleteFunc(j.all(), func(p Process) bool {
		c := CommandLine(p.PID)
		return strings.HasSuffix(c, "1") || strings.HasSuffix(c, "2")
	})
	if len(want) != 2 || len(got) != 2 || !containsAll(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if all := j.all(); !containsAll(Marked(func(v string) bool { return v == "other" }, "PROC_TEST_MARK", "PROC_TEST_OTHER"), all) {
		t.Errorf("by the second of two names not all of %+v are found", all)
	}
	if !slices.Contains(asked, "no") || slices.Contains(asked, "wrong") {
		t.Errorf("asked for %q", asked)
	}
}

func TestMarkedIsNotThisProcess(t *testing.T) {
	for _, p := range Marked(func(string) bool { return true }, "PATH") {
		if p.PID == os.Getpid() {
			t.Error("found itself")
		}
	}
}
