package tree

import "golang.org/x/sys/unix"

// FileFacts is the cached knowledge of a file's content when its status was Stamp. It is immutable.
type FileFacts struct {
	Stamp  Stamp
	Text   bool    // not a binary file
	Opaque bool    // not in the index: always searched
	Legacy bool    // not UTF-8: the index knows its bytes, not its characters
	Index  uint32  // the number of the index that has Chunks
	Chunks []Chunk // the chunks of its text in the index, in order
}

// Chunk is a piece of a text in an index.
type Chunk struct {
	ID     uint32
	Offset int64 // in bytes
	Line   int   // the number of its first line, from 1
}

// Stamp identifies a state of a file. No file has the zero Stamp.
type Stamp struct {
	Dev, Ino           uint64
	Size, Mtime, Ctime int64 // bytes; nanoseconds since 1970
	Links              bool  // it has more than one name
}

// StampOf returns the stamp of a file with the status st.
func StampOf(st *unix.Stat_t) Stamp {
	return Stamp{
		Dev:   uint64(st.Dev),
		Ino:   st.Ino,
		Size:  st.Size,
		Mtime: unix.TimespecToNsec(st.Mtim),
		Ctime: unix.TimespecToNsec(st.Ctim),
		Links: st.Nlink > 1,
	}
}
