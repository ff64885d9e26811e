package job

import (
	"strings"
	"testing"

	"toolhost/tools/job/proc"
)

func TestInteractive(t *testing.T) {
	for argv, want := range map[string]bool{
		"bash": true, "-bash": true, "bash -i": true, "bash --norc -i": true, "": false, "bash -s": false, "bash -c ls": false,
		"bash install.sh": false, "bash --rcfile x": false, "bash --init-file x -i": false, "sh +e": false, "bash -": false,
	} {
		if got := (program{argv: strings.Fields(argv)}).interactive(); got != want {
			t.Errorf("%q: %v, want %v", argv, got, want)
		}
	}
}

func TestAlone(t *testing.T) {
	process := func(pid, parent int) proc.Process { return proc.Process{PID: pid, Parent: parent} }
	for _, tt := range []struct {
		name string
		all  []proc.Process
		want bool
	}{
		{"by itself", []proc.Process{process(5, 2)}, true},
		{"below others", []proc.Process{process(3, 2), process(4, 3), process(5, 4)}, true},
		{"with a child", []proc.Process{process(5, 2), process(6, 5)}, false},
		{"beside somebody", []proc.Process{process(3, 2), process(5, 3), process(6, 3)}, false},
		{"a ring", []proc.Process{process(5, 6), process(6, 5)}, true},
	} {
		if got := alone(5, tt.all); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestAtPrompt(t *testing.T) {
	for _, tt := range []struct {
		inputs []string
		want   bool
	}{
		{nil, true},
		{[]string{"ls\n"}, true},
		{[]string{"ls\r"}, true},
		{[]string{"ls"}, false},
		{[]string{"ls", "\x03"}, false},
		{[]string{"l", "s\n", ""}, true},
	} {
		j := &Input{}
		for _, input := range tt.inputs {
			j.typed.wrote(input)
		}
		if j.AtPrompt() != tt.want {
			t.Errorf("after %q: %v, want %v", tt.inputs, j.AtPrompt(), tt.want)
		}
	}
	j := &Input{}
	j.Unclear()
	if j.AtPrompt() {
		t.Error("at its prompt after something unclear")
	}
}

func TestMark(t *testing.T) {
	m := mark{"ses_1", "j7", 4711, 99}
	if got, ok := parseMark(m.String()); !ok || got != m {
		t.Errorf("%s reads as %v, %v", m, got, ok)
	}
	for _, bad := range []string{
		"", "ses_1", "ses_1/j7", "ses_1/j7/", "ses_1/j7/1", "ses_1/j7/0.1", "ses_1/j7/-1.1", "/j7/1.1", "ses_1//1.1", "ses_1/j7/1.1.1",
		"ses_1/j7/01.1", "ses_1/j7/1.x", "ses_1/j7/1.1 ", "../j7/1.1/",
	} {
		if m, ok := parseMark(bad); ok {
			t.Errorf("%q reads as %v", bad, m)
		}
	}
	own := ownMark("ses_1", "j1")
	if own.orphaned() {
		t.Error("this process is said to be gone")
	}
	own.born++
	if !own.orphaned() {
		t.Error("another process of the same number is taken for this one")
	}
}
