package count

import "testing"

func TestWritten(t *testing.T) {
	for want, got := range map[string]string{
		"0 lines": Of(0, "line"), "1 line": Of(1, "line"), "1234 lines": Of(1234, "line"),
		"1 process": Grouped(1, "process", "processes"), "12,345 processes": Grouped(int64(12345), "process", "processes"),
		"0": Thousands(0), "999": Thousands(999), "1,000": Thousands(1000), "-123": Thousands(-123), "-1,234,567": Thousands(int64(-1234567)),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
