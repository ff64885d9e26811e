package persist

// New returns the session for o. It does no IO: the first Append, Reserve or Payload creates the directory and takes
// the lock. They resume an existing session as [Resume] does.
func New(o Options) *Store {
	o = o.withDefaults()
	if o.Ephemeral {
		return &Store{o: o, kept: newMemory(o)}
	}
	return &Store{o: o, kept: newQueued(newDisk(o), o.limits)}
}

// Resume opens the session for o for more records, or creates it. It tries once to take the lock, without waiting. It
// drops an incomplete last line of a killed process. The time does not depend on the length of the journal.
//
// It fails with [ErrLocked] if another process writes the session, with [ErrDamaged] if the last line is not a
// record, and otherwise as Append does, including ErrPending. After a failure it holds no resources.
func Resume(o Options) (*Store, error) {
	o = o.withDefaults()
	if o.Ephemeral {
		return New(o), nil
	}
	d := newDisk(o)
	if _, err := within(o.limits.write, func() (*disk, error) { return d, d.attach() }, func(d *disk) { _ = d.close() }); err != nil {
		return nil, err
	}
	return &Store{o: o, kept: newQueued(d, o.limits)}, nil
}
