package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/persist"
	"toolhost/testdata/support/conform"
)

// logAccount is what a log alone says of its calls.
type logAccount struct {
	Mode    string `json:"mode"`
	Sandbox level  `json:"sandbox"`
	Rules   []struct {
		Behavior string `json:"behavior"`
		Rule     string `json:"rule"`
		Source   string `json:"source"`
	} `json:"rules"`
	declared  map[agenttool.ToolID]agenttool.Declaration
	profiles  map[string]agenttool.ExecutionProfile
	surfaces  map[agenttool.SurfaceID]agenttool.Surface
	decisions map[string]agenttool.Decision
	policies  map[string]bool
	calls     map[string]rebuilt // by native id
	all       []rebuilt
}

// rebuilt is a call that ended.
type rebuilt struct {
	Invocation  agenttool.Invocation  `json:"invocation"`
	Result      agenttool.Result      `json:"result"`
	Persistence agenttool.Persistence `json:"persistence"`
}

// level is a sandbox, as records tell of it.
type level struct {
	Level string `json:"level"`
}

// readLogAccount reads a log, and nothing else.
func readLogAccount(t *testing.T, path string) logAccount {
	t.Helper()
	a, err := logAccountOf(path)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func logAccountOf(path string) (a logAccount, err error) {
	a = logAccount{
		declared: map[agenttool.ToolID]agenttool.Declaration{}, profiles: map[string]agenttool.ExecutionProfile{}, policies: map[string]bool{},
		surfaces: map[agenttool.SurfaceID]agenttool.Surface{}, decisions: map[string]agenttool.Decision{}, calls: map[string]rebuilt{},
	}
	file, err := os.Open(path)
	if err != nil {
		return a, err
	}
	defer file.Close()
	for entry, err := range persist.Read(file) {
		var e agenttool.Event
		if err == nil {
			err = json.Unmarshal(entry.Event, &e)
		}
		if err == nil {
			err = a.take(e)
		}
		if err != nil {
			return a, fmt.Errorf("%w: %.500s", err, entry.Event)
		}
	}
	return a, nil
}

func (a *logAccount) take(e agenttool.Event) error {
	var data struct {
		Declaration agenttool.Declaration      `json:"declaration"`
		Execution   agenttool.ExecutionProfile `json:"execution_profile"`
		Surface     agenttool.Surface          `json:"surface"`
		Decision    agenttool.Decision         `json:"decision"`
		Policy      agenttool.SchedulerPolicy  `json:"scheduler_policy"`
		rebuilt
	}
	switch e.EventType {
	case agenttool.EventSessionOpened:
		return json.Unmarshal(e.Data, a)
	case agenttool.EventDeclared, agenttool.EventSurfaceCreated, agenttool.EventSurfaceUpdated, agenttool.EventSchedulerPolicy,
		agenttool.EventPermissionRequested, agenttool.EventPermissionDecided, agenttool.EventResultCreated:
	default:
		return nil
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	switch e.EventType {
	case agenttool.EventDeclared:
		a.declared[data.Declaration.ToolID], a.profiles[string(data.Execution.ExecutionProfileID)] = data.Declaration, data.Execution
	case agenttool.EventSchedulerPolicy:
		a.policies[data.Policy.SchedulerPolicyID] = true
	case agenttool.EventSurfaceCreated, agenttool.EventSurfaceUpdated:
		a.surfaces[data.Surface.SurfaceID] = data.Surface
	case agenttool.EventResultCreated:
		a.calls[data.Invocation.NativeCallID] = data.rebuilt
		a.all = append(a.all, data.rebuilt)
	default:
		a.decisions[string(data.Decision.DecisionID)] = data.Decision
	}
	return nil
}

// input follows the reference of an input of a call to the input itself.
func (c rebuilt) input(ref string) string {
	for range 4 {
		switch inv := c.Invocation; ref {
		case "#/call_input":
			if len(inv.CallInput) > 0 {
				return string(inv.CallInput)
			}
			ref = inv.CallInputRef
		case "#/permission_input":
			if len(inv.PermissionInput) > 0 {
				return string(inv.PermissionInput)
			}
			ref = inv.PermissionInputRef
		case "#/observable_input":
			return string(inv.ObservableInput)
		}
	}
	return ""
}

// TestCallsAreRebuiltFromTheLog: from the log alone, of each call of a session: declaration, surface, mode, rules in force, the four inputs, the
// decisions with their rules, sandbox, exit status, digest of what it wrote, and the ids that its client gave it.
func TestCallsAreRebuiltFromTheLog(t *testing.T) {
	conform.Held(t, "AT-077", "AT-342", "AT-404")
	t.Parallel()
	const native = `{"source":"function_calling","tool_call_id":"call_7","function_name":"shell","tool_choice":"auto","parallel_tool_calls":true,"strict":true,"defer_loading":false}`
	dir, state := t.TempDir(), t.TempDir()
	s := startServing(t, dir, state, nil, "--sandbox", "none", "--allow", "Write(src/**)", "--deny", "Read(secret.txt)")
	inputs := map[string]string{
		"c1": `{"pattern":"*.go"}`, "c2": `{"path":"src/a.txt","content":"one\n"}`, "c3": `{"path":"secret.txt"}`, "c4": `{"command":"false"}`, "c5": `{}`,
	}
	for id, tool := range []string{"glob", "write", "read", "shell", "nothing"} {
		line := strings.Replace(invocation(id+1, tool, inputs[fmt.Sprintf("c%d", id+1)]), `"tool"`, `"mapping":`+native+`,"tool"`, 1)
		s.send(line)
		if _, ok := s.next(); !ok {
			t.Fatal("the output ended")
		}
	}
	a := readLogAccount(t, s.log())
	rules := fmt.Sprint(a.Rules)
	if a.Mode != "default" || a.Sandbox.Level != "none" || !strings.Contains(rules, "{deny Read(secret.txt) cli_arg}") || !strings.Contains(rules, "{allow Write(src/**) cli_arg}") {
		t.Errorf("mode %s, sandbox %s, rules %s", a.Mode, a.Sandbox.Level, rules)
	}
	if len(a.calls) != len(inputs) {
		t.Errorf("%d calls", len(a.calls))
	}
	for id, want := range map[string]struct {
		tool, decision, status string
		rule                   bool
	}{
		"c1": {"glob", "allow", "succeeded", false}, "c2": {"write", "allow", "succeeded", true}, "c3": {"read", "deny", "denied", true},
		"c4": {"shell", "allow", "failed", false}, "c5": {"", "", "failed", false},
	} {
		c := a.calls[id]
		inv := c.Invocation
		if string(inv.ModelInput) != inputs[id] || string(c.Result.Status) != want.status || len(inv.ExternalMappings) != 1 || string(inv.ExternalMappings[0]) != native {
			t.Errorf("%s: input %s, %s, mappings %s", id, inv.ModelInput, c.Result.Status, inv.ExternalMappings)
		}
		if surface := a.surfaces[inv.SurfaceID]; surface.Scope != "session" || want.tool != "" && !slices.Contains(surface.LoadedTools, any(string(inv.ToolID))) {
			t.Errorf("%s: surface %+v", id, surface)
		}
		if want.tool == "" {
			continue
		}
		if d := a.declared[inv.ToolID]; d.Name != want.tool || d.Description == "" {
			t.Errorf("%s: declaration %+v", id, d)
		}
		if in := c.input("#/call_input"); !json.Valid([]byte(in)) || len(inv.ObservableInput) == 0 || c.input("#/permission_input") != in {
			t.Errorf("%s: inputs %+v", id, inv.Inputs)
		}
		a.checkDecisions(t, id, want.decision, want.rule)
	}
	sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("one\n")))
	if refs := a.calls["c2"].Result.ArtifactRefs; len(refs) != 1 || refs[0].Digest != sum || refs[0].URI != "file://"+filepath.Join(dir, "src/a.txt") {
		t.Errorf("artifacts %+v", refs)
	}
	a.checkCommand(t, a.calls["c4"])
}

// checkDecisions checks the decisions that a call refers to.
func (a logAccount) checkDecisions(t *testing.T, id, behavior string, byRule bool) {
	t.Helper()
	inv := a.calls[id].Invocation
	for _, ref := range inv.PermissionDecisionRefs {
		d := a.decisions[ref]
		if string(d.Behavior) != behavior || d.InvocationID != inv.InvocationID || d.Mode != a.Mode || d.Reason == nil || d.Reason.Detail == "" ||
			byRule && (d.Source != "cli_arg" || !slices.Equal(d.RuleRefs, inv.PolicyRefs) || len(d.RuleRefs) == 0) {
			t.Errorf("%s: decision %+v", id, d)
		}
	}
	if len(inv.PermissionDecisionRefs) != 1 {
		t.Errorf("%s: decisions %q", id, inv.PermissionDecisionRefs)
	}
}

// checkCommand follows the refs of a command's mapping.
func (a logAccount) checkCommand(t *testing.T, c rebuilt) {
	t.Helper()
	var m struct {
		ExitCode     int    `json:"exit_code"`
		ArgvRef      string `json:"argv_ref"`
		EnvPolicyRef string `json:"env_policy_ref"`
	}
	var ran struct {
		Command string `json:"command"`
	}
	var said struct {
		Sandbox level `json:"sandbox"`
	}
	if len(c.Result.ExternalMappings) != 1 || json.Unmarshal(c.Result.ExternalMappings[0], &m) != nil || m.ExitCode != 1 {
		t.Fatalf("mappings %s", c.Result.ExternalMappings)
	}
	argv := c.input(strings.TrimPrefix(m.ArgvRef, "invocation"))
	if json.Unmarshal([]byte(argv), &ran) != nil || ran.Command != "false" || c.Invocation.Facts == nil || c.Invocation.Facts.Dir == nil {
		t.Errorf("argv %s, facts %+v", argv, c.Invocation.Facts)
	}
	profile, field, _ := strings.Cut(m.EnvPolicyRef, "#/")
	if len(a.profiles[profile].Extra[field]) == 0 {
		t.Errorf("no policy %s", m.EnvPolicyRef)
	}
	if json.Unmarshal(c.Result.StructuredContent, &said) != nil || said.Sandbox.Level != a.Sandbox.Level {
		t.Errorf("sandbox %+v of %s", said, c.Result.StructuredContent)
	}
}

// lacks is what the log of a session does not say about its calls.
func (a logAccount) lacks() (lacks []string) {
	if len(a.all) > 0 && (a.Mode == "" || a.Sandbox.Level == "") {
		lacks = append(lacks, "mode or level of the session")
	}
	for _, c := range a.all {
		for _, what := range slices.Concat(a.unknown(c), a.unexplained(c), c.incomplete()) {
			lacks = append(lacks, c.Invocation.NativeCallID+": "+what)
		}
	}
	return lacks
}

// unknown are the records that a call refers to and that are not there.
func (a logAccount) unknown(c rebuilt) (lacks []string) {
	inv := c.Invocation
	if _, known := a.surfaces[inv.SurfaceID]; !known {
		lacks = append(lacks, "its surface "+string(inv.SurfaceID))
	}
	if _, known := a.declared[inv.ToolID]; !known && inv.ToolID != "toolhost.unknown" {
		lacks = append(lacks, "the declaration of "+string(inv.ToolID))
	}
	if !a.policies[inv.SchedulerPolicyRef] {
		lacks = append(lacks, "the policy "+inv.SchedulerPolicyRef)
	}
	return lacks
}

// unexplained says what is missing of the decisions about a call. One that ran was allowed, whatever it asked for later.
func (a logAccount) unexplained(c rebuilt) (lacks []string) {
	allowed := false
	for _, ref := range c.Invocation.PermissionDecisionRefs {
		d := a.decisions[ref]
		if d.InvocationID != c.Invocation.InvocationID || d.Reason == nil || d.Mode == "" || d.Reason.Type == "rule" && len(d.RuleRefs) == 0 {
			lacks = append(lacks, "the decision "+ref)
		}
		allowed = allowed || d.Behavior == agenttool.Allow
	}
	if c.Invocation.StartedAt != "" && !allowed {
		lacks = append(lacks, "the decision that allowed it")
	}
	return lacks
}

// incomplete says what is missing of a call's own records.
func (c rebuilt) incomplete() (lacks []string) {
	inv := c.Invocation
	if len(inv.ModelInput) == 0 && inv.ModelInputRef == "" {
		lacks = append(lacks, "the model's input")
	}
	if inv.StartedAt == "" {
		return lacks
	}
	for _, name := range []string{"#/observable_input", "#/permission_input", "#/call_input"} {
		if large := inv.ObservableInputRef + inv.CallInputRef; c.input(name) == "" && !strings.Contains(large, "toolhost://") {
			lacks = append(lacks, "its "+strings.TrimPrefix(name, "#/"))
		}
	}
	for _, ref := range slices.Concat(c.Result.ResourceRefs, c.Result.ArtifactRefs) {
		if !strings.HasPrefix(ref.Digest, "sha256:") {
			lacks = append(lacks, "the digest of "+ref.URI)
		}
	}
	if inv.ToolID == "toolhost.shell" && inv.Status == agenttool.StatusSucceeded {
		var said struct {
			Exit    *int  `json:"exit_code"`
			Sandbox level `json:"sandbox"`
		}
		if json.Unmarshal(c.Result.StructuredContent, &said) != nil || said.Exit == nil || said.Sandbox.Level == "" || len(c.Result.ExternalMappings) == 0 {
			lacks = append(lacks, "the exit status or the sandbox of the command")
		}
	}
	return lacks
}
