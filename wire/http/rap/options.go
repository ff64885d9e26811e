package rap

import (
	"fmt"
	"net/url"
	"time"

	"toolhost/host"
)

// Options are the host and the limits of a server.
type Options struct {
	Host *host.Host // required

	// Base is the URL of the handler, such as http://127.0.0.1:8080/rap, or its path alone: /rap. A path alone is completed by the
	// Host header of each request, which the caller of the handler must have checked. The handler strips the path from requests
	// that have it.
	Base string

	// AllowCallback reports why a callback must not go to a host that is not this machine. It is called before each
	// sending, for https only. Nil: callbacks go over loopback only.
	AllowCallback func(u *url.URL) error

	// Dir is the directory for calls that wait for a callback, in files of mode 0600 of this session alone: the next
	// server sends their callbacks after a crash. Empty: in memory only.
	Dir    string
	Sealer Sealer // encrypts these files, since callback URLs are secrets; required with Dir

	ProgressEvery time.Duration // between the events of a job that goes on; 0: a minute, negative: an event for its end only
	Log           func(string)  // gets a line, without control characters, for each callback that was given up; may be nil
}

// log tells of something in one line.
func (o *Options) log(format string, args ...any) {
	if o.Log != nil {
		o.Log(fmt.Sprintf(format, args...))
	}
}

// The paths below the base.
const (
	toolsetPath = "/.well-known/rap-toolset"
	invokePath  = "/invoke"
	cancelPath  = "/cancel_tool_call"
	closePath   = "/close_thread"
	statusPath  = "/tool_call_status"

	// SecretPath is the path for answers to questions. Each question has a secret path below it, which only its runtime knows. Runtimes
	// post there without a token. [Server.Knows] reports whether such a path exists.
	SecretPath = "/user_choice_response"
)
