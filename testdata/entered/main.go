// Entered counts the functions of the product that one read enters beyond an idle session, over the native methods and over MCP: what a
// reader has to know who follows the simplest call from its line to its answer.
//
//	go run ./testdata/entered [-v] [-C DIRECTORY]
//
// It builds the program with coverage and has four sessions: each door idle and with one read of a small file. -v lists the functions, -C
// measures another checkout.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolhost/wire/wiretest"
)

const (
	patience = 2 * time.Minute
	pause    = 2 * time.Second // so that work of an idle session, after its start, counts as idle
)

func main() {
	verbose := flag.Bool("v", false, "list the functions")
	checkout := flag.String("C", ".", "the checkout to measure")
	flag.Parse()
	if err := run(*checkout, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "entered:", err)
		os.Exit(1)
	}
}

// door is a way to say hello and to read.
type door struct {
	name         string
	hello        string
	helloParams  map[string]any
	ready        string // a notification after hello; empty: none
	read         string
	readParams   map[string]any
	readSucceeds func(result json.RawMessage) bool
}

var input = map[string]any{"path": "small"}

var doors = []door{
	{
		name: "native", hello: "agenttool/hello", helloParams: map[string]any{"client": map[string]string{"name": "entered", "version": "1"}},
		read: "agenttool/invoke", readParams: map[string]any{"id": "c1", "tool": "read", "input": input},
		readSucceeds: func(result json.RawMessage) bool { return bytes.Contains(result, []byte(`"status":"succeeded"`)) },
	},
	{
		name: "MCP", hello: "initialize", ready: "notifications/initialized",
		helloParams: map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "entered", "version": "1"}},
		read:        "tools/call", readParams: map[string]any{"name": "read", "arguments": input},
		readSucceeds: func(result json.RawMessage) bool { return !bytes.Contains(result, []byte(`"isError":true`)) },
	},
}

func run(checkout string, verbose bool) error {
	scratch, err := os.MkdirTemp("/var/tmp", "toolhost-entered-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	program := filepath.Join(scratch, "toolhost")
	build := exec.Command("go", "build", "-cover", "-covermode=atomic", "-coverpkg=./...", "-o", program, "./cmd/toolhost")
	build.Dir = checkout
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	for _, d := range doors {
		idle, err := d.session(program, filepath.Join(scratch, d.name, "idle"), checkout, false)
		if err != nil {
			return fmt.Errorf("%s, idle: %w", d.name, err)
		}
		reading, err := d.session(program, filepath.Join(scratch, d.name, "read"), checkout, true)
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		report(d.name, beyond(reading, idle), verbose)
	}
	return nil
}

// session has a session of its own below dir, and returns the functions that it entered, as file and name.
func (d door) session(program, dir, checkout string, read bool) (functions []string, err error) {
	workspace, counters := filepath.Join(dir, "home", "ws"), filepath.Join(dir, "counters")
	for _, made := range []string{workspace, filepath.Join(dir, "home", "run"), counters} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(workspace, "small"), []byte("small\n"), 0o644); err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "serve", "--workspace", workspace)
	cmd.Env = append(os.Environ(), append(wiretest.Home(filepath.Join(dir, "home")), "GOCOVERDIR="+counters)...)
	cmd.Stderr = os.Stderr
	p, err := wiretest.Start(cmd, wiretest.Options{})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(d.talk(p, read), p.End(patience)); err != nil {
		return nil, err
	}
	report := exec.Command("go", "tool", "covdata", "func", "-i", counters)
	report.Dir = checkout
	out, err := report.Output()
	return entered(string(out)), err
}

// talk says hello and reads, if it is to.
func (d door) talk(p *wiretest.Process, read bool) error {
	if err := p.Request(d.hello, d.helloParams, nil, patience); err != nil {
		return err
	}
	if d.ready != "" {
		if _, err := fmt.Fprintf(p, `{"jsonrpc":"2.0","method":%q}`+"\n", d.ready); err != nil {
			return err
		}
	}
	time.Sleep(pause)
	if !read {
		time.Sleep(pause) // longer than any read takes
		return nil
	}
	var result json.RawMessage
	if err := p.Request(d.read, d.readParams, &result, patience); err != nil {
		return err
	}
	if !d.readSucceeds(result) {
		return fmt.Errorf("the read failed: %s", result)
	}
	return nil
}

// entered are the functions of a report, "file:line: name percent" each, of which any statement ran.
func entered(report string) (functions []string) {
	for line := range strings.Lines(report) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[2] == "0.0%" || fields[0] == "total" {
			continue
		}
		file, _, _ := strings.Cut(strings.TrimPrefix(fields[0], "toolhost/"), ":")
		functions = append(functions, file+" "+fields[1])
	}
	return functions
}

// beyond are the functions that a session entered and the idle one did not.
func beyond(session, idle []string) []string {
	return slices.DeleteFunc(session, func(f string) bool { return slices.Contains(idle, f) })
}

func report(name string, functions []string, verbose bool) {
	var files []string
	for _, f := range functions {
		file, _, _ := strings.Cut(f, " ")
		files = append(files, file)
		if verbose {
			fmt.Printf("%-8s %s\n", name, f)
		}
	}
	slices.Sort(files)
	fmt.Printf("%-8s one read enters %d functions in %d files beyond an idle session\n", name, len(functions), len(slices.Compact(files)))
}
