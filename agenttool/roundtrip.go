package agenttool

// The records below are written with their Extra fields and keep unknown ones when they are read. The records whose
// encoding has more to it (Error, Invocation, Event) have theirs beside their type.

// MarshalJSON writes the record with its Extra fields.
func (r Declaration) MarshalJSON() ([]byte, error) {
	type plain Declaration
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *Declaration) UnmarshalJSON(b []byte) (err error) {
	type plain Declaration
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r Namespace) MarshalJSON() ([]byte, error) {
	type plain Namespace
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *Namespace) UnmarshalJSON(b []byte) (err error) {
	type plain Namespace
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r InputContract) MarshalJSON() ([]byte, error) {
	type plain InputContract
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *InputContract) UnmarshalJSON(b []byte) (err error) {
	type plain InputContract
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r OutputContract) MarshalJSON() ([]byte, error) {
	type plain OutputContract
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *OutputContract) UnmarshalJSON(b []byte) (err error) {
	type plain OutputContract
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r ExternalMapping) MarshalJSON() ([]byte, error) {
	type plain ExternalMapping
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *ExternalMapping) UnmarshalJSON(b []byte) (err error) {
	type plain ExternalMapping
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r Interface) MarshalJSON() ([]byte, error) {
	type plain Interface
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *Interface) UnmarshalJSON(b []byte) (err error) {
	type plain Interface
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r ExecutionProfile) MarshalJSON() ([]byte, error) {
	type plain ExecutionProfile
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *ExecutionProfile) UnmarshalJSON(b []byte) (err error) {
	type plain ExecutionProfile
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r PermissionProfile) MarshalJSON() ([]byte, error) {
	type plain PermissionProfile
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *PermissionProfile) UnmarshalJSON(b []byte) (err error) {
	type plain PermissionProfile
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r Surface) MarshalJSON() ([]byte, error) {
	type plain Surface
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *Surface) UnmarshalJSON(b []byte) (err error) {
	type plain Surface
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r DeferredTool) MarshalJSON() ([]byte, error) {
	type plain DeferredTool
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *DeferredTool) UnmarshalJSON(b []byte) (err error) {
	type plain DeferredTool
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r SearchResult) MarshalJSON() ([]byte, error) {
	type plain SearchResult
	if r.Matches == nil {
		r.Matches = []SearchMatch{} // "nothing matched" is machine-readable (AT-220)
	}
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *SearchResult) UnmarshalJSON(b []byte) (err error) {
	type plain SearchResult
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r Decision) MarshalJSON() ([]byte, error) {
	type plain Decision
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *Decision) UnmarshalJSON(b []byte) (err error) {
	type plain Decision
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r Hook) MarshalJSON() ([]byte, error) {
	type plain Hook
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *Hook) UnmarshalJSON(b []byte) (err error) {
	type plain Hook
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r InputMutation) MarshalJSON() ([]byte, error) {
	type plain InputMutation
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *InputMutation) UnmarshalJSON(b []byte) (err error) {
	type plain InputMutation
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r SchedulerPolicy) MarshalJSON() ([]byte, error) {
	type plain SchedulerPolicy
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *SchedulerPolicy) UnmarshalJSON(b []byte) (err error) {
	type plain SchedulerPolicy
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r Progress) MarshalJSON() ([]byte, error) {
	type plain Progress
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *Progress) UnmarshalJSON(b []byte) (err error) {
	type plain Progress
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	if r.Content == nil {
		r.Content = []Content{} // null is not a list of blocks
	}
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *Result) UnmarshalJSON(b []byte) (err error) {
	type plain Result
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r Content) MarshalJSON() ([]byte, error) {
	type plain Content
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *Content) UnmarshalJSON(b []byte) (err error) {
	type plain Content
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r Persistence) MarshalJSON() ([]byte, error) {
	type plain Persistence
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *Persistence) UnmarshalJSON(b []byte) (err error) {
	type plain Persistence
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r Subcommand) MarshalJSON() ([]byte, error) {
	type plain Subcommand
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *Subcommand) UnmarshalJSON(b []byte) (err error) {
	type plain Subcommand
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r DecisionReason) MarshalJSON() ([]byte, error) {
	type plain DecisionReason
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *DecisionReason) UnmarshalJSON(b []byte) (err error) {
	type plain DecisionReason
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r SuggestedUpdate) MarshalJSON() ([]byte, error) {
	type plain SuggestedUpdate
	if r.Rules == nil {
		r.Rules = []string{}
	}
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *SuggestedUpdate) UnmarshalJSON(b []byte) (err error) {
	type plain SuggestedUpdate
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r Ref) MarshalJSON() ([]byte, error) {
	type plain Ref
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *Ref) UnmarshalJSON(b []byte) (err error) {
	type plain Ref
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r BlockedTool) MarshalJSON() ([]byte, error) {
	type plain BlockedTool
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *BlockedTool) UnmarshalJSON(b []byte) (err error) {
	type plain BlockedTool
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r SearchMatch) MarshalJSON() ([]byte, error) {
	type plain SearchMatch
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *SearchMatch) UnmarshalJSON(b []byte) (err error) {
	type plain SearchMatch
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}

// MarshalJSON writes the record with its Extra fields.
func (r SchedulerFacts) MarshalJSON() ([]byte, error) {
	type plain SchedulerFacts
	return encodeRecord(plain(r), r.Extra)
}

// UnmarshalJSON reads the record and keeps unknown fields in Extra.
func (r *SchedulerFacts) UnmarshalJSON(b []byte) (err error) {
	type plain SchedulerFacts
	r.Extra, err = decodeRecord(b, (*plain)(r))
	return err
}
