package shell

import (
	"errors"

	"toolhost/agenttool"
	"toolhost/tools/neutral"
)

// namesPrograms marks git as more than a reader where a repository names programs, and reports whether one does.
func namesPrograms(found map[agenttool.GitRun]neutral.Finding, settled map[agenttool.GitRun]string) bool {
	named := false
	for run, f := range found {
		if settled[run] == "" && len(f.Programs) > 0 {
			settled[run], named = "the repository of "+run.Dir+" has git run a program ("+f.Programs[0]+
				"), which is turned off only for commands that read and nothing else", true
		}
	}
	return named
}

var errPrivate = errors.New("it is toolhost's own")
