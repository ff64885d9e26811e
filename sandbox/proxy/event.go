package proxy

import (
	"time"

	"toolhost/sandbox/egress"
)

// Protocol is how a command asked.
type Protocol string

// The protocols. The zero Protocol is that of a connection which did not get far enough to show one.
const (
	HTTP        Protocol = "http"         // with an absolute URI
	HTTPConnect Protocol = "http_connect" // a tunnel
)

// The reasons of this package, beside those of [egress].
const (
	NoToken      egress.Reason = "no_token"             // missing or unknown, or its command is over
	BadRequest   egress.Reason = "bad_request"          // could not be understood in one way only
	HostMismatch egress.Reason = "host_mismatch"        // the Host header says something else than the URI
	NameMismatch egress.Reason = "server_name_mismatch" // the TLS greeting names another server
	BadGreeting  egress.Reason = "bad_greeting"         // a TLS greeting that could not be read
	TooMany      egress.Reason = "too_many_connections"
	TooSlow      egress.Reason = "too_slow"
)

// Event is one attempt to reach a host, or the end of one. No text in it holds a token.
type Event struct {
	egress.Verdict
	Time     time.Time
	Ticket   string // the id given to Admit; empty when no ticket was shown
	Protocol Protocol
}
