package main

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addResources adds the resources that the suite reads. Toolhost's own are the outputs that it keeps.
func addResources(s *sdk.Server) {
	picture, err := base64.StdEncoding.DecodeString(png1x1().Data)
	if err != nil {
		panic(err) // it was encoded a line before
	}
	for _, r := range []struct {
		uri, mediaType, text string
		blob                 []byte
	}{
		{"test://static-text", "text/plain", "This is the content of the static text resource.", nil},
		{"test://static-binary", "image/png", "", picture},
		{"test://watched-resource", "text/plain", "It never changes.", nil},
	} {
		s.AddResource(&sdk.Resource{URI: r.uri, Name: strings.TrimPrefix(r.uri, "test://"), Description: "A fixture.", MIMEType: r.mediaType},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				return contents(&sdk.ResourceContents{URI: r.uri, MIMEType: r.mediaType, Text: r.text, Blob: r.blob}), nil
			})
	}
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", Description: "A fixture.", MIMEType: "application/json"},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id, ok := strings.CutPrefix(strings.TrimSuffix(req.Params.URI, "/data"), "test://template/")
			if !ok {
				return nil, errors.New("not of the template")
			}
			return contents(&sdk.ResourceContents{URI: req.Params.URI, MIMEType: "application/json", Text: `{"id":"` + id + `"}`}), nil
		})
}

func contents(c *sdk.ResourceContents) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}
}
