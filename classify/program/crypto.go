package program

import "strings"

// judgeOpenSSL: -in takes the address of an object, which may be in the keeping of a library. Without it, req makes a
// request.
func judgeOpenSSL(a *Args, u *Use) {
	for _, w := range a.Values("store") {
		if !w.Static && !strings.HasPrefix(w.Text, "/") && !strings.HasPrefix(w.Text, "./") || strings.Contains(w.Text, ":") {
			u.Unknown("openssl: "+spelled(w)+" may be more than a file", w)
		}
		u.Reads = append(u.Reads, w)
	}
}

func judgeKeygen(a *Args, u *Use) {
	if !a.Has("-l") {
		u.Add(Writes, "ssh-keygen makes a key")
	}
}

func judgeSSHAdd(a *Args, u *Use) {
	if !a.Has("-l", "-L") {
		u.Add(Writes, "ssh-add gives a key to the agent")
	}
}
