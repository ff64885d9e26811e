package output_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/creack/pty"

	"toolhost/cmd/toolhost/internal/output"
)

func TestIsTerminal(t *testing.T) {
	controller, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{controller, tty, null, in, out} {
		t.Cleanup(func() { _ = f.Close() })
	}
	for _, tt := range []struct {
		name   string
		stream any
		want   bool
	}{
		{"terminal", tty, true}, {"device", null, false}, {"pipe", out, false}, {"no file", &bytes.Buffer{}, false}, {"nil file", (*os.File)(nil), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := output.IsTerminal(tt.stream); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
