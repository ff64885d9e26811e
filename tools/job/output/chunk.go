package output

import (
	"errors"
)

// chunkBytes is the number of bytes read back at once.
const chunkBytes = 32 << 10

// Gap is a lost part of the output, with the reason.
type Gap struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Reason string `json:"reason"`
}

// chunk is a part of one stream's output, from an offset on. It is empty at the end.
type chunk struct {
	stream Stream
	known  bool
	from   int64
	b      []byte
}

func (c chunk) to() int64 { return c.from + int64(len(c.b)) }

// errShort is the reason for bytes that the payload accepted but does not contain.
var errShort = errors.New("the file of the output is shorter than the output written to it")
