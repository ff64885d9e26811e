package permissions

import (
	"fmt"
	"strings"
)

// hostName is the pattern of a host. The zero value matches every host.
type hostName struct {
	name  string // lower case, without a final dot
	port  string // empty: any
	below bool   // the names below name, and not it
}

// parseHostPattern reads HOST, HOST:PORT or *.HOST.
func parseHostPattern(spec string) (hostName, error) {
	h := parseHost(strings.TrimSpace(spec))
	if rest, ok := strings.CutPrefix(h.name, "*."); ok {
		h.name, h.below = rest, true
	}
	switch {
	case h.name == "*" && h.port == "":
		h = hostName{}
	case h.name == "", strings.ContainsAny(h.name, "*/@ \t"), strings.Trim(h.port, "0123456789") != "":
		return h, fmt.Errorf("%q is no host: write NAME, NAME:PORT, or *.NAME for the names below it", spec)
	}
	return h, nil
}

// parseHost splits a host as a command names it: NAME, NAME:PORT, ADDRESS or [ADDRESS]:PORT.
func parseHost(text string) hostName {
	h := hostName{name: strings.ToLower(text)}
	if rest, ok := strings.CutPrefix(h.name, "["); ok {
		address, port, _ := strings.Cut(rest, "]")
		return hostName{name: address, port: strings.TrimPrefix(port, ":")}
	}
	if name, port, ok := strings.Cut(h.name, ":"); ok && !strings.Contains(port, ":") {
		h.name, h.port = name, port
	}
	h.name = strings.TrimSuffix(h.name, ".")
	return h
}

// match reports whether a named host is one of those that the pattern means. A host without a port may be reached at any.
func (p hostName) match(host string) bool {
	h := parseHost(host)
	return p.matchName(h.name) && (p.port == "" || h.port == p.port)
}

// meets is match for a rule that forbids: a host without a port is meant at each.
func (p hostName) meets(host string) bool {
	h := parseHost(host)
	return p.matchName(h.name) && (p.port == "" || h.port == "" || h.port == p.port)
}

func (p hostName) matchName(name string) bool {
	switch {
	case p.name == "":
		return true
	case p.below:
		return strings.HasSuffix(name, "."+p.name)
	}
	return name == p.name
}

// grant returns the sandbox grant for the host, "" if the pattern is not exactly one host.
func (p hostName) grant() string {
	switch {
	case p.name == "" || p.below:
		return ""
	case p.port != "":
		return "host:" + p.name + ":" + p.port
	}
	return "host:" + p.name
}

// loopback reports whether a host, as a command names it, is the machine itself.
func loopback(host string) bool {
	h := parseHost(host)
	return !h.below && (h.name == "localhost" || h.name == "127.0.0.1" || h.name == "0.0.0.0" || h.name == "::1")
}
