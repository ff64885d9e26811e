package program

import "strings"

// cryptoSpecs describes commands that show certificates and keys. Commands that read a private key are missing, since they may
// prompt for its passphrase; so are most commands of openssl, since they load engines and providers, which are libraries.
func cryptoSpecs() []*Spec {
	const names = ` -nameopt:text -inform:text `
	return []*Spec{
		{Names: "openssl", Operands: "sub?", Sub: []*Spec{
			{Names: "version", Options: "-a -b -c -d -e -f -m -o -p -r -v", Ungrouped: true},
			{Names: "x509", Ungrouped: true, Judge: judgeOpenSSL, Options: names + `-in:store -noout -text -subject -issuer -dates
				-startdate -enddate -serial -fingerprint -hash -subject_hash -issuer_hash -modulus -pubkey -purpose -alias -email
				-ocsp_uri -ocspid -ext:text -certopt:text -checkend:text -checkhost:text -checkip:text -checkemail:text -md5 -sha1
				-sha224 -sha256 -sha384 -sha512 -help`},
			{Names: "req", Ungrouped: true, Judge: judgeOpenSSL, Options: names + "-in:store -noout -text -subject -pubkey -modulus"},
			{Names: "crl", Ungrouped: true, Judge: judgeOpenSSL, Options: names + `-in:store -noout -text -issuer -lastupdate
				-nextupdate -hash -fingerprint -crlnumber`},
			{Names: "asn1parse", Ungrouped: true, Options: "-in:read -inform:text -i -dump -noout -offset:text -length:text"},
			{Names: "dgst", Ungrouped: true, Operands: "read*", Options: `-md5 -sha1 -sha224 -sha256 -sha384 -sha512 -sha3-256
				-blake2b512 -hex -binary -r -c`},
			{Names: "md5 sha1 sha224 sha256 sha384 sha512", Ungrouped: true, Operands: "read*", Options: "-hex -binary -r -c"},
			{Names: "base64", Ungrouped: true, Options: "-in:read -e -d -a -A"},
			{Names: "rand", Ungrouped: true, Operands: "text", Options: "-hex -base64"},
			{Names: "ciphers", Ungrouped: true, Operands: "text?", Options: "-v -V -s -tls1_2 -tls1_3 -stdname"},
		}},
		{Names: "ssh-keygen", Operands: "", Options: "-l -f:read -E:text -v", Judge: judgeKeygen},
		{Names: "ssh-add", Operands: "", Options: "-l -L -E:text -v -q", Effects: "reaches", Judge: judgeSSHAdd},
	}
}

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
	if !a.oneOf("-l", "-L") {
		u.Add(Writes, "ssh-add gives a key to the agent")
	}
}
