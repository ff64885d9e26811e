package program

// macosSpecs describes what only macOS has.
func macosSpecs() []*Spec {
	return []*Spec{
		{Names: "sw_vers", Ungrouped: true, Effects: "observes_host",
			Options: `-productName,--productName -productVersion,--productVersion -buildVersion,--buildVersion
				-productVersionExtra,--productVersionExtra`},
		{Names: "plutil", Raw: true, Judge: judgePlutil},
		{Names: "defaults", Options: "-currentHost", Ungrouped: true, Sub: []*Spec{
			{Names: "read read-type domains find", Options: "-g,-globalDomain -app:text", Ungrouped: true, Operands: "text*",
				Effects: "reads_elsewhere"},
			{Names: "write import rename", Raw: true, Effects: "writes", Judge: effectsAlone},
			{Names: "delete", Raw: true, Effects: "writes destroys", Judge: effectsAlone},
		}},
		{Names: "mdfind", Ungrouped: true, Operands: "text*", Effects: "reads_elsewhere",
			Options: "-0 -live!long_running -count -onlyin:read -name:text -literal -interpret"},
		{Names: "mdls", Ungrouped: true, Operands: "read*", Options: "-name:text -raw -nullMarker:text"},
		{Names: "otool", Operands: "read*",
			Options: "-f -a -h -l -L -D -t -x -d -o -r -S -T -M -R -I -H -v -V -X -C -G -s:text -arch:text"},
		{Names: "pbpaste", Effects: "observes_host"},
		{Names: "vm_stat", Operands: "text?", Effects: "observes_host", Judge: judgeVMStat},
	}
}

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
