package settings

import (
	"errors"
	"fmt"
)

// Problem is a mistake in a settings file.
type Problem struct {
	File    string `json:"file"`             // absolute
	Line    int    `json:"line,omitempty"`   // from 1; 0: the file as a whole
	Column  int    `json:"column,omitempty"` // from 1, in bytes
	Message string `json:"message"`          // names the mistake and the remedy. Quoted text of the file is escaped
}

// Error returns FILE:LINE:COLUMN: MESSAGE.
func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	if p.Column == 0 {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Problems returns the problems in an error of [Load] or [Open], in the order of the layers and lines.
func Problems(err error) []Problem {
	var found []Problem
	switch e := err.(type) {
	case *Problem:
		found = append(found, *e)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			found = append(found, Problems(inner)...)
		}
	case interface{ Unwrap() error }:
		found = Problems(e.Unwrap())
	}
	return found
}

// join joins problems into one error.
func join(problems []Problem) error {
	errs := make([]error, len(problems))
	for i := range problems {
		errs[i] = &problems[i]
	}
	return errors.Join(errs...)
}

// maxProblems bounds the problems reported for one file.
const maxProblems = 100
