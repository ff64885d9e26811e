package http

import (
	"errors"
	nethttp "net/http"
	"net/url"
	"strconv"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/host"
	"toolhost/persist"
)

// stream is one client of /events.
type stream struct {
	s   *Server
	w   *answer
	sub *host.Subscription
	*feed
	seq  int64 // of the last event that was read from the journal
	more bool  // the journal has others behind it
}

// events streams what happens until the client leaves, is too slow, or serving ends.
func (s *Server) events(w *answer, r *nethttp.Request) *refusal {
	if r.Method != nethttp.MethodGet {
		w.Header().Set("Allow", "GET")
		return refused(nethttp.StatusMethodNotAllowed, "method_not_allowed", "use GET for %s", eventsPath)
	}
	level, bad := eventLevel(r.URL.Query())
	if bad != nil {
		return bad
	}
	after, resume, bad := lastEvent(r.Header["Last-Event-Id"])
	if bad != nil {
		return bad
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return refused(nethttp.StatusTooManyRequests, "too_many_streams", "%d clients hear events already: close one", s.l.streams)
	}
	c := &stream{s: s, w: w, feed: newFeed(s.l.queue), seq: after}
	c.sub = &host.Subscription{Level: level, Tell: c.tell}
	defer s.o.Host.Unsubscribe(c.sub)
	var page []byte
	if !resume {
		s.o.Host.Subscribe(c.sub)
	} else if page, bad = c.read(); bad != nil {
		return bad
	}
	c.begin()
	c.run(r, page)
	return nil
}

// begin sends the head at once, so that a client knows that it gets all events from now on.
func (c *stream) begin() {
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Connection", "close") // a stream is the last response of its connection
	h.Set("Toolhost-Session", string(c.s.o.Session))
	c.w.WriteHeader(nethttp.StatusOK)
	c.comment("events of session " + string(c.s.o.Session))
}

// run sends page and the events after it.
func (c *stream) run(r *nethttp.Request, page []byte) {
	for c.send(page) && c.more {
		var bad *refusal
		if page, bad = c.read(); bad != nil {
			c.comment(bad.message)
			return
		}
		if r.Context().Err() != nil {
			return
		}
	}
	beat := time.NewTicker(c.s.l.beat)
	defer beat.Stop()
	for {
		select {
		case <-c.ready:
			events, full := c.take()
			sent := c.send(events)
			if sent && full {
				c.comment("too slow: later events were not kept for this client; connect again with Last-Event-ID for them")
			}
			if !sent || full {
				return
			}
		case <-beat.C:
			if !c.comment("still here") {
				return
			}
		case <-r.Context().Done():
			c.comment("this stream ends")
			return
		}
	}
}

// read returns the next page of the journal, as far as the client wants it. With the last page the subscription begins.
func (c *stream) read() ([]byte, *refusal) {
	var page []byte
	err := c.s.o.Host.Replay(c.seq, c.s.l.page, c.sub, func(entries []persist.Entry, more bool) {
		c.more = more && len(entries) > 0
		for _, e := range entries {
			c.seq = e.Seq
			var event struct {
				Type agenttool.EventType `json:"event_type"`
			}
			if json.Unmarshal(e.Event, &event) == nil && c.sub.Hears(event.Type) {
				page = appendEvent(page, e.Seq, event.Type, e.Event)
			}
		}
	})
	var failure *agenttool.Error
	switch {
	case err == nil:
		return page, nil
	case errors.As(err, &failure) && failure.Class == agenttool.InvalidArguments:
		return nil, refused(nethttp.StatusGone, failure.Code, "%s", shown(failure.Message))
	}
	return nil, refused(nethttp.StatusInternalServerError, "journal_unreadable", "the journal of this session could not be read: toolhost log verify says what is wrong with it")
}

// send reports whether the client is still there, as far as can be known.
func (c *stream) send(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if _, err := c.w.Write(b); err != nil {
		return false
	}
	return nethttp.NewResponseController(c.w.ResponseWriter).Flush() == nil
}

func (c *stream) comment(text string) bool { return c.send([]byte(": " + text + "\n\n")) }

func eventLevel(query url.Values) (host.Level, *refusal) {
	switch level := host.Level(query.Get("level")); level {
	case "":
		return host.EventsAll, nil
	case host.EventsResults, host.EventsProgress, host.EventsAll:
		return level, nil
	}
	return "", refused(nethttp.StatusBadRequest, "bad_request", "level is %s: it can be results, progress or all", shown(query.Get("level")))
}

// lastEvent returns the seq behind which a client wants to go on, and whether it said one.
func lastEvent(headers []string) (seq int64, resume bool, bad *refusal) {
	if len(headers) == 0 || headers[0] == "" && len(headers) == 1 {
		return 0, false, nil
	}
	seq, err := strconv.ParseInt(headers[0], 10, 64)
	if err != nil || seq < 0 || len(headers) > 1 {
		return 0, false, refused(nethttp.StatusBadRequest, "bad_request", "Last-Event-ID is %s: send the id of an event, or 0 for all", shown(headers[0]))
	}
	return seq, true, nil
}
