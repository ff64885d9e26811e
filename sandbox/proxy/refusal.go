package proxy

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"toolhost/sandbox/egress"
)

// DeniedHeader is on every answer that is a refusal by policy. It holds the reason, and the host and port if known.
const DeniedHeader = "X-Toolhost-Denied"

// response is the answer to a request that was not allowed or did not succeed. Its texts are ASCII without control
// characters wherever they come from the request.
func response(v egress.Verdict) *http.Response {
	body := v.Message + "\n"
	res := &http.Response{
		StatusCode:    status(v),
		ProtoMajor:    1,
		ProtoMinor:    1,
		Close:         true,
		ContentLength: int64(len(body)),
		Body:          io.NopCloser(strings.NewReader(body)),
		Header:        http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
	}
	if res.StatusCode == http.StatusProxyAuthRequired {
		res.Header.Set("Proxy-Authenticate", `Basic realm="toolhost"`)
	}
	if v.Outcome == egress.Denied {
		denied := string(v.Reason)
		if v.Host != "" {
			denied += " " + authority(v)
		}
		res.Header.Set(DeniedHeader, denied)
	}
	res.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return res
}

func status(v egress.Verdict) int {
	switch v.Reason {
	case NoToken:
		return http.StatusProxyAuthRequired
	case BadRequest, HostMismatch, egress.BadHost:
		return http.StatusBadRequest
	case TooMany:
		return http.StatusServiceUnavailable
	case TooSlow:
		return http.StatusRequestTimeout
	}
	if v.Outcome == egress.Failed {
		return http.StatusBadGateway
	}
	return http.StatusForbidden
}
