package persist

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"toolhost/agenttool"
)

// TestShortagesOfTheJournal: a journal that cannot be opened for want of descriptors or memory is a shortage, and a full disk names the directory.
func TestShortagesOfTheJournal(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.EMFILE: agenttool.ResourceExhausted, syscall.ENFILE: agenttool.ResourceExhausted, syscall.ENOMEM: agenttool.ResourceExhausted,
		syscall.ENOSPC: "journal_unavailable", syscall.EACCES: "journal_unavailable",
	} {
		err := unavailable("/state", fmt.Errorf("open: %w", cause))
		failure, ok := errors.AsType[*agenttool.Error](err)
		if !ok || failure.Code != want || failure.Class != agenttool.DependencyUnavailable {
			t.Errorf("%v: %v, want %s", cause, err, want)
		}
	}
}
