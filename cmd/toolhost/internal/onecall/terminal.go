package onecall

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/cmd/toolhost/internal/approve"
	"toolhost/cmd/toolhost/internal/approve/terminal"
	"toolhost/cmd/toolhost/internal/caller"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/host/prompt"
)

// asker asks the person at a terminal about a call, line by line. It is an [approve.Answerer].
type asker struct {
	session *session.Session
	call    string
	tty     *os.File
	events  chan any
	ended   chan struct{}
	opened  sync.Once
	running sync.WaitGroup
	stop    context.CancelFunc
}

// OnTerminal shows the prompts of the call of that id on the terminal that the command was started on, until end is called. Without a terminal
// it is nil.
func OnTerminal(s *session.Session, call string) (listen prompt.Listener, end func()) {
	if !output.IsTerminal(os.Stderr) {
		return nil, func() {}
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, func() {}
	}
	a := &asker{session: s, call: call, tty: tty, events: make(chan any, 64), ended: make(chan struct{}), stop: func() {}}
	return a.hear, a.end
}

// end closes the terminal, which ends its prompts.
func (a *asker) end() {
	close(a.ended)
	a.stop()
	_ = a.tty.Close()
	a.running.Wait()
}

// hear shows a prompt of the call, until it is over.
func (a *asker) hear(p prompt.Prompt, over <-chan struct{}) {
	a.opened.Do(a.open)
	raw, err := agenttool.Encode(p)
	if err != nil {
		return
	}
	shown, err := approve.ParsePrompt(raw)
	if err != nil {
		return
	}
	a.tell(approve.Asked{Session: string(a.session.ID()), Prompt: shown})
	a.running.Go(func() {
		select {
		case <-over:
			a.tell(approve.Ended{Session: string(a.session.ID()), ID: p.Decision.DecisionID, How: "it needs no answer any more"})
		case <-a.ended:
		}
	})
}

// open begins the conversation. When the person ends their input, the call is canceled, since no answer will come.
func (a *asker) open() {
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	a.tell(approve.Opened{Session: a.greeting()})
	a.running.Go(func() {
		if terminal.Converse(ctx, a.tty, a, a.events); ctx.Err() == nil {
			a.session.Host.Cancel(a.call, "nobody answered at the terminal")
		}
	})
}

// greeting is the session as toolhost approve would see it.
func (a *asker) greeting() (s approve.Session) {
	h := a.session.Host
	s.ID, s.Workspace, s.Mode = string(a.session.ID()), h.Workspace(), string(h.Mode())
	s.Approvals.MayAnswer = true
	for _, scope := range prompt.Scopes {
		s.Approvals.Scopes = append(s.Approvals.Scopes, string(scope))
	}
	_ = convert(a.session.Sandbox.Describe(), &s.Sandbox) // other members are not shown
	return s
}

func (a *asker) tell(event any) {
	select {
	case a.events <- event:
	case <-a.ended:
	}
}

// Answer implements approve.Answerer.
func (a *asker) Answer(answer approve.Answer) error {
	_, err := a.session.Host.Decide(prompt.Answer{
		DecisionID: answer.ID, Behavior: answer.Behavior, Scope: prompt.Scope(answer.Scope), UpdatedInput: answer.UpdatedInput,
		Grants: answer.Grants, AcceptUpdates: answer.AcceptUpdates, Rules: answer.Rules, Opens: answer.Opens, Feedback: answer.Feedback,
		Channel: prompt.Channel{
			Name: "the terminal of toolhost call", Scopes: prompt.Scopes,
			By: agenttool.Answerer{User: session.UserName(), Terminal: caller.Terminal(os.Getpid()), Client: "toolhost"},
		},
	})
	return err
}

// Code implements approve.Answerer.
func (a *asker) Code(string, string) error { return errors.New("this terminal needs no code") }

// Mode implements approve.Answerer.
func (a *asker) Mode(string, string, string) error {
	return errors.New("a call has its mode from --mode and the settings")
}

// Try implements approve.Answerer.
func (a *asker) Try(_ string, id agenttool.DecisionID, rules []string) (t approve.Trial, err error) {
	found, err := a.session.Host.Try(id, rules)
	if err != nil {
		return t, errors.New(strings.TrimPrefix(err.Error(), prompt.ErrRefused.Error()+": "))
	}
	return t, convert(found, &t)
}

// Activity implements approve.Answerer.
func (a *asker) Activity(session string) (seen approve.Activity, err error) {
	err = convert(a.session.Host.Status(), &seen)
	seen.Session = session
	return seen, err
}

// convert reads a value as the terminal would get it from a session.
func convert(value, to any) error {
	encoded, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(encoded, to)
	}
	return err
}
