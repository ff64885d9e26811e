package proxy

import (
	"slices"
	"strings"

	"toolhost/sandbox/egress"
)

// Environ returns the variables that lead a command's programs to the proxy at url, which may reach grants.
//
// Every variable holds the HTTP form, all_proxy too: HTTP clients that read all_proxy understand it, while several
// fail at start on a SOCKS URL unless an extra library is there. no_proxy keeps the sandbox's own loopback direct. Where a grant names an address of it, that
// address means the machine's and goes through the proxy; the name localhost stays the sandbox's own.
func Environ(url string, grants []egress.Grant) []string {
	var env []string
	for _, name := range []string{"http_proxy", "https_proxy", "all_proxy"} {
		env = append(env, name+"="+url, strings.ToUpper(name)+"="+url)
	}
	direct := []string{"localhost", "127.0.0.1", "::1"}
	for _, g := range grants {
		if addr, literal := g.Addr(); literal {
			direct = slices.DeleteFunc(direct, func(d string) bool { return d == addr.String() })
		}
	}
	list := strings.Join(direct, ",")
	return append(env, "no_proxy="+list, "NO_PROXY="+list, "NODE_USE_ENV_PROXY=1")
}

// GitSSHCommand returns a value of GIT_SSH_COMMAND that makes git reach its servers over ssh through the proxy:
// executable is the path of toolhost inside the sandbox. A host needs a grant for port 22.
func GitSSHCommand(executable string) string {
	// ssh replaces % sequences in the option and gives it to a shell; git gives the whole to another.
	command := shellQuote(strings.ReplaceAll(executable, "%", "%%")) + " __connect %h %p"
	return "ssh -o " + shellQuote("ProxyCommand="+command)
}

func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
