package shell

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// portListers are the programs that show who listens on a port. The sandbox keeps from them which process of another job it is.
var portListers = []string{"ss", "lsof", "netstat", "fuser"}

var takenWords = regexp.MustCompile(`(?i)address already in use|\bEADDRINUSE\b|\bport\b.{0,40}\b(in use|taken|allocated|occupied)\b|only one usage of each socket address`)

// noteListeners says which jobs of the session listen on which ports, where the command has listed ports or has found one taken.
func (o *outcome) noteListeners(n *notes) {
	lists := slices.ContainsFunc(o.call.programs, func(name string) bool { return slices.Contains(portListers, name) })
	printed := o.stdout + "\n" + o.stderr
	taken := takenWords.MatchString(printed)
	if !lists && !taken {
		return
	}
	var all, named []string
	for _, l := range o.call.tool.o.Jobs.Listeners() {
		if l.Job == o.job.ID() {
			continue
		}
		text := fmt.Sprintf("%s:%d is job %s, PID %d: %s", l.Port.Address, l.Port.Port, l.Job, l.Port.PID, l.Port.Command)
		all = append(all, text)
		if regexp.MustCompile(`\b` + strconv.Itoa(l.Port.Port) + `\b`).MatchString(printed + "\n" + o.call.input.Command) {
			named = append(named, text)
		}
	}
	if taken && !lists && len(named) > 0 {
		all = named
	}
	if len(all) > 0 {
		n.add("listening in this session: %s", someOf(all))
	}
}
