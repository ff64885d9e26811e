package job

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/tools/job/output"
)

// storedIn is a payload in memory, which can be read again at a place.
type storedIn struct {
	*bytes.Reader
	uri string
}

func (s storedIn) Write(p []byte) (int, error)   { return len(p), nil }
func (s storedIn) Close() (agenttool.Ref, error) { return agenttool.Ref{URI: s.uri}, nil }

// TestOldJobsSayWhereTheirOutputIs: of ended jobs the last are kept. What is known of the others is where their output is, or that they ended;
// one that there never was is unknown.
func TestOldJobsSayWhereTheirOutputIs(t *testing.T) {
	js, begun := New(Options{}), time.Now()
	const jobs = maxDelivered + 2
	for n := range jobs {
		id := fmt.Sprintf("j%d", n+1)
		j := &Job{identity: identity{id: id, started: begun.Add(time.Duration(n))}, jobs: js, group: &group{done: make(chan struct{})}}
		j.log = output.New(output.Options{Open: func() (agenttool.Payload, error) {
			return storedIn{bytes.NewReader(nil), "toolhost://results/" + id}, nil
		}})
		if n > 0 { // the first said nothing
			j.log.Write(output.Stdout, []byte("text"))
			j.log.Spill()
		}
		js.last, js.starting = js.last+1, js.starting+1 // as admit does
		js.add(j, true)
		if _, err := j.log.Close(); err != nil {
			t.Fatal(err)
		}
		j.conclude()
	}
	for id, want := range map[string]string{"j1": "has ended", "j2": "toolhost://results/j2, which the read tool opens"} {
		_, err := js.Find(id)
		if e := agenttool.AsError(err, ""); err == nil || e.Code != "job_over" || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %v, want %q", id, err, want)
		}
	}
	for _, id := range []string{"j3", fmt.Sprintf("j%d", jobs)} {
		if j, err := js.Find(id); err != nil || j.ID() != id {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, id := range []string{"j0", "j01", "j", "j-1", fmt.Sprintf("j%d", jobs+1)} {
		if _, err := js.Find(id); err == nil || agenttool.AsError(err, "").Code != "unknown_job" {
			t.Errorf("%s: %v", id, err)
		}
	}
}
