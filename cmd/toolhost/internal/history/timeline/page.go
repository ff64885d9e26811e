package timeline

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/persist"
)

// callPage prints everything that a log says about one call.
type callPage struct {
	b    strings.Builder
	log  history.Log
	call *history.Call
	inv  agenttool.Invocation
	res  *agenttool.Result
	kept agenttool.Persistence
	asks []agenttool.Decision
	late jobEffects // of a job that went on after its call
}

// jobEffects are the effects of a job until its end.
type jobEffects struct {
	Hosts   []history.Host       `json:"hosts"`
	Changed []history.FileChange `json:"changed_files"`
	More    int                  `json:"more_changes"`
}

// printCall prints the page of the call with these records.
func printCall(out io.Writer, log history.Log, entries []persist.Entry) error {
	p := callPage{log: log}
	r := history.Reader{}
	var events []agenttool.Event
	for _, entry := range entries {
		items, err := r.Add(entry)
		if err != nil {
			return err
		}
		if len(items) > 0 {
			p.call = items[0].Call
		}
		var e agenttool.Event
		if err := json.Unmarshal(entry.Event, &e); err != nil {
			return fmt.Errorf("record %d: %w", entry.Seq, err)
		}
		events = append(events, e)
		p.read(e)
	}
	if p.call == nil && len(events) > 0 {
		p.call = r.Call(events[0].InvocationID)
	}
	if p.call == nil {
		return nil
	}
	p.head(events)
	p.input()
	p.permission()
	p.sandbox()
	p.effects()
	p.result()
	p.records(entries, events)
	_, err := io.WriteString(out, p.b.String())
	return err
}

// read takes the standard's records out of an event.
func (p *callPage) read(e agenttool.Event) {
	var data struct {
		Decision    *agenttool.Decision    `json:"decision"`
		Invocation  *agenttool.Invocation  `json:"invocation"`
		Result      *agenttool.Result      `json:"result"`
		Persistence *agenttool.Persistence `json:"persistence"`
		Progress    jobEffects             `json:"progress"`
	}
	_ = json.Unmarshal(e.Data, &data) // members of another shape stay empty
	if data.Decision != nil && e.EventType == agenttool.EventPermissionRequested {
		p.asks = append(p.asks, *data.Decision)
	}
	if data.Invocation != nil {
		p.inv = *data.Invocation
	}
	if data.Result != nil {
		p.res = data.Result
	}
	if data.Persistence != nil {
		p.kept = *data.Persistence
	}
	if len(data.Progress.Hosts) > 0 {
		p.late.Hosts = data.Progress.Hosts
	}
	if data.Progress.Changed != nil {
		p.late.Changed, p.late.More = data.Progress.Changed, data.Progress.More
	}
}

func (p *callPage) section(title string) { fmt.Fprintf(&p.b, "\n%s\n", title) }

// field prints a line of a section, unless its value is empty.
func (p *callPage) field(name, value string) {
	if value != "" {
		fmt.Fprintf(&p.b, "  %-11s %s\n", name, visible.Text(value))
	}
}

func (p *callPage) block(text string) {
	for _, line := range visible.Lines(strings.TrimSuffix(text, "\n")) {
		fmt.Fprintf(&p.b, "  | %s\n", line)
	}
}

func (p *callPage) head(events []agenttool.Event) {
	c := p.call
	fmt.Fprintf(&p.b, "Call %s (%s) of session %s\n", visible.Text(c.Subject), visible.Text(string(c.Invocation)), visible.Text(p.log.Session))
	p.field("tool", c.ToolName())
	p.field("actor", p.inv.ActorRef)
	p.field("began", c.Start.Local().Format("2006-01-02 15:04:05.000 MST"))
	status := string(c.Status)
	if status == "" {
		status = map[bool]string{true: "it is not over", false: "the host died"}[p.log.Live()] +
			"; its last record is " + string(events[len(events)-1].EventType)
	} else if t := took(c); t != "?" {
		status += " after " + t
	}
	p.field("end", status)
	if p.res != nil {
		p.field("reason", cmp.Or(p.res.AbortReason, p.inv.AbortReason))
		p.field("summary", p.res.UIFacingSummary)
	}
}

// input prints the input as the model sent it, and as it ran if that is not the same.
func (p *callPage) input() {
	p.section("Input")
	p.field("stored in", p.inv.ModelInputRef)
	sent := p.inv.ModelInput
	if len(sent) == 0 {
		sent = p.call.Input
	}
	p.inputFields(sent)
	if ran := p.inv.ObservableInput; len(ran) > 0 && len(p.inv.ModelInput) > 0 && !bytes.Equal(ran, sent) {
		p.section("Input as it was judged")
		p.inputFields(ran)
	}
}

// inputFields prints the members of an input, texts of several lines as blocks.
func (p *callPage) inputFields(input json.RawMessage) {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil {
		p.block(string(input))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var text string
		switch err := json.Unmarshal(members[name], &text); {
		case err != nil:
			p.field(name, string(members[name]))
		case strings.Contains(text, "\n"):
			p.field(name, fmt.Sprintf("(%d bytes)", len(text)))
			p.block(text)
		default:
			p.field(name, text)
		}
	}
}

// permission prints each prompt as it was shown, each decision, and the rules.
func (p *callPage) permission() {
	p.section("Permission")
	for _, d := range p.asks {
		if d.Reason != nil {
			p.field("asked", d.Reason.Detail)
		}
		for _, block := range d.ContentBlocks {
			p.block(cmp.Or(block.Diff, block.Text))
		}
	}
	for _, d := range p.call.Decided {
		if d.RequestRef != "" {
			p.field("answer", answered(p.call, d))
		} else {
			p.field("decision", verdict(d))
		}
	}
	if len(p.call.Decided) == 0 {
		p.field("decision", "there is none in the log")
	}
}

// sandbox prints how a command was confined.
func (p *callPage) sandbox() {
	var data struct {
		Sandbox    map[string]any    `json:"sandbox"`
		Violations []json.RawMessage `json:"sandbox_violations"`
	}
	if p.res == nil || json.Unmarshal(p.res.StructuredContent, &data) != nil || len(data.Sandbox) == 0 {
		return
	}
	p.section("Sandbox")
	for _, name := range []string{"profile", "level", "partial"} {
		if v, ok := data.Sandbox[name]; ok {
			p.field(name, fmt.Sprint(v))
		}
	}
	for _, v := range data.Violations {
		p.field("kept from", history.Plain(v))
	}
}

// effects prints the changed files and the hosts.
func (p *callPage) effects() {
	changes, more, may, hosts := p.call.Changes(), p.call.Outcome.MoreChanges, p.call.MayChange, p.call.Outcome.Hosts
	if p.late.Hosts != nil {
		hosts = p.late.Hosts
	}
	if p.late.Changed != nil {
		changes, more, may = p.late.Changed, p.late.More, nil
	}
	if len(changes)+len(hosts)+len(p.call.MayReach)+len(may) > 0 {
		p.section("Effects")
	}
	for _, f := range changes {
		p.field(f.Change, f.Path+strings.TrimPrefix(f.Cause(""), f.Change))
	}
	p.field("more", strings.TrimPrefix(andMore(more), ", and "))
	for _, path := range may {
		p.field("may change", path)
	}
	for _, h := range hosts {
		p.field("network", hostText(h))
	}
	if len(hosts) == 0 {
		p.field("may reach", strings.Join(p.call.MayReach, ", "))
	}
}

// result prints the error, the exit code, and the output: all of it if a payload holds more than the model read.
func (p *callPage) result() {
	if p.res == nil {
		return
	}
	p.section("Result")
	if o := p.call.Outcome; o.ExitCode != nil {
		p.field("exit", fmt.Sprint(*o.ExitCode))
	} else {
		p.field("signal", o.Signal)
	}
	if p.res.Error != nil {
		p.field("error", p.res.Error.Code+": "+p.res.Error.Message)
	}
	p.field("redaction", strings.TrimPrefix(p.res.RedactionState, "none"))
	for _, block := range p.res.Content {
		switch {
		case block.Diff != "":
			p.block(block.Diff)
		case block.Text != "" && p.kept.PersistedRef == nil:
			p.block(block.Text)
		case block.Data != "":
			p.field(block.Type, fmt.Sprintf("%s, %d bytes of base64", block.MediaType, len(block.Data)))
		}
	}
	if ref := p.kept.PersistedRef; ref != nil {
		p.payload(*ref)
	}
}

// payload prints a stored output.
func (p *callPage) payload(ref agenttool.Ref) {
	p.field("stored", fmt.Sprintf("%s, %d bytes, %s", ref.URI, ref.SizeBytes, ref.Digest))
	_, file, _ := strings.Cut(ref.URI, "/results/")
	if file == "" || file != filepath.Base(file) {
		return
	}
	text, why := p.log.Payload(file)
	if why != "" {
		p.field("output", why)
		return
	}
	p.block(string(text))
}

// records lists the records of the call.
func (p *callPage) records(entries []persist.Entry, events []agenttool.Event) {
	p.section("Records")
	for i, e := range events {
		fmt.Fprintf(&p.b, "  %6d  %s  %s\n", entries[i].Seq, clock(history.Time(e.Time)), visible.Text(string(e.EventType)))
	}
	if p.res != nil {
		p.field("digest", resultDigest(p.res))
	}
}

// resultDigest returns the digest that a tool gave of its file, if it did.
func resultDigest(res *agenttool.Result) string {
	var data struct {
		Digest string `json:"digest"`
	}
	_ = json.Unmarshal(res.StructuredContent, &data) // few tools give one
	return data.Digest
}
