package output

// Stream is one of a command's two output streams. A terminal has only Stdout.
type Stream uint8

// The streams.
const (
	Stdout Stream = iota
	Stderr
)

// String returns "stdout" or "stderr".
func (s Stream) String() string {
	if s == Stderr {
		return "stderr"
	}
	return "stdout"
}

// Streams is a set of streams. The zero value means both.
type Streams uint8

// Only returns the set of one stream.
func Only(s Stream) Streams { return 1 << s }

// one reports whether the set has exactly one stream.
func (s Streams) one() bool { return s == Only(Stdout) || s == Only(Stderr) }

// has reports whether a run belongs to a stream of the set. A run without a label belongs to every set.
func (s Streams) has(r run) bool { return s == 0 || !r.known || s&Only(r.stream) != 0 }

// run is a part of the output that one stream wrote. known is false if the label is lost: then both may have written
// it, and stream is Stdout.
type run struct {
	from, to int64
	stream   Stream
	known    bool
}
