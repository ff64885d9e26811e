package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/sandbox/egress"
)

// Grants are the additions of a decision to a sandbox. The zero value adds nothing.
type Grants struct {
	Write      []string // absolute paths
	Reveal     []string // absolute paths of secrets and sockets
	Hosts      []string // names, with a port or without
	Unconfined bool     // no sandbox at all
}

// Empty reports whether nothing is granted.
func (g Grants) Empty() bool {
	return len(g.Write)+len(g.Reveal)+len(g.Hosts) == 0 && !g.Unconfined
}

// ParseGrants reads grants as decisions spell them: write:PATH, read:PATH, socket:PATH, host:NAME[:PORT], unconfined.
func ParseGrants(texts []string) (Grants, error) {
	var g Grants
	for _, text := range texts {
		kind, value, _ := strings.Cut(text, ":")
		switch kind {
		case "write", "read", "socket":
			if !filepath.IsAbs(value) || strings.ContainsRune(value, 0) {
				return Grants{}, fmt.Errorf("grant %q: %s takes an absolute path", text, kind)
			}
			value = filepath.Clean(value)
		case "host":
			if value == "" {
				return Grants{}, fmt.Errorf("grant %q: host takes a name, with a port or without", text)
			}
		}
		switch {
		case kind == "write":
			g.Write = append(g.Write, value)
		case kind == "read", kind == "socket":
			g.Reveal = append(g.Reveal, value)
		case kind == "host":
			g.Hosts = append(g.Hosts, value)
		case text == "unconfined":
			g.Unconfined = true
		default:
			return Grants{}, fmt.Errorf("grant %q is none of write:PATH, read:PATH, socket:PATH, host:NAME[:PORT], unconfined", text)
		}
	}
	return g, nil
}

// Public returns the named hosts that a command may reach if it is only allowed to run: public names and addresses. Hosts of
// this machine and of its network need a grant that names them; on the session's own loopback a command needs none.
func Public(hosts []string) []string {
	return slices.DeleteFunc(slices.Clone(hosts), func(host string) bool {
		g, err := egress.ParseGrant(host)
		if err != nil {
			return true
		}
		addr, literal := g.Addr()
		return literal && !egress.Public(addr)
	})
}
