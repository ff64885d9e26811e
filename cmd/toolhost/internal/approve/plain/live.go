package plain

import "toolhost/cmd/toolhost/internal/approve"

// Looked is the activity of sessions.
type Looked struct{ All []approve.Activity }
