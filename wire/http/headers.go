package http

import nethttp "net/http"

// safeHeaders tell a browser to make nothing of an answer.
func safeHeaders(h nethttp.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
}

// crossOrigin lets a page of an allowed origin read the answer, and answers for it when the browser asks beforehand, which
// it does without the token. It reports whether that was the answer.
func (g *gate) crossOrigin(w *answer, r *nethttp.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || !g.listed(origin) {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Retry-After, WWW-Authenticate")
	if r.Method != nethttp.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(nethttp.StatusNoContent)
	return true
}
