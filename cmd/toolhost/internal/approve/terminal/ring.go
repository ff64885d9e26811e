package terminal

import "strings"

// The sequences that notify, without any text of the prompt.
const (
	bell   = "\a"
	osc9   = "\x1b]9;toolhost: a prompt waits for you\a"
	osc777 = "\x1b]777;notify;toolhost;a prompt waits for you\a"
)

// notifiers are terminals that notify the desktop, by the variables and words of their names. Others might print the sequence.
var notifiers = []struct{ variable, word, sequence string }{
	{"TERM_PROGRAM", "iTerm", osc9}, {"TERM_PROGRAM", "WezTerm", osc9}, {"TERM_PROGRAM", "ghostty", osc9},
	{"TERM", "kitty", osc9}, {"TERM", "ghostty", osc9}, {"TERM", "foot", osc777}, {"TERM", "rxvt", osc777},
}

// ring is the sequence to send when a prompt comes: the notification of the terminal if it is known to have one, else the bell.
func (o Options) ring(env func(name string) string) string {
	ring := ""
	if o.Bell {
		ring = bell
	}
	if !o.Notify {
		return ring
	}
	if env("TMUX") == "" && env("STY") == "" {
		for _, n := range notifiers {
			if strings.Contains(env(n.variable), n.word) {
				return ring + n.sequence
			}
		}
	}
	return bell
}
