package program

import "strings"

// judgeNetstat: netstat asks name servers for the names of addresses unless it has -n; an operand is a name.
func judgeNetstat(a *Args, u *Use) {
	if !a.Has("--numeric", "--version", "--help") || len(a.Operands) > 0 {
		u.Add(Reaches, a.Argv[0].Text+" asks name servers for the names of hosts unless -n is there")
	}
}

// The words of ip that do nothing but ask. It takes abbreviations; only the usual ones are here. -batch and -netns are
// not, which read commands and change the place where they hold.
var (
	ipOptions = WordSet(`-s -stats -statistics -d -details -h -human -human-readable -iec -j -json -p -pretty -4 -6 -M -B -0 -br
		-brief -o -oneline -t -timestamp -ts -tshort -N -Numeric -c -color -V -Version`)
	ipFamilies = WordSet("-f -family")
	ipObjects  = WordSet("a addr address l link r route ru rule n neigh neighbor neighbour maddr maddress")
	ipVerbs    = WordSet("show list lst ls sh")
)

// judgeIP takes ip's words in order: options, the object, what is done with it, the rest.
func judgeIP(a *Args, u *Use) {
	words := a.Operands
	for len(words) > 0 && strings.HasPrefix(words[0].Text, "-") {
		option := "-" + strings.TrimLeft(words[0].Text, "-")
		name, _, _ := strings.Cut(option, "=")
		switch {
		case !words[0].Static:
			u.Unknown("ip: this may be any option", words[0])
			return
		case ipOptions[option], name == "-color":
			words = words[1:]
		case ipFamilies[option] && len(words) > 1:
			words = words[2:]
		default:
			u.Unknown("ip: the option "+option+" is not known", words[0])
			return
		}
	}
	if len(words) == 0 {
		return
	}
	if !words[0].Static || !ipObjects[words[0].Text] {
		u.Unknown("ip: what is asked of "+spelled(words[0])+" is not known", words[0])
		return
	}
	if object := words[0].Text; len(words) > 1 && !ipAsks(object, words[1]) {
		u.Unknown("ip: "+object+" "+spelled(words[1])+" is not known to be a question", words[1])
	}
}

func ipAsks(object string, verb Word) bool {
	return verb.Static && (ipVerbs[verb.Text] || verb.Text == "get" && (object == "route" || object == "r"))
}
