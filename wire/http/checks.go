package http

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	nethttp "net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"toolhost/agenttool/visible"
)

// gate decides who may send requests. Its fields do not change once the server listens.
type gate struct {
	token   [sha256.Size]byte // digest of the token
	scheme  string            // of this server: http or https
	hosts   []string          // names that pass besides those of loopback, in lower case
	origins []string          // of web pages that may call, in lower case
}

// stranger refuses requests that no client may send: those for another server, and those of foreign web pages. Nil: the
// request may go on.
func (g *gate) stranger(r *nethttp.Request) *refusal {
	switch {
	case r.URL.Host != "" || !strings.HasPrefix(r.RequestURI, "/"):
		return refused(nethttp.StatusBadRequest, "bad_request", "this is no proxy: ask for a path")
	case !g.ours(r.Host):
		return refused(nethttp.StatusForbidden, "forbidden_host",
			"this server is not reached as %s: use a name of loopback, such as 127.0.0.1, or start it with --http-host and this name", shown(r.Host))
	case !g.sameSite(r):
		return refused(nethttp.StatusForbidden, "forbidden_origin",
			"the web page at %s may not call this server: start it with --http-origin and this origin if it should", shown(strings.Join(r.Header["Origin"], " ")))
	}
	return nil
}

// ours reports whether a Host header names this server: by loopback with any port, which a forwarder may have changed, or
// by a name that it was started with.
func (g *gate) ours(header string) bool {
	name := hostname(header)
	if name == "" {
		return false
	}
	if name == "localhost" || loopback(name) {
		return true
	}
	return slices.Contains(g.hosts, name) || slices.Contains(g.hosts, strings.ToLower(header))
}

func loopback(name string) bool {
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// hostname returns the name or address of a Host header in lower case, without port and brackets; empty: it is none.
func hostname(header string) string {
	name, port, err := net.SplitHostPort(header)
	if err != nil {
		name, port = header, "1"
		if inner, ok := strings.CutPrefix(header, "["); ok {
			name, ok = strings.CutSuffix(inner, "]")
			if !ok {
				return ""
			}
		} else if strings.Contains(header, ":") {
			return ""
		}
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil || strings.ContainsAny(name, "[]@/\\ ,%") {
		return ""
	}
	return strings.ToLower(name)
}

// sameSite reports whether no web page, or one that may, made the request. Browsers say where a request comes from: in
// Origin if it may have effects or is to be read, in Sec-Fetch-Site always. "null" is any page that hides where it is from.
func (g *gate) sameSite(r *nethttp.Request) bool {
	given := r.Header["Origin"]
	switch {
	case len(given) > 1:
		return false
	case len(given) == 1:
		return g.listed(given[0]) || strings.EqualFold(given[0], g.scheme+"://"+r.Host)
	}
	for _, site := range r.Header["Sec-Fetch-Site"] {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	return true
}

// listed reports whether an origin is one of Options.Origins.
func (g *gate) listed(origin string) bool {
	return slices.Contains(g.origins, strings.ToLower(origin))
}

// authorized reports whether a request shows the token.
func (g *gate) authorized(r *nethttp.Request) bool {
	token, ok := bearer(r.Header["Authorization"])
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1 && ok
}

// bearer returns the token of the one Authorization header that a request has.
func bearer(headers []string) (token string, ok bool) {
	if len(headers) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(headers[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	token = strings.Trim(token, " ")
	return token, token != ""
}

func parseHosts(given []string) ([]string, error) {
	var hosts []string
	for _, h := range given {
		if hostname(h) == "" || strings.Contains(h, "*") {
			return nil, fmt.Errorf("%q is no host name: give a name, or a name with its port", h)
		}
		name := hostname(h)
		if _, _, err := net.SplitHostPort(h); err == nil {
			name = strings.ToLower(h)
		}
		hosts = append(hosts, name)
	}
	return hosts, nil
}

func parseOrigins(given []string) ([]string, error) {
	var origins []string
	for _, o := range given {
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Scheme+"://"+u.Host != o || hostname(u.Host) == "" || strings.Contains(o, "*") {
			return nil, errors.Join(fmt.Errorf("%q is no origin: write it as https://example.com or http://localhost:3000, and each one by itself", o), err)
		}
		origins = append(origins, strings.ToLower(o))
	}
	return origins, nil
}

// shown returns text of a stranger for a message: escaped and short.
func shown(s string) string {
	const most = 100
	if s == "" {
		return "(nothing)"
	}
	if len(s) > most {
		s = s[:most] + "…"
	}
	return visible.Text(strings.ToValidUTF8(s, "\uFFFD"))
}
