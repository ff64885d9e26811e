package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/classify"
	"toolhost/tools/job"
)

// feeder is the tool shell_input.
type feeder struct{ shell *tool }

// Describe returns the tool's records.
func (feeder) Describe() agenttool.Description {
	return control{
		name: "shell_input", title: "Answer a job", aliases: []string{"write_stdin"},
		hint:        "type into a running command, answer a prompt, press keys",
		example:     `{"job":"j1","text":"yes\n"}`,
		defaults:    map[string]any{"wait_ms": 1000},
		destructive: agenttool.Unknown, openWorld: classifier,
		description: "Sends input to a job: text as it is, then named keys, then its end with eof. Waits a moment and returns the job's " +
			"answer. A line to a shell at its prompt is decided like a command; input to another program may need approval.",
	}.describe()
}

// feedInput is the input of shell_input.
type feedInput struct {
	Job     string   `json:"job"`
	Text    string   `json:"text,omitempty"`
	Keys    []string `json:"keys,omitempty"`
	EOF     bool     `json:"eof,omitempty"`
	Columns uint16   `json:"columns,omitempty"`
	Rows    uint16   `json:"rows,omitempty"`
	WaitMS  *int64   `json:"wait_ms"`
}

const usualAnswer = 1000

// ActsOnJobs implements [agenttool.JobTool].
func (feeder) ActsOnJobs() {}

// Bind decodes and checks an input. Errors are of class invalid_arguments.
func (t feeder) Bind(scope agenttool.Scope, raw json.RawMessage) (agenttool.Call, error) {
	c := &feed{shell: t.shell, home: scope.Home, room: scope.Capacity, facts: agenttool.Facts{Verdicts: agenttool.Verdicts{Interactive: agenttool.No}}}
	if err := bindControl(raw, &c.input, &c.input.Job); err != nil {
		return nil, err
	}
	if c.input.WaitMS == nil {
		wait := int64(usualAnswer)
		c.input.WaitMS = &wait
	}
	if *c.input.WaitMS < 0 || *c.input.WaitMS > maxWait.Milliseconds() {
		return nil, invalid("/wait_ms", "bad_wait", fmt.Sprintf("wait_ms is %d: it must be between 0 and %d", *c.input.WaitMS, maxWait.Milliseconds()))
	}
	_, err := job.Keys(c.input.Keys, true)
	return c, err
}

// feed is a bound input.
type feed struct {
	shell *tool
	home  string
	room  agenttool.Capacity
	input feedInput
	facts agenttool.Facts

	missing error      // the job did not exist when the facts were computed: Run sends nothing
	reads   job.Reader // the process that read the job's input when the facts were computed
	passes  bool       // the line is a command that leaves no state in its shell
}

func (c *feed) Input() any { return c.input }

func (c *feed) Facts() *agenttool.Facts { return &c.facts }

// Refine computes the facts from the process that reads the input. A line to a shell at its prompt is a command. An
// answer to a program that asks a question, and data to a job that can only read, let the job do no more than its own
// decision allowed. Anything else is code that was never judged.
func (c *feed) Refine(context.Context) []*agenttool.Path {
	c.passes, c.reads = false, job.Reader{}
	j, err := c.shell.o.Jobs.Find(c.input.Job)
	if c.missing = err; err != nil { // Run returns the error, without a prompt
		c.facts = ownJobs(false)
		return nil
	}
	if c.sends() {
		c.reads = j.Input.Reader()
	}
	c.facts = c.judge(j)
	var paths []*agenttool.Path
	if c.facts.Dir != nil {
		paths = append(paths, c.facts.Dir)
	}
	for _, list := range [][]agenttool.Path{c.facts.Reads, c.facts.Writes} {
		for i := range list {
			paths = append(paths, &list[i])
		}
	}
	return paths
}

func (c *feed) judge(j *job.Job) agenttool.Facts {
	line, whole := c.line()
	switch {
	case !c.sends(), c.reads.Kind == job.ReadsData:
		return ownJobs(false)
	case c.reads.Kind == job.ReadsAnswer && whole && j.Input.AtPrompt() && yesOrNo[strings.ToLower(line)]:
		return ownJobs(false)
	case c.reads.Kind == job.ReadsCommands && whole && j.Input.AtPrompt():
		return c.command(line)
	}
	return agenttool.Facts{Reasons: []agenttool.Reason{{
		Text: fmt.Sprintf("it goes to %s, with an unknown effect", c.reads.Command)}}}
}

// yesOrNo lists the answers to a yes/no question. Anything else could be a name or a path.
var yesOrNo = map[string]bool{"": true, "y": true, "n": true, "yes": true, "no": true}

// command returns the facts of a line to a shell.
func (c *feed) command(line string) agenttool.Facts {
	in := classify.Context{Dir: c.reads.Dir, Home: c.home}
	f := classify.Command(line, in)
	if found := c.shell.lookAtGit(f.Git, c.home); found != nil { // git runs with the configuration as it is
		in.Git = map[agenttool.GitRun]string{}
		for run, each := range found {
			in.Git[run] = each.Obstacle
		}
		namesPrograms(found, in.Git)
		f = classify.Command(line, in)
	}
	if c.passes = classify.Stateless(line); !c.passes && f.ReadOnly == agenttool.Yes {
		f.ReadOnly = agenttool.Unknown
		f.Reasons = append([]agenttool.Reason{{Text: "it may change what later commands of this shell do"}}, f.Reasons...)
	}
	if name, found := c.shell.planted(programs(f.Parts)); found != "" {
		f.ReadOnly = agenttool.Unknown
		f.Reasons = append([]agenttool.Reason{{Text: name + " is " + found + ", a program of the workspace"}}, f.Reasons...)
	}
	f.Dir = &agenttool.Path{Spelling: c.reads.Dir, Absolute: c.reads.Dir}
	return f
}

// sends reports whether the input contains more than keys that stop or end a program.
func (c *feed) sends() bool {
	return c.input.Text != "" || slices.ContainsFunc(c.input.Keys, func(key string) bool {
		return key != "ctrl-c" && key != "ctrl-d" && key != "ctrl-z" && key != "ctrl-\\"
	})
}

// maxTyped is the longest line that a terminal accepts.
const maxTyped = 4000

// line returns the input as one line: text that ends with a newline or the key enter, without characters that a
// terminal, a line editor or the history would interpret.
func (c *feed) line() (line string, whole bool) {
	line, keys := c.input.Text, c.input.Keys
	if len(keys) == 1 && keys[0] == "enter" {
		line += "\n"
	} else if len(keys) > 0 {
		return "", false
	}
	line, whole = strings.CutSuffix(line, "\n")
	odd := strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' || r == '!' }) || strings.HasSuffix(line, `\`)
	return line, whole && !odd && len(line) <= maxTyped && !c.input.EOF
}

// Run sends the input and waits for an answer. Errors: invalid_arguments if the job is unknown, has ended or reads no
// input; policy_blocked if another program reads the input now than the one that was judged; dependency_unavailable
// if the job does not read.
func (c *feed) Run(ctx context.Context, _ agenttool.Reporter) (agenttool.Output, error) {
	if c.missing != nil {
		return agenttool.Output{}, c.missing
	}
	j, err := c.shell.o.Jobs.Find(c.input.Job)
	if err != nil {
		return agenttool.Output{}, err
	}
	if c.input.Columns > 0 || c.input.Rows > 0 {
		if err := j.Input.Resize(c.input.Columns, c.input.Rows); err != nil {
			return agenttool.Output{}, err
		}
	}
	same, err := true, error(nil)
	if c.sends() {
		same, err = j.Input.Feed(c.reads, func() error { return c.write(j) })
	} else {
		err = c.write(j)
	}
	if !same {
		err = agenttool.Failure(agenttool.PolicyBlocked, "reader_changed", fmt.Sprintf(
			"job %s does not wait for input as it did when this was decided: send it again", j.ID()))
	}
	if err != nil {
		return agenttool.Output{}, err
	}
	_, _ = j.AwaitOutput(ctx, job.Until{Input: true, Limit: c.room.Wait(time.Duration(*c.input.WaitMS) * time.Millisecond)}) // an error means that too many calls wait; the output is then read without waiting
	if ctx.Err() != nil {
		return agenttool.Output{}, context.Cause(ctx) // the answer can still be read later
	}
	r := readOn(j, request(c.room, 0))
	return r.output(), nil
}

// write sends text, keys and the end.
func (c *feed) write(j *job.Job) error {
	keys, err := job.Keys(c.input.Keys, j.Input.HasTerminal())
	if err != nil {
		return err
	}
	if c.sends() && c.reads.Kind <= job.ReadsCommands && !c.passes {
		j.Input.Unclear()
	}
	if input := c.input.Text + keys; input != "" {
		if err := j.Input.Write(input); err != nil {
			return err
		}
	}
	if c.input.EOF {
		return j.Input.Close()
	}
	return nil
}
