package job

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"

	"toolhost/tools/job/proc"
)

func number(n int64) json.RawMessage { return json.RawMessage(strconv.FormatInt(n, 10)) }

// SignalName returns SIGTERM for 15, and the number as text for an unnamed signal.
func SignalName(s unix.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
}

// OneLine returns s without control characters and surrounding space, cut to 200 characters.
func OneLine(s string) string {
	return proc.OneLine(s, func(r rune) bool { return !unicode.IsControl(r) })
}

// ReadLine is the argument of bash -c that runs a job's line, which is the [sandbox.Command.Script] of its command. Such a bash keeps the line
// in BASH_EXECUTION_STRING and has no descriptor open that it would not have if the line itself stood there. note says that descriptor 3 is open for a note.
func ReadLine(note bool) string {
	from := "3"
	if note {
		from = "4"
	}
	return beginReading + from + " BASH_EXECUTION_STRING; exec " + from + `<&-; eval "$BASH_EXECUTION_STRING"`
}

const beginReading = "IFS= read -r -d '' -u "

// shown returns a process's command line with the job's line in place of [ReadLine].
func (g *group) shown(command string) string {
	before, _, found := strings.Cut(command, beginReading)
	if !found {
		return command
	}
	return proc.OneLine(before+g.line, unicode.IsGraphic)
}
