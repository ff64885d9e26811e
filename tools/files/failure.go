package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"toolhost/agenttool"
)

// invalid returns the error for an unusable value of the input.
func invalid(pointer, message string) *agenttool.Error {
	return agenttool.Failure(agenttool.InvalidArguments, "bad_value", message).In(pointer)
}

// ioFailure turns a failed system call into an error with a remedy. Errors that already have one, and those of a
// context, are returned unchanged.
func ioFailure(doing, name string, err error) error {
	var failure *agenttool.Error
	if err == nil || errors.As(err, &failure) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if e := agenttool.SystemFailure(doing+" "+name, err); e != nil {
		return e
	}
	class, code := agenttool.ExecutionFailed, "io_error"
	reason := err.Error()
	if path, ok := errors.AsType[*os.PathError](err); ok {
		reason = path.Err.Error()
	}
	switch {
	case errors.Is(err, syscall.EFBIG):
		code, reason = "file_too_large", "the file would be larger than is allowed here"
	case errors.Is(err, syscall.ETXTBSY):
		class, code = agenttool.DependencyUnavailable, "file_busy"
		reason = "it is a program that is running: end it first"
	case errors.Is(err, syscall.ESTALE):
		class, code = agenttool.DependencyUnavailable, "stale_handle"
		reason = "the network file system lost it: try again"
	case errors.Is(err, os.ErrPermission):
		code, reason = "permission", "the file system's permissions do not allow it: change its mode or owner first"
	case errors.Is(err, syscall.ELOOP):
		class, code = agenttool.PolicyBlocked, "path_changed"
		reason = "a link was put in its place after the path was resolved; nothing was touched"
	}
	return agenttool.Failure(class, code, fmt.Sprintf("%s %s: %s", doing, name, reason)).Because(err)
}

// halfWritten returns the error for the worst case: a file rewritten in place holds neither its old nor its new
// content.
func halfWritten(err, undo error) error {
	return agenttool.Failure(agenttool.PartialFailure, "half_written", fmt.Sprintf(
		"the write stopped half way (%v) and the old content could not be put back (%v): "+
			"the file is damaged; restore it from version control", err, undo)).
		Because(errors.Join(err, undo))
}

// openForReading opens a regular file. For other files its error suggests an alternative.
func (s *session) openForReading(p agenttool.Path) (*os.File, error) {
	f, err := s.workspace.OpenFile(p)
	if err == nil {
		return f, nil
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, s.notFound(p)
	}
	if dir, dirErr := s.workspace.OpenDir(p); dirErr == nil {
		dir.Close()
		return nil, isDirectory(p)
	}
	return nil, ioFailure("open", p.Spelling, err)
}

func isDirectory(p agenttool.Path) error {
	return agenttool.Failure(agenttool.InvalidArguments, "is_directory",
		p.Spelling+" is a directory, not a file: name a file in it, or list it with glob (pattern \"*\") or with ls in the shell")
}

// maxNames is the number of directory entries searched for a similar name.
const maxNames = 5000

// notFound returns the error for a missing file, with similar names in its directory.
func (s *session) notFound(p agenttool.Path) error {
	message := p.Spelling + " does not exist"
	if same, ok := s.workspace.SameName(p); ok {
		message += same.Hint()
	} else if near := s.nearNames(p); len(near) > 0 {
		message += "; similar names beside it: " + strings.Join(near, ", ")
	} else {
		message += ": search for it with glob"
	}
	return agenttool.Failure(agenttool.InvalidArguments, "not_found", message).Because(os.ErrNotExist)
}

// nearNames returns up to three names in p's directory that resemble its last one, best first.
func (s *session) nearNames(p agenttool.Path) []string {
	dir, name, err := s.workspace.Parent(p, false)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.File().Readdirnames(maxNames) // an unreadable directory yields no suggestions
	type candidate struct {
		name  string
		score float64
	}
	var found []candidate
	wanted := newBigrams(strings.ToLower(name))
	for _, other := range names {
		if score := wanted.similarity(strings.ToLower(other)); score >= 0.5 {
			found = append(found, candidate{other, score})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		if a.score != b.score {
			return int(1e6 * (b.score - a.score))
		}
		return strings.Compare(a.name, b.name)
	})
	var near []string
	for _, c := range found[:min(3, len(found))] {
		near = append(near, quoted(filepath.Join(filepath.Dir(agenttool.ParsePath(p.Spelling)), c.name)))
	}
	return near
}

// quoted returns a path, in quotes if it contains characters that could be misread.
func quoted(path string) string {
	if strings.ContainsAny(path, `,"`) {
		return agenttool.QuotePath(path)
	}
	return agenttool.PrintPath(path)
}
