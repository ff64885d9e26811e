package limit

import (
	"testing"

	"golang.org/x/sys/unix"

	"toolhost/sandbox"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "4096": 4096, "64MiB": 64 << 20, "1GiB": 1 << 30, "2K": 2048, "3 GiB": 3 << 30,
		"": 0, "0": 0, "-1": 0, "1.5G": 0, "MiB": 0, "1 PiB": 0, "9999999999TiB": 0, "x": 0,
	} {
		got, err := parseSize(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q = %d, %v; want %d", text, got, err, want)
		}
	}
	for bytes, want := range map[Size]string{1: "1", 1 << 30: "1GiB", 3 << 20: "3MiB", 1025: "1025"} {
		if got := bytes.String(); got != want {
			t.Errorf("%d is written %s, want %s", int64(bytes), got, want)
		}
	}
}

func TestParseLimits(t *testing.T) {
	limits, bounds, err := Parse([]string{"as=4GiB", "processes=2000", "nofile=512", "memory=8GiB"})
	if want := (sandbox.Bounds{Processes: 2000, Memory: 8 << 30}); bounds != want {
		t.Errorf("%+v, want %+v", bounds, want)
	}
	if err != nil || len(limits) != 2 || limits[0].Resource != unix.RLIMIT_AS || limits[0].Hard != 4<<30 || limits[1].Soft != 512 {
		t.Errorf("%v, %v", limits, err)
	}
	for _, bad := range []string{"", "as", "as=", "as=x", "nofile=1GiB", "nofile=-1", "priority=3", "AS=1", "processes=0", "processes=2GiB", "memory=0"} {
		if limits, _, err := Parse([]string{bad}); err == nil {
			t.Errorf("%q reads as %v", bad, limits)
		}
	}
}
