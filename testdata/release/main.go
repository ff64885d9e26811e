// Release prints the modules of a binary, as a CycloneDX 1.6 document, with their checksums in Go's checksum database.
//
//	go run ./testdata/release BINARY VERSION
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type document struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"` // hexadecimal
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./testdata/release BINARY VERSION")
		os.Exit(2)
	}
	if err := list(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func list(binary, version string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	d := document{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{module("application", info.Main.Path, version, "")}}
	for _, s := range info.Settings {
		d.Metadata.Component.Properties = append(d.Metadata.Component.Properties, property{"go:build:" + s.Key, s.Value})
	}
	d.Components = append(d.Components, module("library", "std", strings.TrimPrefix(info.GoVersion, "go"), ""))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		d.Components = append(d.Components, module("library", m.Path, m.Version, m.Sum))
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// module is a component; sum is "h1:" and a hash of its files, in base64.
func module(kind, path, version, sum string) component {
	c := component{Type: kind, Name: path, Version: version, PURL: "pkg:golang/" + path + "@" + version}
	if h1, ok := strings.CutPrefix(sum, "h1:"); ok {
		if raw, err := base64.StdEncoding.DecodeString(h1); err == nil {
			c.Hashes = []hash{{"SHA-256", hex.EncodeToString(raw)}}
		}
	}
	return c
}
