package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// withCode says hello to the session in the name of the person, who is asked for its code if it wants one: at the terminal, or on a line of
// stdin. On a command line every command of the session could read it.
func (p *peer) withCode(name string) error {
	hello := map[string]any{"client": map[string]string{"name": name}, "approvals": true}
	var said struct {
		Approvals struct {
			May       bool   `json:"may_answer"`
			Why       string `json:"why"`
			NeedsCode bool   `json:"needs_code"`
		} `json:"approvals"`
	}
	if err := p.ask("agenttool/hello", hello, &said, lookLimit); err != nil {
		return err
	}
	if said.Approvals.NeedsCode {
		if term.IsTerminal(int(os.Stdin.Fd())) {
			fmt.Fprintf(os.Stderr, "the code that session %s shows: ", p.session)
		}
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if err != nil && line == "" {
			return exitf(exitFailed, "the session runs without a sandbox: give the code that it shows, on stdin or at the terminal")
		}
		hello["code"] = strings.TrimSpace(line)
		if err := p.ask("agenttool/hello", hello, &said, lookLimit); err != nil {
			return err
		}
	}
	if !said.Approvals.May {
		return exitf(exitNotAllowed, "%s", said.Approvals.Why)
	}
	return nil
}
