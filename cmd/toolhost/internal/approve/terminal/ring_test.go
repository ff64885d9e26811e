package terminal

import "testing"

func TestRing(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		env  map[string]string
		want string
	}{
		{"nothing", Options{}, nil, ""},
		{"a bell", Options{Bell: true}, map[string]string{"TERM": "xterm-kitty"}, bell},
		{"an unknown terminal", Options{Notify: true}, map[string]string{"TERM": "linux"}, bell},
		{"kitty", Options{Notify: true}, map[string]string{"TERM": "xterm-kitty"}, osc9},
		{"kitty, and a bell", Options{Notify: true, Bell: true}, map[string]string{"TERM": "xterm-kitty"}, bell + osc9},
		{"iTerm", Options{Notify: true}, map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, osc9},
		{"foot", Options{Notify: true}, map[string]string{"TERM": "foot"}, osc777},
		{"behind tmux", Options{Notify: true}, map[string]string{"TERM": "tmux", "TMUX": "x", "TERM_PROGRAM": "iTerm.app"}, bell},
	} {
		if got := c.o.ring(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
