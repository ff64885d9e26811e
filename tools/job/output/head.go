package output

// headBytes is how much of the beginning of a stream is kept as text.
const headBytes = 16 << 10

// head is the beginning of one stream as text. It is cleaned as it comes, so that a progress bar of many bytes takes no
// more room than its last state.
type head struct {
	d    decoder
	t    text
	raw  int64 // bytes of the stream that are in it
	end  int64 // the offset behind them
	full bool
}

// write takes what the stream says at off, until the head is full.
func (h *head) write(p []byte, off int64) {
	if h.full {
		return
	}
	n := h.d.write(&h.t, p, headBytes)
	h.raw += int64(n)
	h.end = off + int64(n)
	h.full = n < len(p)
}
