package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/approve/page"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/server"
	"toolhost/cmd/toolhost/internal/session"
)

// httpFlags say where and for whom a session is served over HTTP.
type httpFlags struct {
	options server.HTTPOptions
	cmd     *cobra.Command
}

func (h *httpFlags) addFlags(cmd *cobra.Command) {
	h.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&h.options.Addr, "http", "", "serve MCP and RAP over HTTP at this `address` instead of stdin and stdout, such as 127.0.0.1:0")
	f.StringVar(&h.options.TokenFile, "http-token-file", "", "`file` with the token that clients must show, readable by you alone (default: a new token, which is printed)")
	f.StringVar(&h.options.CertFile, "tls-cert", "", "`file` with the certificate, in PEM; required where the address is not of this machine alone")
	f.StringVar(&h.options.KeyFile, "tls-key", "", "`file` with the key of --tls-cert")
	f.BoolVar(&h.options.OwnCert, "tls-self-signed", false, "TLS with a new certificate, whose fingerprint is printed")
	f.StringArrayVar(&h.options.Hosts, "http-host", nil, "further `name` by which clients reach this server; may be repeated")
	f.StringArrayVar(&h.options.Origins, "http-origin", nil, "`origin` of web pages that may call, such as https://agents.example.com; may be repeated")
}

// check reports flags that mean nothing without --http.
func (h *httpFlags) check() error {
	for _, name := range []string{"http", "http-token-file", "tls-cert", "tls-key"} {
		if f := h.cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return fmt.Errorf("--%s is empty: give it a value, or leave it out", name)
		}
	}
	if h.options.Addr != "" {
		return nil
	}
	if h.options.TokenFile+h.options.CertFile+h.options.KeyFile != "" || len(h.options.Hosts)+len(h.options.Origins) > 0 || h.options.OwnCert {
		return errors.New("--http-token-file, --http-host, --http-origin, --tls-cert, --tls-key and --tls-self-signed are for HTTP: add --http ADDR, or leave them out")
	}
	return nil
}

// files returns the files of the token and the key. No call may read them: their content lets a reader act as a client.
func (h *httpFlags) files() (secret []string) {
	for _, name := range []string{h.options.TokenFile, h.options.KeyFile} {
		if abs, err := filepath.Abs(name); name != "" && err == nil {
			secret = append(secret, dirs.Target(abs))
		}
	}
	return secret
}

// front opens the address.
func (h *httpFlags) front(s *session.Session) (server.Front, error) {
	h.options.Version, h.options.Log, h.options.Listening = version(), logLine, printAddress
	f, err := server.HTTP(s, h.options)
	if errors.Is(err, server.ErrCallbacks) {
		return nil, exitf(exitFailed, "%v", err)
	}
	return f, err
}

// printAddress prints the address of the server: for a program in one line of JSON, for a person in words. It prints the token once.
func printAddress(at server.Address) {
	base, token := at.Base, at.Token
	if !output.IsTerminal(os.Stdout) {
		said := map[string]string{"url": base, "mcp": base + "/mcp", "rap": base + "/.well-known/rap-toolset", "events": base + "/events", "page": base + page.Path}
		if at.Fingerprint != "" {
			said["fingerprint"] = at.Fingerprint
		}
		if token != "" {
			said["token"] = token
		}
		line, err := agenttool.Encode(said)
		if err == nil { // strings alone: it cannot fail
			fmt.Printf("%s\n", line)
		}
		return
	}
	fmt.Printf("MCP     %s/mcp\nRAP     %s\nevents  %s/events\npage    %s%s, for browsers that toolhost approve --pair pairs\n", base, base, base, base, page.Path)
	if at.Fingerprint != "" {
		fmt.Printf("TLS     SHA-256 of the certificate %s\n", at.Fingerprint)
	}
	if token != "" {
		fmt.Printf("token   %s\n        clients send it as Authorization: Bearer; it is not shown again\n", token)
	}
}
