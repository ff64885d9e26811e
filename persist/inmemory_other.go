//go:build !linux

package persist

import (
	"errors"
	"io"
	"os"
)

const maxInMemory = 0

// inMemory returns a file in memory with the content of r. This system has none.
func inMemory(r *io.SectionReader) (*os.File, error) {
	return nil, errors.Join(errors.ErrUnsupported, tooLargeForMemory(r.Size()))
}
