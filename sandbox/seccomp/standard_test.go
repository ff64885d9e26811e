package seccomp

import (
	"fmt"
	"slices"
	"testing"
)

var (
	full     = Options{Namespaces: true, Writable: true}
	watched  = Options{Namespaces: true, Writable: true, Notify: true}
	landlock = Options{Writable: true}
	proxied  = Options{Writable: true, Network: ProxyOnly}
	guarded  = Options{Writable: true, Notify: true}
	readOnly = Options{Notify: true}
	together = Options{Namespaces: true, Writable: true, Notify: true, Shared: true}
	reader   = Options{Namespaces: true, Shared: true}
	observer = Options{Namespaces: true, Shared: true, Observes: true}
	mute     = Options{Namespaces: true, Shared: true, Observes: true, Mute: true}
)

// high is set in the upper half of an int argument, which the kernel does not look at.
const high = 0xdead_beef << 32

func TestStandard(t *testing.T) {
	tests := []struct {
		name    string
		options Options
		call    string
		args    []uint64
		want    Action
	}{
		{"a thread", full, "clone", []uint64{0x3d0f00}, Allow},
		{"vfork", full, "clone", []uint64{0x4111}, Allow},
		{"a child", landlock, "clone", []uint64{0x1200011}, Allow},
		{"a new user namespace", full, "clone", []uint64{0x10000011}, EPERM},
		{"a new mount namespace, upper half set", full, "clone", []uint64{high | 0x20011}, EPERM},
		{"a child for the parent", full, "clone", []uint64{0x8011}, EPERM},
		{"an exit signal with the bit of CLONE_NEWTIME", full, "clone", []uint64{0x80}, Allow},
		{"clone3", full, "clone3", nil, ENOSYS},
		{"unshare files", full, "unshare", []uint64{0x400}, Allow},
		{"unshare user", landlock, "unshare", []uint64{0x10000000}, EPERM},
		{"unshare time", full, "unshare", []uint64{0x80}, EPERM},
		{"unshare cgroup", full, "unshare", []uint64{0x2000000}, EPERM},
		{"setns", full, "setns", nil, EPERM},

		{"io_uring", full, "io_uring_setup", nil, ENOSYS},
		{"openat2", full, "openat2", nil, ENOSYS},
		{"mount", full, "mount", nil, EPERM},
		{"a lease", full, "fcntl", []uint64{3, 1024, 1}, EPERM},
		{"a lease, upper half set", landlock, "fcntl", []uint64{3, high | 1024, 1}, EPERM},
		{"a lock", full, "fcntl", []uint64{3, 6}, Allow},
		{"new mount interface", full, "move_mount", nil, EPERM},
		{"chroot", full, "chroot", nil, EPERM},
		{"a file handle", full, "open_by_handle_at", nil, EPERM},
		{"the kernel's keyring", full, "keyctl", nil, EPERM},
		{"bpf", full, "bpf", nil, EPERM},
		{"a fd of another process", full, "pidfd_getfd", nil, EPERM},

		{"TIOCSTI", full, "ioctl", []uint64{0, 0x5412}, ENOTTY},
		{"TIOCSTI, upper half set", full, "ioctl", []uint64{0, high | 0x5412}, ENOTTY},
		{"TCGETS", full, "ioctl", []uint64{0, 0x5401}, Allow},
		{"TCGETS, upper half set", landlock, "ioctl", []uint64{0, high | 0x5401}, Allow},
		{"TCSETSF2", full, "ioctl", []uint64{0, 0x402c542d}, Allow},
		{"FIONREAD", full, "ioctl", []uint64{0, 0x541b}, Allow},
		{"FIEMAP", full, "ioctl", []uint64{0, 0xc020660b}, Allow},
		{"the speed of an interface", full, "ioctl", []uint64{0, 0x8946}, EOPNOTSUPP},
		{"BTRFS_IOC_SUBVOL_CREATE", full, "ioctl", []uint64{0, 0x5000940e}, ENOTTY},
		{"BTRFS_IOC_SNAP_CREATE_V2", landlock, "ioctl", []uint64{0, 0x50009417}, ENOTTY},
		{"FS_IOC_SETVERSION", landlock, "ioctl", []uint64{0, 0x40087602}, ENOTTY},
		{"XFS_IOC_SWAPEXT", full, "ioctl", []uint64{0, 0xc0c0586d}, ENOTTY},
		{"FIDEDUPERANGE", full, "ioctl", []uint64{0, 0xc0189436}, ENOTTY},
		{"no number", full, "ioctl", []uint64{0, 0}, ENOTTY},
		{"the last number", full, "ioctl", []uint64{0, 0xffff_ffff}, ENOTTY},
		{"TIOCLINUX, upper half set", landlock, "ioctl", []uint64{0, high | 0x541c}, ENOTTY},
		{"TCGETS", full, "ioctl", []uint64{0, 0x5401}, Allow},
		{"FS_IOC_GETFLAGS", full, "ioctl", []uint64{0, 0x80086601}, Allow},
		{"FS_IOC_SETFLAGS", full, "ioctl", []uint64{0, 0x40086602}, ENOTTY},
		{"FS_IOC_FSSETXATTR", full, "ioctl", []uint64{0, 0x401c5820}, ENOTTY},

		{"a character device", full, "mknodat", []uint64{0, 0, 0o20666, 0x103}, EPERM},
		{"a block device, upper half set", full, "mknodat", []uint64{0, 0, high | 0o60666, 0x103}, EPERM},
		{"a pipe", full, "mknodat", []uint64{0, 0, 0o10666}, Allow},
		{"a regular file", full, "mknodat", []uint64{0, 0, 0o100644}, Allow},
		{"a socket", full, "mknodat", []uint64{0, 0, 0o140644}, Allow},
		{"a set-user-id file by mknod", full, "mknodat", []uint64{0, 0, 0o104755}, EPERM},
		{"a set-user-id file by chmod", full, "fchmodat", []uint64{0, 0, 0o4755}, EPERM},
		{"by the newer chmod", full, "fchmodat2", []uint64{0, 0, 0o4755}, EPERM},
		{"by fchmod", full, "fchmod", []uint64{3, high | 0o4755}, EPERM},
		{"by open", full, "openat", []uint64{0, 0, 0o101, 0o4755}, EPERM},
		{"by a nameless file", full, "openat", []uint64{0, 0, 0o20200002, 0o4755}, EPERM},
		{"a register that is no mode", full, "openat", []uint64{0, 0, 0, 0o4755}, Allow},
		{"a group's directory", full, "fchmodat", []uint64{0, 0, 0o2775}, Allow},

		{"no address randomisation", full, "personality", []uint64{0x40000}, Allow},
		{"ask for it", full, "personality", []uint64{0xffff_ffff}, Allow},
		{"readable means executable", full, "personality", []uint64{0x400000}, EPERM},

		{"TCP", full, "socket", []uint64{2, 1}, Allow},
		{"TCP over IPv6, close on exec", full, "socket", []uint64{10, 0o2000001, 6}, Allow},
		{"UDP", full, "socket", []uint64{2, 0o2004002, 17}, Allow},
		{"ping", full, "socket", []uint64{2, 2, 1}, Allow},
		{"a raw socket", full, "socket", []uint64{2, 3, 1}, EPERM},
		{"an old packet socket", full, "socket", []uint64{2, 10, 0x300}, EPERM},
		{"MPTCP", full, "socket", []uint64{2, 1, 262}, EPROTONOSUPPORT},
		{"MPTCP, upper half set", full, "socket", []uint64{high | 2, high | 1, high | 262}, EPROTONOSUPPORT},
		{"SCTP", full, "socket", []uint64{2, 1, 132}, EPROTONOSUPPORT},
		{"SCTP in packets", full, "socket", []uint64{2, 5, 0}, EPROTONOSUPPORT},
		{"local, unwatched", full, "socket", []uint64{1, 1}, EACCES},
		{"local", watched, "socket", []uint64{1, 0o2004001}, Allow},
		{"local, packets in order", watched, "socket", []uint64{1, 5}, Allow},
		{"local, sends to any name", watched, "socket", []uint64{1, 2}, EACCES},
		{"the same by its other name, upper half set", watched, "socket", []uint64{high | 1, high | 3}, EACCES},
		{"a pair", full, "socketpair", []uint64{1, 1}, Allow},
		{"a pair that sends to any name", watched, "socketpair", []uint64{1, 2}, EACCES},
		{"connect", watched, "connect", nil, Notify},
		{"connect where no local socket is", full, "connect", nil, Allow},
		{"connect on the machine's network", guarded, "connect", nil, Allow},
		{"interfaces", full, "socket", []uint64{16, 0o2000003, 0}, Allow},
		{"audit", full, "socket", []uint64{16, 3, 9}, EPROTONOSUPPORT},
		{"a packet socket", full, "socket", []uint64{17, 3}, EAFNOSUPPORT},
		{"the hypervisor", full, "socket", []uint64{40, 1}, EAFNOSUPPORT},
		{"the kernel's ciphers, upper half set", full, "socket", []uint64{high | 38, 5}, EAFNOSUPPORT},
		{"a pair of TIPC", full, "socketpair", []uint64{30, 1}, EAFNOSUPPORT},

		{"debugger", full, "ptrace", nil, Allow},
		{"debugger without a pid namespace", landlock, "ptrace", []uint64{16}, EPERM},
		{"PTRACE_SEIZE", landlock, "ptrace", []uint64{0x4206}, EPERM},
		{"PTRACE_TRACEME, upper half set", landlock, "ptrace", []uint64{high}, EPERM},
		{"held until it may begin", landlock, "ptrace", []uint64{0}, Allow},
		{"let go", landlock, "ptrace", []uint64{17}, Allow},
		{"memory of another without one", landlock, "process_vm_writev", nil, EPERM},
		{"shared memory", full, "shmget", nil, Allow},
		{"shared memory of everyone", landlock, "shmget", nil, EPERM},
		{"a queue of everyone", landlock, "mq_open", nil, EPERM},
		{"own limits", landlock, "prlimit64", []uint64{high}, Allow},
		{"limits of another", landlock, "prlimit64", []uint64{7}, EPERM},
		{"own nice", landlock, "setpriority", []uint64{0, 0, 5}, Allow},
		{"nice of another", landlock, "setpriority", []uint64{0, 7, 5}, EPERM},
		{"nice of all of the user", landlock, "setpriority", []uint64{2, 0, 19}, EPERM},
		{"own IO class", landlock, "ioprio_set", []uint64{1, 0}, Allow},
		{"IO class of all of the user", landlock, "ioprio_set", []uint64{3, 0}, EPERM},
		{"idle another", landlock, "sched_setscheduler", []uint64{7}, EPERM},
		{"a process by fd", landlock, "pidfd_open", []uint64{7}, ENOSYS},
		{"a process by fd in a namespace", full, "pidfd_open", []uint64{7}, Allow},
		{"undumpable while watched", guarded, "prctl", []uint64{4, 0}, EPERM},
		{"dumpable while watched", guarded, "prctl", []uint64{4, 1}, Allow},
		{"undumpable, watched with the capability", watched, "prctl", []uint64{4, 0}, Allow},
		{"another prctl", guarded, "prctl", []uint64{15, 0}, Allow},

		{"a signal, alone", watched, "kill", []uint64{7, 15}, Allow},
		{"a signal, together", together, "kill", []uint64{7, 15}, Notify},
		{"a question whether one lives, together", together, "kill", []uint64{7, 0}, Notify},
		{"a signal to a thread, which Landlock holds", together, "tgkill", []uint64{7, 7, 23}, Allow},
		{"a signal of a reader, which Landlock holds", reader, "kill", []uint64{7, 15}, Allow},
		{"a signal of a mute one", mute, "kill", []uint64{7, 15}, EPERM},
		{"to a thread", mute, "tgkill", []uint64{7, 7, 6}, EPERM},
		{"by fd", mute, "pidfd_send_signal", []uint64{3, 9}, EPERM},
		{"with a value", mute, "rt_sigqueueinfo", []uint64{7, 9}, EPERM},
		{"by input, upper half set", mute, "fcntl", []uint64{3, high | 8, 7}, EPERM},
		{"by input of a socket", mute, "ioctl", []uint64{3, 0x8901}, ENOTTY},
		{"own limits, together", together, "prlimit64", []uint64{high}, Allow},
		{"limits by number, together", together, "prlimit64", []uint64{7}, Notify},
		{"limits by number, of a reader", reader, "prlimit64", []uint64{7}, EPERM},
		{"nice by number, together", together, "setpriority", []uint64{0, 7, 5}, Notify},
		{"nice of the own group", together, "setpriority", []uint64{1, 0, 5}, Allow},
		{"nice of a group", together, "setpriority", []uint64{1, 7, 5}, EPERM},
		{"nice of the user, together", together, "setpriority", []uint64{high | 2, 0, 5}, EPERM},
		{"IO class by number, together", together, "ioprio_set", []uint64{1, 7}, Notify},
		{"IO class of a group, together", together, "ioprio_set", []uint64{2, 7}, EPERM},
		{"IO class of the user, together", together, "ioprio_set", []uint64{3, 0}, EPERM},
		{"IO class by number, of a reader", reader, "ioprio_set", []uint64{1, 7}, EPERM},
		{"processors of a thread, together", together, "sched_setaffinity", []uint64{7}, Notify},
		{"own processors", together, "sched_setaffinity", []uint64{0}, Allow},
		{"a process by fd, together", together, "pidfd_open", []uint64{7}, Allow},
		{"a process by fd, of a reader", reader, "pidfd_open", []uint64{7}, ENOSYS},
		{"a list of sockets", observer, "socket", []uint64{16, 0o2000003, 4}, Allow},
		{"a list of sockets, of others", watched, "socket", []uint64{16, 3, 4}, EPROTONOSUPPORT},
		{"TCP of an observer", observer, "socket", []uint64{2, 1}, EACCES},
		{"UDP of an observer, upper half set", observer, "socket", []uint64{high | 10, 2}, EACCES},
		{"a local socket of an observer", observer, "socket", []uint64{1, 1}, EACCES},
		{"a pair of an observer", observer, "socketpair", []uint64{1, 1}, Allow},

		{"TCP on the machine's network", landlock, "socket", []uint64{2, 1}, EACCES},
		{"UDP there", landlock, "socket", []uint64{10, 2}, EACCES},
		{"TCP to the proxy", proxied, "socket", []uint64{2, 0o2004001}, Allow},
		{"UDP beside the proxy", proxied, "socket", []uint64{2, 2}, EACCES},
		{"MPTCP beside the proxy", proxied, "socket", []uint64{2, 1, 262}, EACCES},
		{"raw beside the proxy", proxied, "socket", []uint64{10, 3, 58}, EPERM},
		{"TCP that opens with data", proxied, "sendto", []uint64{3, 0, 1, 0x20004000}, EOPNOTSUPP},
		{"the same by message", proxied, "sendmsg", []uint64{3, 0, 0x20000000}, EOPNOTSUPP},
		{"the same by messages", proxied, "sendmmsg", []uint64{3, 0, 1, 0x20000000}, EOPNOTSUPP},
		{"data", proxied, "sendto", []uint64{3, 0, 1, 0x4000}, Allow},
		{"a local socket there", proxied, "socket", []uint64{1, 1}, EACCES},
		{"a local socket there, watched", guarded, "socket", []uint64{1, 1}, EACCES},
		{"a pair there", landlock, "socketpair", []uint64{1, 0o2000001}, Allow},
		{"a pair of packets", landlock, "socketpair", []uint64{1, 5}, Allow},
		{"a pair that can be pointed elsewhere", landlock, "socketpair", []uint64{1, 2}, EACCES},
		{"the same under its other name", landlock, "socketpair", []uint64{1, 3}, EACCES},
		{"interfaces there", landlock, "socket", []uint64{16, 3, 0}, Allow},

		{"attributes", full, "fchmodat", []uint64{0, 0, 0o755}, Allow},
		{"attributes, watched with mounts", watched, "utimensat", nil, Notify},
		{"attributes, watched alone", guarded, "utimensat", nil, Notify},
		{"attributes by fd, watched alone", guarded, "fsetxattr", nil, Notify},
		{"attributes, unwatched", landlock, "fchownat", nil, Allow},
		{"attributes, nothing writable", readOnly, "fchmod", []uint64{3, 0o600}, EPERM},
		{"attributes, nothing writable but mounts hold", Options{Namespaces: true}, "fchmod", []uint64{3, 0o600}, Allow},

		{"a read", watched, "openat", []uint64{0, 0, 0o2000000}, Allow},
		{"a read of a directory", watched, "openat", []uint64{0, 0, 0o200000}, Allow},
		{"a write", watched, "openat", []uint64{0, 0, 1}, Notify},
		{"both, upper half set", watched, "openat", []uint64{0, 0, high | 2}, Notify},
		{"access mode 3", watched, "openat", []uint64{0, 0, 3}, Notify},
		{"a creation", watched, "openat", []uint64{0, 0, 0o100}, Notify},
		{"a truncating read", guarded, "openat", []uint64{0, 0, 0o1000}, Notify},
		{"a write, unwatched", full, "openat", []uint64{0, 0, 1}, Allow},
		{"a lock", watched, "flock", []uint64{3, 2}, Notify},
		{"a lock of the process, upper half set", guarded, "fcntl", []uint64{3, high | 6}, Notify},
		{"a lock of the open file", watched, "fcntl", []uint64{3, 38}, Notify},
		{"a question about a lock", watched, "fcntl", []uint64{3, 5}, Allow},
		{"a lock of a reader", reader, "flock", []uint64{3, 2}, Pass},
		{"a lock of a reader's process", reader, "fcntl", []uint64{3, 7}, Pass},
		{"a lock, unwatched", landlock, "flock", []uint64{3, 2}, Allow},
		{"rename", watched, "renameat2", nil, Notify},
		{"link", watched, "linkat", nil, Notify},
		{"symlink", watched, "symlinkat", nil, Notify},
		{"unlink", watched, "unlinkat", nil, Notify},
		{"mkdir", watched, "mkdirat", nil, Notify},
		{"a pipe, watched", watched, "mknodat", []uint64{0, 0, 0o10666}, Notify},
		{"a device, watched", watched, "mknodat", []uint64{0, 0, 0o20666}, EPERM},
		{"truncate", watched, "truncate", nil, Notify},
	}
	for _, arch := range []string{"amd64", "arm64"} {
		for _, test := range tests {
			t.Run(arch+"/"+test.name, func(t *testing.T) {
				if got := decide(t, test.options, arch, on(arch, test.call, test.args...)); got != test.want {
					t.Errorf("%s %#x: got %#x, want %#x", test.call, test.args, uint32(got), uint32(test.want))
				}
			})
		}
	}
}

// Calls that only amd64 has do the same there as their younger twins.
func TestStandardOldCalls(t *testing.T) {
	tests := []struct {
		name    string
		options Options
		call    string
		args    []uint64
		want    Action
	}{
		{"open for reading", watched, "open", []uint64{0, 0}, Allow},
		{"open for writing", watched, "open", []uint64{0, 1}, Notify},
		{"open set-user-id", watched, "open", []uint64{0, 0o102, 0o4755}, EPERM},
		{"creat", watched, "creat", []uint64{0, 0o644}, Notify},
		{"creat set-user-id", watched, "creat", []uint64{0, 0o4755}, EPERM},
		{"mknod device", full, "mknod", []uint64{0, 0o20666}, EPERM},
		{"mknod pipe", watched, "mknod", []uint64{0, 0o10666}, Notify},
		{"chmod set-user-id", full, "chmod", []uint64{0, 0o4755}, EPERM},
		{"chmod", guarded, "chmod", []uint64{0, 0o755}, Notify},
		{"utime", guarded, "utime", nil, Notify},
		{"lchown", readOnly, "lchown", nil, EPERM},
		{"rename", watched, "rename", nil, Notify},
		{"rmdir", watched, "rmdir", nil, Notify},
		{"iopl", full, "iopl", nil, EPERM},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := decide(t, test.options, "amd64", on("amd64", test.call, test.args...)); got != test.want {
				t.Errorf("%s %#x: got %#x, want %#x", test.call, test.args, uint32(got), uint32(test.want))
			}
		})
	}
}

func TestStandardEntries(t *testing.T) {
	tests := []struct {
		name   string
		arch   string
		number uint32
		entry  uint32
		want   Action
	}{
		{"getpid of a 32-bit program", "amd64", 20, 0x40000003, KillProcess},
		{"arm64's on amd64", "amd64", 172, 0xc00000b7, KillProcess},
		{"32-bit arm", "arm64", 20, 0x40000028, KillProcess},
		{"x32 getpid", "amd64", 0x40000000 | 39, 0xc000003e, ENOSYS},
		{"a call newer than the tables", "amd64", newest + 1, 0xc000003e, ENOSYS},
		{"the newest", "amd64", newest, 0xc000003e, Allow},
		{"number -1", "arm64", 0xffffffff, 0xc00000b7, ENOSYS},
		{"number 0", "arm64", 0, 0xc00000b7, Allow},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := invocation{arch: test.entry, number: test.number}
			if got := decide(t, full, test.arch, v); got != test.want {
				t.Errorf("got %#x, want %#x", uint32(got), uint32(test.want))
			}
		})
	}
}

func decide(t *testing.T, o Options, arch string, v invocation) Action {
	t.Helper()
	program, err := Standard(o).Assemble(arch)
	if err != nil {
		t.Fatal(err)
	}
	got, err := run(program, v)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Every rule, under every combination of options and on both architectures: arguments that just meet it and that just
// fail each of its conditions, with and without bits in the upper halves.
func TestStandardRulesHoldAsWritten(t *testing.T) {
	for i := range 16 {
		o := Options{Namespaces: i&1 != 0, Writable: i&2 != 0, Notify: i&4 != 0, Network: Network(i >> 3)}
		f := Standard(o)
		for _, arch := range []string{"amd64", "arm64"} {
			program, err := f.Assemble(arch)
			if err != nil {
				t.Fatalf("%+v: %v", o, err)
			}
			for _, r := range f.Rules {
				if _, ok := Number(arch, r.Call); !ok {
					continue
				}
				for _, args := range around(r) {
					compare(t, f, arch, program, on(arch, r.Call, args[:]...))
				}
			}
		}
	}
}

// around returns arguments on both sides of each condition of r.
func around(r Rule) [][6]uint64 {
	all := [][6]uint64{{}}
	for _, c := range r.Args {
		var next [][6]uint64
		for _, args := range all {
			values := []uint64{c.Value, c.Value + 1, c.bits(), c.bits() &^ 1, c.Value | high}
			for _, v := range c.Among {
				values = append(values, uint64(v)-1, uint64(v), uint64(v)+1, high|uint64(v))
			}
			for _, value := range values {
				args[c.Arg] = value
				next = append(next, args)
			}
		}
		all = next
	}
	return all
}

// No two runs may differ: the host compares programs by their bytes.
func TestStandardIsStable(t *testing.T) {
	first, err := Standard(guarded).Assemble("amd64")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if again, _ := Standard(guarded).Assemble("amd64"); !slices.Equal(first, again) {
			t.Fatal("two programs of one filter differ")
		}
	}
}

func ExampleStandard() {
	f := Standard(Options{Namespaces: true, Writable: true, Notify: true})
	program, err := f.Assemble("amd64")
	fmt.Println(len(program)/8 < 700, err)
	// Output: true <nil>
}

func BenchmarkAssemble(b *testing.B) {
	for b.Loop() {
		if _, err := Standard(guarded).Assemble("amd64"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestStartsAreHandedOver: only a command with rules about what it starts has these calls judged.
func TestStartsAreHandedOver(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		for _, o := range []Options{{}, {Starts: true}, {Namespaces: true, Notify: true, Writable: true}, {Namespaces: true, Starts: true}} {
			program, err := Standard(o).Assemble(arch)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range []string{"execve", "execveat"} {
				want := Allow
				if o.Starts {
					want = Notify
				}
				if got, err := run(program, on(arch, call)); err != nil || got != want {
					t.Errorf("%s, %+v, %s: %#x, %v; want %#x", arch, o, call, uint32(got), err, uint32(want))
				}
			}
		}
	}
}
