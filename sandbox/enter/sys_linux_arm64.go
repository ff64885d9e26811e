package enter

const (
	sysFstatat     = 79
	sysSetns       = 268
	sysSeccomp     = 277
	sysMemfdCreate = 279
)

// sleeps waits for a signal again and again, as machine code; machine is the code's number in ELF.
const (
	machine = 183
	sleeps  = "\x00\x00\x80\xd2\x01\x00\x80\xd2\x02\x00\x80\xd2\x03\x00\x80\xd2\x04\x00\x80\xd2" + // mov x0 to x4, #0
		"\x28\x09\x80\xd2" + // mov x8, #ppoll
		"\x01\x00\x00\xd4" + // svc #0
		"\xf9\xff\xff\x17" // b to the beginning
)
