package job

import (
	"errors"
	"testing"

	"toolhost/agenttool"
)

func TestKeys(t *testing.T) {
	for _, tt := range []struct {
		name     string
		keys     []string
		terminal bool
		want     string
	}{
		{"none", nil, true, ""},
		{"enter on a terminal", []string{"enter"}, true, "\r"},
		{"enter on a pipe", []string{"Enter"}, false, "\n"},
		{"control", []string{"ctrl-c", "CTRL+D", "c-z", `ctrl-\`}, true, "\x03\x04\x1a\x1c"},
		{"meta", []string{"alt-b"}, true, "\x1bb"},
		{"arrows", []string{"up", "down"}, true, "\x1b[A\x1b[B"},
		{"functions", []string{"f1", "f12"}, true, "\x1bOP\x1b[24~"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := Keys(tt.keys, tt.terminal); err != nil || got != tt.want {
				t.Errorf("Keys(%q) = %q, %v; want %q", tt.keys, got, err, tt.want)
			}
		})
	}
	for _, unknown := range []string{"", "a", "ctrl-", "ctrl-ab", "ctrl-é", "f13", "meta"} {
		if got, err := Keys([]string{unknown}, true); !errors.Is(err, agenttool.InvalidArguments) || got != "" {
			t.Errorf("Keys(%q) = %q, %v", unknown, got, err)
		}
	}
}
