package mcp

import (
	"context"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

// keptOutputs serves tools whose outputs the host keeps, and returns what the first of them says.
func keptOutputs(t *testing.T) (*fixture, string) {
	long := strings.Repeat("line of a long output é\n", 4000)
	much := &fake{name: "much", output: `{"type":"object"}`, run: func(context.Context, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text(long)}, Summary: "much was said"}, nil
	}}
	bytes := &fake{name: "bytes", run: func(_ context.Context, r agenttool.Reporter) (agenttool.Output, error) {
		p, err := r.Payload("data", "application/octet-stream")
		if err != nil {
			return agenttool.Output{}, err
		}
		fmt.Fprint(p, "\x00\x01\xff")
		ref, err := p.Close()
		return agenttool.Output{Resources: []agenttool.Ref{ref, ref, {URI: "file:///etc/passwd"}}}, err
	}}
	return newFixture(t, adding(much, bytes)), long
}

func linksOf(res *sdk.CallToolResult) []*sdk.ResourceLink {
	var found []*sdk.ResourceLink
	for _, b := range res.Content {
		if l, ok := b.(*sdk.ResourceLink); ok {
			found = append(found, l)
		}
	}
	return found
}

// TestPages: what the host kept is a link in the result, and is read by page to its last byte; MCP-18.
func TestPages(t *testing.T) {
	conform.Held(t, "AT-267", "MCP-18")
	f, long := keptOutputs(t)
	for _, revision := range revisions {
		for _, who := range clients[:2] {
			c := f.client(who.name, revision, nil)
			res := f.call(c, "much", nil)
			links := linksOf(res)
			if len(links) != 1 || links[0].Size == nil || *links[0].Size != int64(len(long)) || res.Meta[metaPersistence] != links[0].URI {
				t.Fatalf("%s: links %+v, %v", revision, links, res.Meta)
			}
			var all strings.Builder
			for uri, n := links[0].URI, 0; uri != ""; n++ {
				page := readOne(t, c, uri)
				if page.URI != uri || page.Text == "" || n > 20 {
					t.Fatalf("page %d: %+v", n, page)
				}
				all.WriteString(page.Text)
				uri, _ = page.Meta[metaNext].(string)
			}
			if all.String() != long {
				t.Errorf("%s: %d bytes of %d", revision, all.Len(), len(long))
			}
		}
	}
}

func readOne(t *testing.T, c *sdk.ClientSession, uri string) *sdk.ResourceContents {
	t.Helper()
	res, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		t.Fatalf("%s: %v", uri, err)
	}
	if len(res.Contents) != 1 {
		t.Fatalf("%d contents", len(res.Contents))
	}
	return res.Contents[0]
}

// TestPageParameters: pages by offset and limit, in any order; bytes that are no text are a blob.
func TestPageParameters(t *testing.T) {
	f, long := keptOutputs(t)
	c := f.client("test", "", nil)
	uri := linksOf(f.call(c, "much", nil))[0].URI
	for query, want := range map[string]string{
		"?limit=4": long[:4], "?offset=5": long[5 : 5+30_000], "?offset=5&limit=7": long[5:12], "?limit=7&offset=5": long[5:12],
		fmt.Sprintf("?offset=%d", len(long)): "", "?": long[:30_000],
	} {
		if got := readOne(t, c, uri+query); !strings.HasPrefix(got.Text, want) || len(got.Text) > len(want)+4 {
			t.Errorf("%s: %d bytes, want %d", query, len(got.Text), len(want))
		}
	}
	links := linksOf(f.call(c, "bytes", nil))
	if len(links) != 1 {
		t.Fatalf("links %+v", links)
	}
	if got := readOne(t, c, links[0].URI); string(got.Blob) != "\x00\x01\xff" || got.MIMEType != "application/octet-stream" {
		t.Errorf("%+v", got)
	}
}

// TestUnknownResource: what is no payload of this session is not found, by the code of the client's era; MCP-18, MCP-19.
func TestUnknownResource(t *testing.T) {
	conform.Held(t, "MCP-19")
	f, _ := keptOutputs(t)
	uri := linksOf(f.call(f.client("test", "", nil), "much", nil))[0].URI
	tests := []struct {
		uri  string
		gone bool // not found; else a bad request
	}{
		{"file:///etc/passwd", true}, {scheme + "x", true}, {"nonsense", true}, {uri + "x", true}, {strings.Replace(uri, "results/", "results/../", 1), true},
		{scheme + strings.Repeat("x", 100_000), true}, {scheme + "\x00", true}, {uri + "/../../log.jsonl", true}, {uri + "%00", true},
		{uri + "?offset=-1", false}, {uri + "?offset=999999999", false}, {uri + "?limit=x", false}, {uri + "?offset=1&offset=2", false}, {uri + "?page=2", false},
	}
	for _, revision := range revisions {
		c := f.client("test", revision, nil)
		for _, tt := range tests {
			want := int64(-32602)
			if tt.gone && !isModern(revision) {
				want = codeNotFound
			}
			if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: tt.uri}); errorCode(err) != want {
				t.Errorf("%s: %.80q: %v, want %d", revision, tt.uri, err, want)
			}
		}
	}
}

// TestListOfResources: none is listed; a template says how URIs look.
func TestListOfResources(t *testing.T) {
	f := newFixture(t)
	c := f.client("test", "", nil)
	list, err := c.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	templates, err := c.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 1 {
		t.Errorf("%+v, %v", templates, err)
	}
}

// TestNoLinksForOldClients: clients before 2025-06-18 know no links.
func TestNoLinksForOldClients(t *testing.T) {
	f, _ := keptOutputs(t)
	res := f.call(f.client("test", "2025-03-26", nil), "much", nil)
	if len(linksOf(res)) != 0 || len(texts(res)) == 0 {
		t.Errorf("%+v", res.Content)
	}
}
