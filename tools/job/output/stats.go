package output

import (
	"time"

	"toolhost/agenttool"
)

// lastBytes is the part of the end that is searched for the last line.
const lastBytes = 4 << 10

// Stats describes the output so far.
type Stats struct {
	Bytes     int64          // of both streams; also the cursor of the end
	Out, Err  int64          // of each stream
	Lines     int64          // newlines
	LastLine  string         // the last non-blank line of either stream, as far as it lies within the last 4 KiB
	LastWrite time.Time      // zero: no output
	Ref       *agenttool.Ref // the payload, when the log is closed; see Lost for its gap
	Lost      *Gap           // a part that the payload lacks, once that is known; nil: none
	Closed    bool
}
