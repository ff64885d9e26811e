package host

// history remembers how the last calls ended, by native id, in a ring. The zero value is empty.
type history struct {
	outcome map[string]bool
	order   []string
}

const historySize = 4096

func (h *history) add(id string, succeeded bool) {
	if h.outcome == nil {
		h.outcome = map[string]bool{}
	}
	if _, again := h.outcome[id]; !again {
		h.order = append(h.order, id)
	}
	h.outcome[id] = succeeded
	if len(h.order) > historySize {
		delete(h.outcome, h.order[0])
		h.order = h.order[1:]
	}
}

func (h *history) has(id string) bool { _, ok := h.outcome[id]; return ok }

func (h *history) succeeded(id string) bool { return h.outcome[id] }
