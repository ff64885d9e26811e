package egress

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"toolhost/agenttool"
)

// Grant permits the hosts of one pattern. The package comment has the grammar. The zero Grant permits nothing.
type Grant struct {
	kind grantKind
	host Host
	port int // 0: the ports of the web

	public bool // addresses of private networks are not meant
}

// Publicly returns the grant without the addresses of private networks to which its name may lead.
func (g Grant) Publicly() Grant {
	g.public = true
	return g
}

type grantKind uint8

const (
	grantNothing grantKind = iota
	grantHost              // host itself, a name or an address
	grantBelow             // names that end in "." and host
	grantPublic            // all that resolves to a public address
)

// webPorts are the ports of a grant without one. Port 22 is not among them: a command that may read a web site need not
// log in to it.
var webPorts = []int{80, 443}

// ParseGrant reads a grant such as "github.com", "*.github.com", "github.com:22", "[::1]:8080" or "*".
//
// Errors are of class invalid_arguments, code bad_grant, and say what to write instead.
func ParseGrant(text string) (Grant, error) {
	g, err := parseGrant(text)
	if err != nil {
		return Grant{}, agenttool.Failure(agenttool.InvalidArguments, "bad_grant",
			fmt.Sprintf("%s is no host to grant: %v. A grant is HOST, *.HOST or ADDRESS, with :PORT if other than %s.",
				quote(text), err, portWords(webPorts))).Because(err)
	}
	return g, nil
}

func parseGrant(text string) (Grant, error) {
	if strings.ContainsAny(text, "/?#") {
		return Grant{}, fmt.Errorf("it is an address of a page: write the host alone")
	}
	if strings.Count(text, ":") > 1 && !strings.HasPrefix(text, "[") {
		return Grant{}, fmt.Errorf("an IPv6 address needs brackets, as in [::1]:8080")
	}
	const none = -1
	host, port, err := SplitAuthority(text, none)
	if err != nil {
		return Grant{}, err
	}
	g := Grant{kind: grantHost, port: max(port, 0)}
	if host == "*" {
		g.kind = grantPublic
		return g, nil
	}
	if below, ok := strings.CutPrefix(host, "*."); ok {
		g.kind, host = grantBelow, below
	}
	if strings.Contains(host, "*") {
		return Grant{}, fmt.Errorf("a wildcard stands for whole labels at the front, as in *.example.com")
	}
	if g.host, err = ParseHost(host); err != nil {
		return Grant{}, err
	}
	return g, g.check()
}

// check refuses what is well spelt but must not or cannot be granted.
func (g Grant) check() error {
	addr, literal := g.host.Addr()
	switch {
	case g.kind == grantBelow && literal:
		return fmt.Errorf("an address has nothing below it")
	case g.host.loopbackName():
		return fmt.Errorf("inside the sandbox it is the sandbox's own loopback, which needs no grant: "+
			"for a port of this machine write its address, as in %s", JoinAuthority("127.0.0.1", 8080))
	case g.kind == grantBelow && !strings.Contains(g.host.name, "."):
		return fmt.Errorf("a wildcard needs two labels behind it, as in *.example.com")
	case literal && !dialable(addr):
		return fmt.Errorf("it is not the address of one host")
	}
	return nil
}

// String returns the grant as [ParseGrant] reads it.
func (g Grant) String() string {
	switch g.kind {
	case grantHost:
		return JoinAuthority(g.host.String(), g.port)
	case grantBelow:
		return JoinAuthority("*."+g.host.name, g.port)
	case grantPublic:
		return JoinAuthority("*", g.port)
	}
	return ""
}

// Addr returns the address that g names, and whether it names one.
func (g Grant) Addr() (netip.Addr, bool) { return g.host.Addr() }

// covers says whether the pattern of g holds for h, whatever the port.
func (g Grant) covers(h Host) bool {
	switch g.kind {
	case grantHost:
		return h == g.host
	case grantBelow:
		return strings.HasSuffix(h.name, "."+g.host.name)
	case grantPublic:
		return h != Host{}
	}
	return false
}

// opens says whether g permits port.
func (g Grant) opens(port int) bool {
	if g.port == 0 {
		return slices.Contains(webPorts, port)
	}
	return g.port == port
}

func (g Grant) ports() []int {
	if g.port == 0 {
		return webPorts
	}
	return []int{g.port}
}

// grantFor returns the narrowest grant that permits h at port, as decisions spell it.
func grantFor(h Host, port int) string {
	g := Grant{kind: grantHost, host: h, port: port}
	if addr, literal := h.Addr(); slices.Contains(webPorts, port) && (!literal || classOf(addr) == public) {
		g.port = 0
	}
	if g.check() != nil {
		return ""
	}
	return "host:" + g.String()
}

func portWords(ports []int) string {
	words := make([]string, len(ports))
	for i, p := range ports {
		words[i] = strconv.Itoa(p)
	}
	return strings.Join(words, " and ")
}

// quote makes text from a command fit for a log and a header: ASCII, bounded, in quotes.
func quote(text string) string {
	const most = 80
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strconv.QuoteToASCII(text)
}
