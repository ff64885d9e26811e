package host_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"testing"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/persist"
	"toolhost/testdata/support/conform"
)

// TestLargeImages: an image above the limit is a payload, and the result has its reference; a smaller one stays in the result.
func TestLargeImages(t *testing.T) {
	conform.Held(t, "AT-290", "AT-292")
	for _, c := range []struct {
		size int
		text string
		want agenttool.Strategy
	}{
		{persist.InlineBytes + 3, "", agenttool.RefOnly}, {persist.InlineBytes + 3, "a picture", agenttool.PreviewAndPersist}, {1 << 20, "", agenttool.Inline},
	} {
		image := bytes.Repeat([]byte{0xff}, c.size)
		f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
			blocks := []agenttool.Content{{Type: "image", Data: base64.StdEncoding.EncodeToString(image), MediaType: "image/png"}}
			if c.text != "" {
				blocks = append(blocks, agenttool.Text(c.text))
			}
			return agenttool.Output{Content: blocks}, nil
		}}})
		got := f.call(host.Request{ID: "c", Tool: "look", Input: input("a")})
		checkRecords(t, got)
		at := slices.IndexFunc(got.Result.Content, func(b agenttool.Content) bool { return b.MediaType == "image/png" })
		if at < 0 || got.Persistence.Strategy != c.want || got.Persistence.OriginalSizeBytes != int64(c.size+len(c.text)) {
			t.Errorf("%d bytes: %+v", c.size, got.Persistence)
			continue
		}
		block := got.Result.Content[at]
		if large := c.want != agenttool.Inline; (block.Data == "") != large || (block.Type == "persisted_output_ref") != large {
			t.Errorf("%d bytes: a block of type %s with %d bytes", c.size, block.Type, len(block.Data))
		} else if large {
			sum := fmt.Sprintf("sha256:%x", sha256.Sum256(image))
			ref := got.Result.ResourceRefs[0]
			if ref.Digest != sum || ref.URI != block.URI || ref.SizeBytes != int64(c.size) || got.Persistence.PersistedRef == nil ||
				!slices.Contains(got.Result.EvidenceRefs, ref.ID) || !slices.Contains(f.events(got.Invocation.InvocationID), "tool.result.persisted") {
				t.Errorf("%d bytes: reference %+v, %+v", c.size, ref, got.Persistence)
			}
		}
	}
}
