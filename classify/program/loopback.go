package program

import "strings"

// Loopback reports whether a word names this machine itself and nothing else: a host, or a URL of it.
func Loopback(w Word) bool {
	text := w.Text
	if !w.Static {
		if text = w.Shape().Sample; text == "" || !strings.HasPrefix(text, w.Text) {
			return false
		}
	}
	if scheme, rest, ok := strings.Cut(text, "://"); ok {
		if scheme != "http" && scheme != "https" {
			return false
		}
		text = rest
	}
	end := strings.IndexAny(text, "/?#")
	if end < 0 {
		end = len(text)
	}
	host, port, hasPort := strings.Cut(text[:end], ":")
	if strings.HasPrefix(text, "[::1]") {
		host = "[::1]"
		port, hasPort = strings.CutPrefix(text[len(host):end], ":")
		if !hasPort && end > len(host) {
			return false
		}
	}
	if hasPort && !Digits(strings.TrimPrefix(port, "\n")) {
		return false
	}
	switch host {
	case "localhost", "127.0.0.1", "0.0.0.0", "[::1]":
		return true
	}
	return false
}
