package proc

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

func TestHolders(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("sh", "-c", "exec 4>&-; sleep 300 & exec 3>&- 5<&-; read x")
	cmd.ExtraFiles = []*os.File{w, w, r} // 3 is kept by the child, 5 reads only
	j := start(t, false, cmd)
	w.Close()
	var child Process
	if !eventually(hang, func() bool {
		all := Below(j.pid)
		if len(all) == 1 {
			child = all[0]
		}
		return len(all) == 1 && CommandLine(child.PID) == "sleep 300" && j.waits()
	}) {
		t.Fatalf("got %+v", Below(j.pid))
	}
	want := []Holder{{PID: child.PID, Command: "sleep 300"}}
	for name, among := range map[string][]Process{"its own": j.all(), "any": nil} {
		if got := Holders(among, []*os.File{r}); !slices.Equal(got, want) {
			t.Errorf("among %s: %+v, want %+v", name, got, want)
		}
	}
	if got := Holders(j.all(), nil); len(got) != 0 {
		t.Errorf("of no pipes: %+v", got)
	}
	if got := Holders([]Process{}, []*os.File{r}); len(got) != 0 {
		t.Errorf("among nobody: %+v", got)
	}
}

func TestHoldersAreFew(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 300 & done; wait")
	cmd.ExtraFiles = []*os.File{w}
	j := start(t, false, cmd)
	w.Close()
	if !eventually(hang, func() bool { return len(Below(j.pid)) == 12 }) {
		t.Fatalf("got %+v", Below(j.pid))
	}
	if got := Holders(j.all(), []*os.File{r}); len(got) != maxHolders {
		t.Errorf("got %d: %+v", len(got), got)
	}
}
