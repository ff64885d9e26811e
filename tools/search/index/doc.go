// Package index finds the chunks of text that may contain a literal, without storing the text.
//
//	x := index.New(128 << 20)
//	index.Cut(text, func(chunk []byte, offset int64, line int) {
//		id, ok := x.Add(chunk) // kept with the offset and the line
//	})
//	found, ok := x.Query(clauses)
//	if !ok || found.Has(id) { ... } // look into the chunk
//
// # How
//
// It is a bit matrix in memory, about 8 % of the size of the text. 64 chunks of similar size make a block; a block has
// a row of 64 bits, one for each chunk, for every value of a hash of three adjacent bytes. A chunk with the bytes has
// its bit set there. The chunks that have all trigrams of a needle are found by the AND of their rows, for 64 chunks at
// a time. The number of rows grows with the size of the chunks in powers of two from 2^7 to 2^15, so that a row is set
// for one chunk in three or so whatever their size.
//
// ASCII letters count as lower case in both text and needle, so that one index serves searches in either case. All
// other bytes count exactly as they are, whether they are UTF-8 or not.
//
// # Chunks
//
// The index knows chunks, not files. Cut never divides a line, so a chunk that contains a matching line fulfils all
// clauses of the line. A search across lines must not query several clauses at once, nor a needle that contains a
// line end, because the parts may be in different chunks of a file. It queries one clause after another and takes a
// file if each clause has some chunk of the file.
package index
