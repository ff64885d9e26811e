package program

// judgePlutil: -p and -lint only read; every other command may rewrite the file.
func judgePlutil(a *Args, u *Use) {
	for i, w := range a.Operands {
		switch {
		case i == 0 && w.Static && (w.Text == "-p" || w.Text == "-lint"):
		case i == 0, !w.Static && w.Text == "", w.Text != "" && w.Text[0] == '-':
			u.Unknown("plutil: "+spelled(w)+" may change the file", w)
		default:
			u.Reads = append(u.Reads, w)
		}
	}
}

func judgeVMStat(a *Args, u *Use) {
	if len(a.Operands) > 0 {
		u.Add(LongRunning, "vm_stat goes on with an interval")
	}
}
