package egress

import "fmt"

// Outcome says how an attempt to reach a host ended.
type Outcome string

// The outcomes. The zero Outcome is none of them and counts as denied.
const (
	Denied  Outcome = "denied"  // by policy; a grant may change it
	Allowed Outcome = "allowed" //
	Failed  Outcome = "failed"  // permitted, but the network did not do it
)

// Reason is a stable word for programs.
type Reason string

// The reasons of this package.
const (
	Granted        Reason = "granted"
	NoGrant        Reason = "no_grant"
	PortNotGranted Reason = "port_not_granted"
	BadHost        Reason = "bad_host"        // not well spelt
	Loopback       Reason = "loopback_name"   // localhost, asked of a proxy
	AddressRefused Reason = "address_refused" // all the name's addresses are special ones
	Unresolved     Reason = "unresolved"
	Unreachable    Reason = "unreachable"
	Canceled       Reason = "canceled" // the command is over, or the time
	Internal       Reason = "internal"
)

// Verdict is the judgement on one host and port. The zero Verdict denies.
type Verdict struct {
	Outcome        Outcome
	Host           string // canonical; a host that could not be parsed is in quotes, shortened
	Port           int
	Reason         Reason
	Message        string // what happened, to what, and what to do; fit for a model
	Rule           string // the grant that permits or came near, or the kind of address that is refused
	SuggestedGrant string // a grant that would permit it: "host:NAME" or "host:NAME:PORT"; or empty
}

func (v Verdict) because(reason Reason, format string, args ...any) Verdict {
	v.Reason, v.Message = reason, fmt.Sprintf(format, args...)
	return v
}

func (v Verdict) authority() string { return JoinAuthority(v.Host, v.Port) }
