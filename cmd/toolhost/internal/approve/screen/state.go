package screen

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolhost/cmd/toolhost/internal/approve"
)

// Options are the surroundings of a Model.
type Options struct {
	Answerer approve.Answerer
	Now      func() time.Time
	Once     bool   // end after the first answer that counts
	Ring     string // is sent to the terminal when a prompt comes; empty: nothing
}

// Model is the state of the screen. Sessions come in as the events of package approve.
type Model struct {
	o             Options
	queue         approve.Queue
	width, height int

	current *approve.Item // on the screen; it may have ended
	place   int           // where it stands in the list
	sheet   *sheet        // current, laid out; nil: not yet
	stale   bool          // it is to be laid out again
	offset  int           // the first row of it that is shown
	leaving bool          // it has ended, and will make room

	dialog  dialog // over the prompt; nil: none
	notice  string // the effect of the last key; empty: nothing to say
	trouble []string

	armed    bool // keys answer
	turn     int  // counts how often keys were disarmed
	intent   *approve.Answer
	intended int // counts intents
	answered int // answers of this person that counted
}

// The messages that the model sends itself.
type (
	armedMsg  struct{ turn int }
	seenMsg   struct{ turn int }
	intentMsg struct{ number int }
	leaveMsg  struct{ item *approve.Item }
	secondMsg struct{}
)

// How long things take.
const (
	unhurried  = 300 * time.Millisecond // a prompt is on the screen before a key answers it
	glimpse    = 100 * time.Millisecond // text that was on the screen for this long counts as seen
	burst      = 50 * time.Millisecond  // keys that follow each other quicker were not typed
	mineShown  = time.Second            // how long the end of a prompt that this person answered stays
	otherShown = 3 * time.Second        // and of one that ended without an answer from here
)

func after(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// dialog covers a prompt.
type dialog interface {
	title() string
	keys() []hint
	press(m *Model, key tea.KeyPressMsg) tea.Cmd

	// rows returns its rows, at most height, and the position of the cursor; column -1: no cursor.
	rows(width, height int) (rows []row, column, line int)
}

// paster is a dialog that takes pasted text.
type paster interface{ paste(text string) }

// name is how a key is called here: the character that it types, or its name.
func name(key tea.KeyPressMsg) string {
	s := key.String()
	if letter, ok := strings.CutPrefix(s, "shift+"); ok && len(letter) == 1 {
		return strings.ToUpper(letter)
	}
	return s
}

// hint names a key and its effect.
type hint struct{ key, does string }
