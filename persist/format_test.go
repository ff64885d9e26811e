package persist

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// versions builds a log of lines by several versions.
type versions struct {
	chain chain
	bytes.Buffer
}

// known adds records of our format, or lines that look like them after an opened record of a later format.
func (v *versions) known(events ...string) {
	for _, e := range events {
		v.Write(v.chain.append(nil, []byte(e)))
	}
}

// later adds a line of a later format.
func (v *versions) later() {
	v.chain.seq++
	v.WriteString(`{"format":2,"number":7,"payload":{}}` + "\n")
}

func opening(format int) string {
	return fmt.Sprintf(`{"event_type":%q,"data":{"format":%d}}`, agenttool.EventSessionOpened, format)
}

const plainEvent = `{"event_type":"tool.x"}`

// What a newer version wrote is said to be that, and not to be changed; everything else is checked.
func TestLinesOfANewerVersion(t *testing.T) {
	tests := []struct {
		name      string
		build     func(v *versions)
		change    string // replaced by a text of the same length
		read      int
		unchecked string // lines
		tampered  bool
	}{
		{"all of it", func(v *versions) { v.known(opening(2), plainEvent); v.later() }, "", 0, "lines 1 to 3", false},
		{"from the first line on", func(v *versions) { v.later(); v.later() }, "", 0, "lines 1 to 2", false},
		{"resumed by it", func(v *versions) { v.known(opening(1), plainEvent, opening(2), plainEvent); v.later() }, "", 2, "lines 3 to 5", false},
		{"and by us again", func(v *versions) { v.known(opening(1), opening(2)); v.later(); v.known(opening(1), plainEvent) }, "", 3, "lines 2 to 3", false},
		{"one line", func(v *versions) { v.known(opening(1)); v.later(); v.known(plainEvent, plainEvent) }, "", 3, "newer version of toolhost wrote it", false},
		{"a line of ours was changed", func(v *versions) {
			v.known(opening(1), `{"event_type":"tool.y"}`, plainEvent, plainEvent)
			v.later()
		}, "tool.y", 4, "newer version of toolhost wrote it", true},
		{"not that of a newer version", func(v *versions) {
			v.known(opening(1))
			v.WriteString(`{"format":1,"x":0}` + "\n")
			v.known(plainEvent)
		}, "", 2, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v versions
			tt.build(&v)
			log := v.Bytes()
			if tt.change != "" {
				log = bytes.Replace(log, []byte(tt.change), []byte("tool.z"), 1)
			}
			report, err := Verify(bytes.NewReader(log))
			if err != nil || report.Tampered() != tt.tampered || report.HasNewer() != (tt.unchecked != "") || !strings.Contains(report.String(), tt.unchecked) {
				t.Errorf("%v, tampered %v, newer %v:\n%s", err, report.Tampered(), report.HasNewer(), report)
			}
			if verdict := strings.HasPrefix(report.String(), "not all checked: "); verdict != (tt.unchecked != "" && !tt.tampered) || report.OK() {
				t.Errorf("verdict: %s", report)
			}
			read, newer := 0, 0
			for _, err := range Read(bytes.NewReader(log)) {
				if err == nil {
					read++
				} else if errors.Is(err, ErrNewer) {
					newer++
				}
			}
			if read != tt.read || (newer > 0) != (tt.unchecked != "") {
				t.Errorf("%d records read, want %d; %d of a newer version", read, tt.read, newer)
			}
		})
	}
}
