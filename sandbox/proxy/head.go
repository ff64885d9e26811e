package proxy

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"toolhost/sandbox/egress"
)

// maxHead bounds a request's line and headers.
const maxHead = 16 << 10

var errHeadTooLarge = fmt.Errorf("the head of the request is larger than %d bytes", maxHead)

// head is the destination of a request by its line and headers. Everything else is left to net/http.
type head struct {
	method string
	target string
	minor  byte   // of HTTP/1.x, '0' or '1'
	host   string // the Host header
	auth   string // the Proxy-Authorization header
}

// peekHead returns the head of the request that r begins with, blank line included, and leaves it in r.
func peekHead(r *bufio.Reader) ([]byte, error) {
	end := []byte("\r\n\r\n")
	for seen := 0; ; {
		raw, _ := r.Peek(r.Buffered())
		if i := bytes.Index(raw[max(0, seen-len(end)):], end); i >= 0 {
			return raw[:max(0, seen-len(end))+i+len(end)], nil
		}
		if seen = len(raw); seen >= maxHead {
			return nil, errHeadTooLarge
		}
		if _, err := r.Peek(seen + 1); err != nil {
			return nil, err
		}
	}
}

// parseHead reads a head and refuses what two readers could understand in two ways (RFC 9112, sections 2.2, 3.2, 5 and
// 6; RFC 9110, section 7.2).
func parseHead(raw []byte) (head, error) {
	lines := strings.Split(strings.TrimSuffix(string(raw), "\r\n\r\n"), "\r\n")
	h, err := parseRequestLine(lines[0])
	if err != nil {
		return head{}, err
	}
	fields, err := parseFields(lines[1:])
	if err != nil {
		return head{}, err
	}
	for _, name := range []string{"host", "proxy-authorization", "content-length", "transfer-encoding", "upgrade"} {
		if len(fields[name]) > 1 {
			return head{}, fmt.Errorf("the header %s is there more than once", name)
		}
	}
	if h.minor == '1' && len(fields["host"]) == 0 {
		return head{}, errors.New("the header host is missing")
	}
	h.host, h.auth = first(fields["host"]), first(fields["proxy-authorization"])
	return h, checkFraming(h, fields)
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

func parseRequestLine(line string) (head, error) {
	method, rest, _ := strings.Cut(line, " ")
	target, version, _ := strings.Cut(rest, " ")
	switch {
	case method == "" || strings.ContainsFunc(method, notToken):
		return head{}, errors.New("the method is no token")
	case version != "HTTP/1.0" && version != "HTTP/1.1":
		return head{}, errors.New("the request line is not METHOD TARGET HTTP/1.1")
	case target == "" || strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return head{}, errors.New("the target holds a byte that must be percent-encoded")
	}
	return head{method: method, target: target, minor: version[len(version)-1]}, nil
}

// parseFields returns the values of each header by its name in lower case.
func parseFields(lines []string) (map[string][]string, error) {
	fields := map[string][]string{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok || name == "" || strings.ContainsFunc(name, notToken) {
			return nil, errors.New("a header has no well-formed name, or is folded")
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return nil, fmt.Errorf("the header %s holds a control character", strings.ToLower(name))
		}
		name = strings.ToLower(name)
		fields[name] = append(fields[name], strings.Trim(value, " \t"))
	}
	return fields, nil
}

// notToken says that r has no place in a token (RFC 9110, section 5.6.2).
func notToken(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// checkFraming makes sure that there is one way to tell how long the body is.
func checkFraming(h head, fields map[string][]string) error {
	length, hasLength := fields["content-length"]
	encoding, hasEncoding := fields["transfer-encoding"]
	switch {
	case h.method == "CONNECT" && (hasLength && length[0] != "0" || hasEncoding):
		return errors.New("a CONNECT has no body")
	case hasLength && hasEncoding:
		return errors.New("content-length and transfer-encoding are both there")
	case hasLength && (length[0] == "" || strings.Trim(length[0], "0123456789") != ""):
		return errors.New("the content-length is no number")
	case hasEncoding && (h.minor == '0' || !strings.EqualFold(encoding[0], "chunked")):
		return errors.New("the only transfer-encoding understood is chunked, with HTTP/1.1")
	}
	return nil
}

// destination returns the host and port that the target asks for.
func (h head) destination() (host string, port int, err error) {
	if h.method == "CONNECT" {
		return egress.SplitAuthority(h.target, 0)
	}
	u, err := url.ParseRequestURI(h.target)
	switch {
	case err != nil:
		return "", 0, errors.New("the target is no URI")
	case u.Scheme == "":
		return "", 0, errors.New("this is a proxy: it wants CONNECT, or a URI that begins with http://")
	case u.Scheme != "http":
		return "", 0, errors.New("the scheme is not http: for https the proxy is asked with CONNECT")
	case u.User != nil:
		return "", 0, errors.New("the authority holds user information (an @)")
	}
	return egress.SplitAuthority(u.Host, webPort)
}

const webPort = 80

// agrees says whether the Host header means host and port. A header without a port means that of a CONNECT, else 80.
func (h head) agrees(host string, port int) bool {
	if h.host == "" {
		return h.minor == '0'
	}
	fallback := webPort
	if h.method == "CONNECT" {
		fallback = port
	}
	name, said, err := egress.SplitAuthority(h.host, fallback)
	if err != nil || said != port {
		return false
	}
	a, errA := egress.ParseHost(name)
	b, errB := egress.ParseHost(host)
	return errA == nil && errB == nil && a == b
}

// credentials returns the user name and password of the Proxy-Authorization header (RFC 7617).
func (h head) credentials() (name, password string) {
	scheme, coded, _ := strings.Cut(h.auth, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", ""
	}
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(coded))
	if err != nil {
		return "", ""
	}
	name, password, _ = strings.Cut(string(plain), ":")
	return name, password
}
