package shell

import (
	"regexp"

	"toolhost/sandbox"
)

var (
	refusedWords  = regexp.MustCompile(`(?i)connection refused|\bECONNREFUSED\b|couldn't connect|failed to connect`)
	loopbackNames = regexp.MustCompile(`(?i)\blocalhost\b|\b127\.\d+\.\d+\.\d+\b|\[?::1\]?:\d`)
)

// metLoopback reports whether a failed command seems to have looked for a server on the loopback, where in the full sandbox no server of
// the machine listens. It is a guess by the texts.
func metLoopback(level sandbox.Level, command, stderr string) bool {
	return level == sandbox.Full && refusedWords.MatchString(stderr) && loopbackNames.MatchString(command+"\n"+stderr)
}
