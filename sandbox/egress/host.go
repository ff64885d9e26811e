package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// The bounds of RFC 1035, section 2.3.4, without the trailing dot.
const (
	maxName  = 253
	maxLabel = 63
)

// Host is a name or an address in its one canonical spelling. The zero Host is none.
type Host struct {
	name string     // lower case, no trailing dot; empty for an address
	addr netip.Addr // no zone, not IPv4-mapped; invalid for a name
}

// ParseHost reads the name or address of a far end.
//
// A name is ASCII: labels of letters, digits, "-" and "_", 63 bytes each and 253 in all, not beginning or ending
// with "-". One trailing dot is dropped and letters become lower case. A name in another script is refused unless
// written in punycode ("xn--…"). A last label that is a number, which many programs would read as an address
// ("127.1", "0x7f.1", "2130706433", "0177.0.0.1"), is refused.
//
// An address is IPv4 in four plain decimal parts, or IPv6 without brackets and zone; IPv4 mapped into IPv6 is the
// IPv4 address.
func ParseHost(text string) (Host, error) {
	if strings.Contains(text, ":") {
		return parseIPv6(text)
	}
	name, err := parseName(text)
	if err != nil {
		return Host{}, err
	}
	if !numeric(name[strings.LastIndexByte(name, '.')+1:]) {
		return Host{name: name}, nil
	}
	// The spelling as given, for the dot that a name may end in is no part of an address.
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return Host{}, errors.New("an address is written as four decimal numbers, in no other way")
	}
	return Host{addr: addr}, nil
}

func parseIPv6(text string) (Host, error) {
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return Host{}, errors.New("not an IPv6 address, and a name has no colon")
	}
	if addr.Zone() != "" {
		return Host{}, errors.New("an address with a zone means something else on each machine")
	}
	return Host{addr: addr.Unmap()}, nil
}

// parseName checks the shape of text and returns it in lower case without its trailing dot.
func parseName(text string) (string, error) {
	name := strings.TrimSuffix(text, ".")
	switch {
	case name == "":
		return "", errors.New("the host is empty")
	case len(name) > maxName:
		return "", fmt.Errorf("the name is longer than %d bytes", maxName)
	}
	for label := range strings.SplitSeq(name, ".") {
		if err := checkLabel(label); err != nil {
			return "", err
		}
	}
	return strings.ToLower(name), nil
}

func checkLabel(label string) error {
	switch {
	case label == "":
		return errors.New("the name has an empty label")
	case len(label) > maxLabel:
		return fmt.Errorf("a label of the name is longer than %d bytes", maxLabel)
	case label[0] == '-' || label[len(label)-1] == '-':
		return errors.New("a label of the name begins or ends with a hyphen")
	}
	for _, r := range label {
		switch {
		case r >= 0x80:
			return errors.New("the name is not ASCII: write it in punycode (xn--…)")
		case !nameByte(byte(r)):
			return fmt.Errorf("the name holds %s", strconv.QuoteRuneToASCII(r))
		}
	}
	return nil
}

func nameByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '-' || b == '_'
}

// numeric says whether programs take a host whose last label this is for an address in numbers (WHATWG URL, "ends in
// a number").
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// String returns the canonical spelling, an IPv6 address without brackets.
func (h Host) String() string {
	if h.addr.IsValid() {
		return h.addr.String()
	}
	return h.name
}

// Addr returns the address that h is, and whether it is one.
func (h Host) Addr() (netip.Addr, bool) { return h.addr, h.addr.IsValid() }

// loopbackName reports whether h always names the machine itself (RFC 6761, section 6.3).
func (h Host) loopbackName() bool {
	return h.name == "localhost" || strings.HasSuffix(h.name, ".localhost")
}

// SplitAuthority takes "host", "host:port", "[IPv6]" or "[IPv6]:port" apart. A missing port is fallback; when
// fallback is 0 the port must be there. The host is returned as written, without brackets, and is still to be read
// by [ParseHost]. An authority with user information ("user@host") is an error.
func SplitAuthority(text string, fallback int) (host string, port int, err error) {
	if strings.Contains(text, "@") {
		return "", 0, errors.New("the authority holds user information (an @)")
	}
	host, rest := text, ""
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if host, rest, ok = strings.Cut(inner, "]"); !ok || !strings.Contains(host, ":") {
			return "", 0, errors.New("brackets are for an IPv6 address")
		}
	} else if i := strings.IndexByte(text, ':'); i >= 0 {
		host, rest = text[:i], text[i:]
	}
	if rest == "" && fallback != 0 {
		return host, fallback, nil
	}
	if digits, ok := strings.CutPrefix(rest, ":"); ok {
		port, err = parsePort(digits)
		return host, port, err
	}
	return "", 0, errors.New("a host needs a port here, and IPv6 addresses need brackets")
}

func parsePort(digits string) (int, error) {
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 || digits[0] == '0' {
		return 0, errors.New("a port is a number from 1 to 65535")
	}
	return int(n), nil
}

// JoinAuthority is the reverse of [SplitAuthority]: brackets around IPv6, no port when it is 0.
func JoinAuthority(host string, port int) string {
	switch {
	case port != 0:
		return net.JoinHostPort(host, strconv.Itoa(port))
	case strings.Contains(host, ":"):
		return "[" + host + "]"
	}
	return host
}
