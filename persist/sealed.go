package persist

import (
	"encoding/binary"
	"io"
	"slices"

	"toolhost/persist/redact"
)

// sealedEnd is behind the name of the file with the secrets of a payload. No reference names such a file. It is a sequence
// of frames:
//
//	frame = offset, 8 bytes; length, 4 bytes; the secret, encrypted with the key of the user
const sealedEnd = ".sealed"

const (
	frameHead = 12
	maxSealed = 4 << 20 // bytes of secrets of one payload; further ones are not kept at all
)

// patch is a secret that was taken out of a payload.
type patch struct {
	off  int64
	text []byte
}

// patches are in the order of their offsets, and do not overlap.
type patches []patch

// apply puts the secrets into b, which was read at off.
func (ps patches) apply(b []byte, off int64) {
	end := off + int64(len(b))
	i, _ := slices.BinarySearchFunc(ps, off, func(p patch, off int64) int {
		if p.off+int64(len(p.text)) <= off {
			return -1
		}
		return 1
	})
	for ; i < len(ps) && ps[i].off < end; i++ {
		p := ps[i]
		from := max(p.off, off)
		copy(b[from-off:], p.text[from-p.off:])
	}
}

// patched is a payload with its secrets.
type patched struct {
	io.ReaderAt
	removed patches
}

func (p patched) ReadAt(b []byte, off int64) (int, error) {
	n, err := p.ReaderAt.ReadAt(b, off)
	p.removed.apply(b[:n], off)
	return n, err
}

// secrets are those of one payload.
type secrets struct {
	find     *redact.Stream
	redactor *redact.Redactor
	sealed   sink  // nil: none was kept yet
	lost     bool  // they can be kept no longer
	size     int64 // of all secrets
}

// cover takes the secrets out of text, which stands at off in the payload. It returns those that may be kept.
func (s *secrets) cover(text []byte, off int64, found []redact.Span) (removed patches) {
	for _, f := range found {
		if s.size += int64(f.End - f.Start); s.size <= maxSealed {
			removed = append(removed, patch{off + int64(f.Start), slices.Clone(text[f.Start:f.End])})
		}
	}
	s.redactor.Cover(text, found)
	return removed
}

// frames returns the bytes of a sealed file.
func frames(r *redact.Redactor, ps patches) (all []byte) {
	for _, p := range ps {
		head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, uint64(p.off)), uint32(len(p.text)))
		all = append(append(all, head...), r.Seal(p.text, head)...)
	}
	return all
}

// readPatches reads the frames of a sealed file, up to the first that is broken or of another key.
func readPatches(r *redact.Redactor, src source) (all patches) {
	in, head := io.NewSectionReader(src.r, 0, src.size), make([]byte, frameHead)
	for total := int64(0); total <= maxSealed; {
		if _, err := io.ReadFull(in, head); err != nil {
			return all
		}
		off, n := int64(binary.BigEndian.Uint64(head)), int64(binary.BigEndian.Uint32(head[8:]))
		if total += n; total > maxSealed {
			return all
		}
		sealed := make([]byte, n+redact.SealedSize)
		if _, err := io.ReadFull(in, sealed); err != nil {
			return all
		}
		text, err := r.Open(sealed, head)
		if err != nil || len(all) > 0 && off < all[len(all)-1].off {
			return all
		}
		all = append(all, patch{off, text})
	}
	return all
}
