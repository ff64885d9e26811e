package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/persist"
)

// scheme is the prefix of the URIs of payloads.
const scheme = "toolhost://"

// isPayload reports whether a URI is that of a payload.
func isPayload(uri string) bool { return strings.HasPrefix(uri, scheme) }

// anyPayload matches the URIs of all payloads, with any query. A more exact template would refuse parameters in another
// order.
const anyPayload = scheme + "{+payload}"

// addResources lets clients read the payloads of the session by page (MCP-18). [stored] lists those of the server's results.
func addResources(server *sdk.Server, h *host.Host) {
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "payload", Title: "Output of a call", URITemplate: anyPayload,
		Description: "The whole output of a call, as results link to it. ?offset=N&limit=N, in bytes, is a page of it; _meta of a page has the URI of the next.",
	}, payloads{h}.read)
}

// Keys of a page's _meta.
const (
	metaOffset = metaPrefix + "offset"
	metaSize   = metaPrefix + "size_bytes"
	metaNext   = metaPrefix + "next"
)

// payloads reads those of the session.
type payloads struct{ host *host.Host }

// read returns a page of a payload.
func (p payloads) read(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	ref, offset, limit, err := parsePage(req.Params.URI)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	page, err := p.host.ReadResult(ref, offset, limit)
	var failure *agenttool.Error
	switch {
	case errors.As(err, &failure) && failure.Code == "unknown_ref":
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	case errors.Is(err, agenttool.InvalidArguments):
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	case err != nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	contents, err := pageContents(req.Params.URI, limit, page)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
}

// parsePage takes a page's URI apart. Offset and limit are 0 where it does not say.
func parsePage(uri string) (ref string, offset, limit int64, err error) {
	ref, query, _ := strings.Cut(uri, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", 0, 0, fmt.Errorf("the query of %s: %w", clean(uri, maxRef), err)
	}
	for name, all := range values {
		n, err := strconv.ParseInt(all[0], 10, 64)
		switch {
		case len(all) > 1 || err != nil || n < 0:
			return "", 0, 0, fmt.Errorf("%s=%s in the URI is not one number of bytes", clean(name, maxName), clean(all[0], maxName))
		case name == "offset":
			offset = n
		case name == "limit":
			limit = n
		default:
			return "", 0, 0, fmt.Errorf("the URI of a payload takes offset and limit, not %s", clean(name, maxName))
		}
	}
	return ref, offset, limit, nil
}

// pageContents is a page as clients get it: text as text, other bytes as a blob.
func pageContents(uri string, limit int64, page persist.Page) (*sdk.ResourceContents, error) {
	c := &sdk.ResourceContents{
		URI: uri, MIMEType: page.MediaType, Text: page.Text, Meta: sdk.Meta{metaOffset: page.Offset, metaSize: page.SizeBytes},
	}
	if page.Data != "" {
		blob, err := base64.StdEncoding.DecodeString(page.Data)
		if err != nil {
			return nil, fmt.Errorf("decode a page of %s: %w", page.Ref, err)
		}
		c.Blob, c.Text = blob, ""
	}
	if page.NextOffset > 0 {
		next := fmt.Sprintf("%s?offset=%d", page.Ref, page.NextOffset)
		if limit > 0 {
			next += fmt.Sprintf("&limit=%d", limit)
		}
		c.Meta[metaNext] = next
	}
	return c, nil
}

// codeNotFound is the error of an unknown resource in the revisions before 2026-07-28 (MCP-18, MCP-19).
const codeNotFound = -32002

// unknownResource is the message of [sdk.ResourceNotFoundError], whose code other errors have as well.
const unknownResource = "Resource not found"

// notFound gives the error of an unknown resource the code that clients of the era know, and the URI: the SDK writes it
// as no JSON if there is a control character in it, and the session would end.
func notFound(req sdk.Request, err error) error {
	read, ok := req.(*sdk.ReadResourceRequest)
	var wire *jsonrpc.Error
	if !ok || !errors.As(err, &wire) || wire.Message != unknownResource {
		return err
	}
	told := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: wire.Message}
	if !isModern(read.ProtocolVersion()) {
		told.Code = codeNotFound
	}
	told.Data, _ = agenttool.Encode(map[string]string{"uri": clean(read.Params.URI, maxTwice)})
	return told
}

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
