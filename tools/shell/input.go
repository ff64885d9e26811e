package shell

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
)

// maxCommand is the longest command in bytes: the kernel takes no longer argument than 128 KiB with its final NUL.
const maxCommand = 128<<10 - 1

// input is the normalised input: defaults are filled in, the directory is absolute.
type input struct {
	Command         string `json:"command"`
	Description     string `json:"description,omitempty"`
	TimeoutMS       int64  `json:"timeout_ms"`
	RunInBackground bool   `json:"run_in_background,omitempty"`
	Cwd             string `json:"cwd"`
	TTY             bool   `json:"tty,omitempty"`
	Columns         uint16 `json:"columns,omitempty"`
	Rows            uint16 `json:"rows,omitempty"`
}

// decode parses and checks input. Omitted values are zero.
func decode(raw json.RawMessage) (input, error) {
	var in input
	if err := agenttool.DecodeInput(raw, &in); err != nil {
		return in, err
	}
	if err := in.check(); err != nil {
		return in, err
	}
	return in, nil
}

// check returns an error for invalid values.
func (in input) check() error {
	switch {
	case in.Command == "":
		return invalid("/command", "empty_command", "the command is empty: name what to run")
	case strings.ContainsRune(in.Command, 0):
		return invalid("/command", "nul_in_command",
			"the command holds a NUL byte, which no command line can: use printf '\\0' to make one")
	case len(in.Command) > maxCommand:
		return invalid("/command", "command_too_long", fmt.Sprintf(
			"the command has %s, the system takes %s: write it to a file and run that",
			count.Grouped(len(in.Command), "byte", "bytes"), count.Thousands(maxCommand)))
	case in.TimeoutMS < 0 || in.TimeoutMS > maxTimeout.Milliseconds():
		return invalid("/timeout_ms", "bad_timeout", fmt.Sprintf(
			"timeout_ms is %d: it must be between 1 and %d", in.TimeoutMS, maxTimeout.Milliseconds()))
	case !in.TTY && (in.Columns > 0 || in.Rows > 0):
		return invalid("/columns", "no_terminal", "columns and rows are those of a terminal: leave them out, or ask for one with tty")
	}
	return nil
}
