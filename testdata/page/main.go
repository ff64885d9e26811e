// Page drives the page of toolhost approve in Chromium, as on a phone: over TLS with a certificate of its own, with real clicks and keys.
// It prints a line for each thing that it looked at, and exits with 1 if one is not as it should be.
//
//	go run ./testdata/page > testdata/page/page.txt
//	go run ./testdata/page -shot DIR        also a picture of each step
//
// It takes a Chromium on the PATH, and reaches nothing but loopback.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience is how long anything may take.
const patience = 30 * time.Second

// play is a run: a session that is served, the browser, and a client that calls.
type play struct {
	home, program string
	serve         *exec.Cmd
	url, token    string
	browser       *browser
	client        *sdk.ClientSession
	shots         string
	failed        int
}

func main() {
	p := &play{}
	flag.StringVar(&p.program, "program", "", "the toolhost to try; empty: one that is built here")
	flag.StringVar(&p.shots, "shot", "", "a directory for pictures")
	flag.Parse()
	err := p.run()
	if err != nil {
		fmt.Println("FAILED ", err)
	}
	if err != nil || p.failed > 0 {
		os.Exit(1)
	}
}

func (p *play) run() (err error) {
	if p.home, err = os.MkdirTemp("", "th"); err != nil {
		return err
	}
	defer os.RemoveAll(p.home)
	for _, dir := range []string{"ws", "run"} {
		if err := os.Mkdir(filepath.Join(p.home, dir), 0o700); err != nil {
			return err
		}
	}
	if p.program == "" {
		p.program = filepath.Join(p.home, "toolhost")
		if out, err := exec.Command("go", "build", "-o", p.program, "./cmd/toolhost").CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w: %s", err, out)
		}
	}
	if err := p.begin(); err != nil {
		return err
	}
	defer func() {
		_ = p.serve.Process.Signal(os.Interrupt)
		_ = p.serve.Wait()
	}()
	return p.look()
}

// look plays the scenes in a browser.
func (p *play) look() (err error) {
	if p.browser, err = newBrowser(p.home); err != nil {
		return err
	}
	defer p.browser.close()
	fmt.Println(p.browser.version)
	for _, s := range scenes {
		if err := s.play(p); err != nil {
			p.failed++
			fmt.Printf("NOT    %s: %v\n", s.name, err)
			continue
		}
		fmt.Printf("ok     %s\n", s.name)
		p.browser.shot(p.shots, s.name)
	}
	if said := p.browser.complaints(); len(said) > 0 {
		return fmt.Errorf("the browser complains: %s", strings.Join(said, "; "))
	}
	fmt.Println("ok     the browser complained of nothing")
	return nil
}

// command is toolhost in the home of the run.
func (p *play) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.program, args...)
	cmd.Dir = filepath.Join(p.home, "ws")
	cmd.Env = append(os.Environ(), "HOME="+p.home, "XDG_STATE_HOME="+p.home+"/state", "XDG_CONFIG_HOME="+p.home+"/config", "XDG_RUNTIME_DIR="+p.home+"/run")
	return cmd
}

// begin starts the session and connects a client.
func (p *play) begin() error {
	p.serve = p.command("serve", "--http", "127.0.0.1:0", "--tls-self-signed")
	out, err := p.serve.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.serve.Start(); err != nil {
		return err
	}
	var at struct{ URL, MCP, Token string }
	if err := json.NewDecoder(out).Decode(&at); err != nil {
		return fmt.Errorf("serve says no address: %w", err)
	}
	p.url, p.token = at.URL, at.Token
	c := sdk.NewClient(&sdk.Implementation{Name: "page", Version: "1"}, nil)
	web := &http.Client{Transport: bearer{at.Token, &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}}
	p.client, err = c.Connect(context.Background(), &sdk.StreamableClientTransport{Endpoint: at.MCP, HTTPClient: web, DisableStandaloneSSE: true}, nil)
	return err
}

// bearer shows the token of the session.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// pair runs toolhost approve --pair and returns the code.
func (p *play) pair() (string, error) {
	out, err := p.command("approve", "--pair", "--piped").CombinedOutput()
	found := regexp.MustCompile(`(?m)^code  (\S+)`).FindStringSubmatch(string(out))
	if err != nil || len(found) != 2 {
		return "", fmt.Errorf("approve --pair: %w: %s", err, out)
	}
	return found[1], nil
}

// outcome is the end of a call.
type outcome struct {
	text   string
	failed bool
}

// call makes a call, whose end comes.
func (p *play) call(tool string, input any) <-chan outcome {
	ended := make(chan outcome, 1)
	go func() {
		r, err := p.client.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: input})
		if err != nil {
			ended <- outcome{err.Error(), true}
			return
		}
		text := ""
		for _, c := range r.Content {
			if one, ok := c.(*sdk.TextContent); ok {
				text += one.Text
			}
		}
		ended <- outcome{text, r.IsError}
	}()
	return ended
}

// ends waits for the end of a call.
func ends(call <-chan outcome) (outcome, error) {
	select {
	case o := <-call:
		return o, nil
	case <-time.After(patience):
		return outcome{}, fmt.Errorf("the call has not ended")
	}
}

// wrote reports whether a file of the workspace is there.
func (p *play) wrote(name string) bool {
	_, err := os.Stat(filepath.Join(p.home, "ws", name))
	return err == nil
}
