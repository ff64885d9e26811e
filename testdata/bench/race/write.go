package main

import (
	"errors"
	"os"
	"strings"
)

// The lines of a file between which the tables are.
const (
	tablesBegin = "<!-- search.sh writes from here -->\n"
	tablesEnd   = "<!-- to here -->\n"
)

// writeTables replaces what is between the two lines of the file.
func writeTables(name, tables string) error {
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(old), tablesBegin)
	_, after, ended := strings.Cut(rest, tablesEnd)
	if !ok || !ended {
		return errors.New(name + " has not the two lines between which the tables belong: " + strings.TrimSpace(tablesBegin))
	}
	return os.WriteFile(name, []byte(before+tablesBegin+"\n"+tables+"\n"+tablesEnd+after), 0o644)
}
