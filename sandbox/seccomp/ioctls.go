package seccomp

import "slices"

// ioctls is every ioctl that a command may make. A file system, a driver or a later kernel may have others that make names, change files which are
// open for reading only, or hand out what the mounts hide (BTRFS_IOC_SUBVOL_CREATE, FS_IOC_SETVERSION, XFS_IOC_SWAPEXT), so what is
// not listed is answered as by a file that does not know it: ENOTTY, on which programs do without.
//
// The list is what strace shows of a hundred programs at work, terminals, compilers, package managers, servers, file utilities and listers of
// devices among them, without what they ask of disks, which a command has none of, and what only works with privileges. Numbers are the
// same on both architectures.
var ioctls = slices.Concat(terminalIoctls, descriptorIoctls, interfaceIoctls, fileIoctls)

// terminalIoctls set a terminal up, make one, and give it to a session. Absent are TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD and TIOCEXCL, which type
// into a terminal, take over its line, or keep others from it.
var terminalIoctls = []uint32{
	0x5401,                             // TCGETS, by every isatty
	0x5402,                             // TCSETS
	0x5403,                             // TCSETSW
	0x5404,                             // TCSETSF
	0x5405,                             // TCGETA
	0x5406,                             // TCSETA
	0x5407,                             // TCSETAW
	0x5408,                             // TCSETAF
	0x5409,                             // TCSBRK, by tcdrain
	0x540a,                             // TCXONC
	0x540b,                             // TCFLSH
	0x540e,                             // TIOCSCTTY
	0x540f,                             // TIOCGPGRP
	0x5410,                             // TIOCSPGRP
	0x5411,                             // TIOCOUTQ, of sockets, too: SIOCOUTQ
	0x5413,                             // TIOCGWINSZ
	0x5414,                             // TIOCSWINSZ
	0x5420,                             // TIOCPKT
	0x5422,                             // TIOCNOTTY
	0x5424,                             // TIOCGETD
	0x5425,                             // TCSBRKP
	0x5429,                             // TIOCGSID
	0x5441,                             // TIOCGPTPEER
	0x40045431, 0x80045430, 0x80045432, // TIOCSPTLCK, TIOCGPTN, TIOCGDEV
	0x80045438, 0x80045439, 0x80045440, // TIOCGPKT, TIOCGPTLCK, TIOCGEXCL
	0x802c542a, 0x402c542b, 0x402c542c, 0x402c542d, // TCGETS2, TCSETS2, TCSETSW2, TCSETSF2
}

// descriptorIoctls are about the descriptor, and about data that waits in it.
var descriptorIoctls = []uint32{
	0x541b, // FIONREAD
	0x5421, // FIONBIO
	0x5450, // FIONCLEX
	0x5451, // FIOCLEX
	0x5452, // FIOASYNC, by nginx
	0x5460, // FIOQSIZE
	0x8905, // SIOCATMARK
	0x8906, // SIOCGSTAMP
	0x8907, // SIOCGSTAMPNS
	0x894b, // SIOCOUTQNSD
}

// interfaceIoctls list network interfaces, by ifconfig and Java.
var interfaceIoctls = []uint32{
	0x8910, // SIOCGIFNAME
	0x8912, // SIOCGIFCONF
	0x8913, // SIOCGIFFLAGS
	0x8915, // SIOCGIFADDR
	0x8917, // SIOCGIFDSTADDR
	0x8919, // SIOCGIFBRDADDR
	0x891b, // SIOCGIFNETMASK
	0x891d, // SIOCGIFMETRIC
	0x8921, // SIOCGIFMTU
	0x8927, // SIOCGIFHWADDR
	0x8933, // SIOCGIFINDEX
	0x8942, // SIOCGIFTXQLEN
	0x8970, // SIOCGIFMAP
}

// fileIoctls ask about files. The two that write need a descriptor that is open for writing.
var fileIoctls = []uint32{
	0x2,                    // FIGETBSZ
	0x40049409, 0x4020940d, // FICLONE, FICLONERANGE
	0xc020660b,             // FS_IOC_FIEMAP
	0x80086601, 0x80046601, // FS_IOC_GETFLAGS, FS_IOC32_GETFLAGS
	0x80087601, 0x801c581f, // FS_IOC_GETVERSION, FS_IOC_FSGETXATTR
	0x81009431, 0x80111500, // FS_IOC_GETFSLABEL, FS_IOC_GETFSUUID
	0x800c581e, // XFS_IOC_DIOINFO
}

// controls allows the ioctls of the list. SIOCETHTOOL, by which psutil asks for the speed of interfaces, is answered as by the loopback device.
func controls() []Rule {
	const ethtool = 0x8946
	return []Rule{
		{"ioctl", []Cond{{Arg: 1, Low32: true, Among: ioctls}}, Allow},
		{"ioctl", []Cond{is(1, ethtool)}, EOPNOTSUPP},
		{"ioctl", nil, ENOTTY},
	}
}
