package output

// headBytes is the number of bytes kept of the beginning of a stream's text.
const headBytes = 16 << 10

// head is the beginning of one stream as text. It is cleaned on arrival, so that a long progress bar takes only the
// room of its last state.
type head struct {
	d    decoder
	t    text
	raw  int64 // bytes of the stream that it covers
	end  int64 // the offset after them
	full bool
}

// write adds output of the stream at off, until the head is full.
func (h *head) write(p []byte, off int64) {
	if h.full {
		return
	}
	n := h.d.write(&h.t, p, headBytes)
	h.raw += int64(n)
	h.end = off + int64(n)
	h.full = n < len(p)
}
