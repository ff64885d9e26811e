package shell

import (
	"strings"
	"testing"
	"unicode/utf8"

	"toolhost/testdata/support/conform"
)

// TestNativeOutputIsKept: the payload that the result refers to has the bytes that the command wrote, with what is cleaned, cut and
// replaced in the text for the model.
func TestNativeOutputIsKept(t *testing.T) {
	conform.Held(t, "AT-274")
	b := newBench(t, Options{})
	r := &fakeReporter{}
	got := b.runWith(t.Context(), t, r, cmd(`printf '\033[31mred\033[0m\n10%%\r50%%\r\377\n'; seq 20000`))
	if len(got.Resources) != 1 || len(r.payloads) != 1 {
		t.Fatalf("resources %+v, %d payloads", got.Resources, len(r.payloads))
	}
	native := r.payloads[strings.TrimPrefix(got.Resources[0].URI, "toolhost://results/")].String()
	if start := "\x1b[31mred\x1b[0m\n10%\r50%\r\xff\n1\n2\n"; !strings.HasPrefix(native, start) || !strings.HasSuffix(native, "\n19999\n20000\n") {
		t.Errorf("the payload has %d bytes, from %.60q", len(native), native)
	}
	if text := got.Content[0].Text; strings.ContainsAny(text, "\x1b\r") || !utf8.ValidString(text) || len(text) >= len(native) {
		t.Errorf("the model reads %d bytes, from %.60q", len(text), text)
	}
}
