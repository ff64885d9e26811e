package mcp

import (
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/host"
)

// maxStored is how many stored results are listed: the newest.
const maxStored = 1000

// stored are the payloads of the results that this server gave, the oldest first. The zero value has none.
type stored struct {
	mu  sync.Mutex
	all []*sdk.Resource
}

// add adds the payloads of a result.
func (s *stored) add(c host.Completion) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range payloadsOf(c) {
		one := &sdk.Resource{
			URI: r.URI, Name: nameOf(r), Title: clean(c.Result.UIFacingSummary, maxName), MIMEType: r.MediaType, Size: r.SizeBytes,
			Description: "Output of " + string(c.Invocation.ToolID),
		}
		if c.Job != "" {
			one.Description += ", job " + c.Job
		}
		s.all = append(s.all, one)
	}
	if over := len(s.all) - maxStored; over > 0 {
		s.all = slices.Clone(s.all[over:])
	}
}

// list returns the payloads, the newest first.
func (s *stored) list() []*sdk.Resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.all)
	slices.Reverse(all)
	return all
}

// payloadsOf returns the payloads of a result, each once.
func payloadsOf(c host.Completion) []agenttool.Ref {
	refs := c.Result.ResourceRefs
	if kept := c.Persistence.PersistedRef; kept != nil {
		refs = append(refs[:len(refs):len(refs)], *kept)
	}
	var found []agenttool.Ref
	for _, r := range refs {
		known := slices.ContainsFunc(found, func(other agenttool.Ref) bool { return other.URI == r.URI })
		if !known && isPayload(r.URI) {
			found = append(found, r)
		}
	}
	return found
}
