package match

// lineIter iterates over the lines that a walker lineIter, in order. The zero value has none.
type lineIter struct {
	lanes *[4]lane
	lane  int
	i     int
}

func (f *lineIter) set(lanes *[4]lane) { *f = lineIter{lanes: lanes} }

// next returns the next line that begins at or after from.
func (f *lineIter) next(from int) (line span, ok bool) {
	for f.lanes != nil {
		hits := f.lanes[f.lane].hits
		for f.i < len(hits) {
			f.i++
			if hits[f.i-1].start >= from {
				return hits[f.i-1], true
			}
		}
		if f.lane, f.i = f.lane+1, 0; f.lane == len(f.lanes) {
			f.lanes = nil
		}
	}
	return span{}, false
}
