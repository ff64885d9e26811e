package server

import (
	"toolhost/agenttool/json"
	"toolhost/cmd/toolhost/internal/approve"
	"toolhost/cmd/toolhost/internal/approve/page"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/wire/http"
	"toolhost/wire/stdio/native"
)

// newPage is the page where paired browsers answer the prompts of a session.
func newPage(s *session.Session) *page.Page {
	level, _ := json.Marshal(s.Sandbox.Describe())
	return page.New(page.Options{
		Host: s.Host, User: session.UserName(),
		Session: func() (about approve.Session) {
			about.ID, about.Workspace, about.Mode = string(s.ID()), s.Host.Workspace(), string(s.Host.Mode())
			_ = json.Unmarshal(level, &about.Sandbox)
			about.Approvals.MayAnswer, about.Approvals.Scopes = true, []string{"once", "session"}
			return about
		},
		Closed: func() string {
			if s.Code() != "" {
				return "commands of this session run without a sandbox and could answer for you: use toolhost approve in a terminal"
			}
			return ""
		},
	})
}

// pairing pairs browsers with a page, for the person at the socket of the session.
func pairing(server *http.Server, browsers *page.Page) func(end bool) (native.Pairing, error) {
	return func(end bool) (native.Pairing, error) {
		p := native.Pairing{URL: server.URL() + page.Path, Fingerprint: server.Fingerprint()}
		if end {
			p.Ended = browsers.Forget()
			return p, nil
		}
		code, life, err := browsers.Pair()
		p.Code, p.ExpiresIn = code, int(life.Seconds())
		return p, err
	}
}
