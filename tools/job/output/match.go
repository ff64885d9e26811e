package output

import (
	"context"
	"regexp"
)

// Match searches arriving output for the first matching line. It reads every byte once.
type Match struct {
	re    *regexp.Regexp
	in    lines
	found *string
}

// Step searches the output since the last step. It returns the first matching line, once there is one; an unfinished
// line counts as it is now. A line that begins before the cursor is searched from the cursor on. The error is the
// cause of ctx's end.
func (m *Match) Step(ctx context.Context) (line string, ok bool, err error) {
	to, _ := m.in.log.end()
	if err = m.in.advance(ctx, to); err != nil {
		return "", false, err
	}
	for s, p := range m.in.open {
		if p != nil && p.grown && len(p.t.b) > 0 {
			p.grown = false
			m.take(Stream(s), 0, p.t.b)
		}
	}
	if m.found == nil {
		return "", false, nil
	}
	return *m.found, true, nil
}

func (m *Match) take(_ Stream, _ int64, line []byte) {
	if m.found == nil && m.re.Match(line) {
		found := string(line)
		m.found, m.in.done = &found, true
	}
}
