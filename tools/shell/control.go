package shell

import (
	"encoding/json"
	"strings"

	"toolhost/agenttool"
)

// control describes a tool that acts on jobs.
type control struct {
	name, title, description, hint string
	aliases                        []string
	example                        string
	defaults                       map[string]any
	readOnly, destructive          agenttool.Fact
	openWorld                      any // a value, or the name of the classifier
	retries                        bool
}

// ownJobs returns the facts of a call that only acts on jobs of this session.
func ownJobs(readOnly bool) agenttool.Facts {
	return agenttool.Facts{
		Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Known(readOnly), Destructive: agenttool.No, OpenWorld: agenttool.No, ConcurrencySafe: agenttool.Yes,
			Interactive: agenttool.No, LongRunning: agenttool.No, ObservesHost: agenttool.No, PathsComplete: agenttool.Yes,
			OwnJobs: agenttool.Yes},
	}
}

// describe returns the records of the tool.
func (c control) describe() agenttool.Description {
	return complete(agenttool.Description{
		Declaration: agenttool.Declaration{
			Name: c.name, Title: c.title, Aliases: c.aliases, Description: c.description, SearchHint: c.hint,
			InputContract: &agenttool.InputContract{
				RuntimeInputSchema: schema(c.name), Defaults: c.defaults, Examples: []json.RawMessage{json.RawMessage(c.example)},
			},
			OutputContract: &agenttool.OutputContract{
				StructuredSchema: schema("reading"), ContentTypes: []string{"text", "structured_content"},
				FallbackSummary: "the job's state and the size of its output",
			},
		},
		Interface: agenttool.Interface{
			StaticFacts: agenttool.StaticFacts{
				IsReadOnly: c.says(c.readOnly), IsConcurrencySafe: true, IsDestructive: c.says(c.destructive), IsOpenWorld: c.openWorld,
			},
			ClassifierInput: []string{"job", "text", "keys"}, PermissionMatcher: "job",
			ProfileRefs: agenttool.ProfileRefs{PersistencePolicyRef: string(agenttool.NeverPersist)},
			CallRules:   agenttool.CallRules{EmptyResultPolicy: "the text (no new output)"},
		},
		Execution:  agenttool.ExecutionProfile{SupportsRetries: c.retries},
		Permission: c.permission(),
	})
}

// says returns a fact in the form that an interface uses.
func (c control) says(f agenttool.Fact) any {
	if f == agenttool.Unknown {
		return classifier
	}
	return f == agenttool.Yes
}

func (c control) permission() agenttool.PermissionProfile {
	p := agenttool.PermissionProfile{
		RiskLevel: "low", AccessKinds: []string{"code_execution"}, WriteEffects: []string{"none"}, SandboxProfile: "that of the job",
		RuleMatchingFields: []string{"command"},
	}
	if c.destructive == agenttool.Unknown {
		p.RiskLevel, p.WriteEffects, p.ApprovalRequired = "high", []string{"local_persistent", "remote_mutation", "irreversible"}, true
		p.ApprovalReason = "input to a shell is a command, and the effect of input to other programs is unknown"
	}
	return p
}

// bindControl decodes the input of a tool that acts on a job into v. It accepts every common spelling of a job id.
func bindControl(raw json.RawMessage, v any, id *string) error {
	if err := agenttool.DecodeInput(raw, v); err != nil {
		return err
	}
	*id = strings.TrimPrefix(strings.TrimSpace(*id), "job ")
	return nil
}

func invalid(pointer, code, message string) error {
	return agenttool.Failure(agenttool.InvalidArguments, code, message).In(pointer)
}
