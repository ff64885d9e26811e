package program

// sumOptions are those of md5sum and its brothers.
const sumOptions = `-b,--binary --tag -t,--text -z,--zero -c,--check!reads_elsewhere --ignore-missing --quiet --status
	--strict -w,--warn`

// hashSpecs describes the programs that compute checksums. With --check they read the files that a list names.
func hashSpecs() []*Spec {
	return []*Spec{
		{Names: "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum", Operands: "read*", Abbreviates: true,
			Harmless: true, Options: sumOptions + helpVersion},
		{Names: "b2sum", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: sumOptions + " -l,--length:text" + helpVersion},
		{Names: "cksum", Operands: "read*", Abbreviates: true, Harmless: true,
			Options: sumOptions + " -l,--length:text -a,--algorithm:text --base64 --raw --untagged --debug -o:text" +
				helpVersion},
		{Names: "shasum", Operands: "read*", Harmless: true,
			Options: sumOptions + " -a,--algorithm:text -0,--01 -p,--portable -s -U,--UNIVERSAL -h,--help -v,--version"},
		{Names: "sum", Operands: "read*", Options: "-r -s,--sysv" + helpVersion, Abbreviates: true, Harmless: true},
		{Names: "md5", Operands: "read*", Options: "-c:text -p -q -r -s:text -t -x", Harmless: true},
	}
}
