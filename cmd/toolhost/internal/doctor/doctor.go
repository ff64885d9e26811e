// Package doctor examines this machine: its sandbox, the caches of workspaces, and the clients that are set up.
package doctor

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"toolhost/agenttool/count"
	"toolhost/agenttool/filesystem"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/confine"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/setup"
	"toolhost/persist/cache"
	"toolhost/sandbox"
)

// Findings are the results of an examination.
type Findings struct {
	Absent      []absence       `json:"absent"`  // what commands do not find at this level
	Advice      []string        `json:"advice"`  // how to get what is missing
	Answers     []string        `json:"answers"` // see [answerGaps]
	Bounds      bounds          `json:"bounds"`
	Caches      []cache.Entry   `json:"caches"`
	CachesAlone string          `json:"caches_alone"` // see [layerGap]
	Clients     []client        `json:"clients"`      // that are here or set up
	Config      []string        `json:"config"`       // what commands do not see of the home's configuration
	Holds       []string        `json:"holds"`        // ids of promises
	Lacks       []string        `json:"lacks"`
	Obstacles   []string        `json:"obstacles"` // why places of toolhost's cannot be used
	Sandbox     sandbox.Finding `json:"sandbox"`
	State       state           `json:"state"`
}

// state is the directory with toolhost's logs, copies and caches.
type state struct {
	Dir        string   `json:"dir"`
	FileSystem string   `json:"file_system"`
	Weaker     []string `json:"weaker"` // because of its file system
	Costs      string   `json:"costs"`  // what a safe order of writes costs; "" for nothing
}

// bounds are what all commands of a session may have together by default.
type bounds struct {
	Memory    int64 `json:"memory"` // bytes
	Processes int   `json:"processes"`
}

// absence is what commands do not find, and what to do then.
type absence struct {
	Do   string `json:"do"`
	What string `json:"what"`
}

// client is the state of a client.
type client struct {
	Installed bool   `json:"installed"`
	Name      string `json:"name"`
	SetUp     bool   `json:"set_up"`
	State     string `json:"state"`
}

// Examine makes a sandbox of each level for real, and looks for caches and clients.
func Examine(dir string) (f Findings, err error) {
	f.Sandbox, f.State = sandbox.ProbeNow(dir), examineState(dir)
	level := f.Sandbox.Level
	usual := sandbox.UsualBounds()
	f.Bounds = bounds{usual.Memory, usual.Processes}
	f.Advice, f.Answers, f.CachesAlone = sandbox.Advice(f.Sandbox), answerGaps(level), layerGap(level, dir)
	f.Absent, f.Holds, f.Lacks, f.Clients = absences(level), []string{}, []string{}, []client{}
	for _, p := range sandbox.Promises() {
		if p.Held(level) {
			f.Holds = append(f.Holds, p.ID)
		} else {
			f.Lacks = append(f.Lacks, p.ID)
		}
	}
	if p, err := setup.Here("."); err == nil { // without a home there are none
		for _, s := range p.Clients() {
			if s.Installed || len(s.Scopes) > 0 {
				f.Clients = append(f.Clients, client{s.Installed, s.Client.Name, len(s.Scopes) > 0, s.String()})
			}
		}
	}
	f.Config = output.List(confine.ConfigNotes())
	caches, err := cache.List(dirs.Caches(dir))
	f.Caches, f.Obstacles = output.List(caches), output.List(dirs.Obstacles())
	if len(f.Obstacles) > 0 { // they say more
		err = nil
	}
	return f, err
}

// examineState tries what the file system of the state can do.
func examineState(dir string) state {
	can, err := filesystem.Probe(dir)
	if err != nil { // the obstacles say more
		return state{Dir: dir, Weaker: []string{"nothing can be tried in it: " + err.Error()}}
	}
	return state{Dir: dir, FileSystem: can.Kind, Weaker: output.List(can.Weaker()), Costs: can.Costs()}
}

// Print prints the findings.
func (f Findings) Print(out io.Writer) error {
	var b strings.Builder
	for _, o := range f.Obstacles {
		fmt.Fprintf(&b, "place   %s\n", visible.Text(o))
	}
	f.printSandbox(&b)
	for i, a := range f.Absent {
		if i == 0 {
			b.WriteString("commands do not find:\n")
		}
		fmt.Fprintf(&b, "  %s\n          %s\n", a.What, a.Do)
	}
	f.printState(&b)
	f.printCaches(&b)
	for i, note := range f.Config {
		if i == 0 {
			b.WriteString("configuration:\n")
		}
		fmt.Fprintf(&b, "  %s\n", visible.Text(note))
	}
	for i, c := range f.Clients {
		if i == 0 {
			b.WriteString("clients:\n")
		}
		fmt.Fprintf(&b, "  %-15s %s\n", c.Name, c.State)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// absences are the rows of [sandbox.Absences] that hold at a level.
func absences(level sandbox.Level) []absence {
	found := []absence{}
	for _, a := range sandbox.Absences() {
		if slices.Contains(a.Levels, level) {
			found = append(found, absence{a.Do, a.What})
		}
	}
	return found
}

func (f Findings) printSandbox(b *strings.Builder) {
	fmt.Fprintf(b, "sandbox: %s\n", f.Sandbox.Level)
	for _, held := range []bool{true, false} {
		for _, p := range sandbox.Promises() {
			if p.Held(f.Sandbox.Level) == held {
				fmt.Fprintf(b, "  %s   %s\n", map[bool]string{true: "holds", false: "lacks"}[held], p.Words)
			}
		}
	}
	if f.Sandbox.Level == sandbox.None {
		b.WriteString("          commands are refused, or run unconfined with --sandbox none\n")
	}
	fmt.Fprintf(b, "  bounds  commands have at most %s and %s of memory: jobs.limits.processes and jobs.limits.memory change that\n",
		count.Grouped(int64(f.Bounds.Processes), "process or thread", "processes and threads"), output.Size(f.Bounds.Memory))
	for _, m := range f.Sandbox.Missing {
		fmt.Fprintf(b, "  misses  %s: %s\n", m.Level, m.Why)
	}
	for _, a := range f.Advice {
		fmt.Fprintf(b, "  try     %s\n", a)
	}
	for _, gap := range f.Answers {
		fmt.Fprintf(b, "  answers %s\n", gap)
	}
}

func (f Findings) printState(b *strings.Builder) {
	fmt.Fprintf(b, "state: %s\n", visible.Text(f.State.Dir))
	if f.State.FileSystem != "" {
		fmt.Fprintf(b, "  on      %s\n", visible.Text(f.State.FileSystem))
	}
	for _, words := range f.State.Weaker {
		fmt.Fprintf(b, "  weaker  %s\n", visible.Text(words))
	}
	if f.State.Costs != "" {
		fmt.Fprintf(b, "  costs   %s\n", f.State.Costs)
	}
}

// shownCaches is how many caches are listed one by one.
const shownCaches = 10

// printCaches prints the sizes of workspaces' caches, the largest first, and how much commands see of the user's.
func (f Findings) printCaches(b *strings.Builder) {
	total := int64(0)
	for _, e := range f.Caches {
		total += e.Bytes
	}
	fmt.Fprintf(b, "caches: %d, %s; those not used for 30 days or of workspaces that are gone are removed once a day, or now with toolhost log prune\n", len(f.Caches), output.Size(total))
	fmt.Fprintf(b, "  %s\n", cmp.Or(f.CachesAlone, "commands read yours below those of their workspace, and never write them"))
	largest := slices.SortedStableFunc(slices.Values(f.Caches), func(a, b cache.Entry) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, e := range largest[:min(len(largest), shownCaches)] {
		state := ""
		switch {
		case e.InUse:
			state = ", in use"
		case e.Gone:
			state = ", its workspace is gone"
		case e.Newer:
			state = ", of a newer version of toolhost, left alone"
		}
		fmt.Fprintf(b, "  %10s  used %s  %s%s\n", output.Size(e.Bytes), output.Time(e.Used), visible.Text(cmp.Or(e.Workspace, e.Dir)), state)
	}
}

// layerGap says why commands do not see the person's caches below their workspace's, "" if they do.
func layerGap(level sandbox.Level, state string) string {
	if level != sandbox.Full {
		return fmt.Sprintf("commands at level %s see only the caches of their workspace, and of yours go's", level)
	}
	dir := dirs.Caches(state)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = sandbox.TryLayers(dir)
	}
	if err != nil {
		return fmt.Sprintf("commands see only the caches of their workspace, and of yours go's: no overlay can be mounted in %s: %v", dir, err)
	}
	return ""
}

// answerGaps says what keeps commands from answering prompts and changing settings in the place of the person, where the sandbox does
// not do it alone.
func answerGaps(level sandbox.Level) []string {
	const none = "with --sandbox none, and after the grant unconfined, a command can do what you can: answers are taken from a terminal and with " +
		"the code that the session shows, and changed settings wait for toolhost settings reload; that detects a forged answer and cannot prevent one"
	if level == sandbox.Full {
		return []string{none}
	}
	return []string{
		"a command can see that sessions have sockets; who connects from a sandbox is known by its filters and gets no answer in",
		none,
	}
}
