package output

// Stream is one of the two that a command writes. A terminal has Stdout only.
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

// Streams is a set of streams. The zero value stands for both.
type Streams uint8

// Only returns the set of one stream.
func Only(s Stream) Streams { return 1 << s }

// one reports whether the set has only one.
func (s Streams) one() bool { return s == Only(Stdout) || s == Only(Stderr) }

// has reports whether a run belongs to a stream of the set. One of which that is not known any more does.
func (s Streams) has(r run) bool { return s == 0 || !r.known || s&Only(r.stream) != 0 }

// run is a part of the output that one stream wrote. Known is false where both may have: its stream is Stdout then.
type run struct {
	from, to int64
	stream   Stream
	known    bool
}
