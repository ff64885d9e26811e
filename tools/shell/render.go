package shell

import (
	"bytes"

	"toolhost/agenttool"
)

// textBytes bounds what both streams together put before a model. Bytes are never fewer than characters.
const textBytes = 30_000

// rendered is one stream as a model reads it.
type rendered struct {
	text string
	cut  bool
	lost error          // why a cut stream is not whole anywhere
	ref  *agenttool.Ref // the payload with every byte; nil when there is none
}

// render ends both streams and returns them within textBytes.
func render(out, errs *capture) (stdout, stderr rendered) {
	out.seal()
	errs.seal()
	forOut, forErr := allot(out.text.held(), errs.text.held(), textBytes)
	return out.render(forOut), errs.render(forErr)
}

// allot divides total among two streams: a stream that needs less than its share, two thirds for stdout and one for
// stderr, leaves the rest to the other.
func allot(stdout, stderr, total int) (forStdout, forStderr int) {
	share := total / 3
	switch {
	case stdout+stderr <= total:
		return stdout, stderr
	case stderr <= share:
		return total - stderr, stderr
	case stdout <= total-share:
		return stdout, total - stdout
	}
	return total - share, share
}

// render cuts the text to budget. A stream that is cut goes to a payload, if it has not gone there already.
func (c *capture) render(budget int) rendered {
	head, tail, missing := c.text.parts(budget)
	if missing.bytes > 0 {
		c.spill()
	}
	r := rendered{text: string(head), cut: missing.bytes > 0, ref: c.ref()}
	if !r.cut {
		return r
	}
	where := "the rest is lost"
	if r.ref != nil {
		where = "whole output: " + r.ref.URI
	}
	r.lost = c.lost
	r.text = joinLines(string(head), "[… "+missing.String()+" omitted; "+where+" …]", string(tail))
	return r
}

// joinLines puts each part on lines of its own.
func joinLines(parts ...string) string {
	var b bytes.Buffer
	for _, part := range parts {
		if part == "" {
			continue
		}
		if n := b.Len(); n > 0 && b.Bytes()[n-1] != '\n' {
			b.WriteByte('\n')
		}
		b.WriteString(part)
	}
	return b.String()
}
