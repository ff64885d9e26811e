package index

import "bytes"

// ChunkSize is the maximum size of a chunk of several lines.
const ChunkSize = 64 << 10

// Cut divides text into chunks of whole lines and calls use for each, in order, with its offset in text and the number
// of its first line, counted from 1. A chunk has at most ChunkSize bytes, its last \n included, unless it is one single
// line longer than that. The chunks together are the text; an empty one has none.
func Cut(text []byte, use func(chunk []byte, offset int64, line int)) {
	for offset, line := 0, 1; offset < len(text); {
		chunk := first(text[offset:])
		use(chunk, int64(offset), line)
		offset += len(chunk)
		line += bytes.Count(chunk, []byte{'\n'})
	}
}

// first returns the chunk that text begins with.
func first(text []byte) []byte {
	if len(text) <= ChunkSize {
		return text
	}
	if end := bytes.LastIndexByte(text[:ChunkSize], '\n'); end >= 0 {
		return text[:end+1]
	}
	if end := bytes.IndexByte(text[ChunkSize:], '\n'); end >= 0 {
		return text[:ChunkSize+end+1]
	}
	return text
}
