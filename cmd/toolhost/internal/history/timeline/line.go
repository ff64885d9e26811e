package timeline

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/persist"
)

// printer prints a session's log for people: a line for each call, and below it what deserves attention.
type printer struct {
	Options
	out       io.Writer
	b         strings.Builder // the text of an entry
	live      bool            // a process writes the log
	date      string
	workspace string // of the session; paths below it are printed relative to it
}

// indent stands before the lines about a call.
const indent = "              "

// item prints an entry of the time line.
func (p *printer) item(item history.Item) error {
	p.b.Reset()
	p.day(item.Time())
	switch {
	case item.Call != nil:
		p.call(item.Call)
	case item.Note != nil:
		p.note(item.Note)
	default:
		p.unended(item.Unended)
	}
	_, err := io.WriteString(p.out, p.b.String())
	return err
}

// day prints the date if it is another than that of the line before.
func (p *printer) day(at time.Time) {
	if date := at.Local().Format("2006-01-02 Monday"); date != p.date && !at.IsZero() {
		p.date = date
		fmt.Fprintln(&p.b, date)
	}
}

// call prints an ended call: time, id, tool, status, duration and input, and remarks about it.
func (p *printer) call(c *history.Call) {
	fmt.Fprintf(&p.b, "%s %-10s %8s  %s\n", lineStart(c.Start, c), visible.Text(string(c.Status)), took(c), visible.Text(cut.Characters(subject(c), 160)))
	for _, text := range p.remarks(c) {
		fmt.Fprintf(&p.b, "%s%s\n", indent, visible.Text(text))
	}
	for _, block := range c.Content() {
		switch {
		case p.Diff && block.Diff != "":
			p.block(block.Diff)
		case p.Output && block.Text != "":
			p.block(block.Text)
		}
	}
}

func (p *printer) block(text string) {
	for _, line := range visible.Lines(strings.TrimSuffix(text, "\n")) {
		fmt.Fprintf(&p.b, "%s| %s\n", indent, line)
	}
}

func lineStart(at time.Time, c *history.Call) string {
	return fmt.Sprintf("%s  %-12s %-8s", clock(at), visible.Text(cut.Characters(c.Subject, 24)), visible.Text(c.ToolName()))
}

// remarks are the lines below a call.
func (p *printer) remarks(c *history.Call) (lines []string) {
	lines = append(lines, permission(c, p.Why)...)
	if o := c.Outcome; o.ExitCode != nil && *o.ExitCode != 0 {
		lines = append(lines, fmt.Sprintf("exit %d", *o.ExitCode))
	} else if o.Signal != "" {
		lines = append(lines, "ended by signal "+o.Signal)
	}
	lines = append(lines, p.touched(c)...)
	if c.Failure != "" && !c.Denied() {
		lines = append(lines, cut.Characters(c.Failure, 200))
	}
	return lines
}

// touched are the lines about files and hosts.
func (p *printer) touched(c *history.Call) (lines []string) {
	if changes := c.Changes(); len(changes) > 0 {
		lines = append(lines, "changed "+joined(changes, 8, func(f history.FileChange) string {
			return strings.TrimPrefix(f.Path, p.workspace+"/") + " (" + f.Cause(p.workspace) + ")"
		})+andMore(c.Outcome.MoreChanges))
	}
	if len(c.MayChange) > 0 {
		lines = append(lines, "may have changed "+joined(c.MayChange, 8, func(path string) string { return strings.TrimPrefix(path, p.workspace+"/") }))
	}
	if len(c.Outcome.Hosts) > 0 {
		lines = append(lines, "network "+joined(c.Outcome.Hosts, 8, hostText))
	} else if len(c.MayReach) > 0 {
		lines = append(lines, "may have reached "+strings.Join(c.MayReach, ", "))
	}
	return lines
}

// joined returns the texts of at most most elements, and the number of the others.
func joined[T any](all []T, most int, text func(T) string) string {
	var texts []string
	for _, e := range all[:min(len(all), most)] {
		texts = append(texts, text(e))
	}
	if more := len(all) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}

// andMore says how many changes are not listed.
func andMore(changes int) string {
	if changes == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d changes that are not listed", changes)
}

func hostText(h history.Host) string {
	text := h.Host
	if h.Port != 0 {
		text = fmt.Sprintf("%s:%d", h.Host, h.Port)
	}
	if h.Allowed != nil && !*h.Allowed {
		return text + " (kept from it)"
	}
	if h.Sent+h.Received > 0 {
		text += fmt.Sprintf(" (sent %s, received %s)", output.Size(h.Sent), output.Size(h.Received))
	}
	return text
}

// permission says whether a person was asked, who answered, and which rule decided. Without all it says nothing of a call
// that the mode allowed unasked.
func permission(c *history.Call, all bool) (lines []string) {
	shown := 0 // questions
	ask := func(until int) {
		for ; shown < min(until, len(c.Asked)); shown++ {
			lines = append(lines, "asked: "+cut.Characters(c.Asked[shown].Reason.Detail, 200))
		}
	}
	ask(1)
	for _, d := range c.Decided {
		if d.RequestRef != "" {
			ask(c.Question(d) + 1)
			lines = append(lines, answered(c, d))
		} else if all || d.Behavior == agenttool.Deny || d.RuleRef() != "" {
			lines = append(lines, verdict(d))
		}
	}
	ask(len(c.Asked))
	return slices.Compact(lines)
}

// verdict says which rule or mode decided.
func verdict(d history.Decision) string {
	did := map[agenttool.Behavior]string{agenttool.Allow: "allowed", agenttool.Deny: "denied", agenttool.Ask: "had to ask"}[d.Behavior]
	did = cmp.Or(did, string(d.Behavior))
	if rule := d.RuleRef(); rule != "" {
		if where := d.Where(); where != "" {
			rule += " (" + where + ")"
		}
		return did + " by the rule " + rule
	}
	return fmt.Sprintf("%s in mode %s: %s", did, d.Mode, cut.Characters(d.Reason.Detail, 200))
}

// answered names the author of an answer, and its time.
func answered(c *history.Call, d history.Decision) string {
	text := map[agenttool.Behavior]string{agenttool.Allow: "allowed", agenttool.Deny: "refused"}[d.Behavior]
	switch by := d.By(); {
	case by != "":
		text += " by " + by
	case d.Reason.Type == "permission_prompt_tool":
		text += " " + strings.TrimPrefix(d.Reason.Detail, "answered ")
	case d.Behavior == agenttool.Deny:
		text = "not answered: " + cut.Characters(c.Failure, 60)
	default:
		text = verdict(d)
	}
	if waited := d.Time.Sub(cmp.Or(askedAt(c, d), d.Time)); waited >= time.Second {
		text += " after " + waited.Round(time.Second).String()
	}
	if d.Modified {
		text += ", with another input"
	}
	if d.Feedback != "" {
		text += ", who said: " + cut.Characters(d.Feedback, 200)
	}
	if len(d.RuleRefs) > 0 {
		text += ", and the rule " + strings.Join(d.RuleRefs, ", ")
	}
	return text
}

// askedAt is the time of the question that a decision answers, zero if there was none.
func askedAt(c *history.Call, d history.Decision) (at time.Time) {
	if i := c.Question(d); i >= 0 {
		at = c.Asked[i].Time
	}
	return at
}

// subject returns the part of the input that says what the call was about.
func subject(c *history.Call) string {
	var input struct {
		Command string `json:"command"`
		Pattern string `json:"pattern"`
		Path    string `json:"path"`
		Job     string `json:"job"`
		Text    string `json:"text"`
	}
	if json.Unmarshal(c.Input, &input) != nil {
		return string(c.Input) + c.InputRef
	}
	switch {
	case c.InputRef != "":
		return "the input in " + c.InputRef
	case input.Command != "":
		return input.Command
	case input.Pattern != "":
		return strings.TrimSuffix(input.Pattern+" in "+input.Path, " in ")
	case input.Job != "":
		return strings.TrimSuffix(input.Job+" "+input.Text, " ")
	}
	return cmp.Or(input.Path, string(c.Input))
}

// note prints a record about the session.
func (p *printer) note(n *history.Note) {
	at := clock(history.Time(n.Time))
	switch n.Type {
	case agenttool.EventProtectedChanged, agenttool.EventSettingsChanged:
		if n.Warning != "" {
			fmt.Fprintf(&p.b, "%s  !! %s\n", at, visible.Text(cut.Characters(n.Warning, 1000)))
		}
	case agenttool.EventSessionOpened:
		fmt.Fprintf(&p.b, "%s  -- session opened: %s\n", at, visible.Text(opened(n.Data)))
	case agenttool.EventSessionClosed:
		fmt.Fprintf(&p.b, "%s  -- %s\n", at, closed(n.Data))
	case agenttool.EventJournalGap:
		fmt.Fprintf(&p.b, "%s  -- records are missing here: %s\n", at, visible.Text(string(n.Data)))
	}
}

// follow notes the workspace of a session that opens.
func (p *printer) follow(item history.Item) {
	var data struct {
		Workspace string `json:"workspace"`
	}
	if item.Note != nil && item.Note.Type == agenttool.EventSessionOpened && json.Unmarshal(item.Note.Data, &data) == nil {
		p.workspace = data.Workspace
	}
}

// closed describes the data of a session's closed record in a line.
func closed(data json.RawMessage) string {
	var c struct {
		Afterwards bool `json:"written_afterwards"`
	}
	if json.Unmarshal(data, &c) == nil && c.Afterwards {
		return "the host of this session died; a later one wrote the ends of its calls"
	}
	return "session closed"
}

// opened describes the data of a session's opened record in a line.
func opened(data json.RawMessage) string {
	var o struct {
		Version   string          `json:"version"`
		PID       int             `json:"pid"`
		Workspace string          `json:"workspace"`
		Mode      string          `json:"mode"`
		User      json.RawMessage `json:"user"`
		Client    json.RawMessage `json:"client"`
		Sandbox   json.RawMessage `json:"sandbox"`
		Continues *persist.Break  `json:"continues"`
	}
	if json.Unmarshal(data, &o) != nil {
		return string(data)
	}
	if o.Continues != nil {
		return "another log, since " + o.Continues.File + " " + o.Continues.Seen
	}
	text := fmt.Sprintf("toolhost %s, process %d, in %s", o.Version, o.PID, o.Workspace)
	for _, f := range []struct{ name, value string }{
		{"mode", o.Mode}, {"sandbox", openedSandbox(o.Sandbox)}, {"user", history.Plain(o.User)}, {"client", history.Plain(o.Client)},
	} {
		if f.value != "" {
			text += ", " + f.name + " " + f.value
		}
	}
	return text
}

// openedSandbox describes the sandbox of a session by its level, and by the reason where it is less than full.
func openedSandbox(data json.RawMessage) string {
	var s struct {
		Level  string `json:"level"`
		Detail string `json:"detail"`
	}
	if json.Unmarshal(data, &s) != nil || s.Level == "" {
		return history.Plain(data)
	}
	if s.Detail == "" {
		return s.Level
	}
	return s.Level + " (" + s.Detail + ")"
}

// unended prints a call or a job whose end is not in the log.
func (p *printer) unended(u *history.Unended) {
	how := map[bool]string{true: "is running", false: "died with the host"}[p.live]
	job := "job " + visible.Text(u.Job) + " " + how
	if u.Command != "" {
		job += ": " + visible.Text(cut.Characters(u.Command, 100))
	}
	start := lineStart(history.Time(u.Time), u.Call) + " "
	if !u.CallRuns {
		fmt.Fprintln(&p.b, start+job)
		return
	}
	text := map[bool]string{true: "is running", false: "the host died"}[p.live]
	if what := subject(u.Call); what != "" {
		text += ": " + visible.Text(cut.Characters(what, 160))
	}
	if u.Job != "" {
		text += ", job " + visible.Text(u.Job)
	}
	fmt.Fprintf(&p.b, "%s%s (%s)\n", start, text, u.Call.Invocation)
	for _, line := range permission(u.Call, true) {
		fmt.Fprintln(&p.b, indent+visible.Text(line))
	}
}

func took(c *history.Call) string {
	if c.Start.IsZero() || c.End.IsZero() {
		return "?"
	}
	return c.End.Sub(c.Start).Round(time.Millisecond).String()
}

func clock(at time.Time) string {
	if at.IsZero() {
		return "??:??:??.???"
	}
	return at.Local().Format("15:04:05.000")
}
