package agenttool

// MarshalJSON of each record below writes it with its Extra fields, UnmarshalJSON keeps unknown ones there. The records
// whose encoding has more to it (Error, Invocation, Event) have theirs beside their type.

func (r Declaration) MarshalJSON() ([]byte, error) {
	type plain Declaration
	return encodeRecord(plain(r), r.Extra)
}

func (r *Declaration) UnmarshalJSON(b []byte) error {
	type plain Declaration
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r Namespace) MarshalJSON() ([]byte, error) {
	type plain Namespace
	return encodeRecord(plain(r), r.Extra)
}

func (r *Namespace) UnmarshalJSON(b []byte) error {
	type plain Namespace
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r InputContract) MarshalJSON() ([]byte, error) {
	type plain InputContract
	return encodeRecord(plain(r), r.Extra)
}

func (r *InputContract) UnmarshalJSON(b []byte) error {
	type plain InputContract
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r OutputContract) MarshalJSON() ([]byte, error) {
	type plain OutputContract
	return encodeRecord(plain(r), r.Extra)
}

func (r *OutputContract) UnmarshalJSON(b []byte) error {
	type plain OutputContract
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r ExternalMapping) MarshalJSON() ([]byte, error) {
	type plain ExternalMapping
	return encodeRecord(plain(r), r.Extra)
}

func (r *ExternalMapping) UnmarshalJSON(b []byte) error {
	type plain ExternalMapping
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r Interface) MarshalJSON() ([]byte, error) {
	type plain Interface
	return encodeRecord(plain(r), r.Extra)
}

func (r *Interface) UnmarshalJSON(b []byte) error {
	type plain Interface
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r ExecutionProfile) MarshalJSON() ([]byte, error) {
	type plain ExecutionProfile
	return encodeRecord(plain(r), r.Extra)
}

func (r *ExecutionProfile) UnmarshalJSON(b []byte) error {
	type plain ExecutionProfile
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r PermissionProfile) MarshalJSON() ([]byte, error) {
	type plain PermissionProfile
	return encodeRecord(plain(r), r.Extra)
}

func (r *PermissionProfile) UnmarshalJSON(b []byte) error {
	type plain PermissionProfile
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r Surface) MarshalJSON() ([]byte, error) {
	type plain Surface
	return encodeRecord(plain(r), r.Extra)
}

func (r *Surface) UnmarshalJSON(b []byte) error {
	type plain Surface
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r DeferredTool) MarshalJSON() ([]byte, error) {
	type plain DeferredTool
	return encodeRecord(plain(r), r.Extra)
}

func (r *DeferredTool) UnmarshalJSON(b []byte) error {
	type plain DeferredTool
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r SearchResult) MarshalJSON() ([]byte, error) {
	type plain SearchResult
	if r.Matches == nil {
		r.Matches = []SearchMatch{} // "nothing matched" is machine-readable (AT-220)
	}
	return encodeRecord(plain(r), r.Extra)
}

func (r *SearchResult) UnmarshalJSON(b []byte) error {
	type plain SearchResult
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r Decision) MarshalJSON() ([]byte, error) {
	type plain Decision
	return encodeRecord(plain(r), r.Extra)
}

func (r *Decision) UnmarshalJSON(b []byte) error {
	type plain Decision
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r Hook) MarshalJSON() ([]byte, error) {
	type plain Hook
	return encodeRecord(plain(r), r.Extra)
}

func (r *Hook) UnmarshalJSON(b []byte) error {
	type plain Hook
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r InputMutation) MarshalJSON() ([]byte, error) {
	type plain InputMutation
	return encodeRecord(plain(r), r.Extra)
}

func (r *InputMutation) UnmarshalJSON(b []byte) error {
	type plain InputMutation
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r SchedulerPolicy) MarshalJSON() ([]byte, error) {
	type plain SchedulerPolicy
	return encodeRecord(plain(r), r.Extra)
}

func (r *SchedulerPolicy) UnmarshalJSON(b []byte) error {
	type plain SchedulerPolicy
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r Progress) MarshalJSON() ([]byte, error) {
	type plain Progress
	return encodeRecord(plain(r), r.Extra)
}

func (r *Progress) UnmarshalJSON(b []byte) error {
	type plain Progress
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	if r.Content == nil {
		r.Content = []Content{} // null is not a list of blocks
	}
	return encodeRecord(plain(r), r.Extra)
}

func (r *Result) UnmarshalJSON(b []byte) error {
	type plain Result
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r Content) MarshalJSON() ([]byte, error) {
	type plain Content
	return encodeRecord(plain(r), r.Extra)
}

func (r *Content) UnmarshalJSON(b []byte) error {
	type plain Content
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r Persistence) MarshalJSON() ([]byte, error) {
	type plain Persistence
	return encodeRecord(plain(r), r.Extra)
}

func (r *Persistence) UnmarshalJSON(b []byte) error {
	type plain Persistence
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r Subcommand) MarshalJSON() ([]byte, error) {
	type plain Subcommand
	return encodeRecord(plain(r), r.Extra)
}

func (r *Subcommand) UnmarshalJSON(b []byte) error {
	type plain Subcommand
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r DecisionReason) MarshalJSON() ([]byte, error) {
	type plain DecisionReason
	return encodeRecord(plain(r), r.Extra)
}

func (r *DecisionReason) UnmarshalJSON(b []byte) error {
	type plain DecisionReason
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r SuggestedUpdate) MarshalJSON() ([]byte, error) {
	type plain SuggestedUpdate
	if r.Rules == nil {
		r.Rules = []string{}
	}
	return encodeRecord(plain(r), r.Extra)
}

func (r *SuggestedUpdate) UnmarshalJSON(b []byte) error {
	type plain SuggestedUpdate
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r Ref) MarshalJSON() ([]byte, error) {
	type plain Ref
	return encodeRecord(plain(r), r.Extra)
}

func (r *Ref) UnmarshalJSON(b []byte) error {
	type plain Ref
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r BlockedTool) MarshalJSON() ([]byte, error) {
	type plain BlockedTool
	return encodeRecord(plain(r), r.Extra)
}

func (r *BlockedTool) UnmarshalJSON(b []byte) error {
	type plain BlockedTool
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r SearchMatch) MarshalJSON() ([]byte, error) {
	type plain SearchMatch
	return encodeRecord(plain(r), r.Extra)
}

func (r *SearchMatch) UnmarshalJSON(b []byte) error {
	type plain SearchMatch
	return decodeRecord(b, (*plain)(r), &r.Extra)
}

func (r SchedulerFacts) MarshalJSON() ([]byte, error) {
	type plain SchedulerFacts
	return encodeRecord(plain(r), r.Extra)
}

func (r *SchedulerFacts) UnmarshalJSON(b []byte) error {
	type plain SchedulerFacts
	return decodeRecord(b, (*plain)(r), &r.Extra)
}
