package http

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool/visible"
)

// logPause is how long a line of net/http keeps others away: strangers can cause as many as they like.
const logPause = time.Second

// logger reports errors.
type logger struct {
	tell func(string)

	mu      sync.Mutex
	last    time.Time
	skipped int
}

func newLogger(tell func(string)) *logger {
	if tell == nil {
		tell = func(string) {}
	}
	return &logger{tell: tell}
}

// Write takes a line of net/http: of a handshake that failed, a connection that could not be accepted.
func (l *logger) Write(line []byte) (int, error) {
	l.mu.Lock()
	now := time.Now()
	if now.Sub(l.last) < logPause {
		l.skipped++
		l.mu.Unlock()
		return len(line), nil
	}
	skipped := l.skipped
	l.last, l.skipped = now, 0
	l.mu.Unlock()
	text := strings.TrimSpace(string(line))
	if skipped > 0 {
		text += fmt.Sprintf(" (and %d more before)", skipped)
	}
	l.say(text)
	return len(line), nil
}

// say tells of one event, line by line.
func (l *logger) say(text string) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = visible.Text(strings.ReplaceAll(line, "\t", "    "))
	}
	l.tell(strings.Join(lines, "\n"))
}
