package policy

import (
	"toolhost/cmd/toolhost/internal/limit"
	"toolhost/persist"
	"toolhost/settings"
)

// Retention is how long ended sessions are stored. A value that is not set is that of [persist.Prune].
func Retention(s *settings.Settings) persist.Retention {
	o := persist.Retention{MaxAge: s.SessionAge.V, MaxPayloadAge: s.PayloadAge.V}
	var size limit.Size
	if s.StoredSize.Set && size.Set(s.StoredSize.V) == nil {
		o.MaxBytes = int64(size)
	}
	return o
}
