package host

import (
	"context"

	"toolhost/agenttool"
)

// Check says what would be decided about a call, and on which facts, without making it: it is resolved, checked, bound and
// located, and nothing is recorded or run. Hooks are not asked. The error is what the call would end with before a decision.
func (h *Host) Check(ctx context.Context, tool string, input []byte) (agenttool.Decision, *agenttool.Facts, error) {
	h.mu.Lock()
	c := newCall(h, Request{ID: "check", Tool: tool, Input: input}, h.rules.Policy())
	c.dir = h.dir
	h.mu.Unlock()
	defer c.cancel(nil)
	_, err := c.through(ctx, []step{
		{agenttool.PhaseResolveTool, c.resolveTool, agenttool.StatusBlocked},
		{agenttool.PhaseParseSchema, c.parseSchema, agenttool.StatusSchemaParseFailed},
		{agenttool.PhaseValidateValues, c.bind, agenttool.StatusValidationFailed},
		{agenttool.PhasePrepareObserved, c.locate, agenttool.StatusValidationFailed},
	})
	if err != nil {
		return agenttool.Decision{}, nil, err
	}
	return c.approval.decide(), c.bound.Facts(), nil
}
