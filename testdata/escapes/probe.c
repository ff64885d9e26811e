// probe makes the system calls of the escape suite that no shell makes. Each command is one attempt; it prints
// "ESCAPED what" when the kernel let it through, and harms nothing that the test did not make when it does.
//
//   cc -O1 -static -pthread -o probe probe.c
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <mqueue.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#ifndef MSG_FASTOPEN
#define MSG_FASTOPEN 0x20000000
#endif

static void escaped(const char *what) { printf("ESCAPED %s\n", what); fflush(stdout); }

// refused says what came of a call that must be refused by a wall, not for its arguments.
static void refused(const char *what, long r) {
	int e = errno;
	if (r >= 0) { escaped(what); return; }
	if (e == EPERM || e == EACCES || e == ENOSYS || e == ENOTTY) { printf("refused %s: %s\n", what, strerror(e)); return; }
	printf("ESCAPED %s: it was reached: %s\n", what, strerror(e));
}

#define CHILD(body) do { pid_t c_ = fork(); if (c_ == 0) { body; fflush(stdout); _exit(0); } int st_; waitpid(c_, &st_, 0); } while (0)

static void privileged(void) {
	char zeros[256] = {0};
	long r;
	refused("bpf", syscall(SYS_bpf, 0, zeros, 128));
	refused("perf_event_open", syscall(SYS_perf_event_open, zeros, 0, -1, -1, 0));
	refused("userfaultfd", syscall(SYS_userfaultfd, 0));
	refused("keyctl", syscall(SYS_keyctl, 0, -3, 0));
	refused("add_key", syscall(SYS_add_key, "user", "toolhost-escape", "x", 1, -1));
	refused("request_key", syscall(SYS_request_key, "user", "toolhost-escape-none", 0, -1));
	refused("kexec_load", syscall(SYS_kexec_load, 0, 0, 0, ~0ul));
	refused("kexec_file_load", syscall(SYS_kexec_file_load, -1, -1, 0, 0, ~0ul));
	refused("init_module", syscall(SYS_init_module, 0, 0, ""));
	refused("finit_module", syscall(SYS_finit_module, -1, "", 0));
	refused("delete_module", syscall(SYS_delete_module, "toolhost_no_such_module", O_NONBLOCK));
	refused("io_uring_setup", syscall(SYS_io_uring_setup, 1, zeros));
	refused("io_uring_enter", syscall(SYS_io_uring_enter, -1, 0, 0, 0, 0, 0));
	refused("io_uring_register", syscall(SYS_io_uring_register, -1, 0, 0, 0));
	refused("syslog", syscall(SYS_syslog, 10, 0, 0));
	refused("lookup_dcookie", syscall(212, 0ull, zeros, 1));
	refused("pidfd_getfd", syscall(SYS_pidfd_getfd, -1, 0, 0));
	refused("openat2", syscall(SYS_openat2, AT_FDCWD, ".", zeros, 24));
	refused("personality", syscall(SYS_personality, 0x0100000));
	refused("newer than the tables", syscall(600));
	r = syscall(SYS_iopl, 0); // level 0 gives nothing
	refused("iopl", r);
}

static void namespaces(void) {
	static const struct { const char *name; unsigned long flag; } all[] = {
		{"user", CLONE_NEWUSER}, {"mnt", CLONE_NEWNS}, {"pid", CLONE_NEWPID}, {"net", CLONE_NEWNET}, {"ipc", CLONE_NEWIPC},
		{"uts", CLONE_NEWUTS}, {"cgroup", CLONE_NEWCGROUP}, {"time", 0x80},
	};
	char what[64];
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		snprintf(what, sizeof what, "unshare %s", all[i].name);
		CHILD(refused(what, syscall(SYS_unshare, all[i].flag)));
		snprintf(what, sizeof what, "unshare %s, upper half set", all[i].name);
		CHILD(refused(what, syscall(SYS_unshare, all[i].flag | 1ul << 40)));
		if (all[i].flag == 0x80) continue; // no flag of clone
		snprintf(what, sizeof what, "clone %s", all[i].name);
		long r = syscall(SYS_clone, all[i].flag | SIGCHLD, 0, 0, 0, 0);
		if (r == 0) _exit(0);
		refused(what, r);
		unsigned long args[11] = {all[i].flag, 0, 0, 0, SIGCHLD};
		r = syscall(SYS_clone3, args, sizeof args);
		if (r == 0) _exit(0);
		snprintf(what, sizeof what, "clone3 %s", all[i].name);
		refused(what, r);
	}
	long r = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
	if (r == 0) _exit(0);
	refused("clone with CLONE_PARENT", r);
}

// mounts works on dir, an empty directory of the test.
static void mounts(const char *dir) {
	char zeros[64] = {0};
	CHILD(refused("mount tmpfs", mount("none", dir, "tmpfs", 0, "size=64k")));
	CHILD(refused("bind mount", mount("/", dir, 0, MS_BIND | MS_REC, 0)));
	CHILD(refused("remount", mount(0, dir, 0, MS_REMOUNT | MS_BIND, 0)));
	refused("umount2", umount2(dir, UMOUNT_NOFOLLOW));
	CHILD(refused("pivot_root", syscall(SYS_pivot_root, dir, dir)));
	CHILD(refused("chroot", chroot(dir)));
	refused("open_tree", syscall(SYS_open_tree, AT_FDCWD, dir, 1));
	refused("open_tree without a clone", syscall(SYS_open_tree, AT_FDCWD, dir, 0));
	refused("move_mount", syscall(SYS_move_mount, -1, "", -1, "", 4));
	refused("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
	refused("fsconfig", syscall(SYS_fsconfig, -1, 6, 0, 0, 0));
	refused("fsmount", syscall(SYS_fsmount, -1, 0, 0));
	refused("fspick", syscall(SYS_fspick, AT_FDCWD, dir, 0));
	refused("mount_setattr", syscall(SYS_mount_setattr, -1, "", 0x1000, zeros, 32));
}

static void enter(const char *path, int type) {
	char what[128];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(what, sizeof what, "setns %s", path);
	if (fd < 0) { printf("refused %s: %s\n", what, strerror(errno)); return; }
	CHILD(refused(what, syscall(SYS_setns, fd, type)));
	close(fd);
}

static void setnss(void) {
	static const char *ns[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"};
	char path[64];
	for (unsigned i = 0; i < sizeof ns / sizeof *ns; i++) {
		snprintf(path, sizeof path, "/proc/1/ns/%s", ns[i]);
		enter(path, 0);
		snprintf(path, sizeof path, "/proc/self/ns/%s", ns[i]);
		enter(path, 0);
	}
	int fd = syscall(SYS_pidfd_open, 1, 0);
	if (fd >= 0) CHILD(refused("setns by pidfd", syscall(SYS_setns, fd, CLONE_NEWNET)));
}

// of pokes at a process of the host. A pid that is not there is as good as one that is refused.
static void pokeAt(pid_t pid, const char *what, long r) {
	if (r < 0 && errno == ESRCH) { printf("refused %s: nobody\n", what); return; }
	refused(what, r);
}

static void poke(pid_t pid, unsigned long address) {
	char b[8] = "WRITTEN";
	struct iovec here = {b, 8}, there = {(void *)address, 8};
	pokeAt(pid, "process_vm_writev", syscall(SYS_process_vm_writev, pid, &here, 1, &there, 1, 0));
	pokeAt(pid, "process_vm_readv", syscall(SYS_process_vm_readv, pid, &here, 1, &there, 1, 0));
	int fd = syscall(SYS_pidfd_open, pid, 0);
	if (fd >= 0) {
		pokeAt(pid, "pidfd_getfd", syscall(SYS_pidfd_getfd, fd, 0, 0));
		pokeAt(pid, "pidfd_send_signal", syscall(SYS_pidfd_send_signal, fd, SIGTERM, 0, 0));
		struct iovec a = {(void *)address, 4096};
		pokeAt(pid, "process_madvise", syscall(SYS_process_madvise, fd, &a, 1, 21, 0));
	}
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/mem", pid);
	fd = open(path, O_RDWR);
	if (fd >= 0 && pwrite(fd, "WRITTEN", 8, address) > 0) escaped("write to /proc/PID/mem");
	struct rlimit limit = {64, 64};
	pokeAt(pid, "prlimit", prlimit(pid, RLIMIT_NOFILE, &limit, 0));
	pokeAt(pid, "setpriority", setpriority(PRIO_PROCESS, pid, 19));
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	pokeAt(pid, "sched_setaffinity", sched_setaffinity(pid, sizeof set, &set));
	pokeAt(pid, "ioprio_set", syscall(SYS_ioprio_set, 1, pid, 3 << 13));
	pokeAt(pid, "kcmp", syscall(SYS_kcmp, pid, pid, 0, 0, 0));
	long r = ptrace(PTRACE_SEIZE, pid, 0, 0);
	pokeAt(pid, "ptrace seize", r);
	if (r >= 0) ptrace(PTRACE_DETACH, pid, 0, 0);
	else {
		r = ptrace(PTRACE_ATTACH, pid, 0, 0);
		pokeAt(pid, "ptrace attach", r);
		if (r >= 0) { waitpid(pid, 0, 0); ptrace(PTRACE_DETACH, pid, 0, 0); }
	}
	pokeAt(pid, "kill", kill(pid, SIGTERM));
	pokeAt(pid, "tgkill", syscall(SYS_tgkill, pid, pid, SIGTERM));
	struct { int signo, err, code, pad; char rest[112]; } info = {SIGTERM, 0, -1, 0, {0}};
	pokeAt(pid, "rt_sigqueueinfo", syscall(SYS_rt_sigqueueinfo, pid, SIGTERM, &info));
}

// victim is a process to be poked at: it says its address and waits. SIGTERM ends it, and so does a changed word.
static char word[8] = "pristin";
static void victim(void) {
	printf("%d %lu\n", getpid(), (unsigned long)word);
	fflush(stdout);
	for (int i = 0; i < 30000; i++) { // five minutes
		if (strcmp(word, "pristin")) _exit(9);
		poll(0, 0, 10);
	}
}

static void handle(const char *secret, const char *from) {
	union { struct file_handle h; char room[256]; } u;
	int id, mount, fd;
	u.h.handle_bytes = MAX_HANDLE_SZ;
	if (name_to_handle_at(AT_FDCWD, secret, &u.h, &id, 0)) { printf("no handle: %s\n", strerror(errno)); return; }
	mount = open(from, O_RDONLY | O_DIRECTORY);
	fd = open_by_handle_at(mount, &u.h, O_RDONLY);
	if (fd < 0) { printf("refused open_by_handle_at: %s\n", strerror(errno)); return; }
	escaped("open_by_handle_at");
}

static void nodes(const char *dir) {
	static const struct { const char *name; mode_t type; } all[] = {{"chr", S_IFCHR}, {"blk", S_IFBLK}};
	char path[4096];
	for (int i = 0; i < 2; i++) { // /dev/null's number, of which both types are harmless
		snprintf(path, sizeof path, "%s/%s", dir, all[i].name);
		refused("mknod", syscall(SYS_mknodat, AT_FDCWD, path, all[i].type | 0666, 0x103));
		refused("mknod, upper half set", syscall(SYS_mknodat, AT_FDCWD, path, (all[i].type | 0666) | 1ul << 40, 0x103));
#ifdef SYS_mknod
		refused("mknod by its old name", syscall(SYS_mknod, path, all[i].type | 0666, 0x103));
#endif
	}
	snprintf(path, sizeof path, "%s/suid", dir);
	int fd = open(path, O_CREAT | O_WRONLY, 0700);
	refused("fchmod to set-user-id", fchmod(fd, 04755));
	refused("fchmodat2 to set-user-id", syscall(452, AT_FDCWD, path, 04755, 0));
	close(fd);
	unlink(path);
	refused("creation with set-user-id", open(path, O_CREAT | O_WRONLY, 04755));
}

static void types(const char *request, int fd) {
	unsigned long n = strtoul(request, 0, 0);
	char c = 'E';
	long r = syscall(SYS_ioctl, fd, n, &c);
	printf("ioctl %#lx: %ld %s\n", n, r, r < 0 ? strerror(errno) : "done");
}

static void immutable(const char *path) {
	int fd = open(path, O_RDONLY);
	long flags = 0x20; // nodump: harmless, and set by the same call as immutable
	refused("FS_IOC_SETFLAGS", ioctl(fd, FS_IOC_SETFLAGS, &flags));
	struct fsxattr x = {0};
	refused("FS_IOC_FSSETXATTR", ioctl(fd, FS_IOC_FSSETXATTR, &x));
	char zeros[64] = {0};
	refused("file_setattr", syscall(469, AT_FDCWD, path, zeros, 24, 0));
}

// volumes has the file system make names and change files by ioctls, which name nothing in the arguments of the call. in and out are directories;
// the second is not ours to write.
static void volumes(const char *in, const char *out) {
	static const char *made[] = {".vscode", ".envrc", "evil"};
	const char *dirs[] = {in, out};
	for (int d = 0; d < 2; d++) {
		int at = open(dirs[d], O_RDONLY | O_DIRECTORY), from = open("tree", O_RDONLY | O_DIRECTORY);
		for (int i = d ? 0 : 1; i < 3 - !d; i++) { // a directory of the workspace may have other names
			struct { long long fd; char name[4088]; } v1 = {0, ""};
			struct { long long fd; unsigned long long transid, flags, rest[4]; char name[4040]; } v2 = {0};
			snprintf(v1.name, sizeof v1.name, "%s", made[i]);
			snprintf(v2.name, sizeof v2.name, "%s", made[i]);
			refused("BTRFS_IOC_SUBVOL_CREATE", ioctl(at, 0x5000940e, &v1));
			refused("BTRFS_IOC_SNAP_DESTROY", ioctl(at, 0x5000940f, &v1));
			refused("BTRFS_IOC_SUBVOL_CREATE_V2", ioctl(at, 0x50009418, &v2));
			v1.fd = v2.fd = from;
			refused("BTRFS_IOC_SNAP_CREATE", ioctl(at, 0x50009401, &v1));
			refused("BTRFS_IOC_SNAP_CREATE_V2", ioctl(at, 0x50009417, &v2));
			// the upper half of a register does not count
			v1.fd = 0;
			refused("BTRFS_IOC_SUBVOL_CREATE, upper half set", syscall(SYS_ioctl, at, 0x5000940eul | 1ul << 32, &v1));
		}
		char path[4200];
		snprintf(path, sizeof path, "%s/file", dirs[d]);
		int fd = open(path, O_RDONLY), version = 4711;
		if (d) refused("FS_IOC_SETVERSION", ioctl(fd, 0x40087602, &version));
		if (d) refused("FS_IOC_SETVERSION of ext4", ioctl(fd, 0x40086604, &version));
	}
}

// foreign makes calls through the entries of other instruction sets.
static void foreign(void) {
#ifdef __x86_64__
	int st;
	pid_t c = fork();
	if (c == 0) {
		long r;
		__asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory"); // getpid
		if (r > 0) escaped("a 32-bit call");
		_exit(0);
	}
	waitpid(c, &st, 0);
	CHILD(refused("an x32 call", syscall(0x40000000 | SYS_getpid)));
#endif
}

static int address(const char *host, const char *port, struct sockaddr_storage *a) {
	struct sockaddr_in *four = (void *)a;
	struct sockaddr_in6 *six = (void *)a;
	memset(a, 0, sizeof *a);
	if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(atoi(port));
		return sizeof *four;
	}
	if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1) exit(2);
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(atoi(port));
	return sizeof *six;
}

static void reach(const char *kind, const char *host, const char *port) {
	struct sockaddr_storage a;
	int n = address(host, port, &a), type = SOCK_STREAM, protocol = 0;
	long r;
	if (!strcmp(kind, "udp")) type = SOCK_DGRAM;
	if (!strcmp(kind, "mptcp")) protocol = 262;
	if (!strcmp(kind, "sctp")) protocol = 132;
	if (!strcmp(kind, "dccp")) type = 6, protocol = 33;
	if (!strcmp(kind, "raw")) type = SOCK_RAW, protocol = 17;
	int fd = socket(a.ss_family, type, protocol);
	if (fd < 0) { printf("%s: no socket: %s\n", kind, strerror(errno)); return; }
	struct timeval patience = {2, 0};
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	if (!strcmp(kind, "fastopen")) {
		r = sendto(fd, "ESCAPE", 6, MSG_FASTOPEN, (void *)&a, n);
		if (r < 0) {
			struct iovec v = {"ESCAPE", 6};
			struct msghdr m = {.msg_name = &a, .msg_namelen = n, .msg_iov = &v, .msg_iovlen = 1};
			r = sendmsg(fd, &m, MSG_FASTOPEN);
		}
	} else if (type == SOCK_DGRAM || type == SOCK_RAW)
		r = sendto(fd, "ESCAPE", 6, 0, (void *)&a, n);
	else
		r = connect(fd, (void *)&a, n);
	printf("%s: %s\n", kind, r < 0 ? strerror(errno) : "sent");
	if (r >= 0 && type == SOCK_STREAM) (void)!write(fd, "ESCAPE", 6);
	close(fd);
}

// local reaches a local socket; a name that begins with @ is abstract.
static void local(const char *kind, const char *name) {
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int type = !strcmp(kind, "dgram") ? SOCK_DGRAM : !strcmp(kind, "seqpacket") ? SOCK_SEQPACKET : SOCK_STREAM;
	size_t n = strlen(name);
	if (n >= sizeof a.sun_path) { printf("too long\n"); return; }
	memcpy(a.sun_path, name, n);
	if (name[0] == '@') a.sun_path[0] = 0;
	int fd = socket(AF_UNIX, type, 0);
	if (fd < 0) { printf("no socket: %s\n", strerror(errno)); return; }
	socklen_t len = offsetof(struct sockaddr_un, sun_path) + n + (name[0] != '@');
	if (connect(fd, (void *)&a, len)) {
		printf("%s: %s\n", name, strerror(errno));
		sendto(fd, "ESCAPE", 6, MSG_NOSIGNAL, (void *)&a, len);
		struct iovec v = {"ESCAPE", 6};
		struct mmsghdr m = {.msg_hdr = {.msg_name = &a, .msg_namelen = len, .msg_iov = &v, .msg_iovlen = 1}};
		sendmsg(fd, &m.msg_hdr, MSG_NOSIGNAL);
		sendmmsg(fd, &m, 1, MSG_NOSIGNAL);
		int two[2];
		if (!socketpair(AF_UNIX, type, 0, two)) { // one of a pair can be connected elsewhere
			connect(two[0], (void *)&a, len);
			sendto(two[0], "ESCAPE", 6, MSG_NOSIGNAL, (void *)&a, len);
			sendmsg(two[0], &m.msg_hdr, MSG_NOSIGNAL);
		}
		return;
	}
	send(fd, "ESCAPE", 6, MSG_NOSIGNAL);
	printf("connected to %s\n", name);
}

static void families(void) {
	static const struct { const char *name; int family, type, protocol; } all[] = {
		{"packet", AF_PACKET, SOCK_RAW, 0}, {"packet datagram", AF_PACKET, SOCK_DGRAM, 0}, {"raw", AF_INET, SOCK_RAW, 1},
		{"raw 6", AF_INET6, SOCK_RAW, 58}, {"vsock", 40, SOCK_STREAM, 0}, {"alg", 38, SOCK_SEQPACKET, 0}, {"xdp", 44, SOCK_RAW, 0},
		{"bluetooth", 31, SOCK_RAW, 1}, {"can", 29, SOCK_RAW, 1}, {"tipc", 30, SOCK_SEQPACKET, 0}, {"kcm", 41, SOCK_DGRAM, 0},
		{"netlink audit", 16, SOCK_RAW, 9}, {"netlink uevent", 16, SOCK_RAW, 15}, {"netlink netfilter", 16, SOCK_RAW, 12},
		{"netlink connector", 16, SOCK_RAW, 11}, {"netlink generic", 16, SOCK_RAW, 16}, {"mptcp", AF_INET, SOCK_STREAM, 262},
		{"sctp", AF_INET, SOCK_SEQPACKET, 132}, {"smc", 43, SOCK_STREAM, 0}, {"qrtr", 42, SOCK_DGRAM, 0}, {"rds", 21, SOCK_SEQPACKET, 0},
	};
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		int fd = socket(all[i].family, all[i].type, all[i].protocol);
		if (fd >= 0) { printf("ESCAPED socket %s\n", all[i].name); close(fd); }
	}
}

// memory reads and writes System V memory and a message queue of the host.
static void memory(const char *key, const char *queue) {
	int id = shmget(atoi(key), 0, 0);
	char *m = id < 0 ? MAP_FAILED : shmat(id, 0, 0);
	if (m != MAP_FAILED && id >= 0) { escaped("shmat"); strcpy(m, "ESCAPED"); }
	char begin[64];
	snprintf(begin, sizeof begin, "toolhost-escape %s", key);
	for (id = 0; id < 64; id++) { // by number
		m = shmat(id, 0, 0);
		if (m != (void *)-1 && !strncmp(m, begin, strlen(begin))) { escaped("shmat by number"); strcpy(m, "ESCAPED"); }
		if (m != (void *)-1) shmdt(m);
	}
	mqd_t q = mq_open(queue, O_WRONLY);
	if (q >= 0) { escaped("mq_open"); mq_send(q, "ESCAPED", 7, 0); }
}

// keeper is the host's side of memory: it makes both, waits for the end of its input and says what became of them.
static void keeper(const char *key, const char *queue) {
	int id = shmget(atoi(key), 4096, IPC_CREAT | IPC_EXCL | 0666);
	char *m = id < 0 ? MAP_FAILED : shmat(id, 0, 0);
	struct mq_attr at = {.mq_maxmsg = 4, .mq_msgsize = 16};
	mqd_t q = mq_open(queue, O_CREAT | O_RDWR | O_EXCL, 0666, &at);
	if (m == MAP_FAILED || q < 0) { printf("cannot keep: %s\n", strerror(errno)); exit(1); }
	snprintf(m, 64, "toolhost-escape %s pristine", key);
	printf("ready\n");
	fflush(stdout);
	char c;
	while (read(0, &c, 1) > 0) {}
	mq_getattr(q, &at);
	printf("%s %ld\n", m, at.mq_curmsgs);
	mq_unlink(queue);
	shmctl(id, IPC_RMID, 0);
}

// serve waits for one connection, at most a minute, and makes a file when there is one.
static void serve(const char *host, const char *port, const char *file) {
	struct sockaddr_storage a;
	int n = address(host, port, &a), one = 1, fd = socket(a.ss_family, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (fd < 0 || bind(fd, (void *)&a, n) || listen(fd, 8)) { printf("serve: %s\n", strerror(errno)); exit(1); }
	printf("serving\n");
	fflush(stdout);
	struct pollfd p = {fd, POLLIN, 0};
	if (poll(&p, 1, 60000) == 1) close(open(file, O_CREAT | O_WRONLY, 0644));
}

static void attributes(const char *path) {
	struct timespec t[2] = {{1, 0}, {1, 0}};
	if (!chmod(path, 0777)) escaped("chmod");
	if (!syscall(452, AT_FDCWD, path, 0777, 0)) escaped("fchmodat2");
	int fd = open(path, O_RDONLY);
	if (!fchmod(fd, 0777)) escaped("fchmod");
	if (!futimens(fd, t)) escaped("futimens");
	if (!utimensat(AT_FDCWD, path, t, 0)) escaped("utimensat");
	if (!fsetxattr(fd, "user.escape", "1", 1, 0)) escaped("fsetxattr");
	if (!setxattr(path, "user.escape", "1", 1, 0)) escaped("setxattr");
	if (!chown(path, -1, getgid())) escaped("chown");
	if (!fchown(fd, -1, getgid())) escaped("fchown");
	if (!truncate(path, 0)) escaped("truncate");
	if (!ftruncate(fd, 0)) escaped("ftruncate");
	char again[64];
	snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
	int w = open(again, O_RDWR);
	if (w >= 0) { escaped("open again to write"); (void)!write(w, "E", 1); }
	if (!chmod(again, 0777)) escaped("chmod through /proc");
	if (!truncate(again, 0)) escaped("truncate through /proc");
	fd = open(path, O_PATH);
	snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
	w = open(again, O_WRONLY | O_APPEND);
	if (w >= 0) { escaped("open a place to write"); (void)!write(w, "E", 1); }
	if (!chmod(again, 0777)) escaped("chmod of a place");
}

// names makes path by every call that can give a file a name.
static void names(const char *path, const char *spare) {
	char from[4096], proc[64];
	snprintf(from, sizeof from, "%s", spare);
#define MADE(what, r) do { if ((r) >= 0) { escaped(what); unlink(path); rmdir(path); } } while (0)
#define SPARE() do { int f_ = open(from, O_CREAT | O_WRONLY, 0600); (void)!write(f_, "evil\n", 5); close(f_); } while (0)
	MADE("openat", open(path, O_CREAT | O_WRONLY, 0600));
	MADE("creat", syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_RDONLY, 0600));
#ifdef SYS_creat
	MADE("creat", syscall(SYS_creat, path, 0600));
	MADE("open", syscall(SYS_open, path, O_CREAT | O_EXCL | O_RDWR, 0600));
#endif
	MADE("mkdir", mkdir(path, 0700));
	MADE("mkfifo", mkfifo(path, 0600));
	MADE("symlink", symlink("/nowhere", path));
	SPARE();
	MADE("link", link(from, path));
	MADE("rename", rename(from, path));
	SPARE();
	MADE("renameat2 noreplace", syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, path, 1));
	SPARE();
	MADE("renameat2 exchange", syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, path, 2));
	SPARE();
	MADE("renameat2 whiteout", syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, path, 4));
	SPARE();
	int fd = open(".", O_TMPFILE | O_WRONLY, 0600);
	snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
	MADE("a file without a name", linkat(AT_FDCWD, proc, AT_FDCWD, path, AT_SYMLINK_FOLLOW));
	MADE("an empty name", linkat(fd, "", AT_FDCWD, path, AT_EMPTY_PATH));
	unlink(from);
}

// bound gives a socket a name.
static void bound(const char *path) {
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0 || bind(fd, (void *)&a, sizeof a)) printf("bind: %s\n", strerror(errno));
}

// swapName opens two names from one memory that another thread changes: what was checked is not what is opened.
static volatile char swapped[256];
static volatile int swapping = 1;
static size_t swapAt;
static char swapTo[2];
static void *swapper(void *unused) {
	for (unsigned i = 0; swapping; i++) swapped[swapAt] = swapTo[i & 1];
	return unused;
}
static void swapName(const char *harmless, const char *wanted, int rounds) {
	pthread_t t;
	snprintf((char *)swapped, sizeof swapped, "%s", harmless);
	while (harmless[swapAt] && harmless[swapAt] == wanted[swapAt]) swapAt++;
	swapTo[0] = harmless[swapAt], swapTo[1] = wanted[swapAt];
	pthread_create(&t, 0, swapper, 0);
	for (int i = 0; i < rounds; i++) {
		int fd = open((char *)swapped, O_CREAT | O_WRONLY | O_APPEND, 0755);
		if (fd >= 0) { (void)!write(fd, "evil\n", 5); close(fd); }
		unlink(harmless);
	}
	swapping = 0;
	pthread_join(t, 0);
}

// unseenName puts a name where no other process can read it, as far as the kernel has such memory.
static const char *unseenName(const char *path) {
	char *m = MAP_FAILED;
#ifdef SYS_memfd_secret
	int fd = syscall(SYS_memfd_secret, O_CLOEXEC);
	if (fd >= 0 && !ftruncate(fd, 4096)) m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
#endif
	if (m == MAP_FAILED) { printf("no memory that nobody else reads: %s\n", strerror(errno)); return path; }
	snprintf(m, 4096, "%s", path);
	return m;
}

// unseen makes path by every call, from memory that a supervisor cannot read.
static void unseen(const char *path, const char *spare) { names(unseenName(path), spare); }

// unseenAttributes changes what is known of a file, likewise.
static void unseenAttributes(const char *path) {
	struct timespec t[2] = {{1, 0}, {1, 0}};
	const char *hidden = unseenName(path);
	if (!chmod(hidden, 0777)) escaped("chmod");
	if (!utimensat(AT_FDCWD, hidden, t, 0)) escaped("utimensat");
	if (!chown(hidden, -1, getgid())) escaped("chown");
	if (!setxattr(hidden, "user.escape", "1", 1, 0)) escaped("setxattr");
}

// flip names harmless in calls that make names, while another thread turns one byte of it: it must never become wanted.
static void flip(const char *harmless, const char *wanted, int rounds) {
	pthread_t t;
	snprintf((char *)swapped, sizeof swapped, "%s", harmless);
	while (harmless[swapAt] && harmless[swapAt] == wanted[swapAt]) swapAt++;
	swapTo[0] = harmless[swapAt], swapTo[1] = wanted[swapAt];
	pthread_create(&t, 0, swapper, 0);
	int won = 0;
	for (int i = 0; i < rounds && !won; i++) {
		int fd;
		switch (i & 3) {
		case 0: fd = open((char *)swapped, O_CREAT | O_WRONLY, 0755); if (fd >= 0) close(fd); break;
		case 1: mkdir((char *)swapped, 0755); break;
		case 2: symlink("/nowhere", (char *)swapped); break;
		case 3: mknod((char *)swapped, S_IFIFO | 0600, 0); break;
		}
		struct stat st;
		if (!lstat(wanted, &st)) won = i + 1;
		unlink(harmless);
		rmdir(harmless);
	}
	swapping = 0;
	pthread_join(t, 0);
	if (won) printf("ESCAPED %s made in round %d\n", wanted, won);
}

// flipAttributes changes what is known of own, likewise, and wanted must stay as it is.
static void flipAttributes(const char *own, const char *wanted, int rounds) {
	pthread_t t;
	struct stat before, after;
	stat(wanted, &before);
	snprintf((char *)swapped, sizeof swapped, "%s", own);
	while (own[swapAt] && own[swapAt] == wanted[swapAt]) swapAt++;
	swapTo[0] = own[swapAt], swapTo[1] = wanted[swapAt];
	pthread_create(&t, 0, swapper, 0);
	int won = 0;
	struct timespec times[2] = {{1, 0}, {1, 0}};
	for (int i = 0; i < rounds && !won; i++) {
		if (i & 1) chmod((char *)swapped, 0777);
		else utimensat(AT_FDCWD, (char *)swapped, times, 0);
		stat(wanted, &after);
		if (after.st_mode != before.st_mode || after.st_mtime != before.st_mtime) won = i + 1;
	}
	swapping = 0;
	pthread_join(t, 0);
	if (won) printf("ESCAPED attributes of %s in round %d\n", wanted, won);
}

// swapLocal connects to an own socket whose address another thread changes into somebody else's, of the same length.
static struct sockaddr_un target;
static const char *twoNames[2];
static void *turnName(void *unused) {
	for (unsigned i = 0; swapping; i++) memcpy((void *)target.sun_path, twoNames[i & 1], strlen(twoNames[i & 1]));
	return unused;
}
static int twoSockets[2], changing;
static void *turnSocket(void *unused) {
	for (unsigned i = 0; swapping; i++) dup2(twoSockets[i & 1], changing);
	return unused;
}
static void swapLocal(const char *own, const char *wanted, int rounds) {
	pthread_t t, u;
	struct sockaddr_un here = {.sun_family = AF_UNIX};
	snprintf(here.sun_path, sizeof here.sun_path, "%s", own);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(listener, (void *)&here, sizeof here);
	listen(listener, 4096);
	target = here;
	twoNames[0] = own, twoNames[1] = wanted;
	twoSockets[0] = socket(AF_UNIX, SOCK_DGRAM, 0), twoSockets[1] = socket(AF_UNIX, SOCK_STREAM, 0);
	changing = dup(twoSockets[0]);
	pthread_create(&t, 0, turnName, 0);
	for (int i = 0; i < rounds; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		connect(fd, (void *)&target, sizeof target);
		close(fd);
		fd = socket(AF_UNIX, SOCK_DGRAM, 0);
		sendto(fd, "ESCAPE", 6, MSG_DONTWAIT, (void *)&target, sizeof target);
		close(fd);
	}
	pthread_create(&u, 0, turnSocket, 0);
	for (int i = 0; i < rounds; i++) connect(changing, (void *)&target, sizeof target);
	swapping = 0;
	pthread_join(t, 0);
	pthread_join(u, 0);
}

// hammer writes, makes, moves and removes below a directory that somebody keeps replacing.
static void hammer(const char *dir, int rounds, int attributes) {
	char file[4096], other[4096], sub[4096];
	snprintf(file, sizeof file, "%s/f", dir);
	snprintf(other, sizeof other, "%s/g", dir);
	snprintf(sub, sizeof sub, "%s/d", dir);
	int done = 0;
	for (int i = 0; i < rounds; i++) {
		int fd = open(file, O_CREAT | O_WRONLY | O_TRUNC, 0644);
		if (fd >= 0) { done++; (void)!write(fd, "x", 1); close(fd); }
		fd = open(other, O_RDWR | O_APPEND);
		if (fd >= 0) { (void)!write(fd, "x", 1); close(fd); }
		switch (i & 7) {
		case 0: rename(file, other); break;
		case 1: unlink(other); break;
		case 2: mkdir(sub, 0700); break;
		case 3: rmdir(sub); break;
		case 4: link(file, other); break;
		case 5: truncate(file, 0); break;
		case 6: unlink(file); break;
		case 7: if (!symlink("f", other)) unlink(other); break;
		}
		if (attributes) { chmod(file, 0600 | (i & 077)); chmod(dir, 0755 | (i & 1)); utimes(file, 0); }
	}
	printf("wrote %d\n", done);
}

static void mapped(const char *path) {
	int fd = open(path, O_RDONLY);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) || !st.st_size) { printf("not mapped: %s\n", strerror(errno)); return; }
	char *m = mmap(0, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (m != MAP_FAILED) fwrite(m, 1, st.st_size, stdout);
}

// exhaust takes a bounded amount of something and gives it back.
static void exhaust(const char *what, const char *path) {
	if (!strcmp(what, "processes")) {
		pid_t all[200];
		int n = 0;
		for (; n < 200; n++) {
			pid_t c = fork();
			if (c < 0) break;
			if (c == 0) { poll(0, 0, 5000); _exit(0); }
			all[n] = c;
		}
		printf("processes %d\n", n);
		while (n-- > 0) { kill(all[n], SIGKILL); waitpid(all[n], 0, 0); }
	} else if (!strcmp(what, "files")) {
		int n = 0;
		while (n < 70000 && open("/dev/null", O_RDONLY) >= 0) n++;
		printf("descriptors %d\n", n);
	} else if (!strcmp(what, "shm")) {
		int fd = open("/dev/shm/fill", O_CREAT | O_WRONLY, 0600);
		static char block[1 << 20];
		memset(block, 1, sizeof block);
		int n = 0;
		for (; n < 300 && write(fd, block, sizeof block) == sizeof block; n++) {}
		printf("MiB %d\n", n);
		unlink("/dev/shm/fill");
	} else if (!strcmp(what, "disk")) {
		int fd = open(path, O_CREAT | O_WRONLY, 0600);
		signal(SIGXFSZ, SIG_IGN);
		long r = pwrite(fd, "x", 1, 17l << 30); // one block, behind 17 GiB of nothing
		printf("write behind the limit: %s\n", r < 0 ? strerror(errno) : "done");
		unlink(path);
	}
}

// without runs a command on a machine that lacks something: "userns", "notify", "landlock", or the number of a call.
static void without(char *list, char **argv) {
	struct sock_filter f[128];
	int n = 0, listener = 0, refusing = 0;
	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (char *w = strtok(list, ","); w; w = strtok(0, ",")) {
		int from = atoi(w), to = from;
		if (!strcmp(w, "userns")) {
			char map[64];
			int uid = getuid(), gid = getgid();
			if (unshare(CLONE_NEWUSER)) { perror("unshare"); exit(77); }
			int fd = open("/proc/self/setgroups", O_WRONLY);
			(void)!write(fd, "deny", 4);
			fd = open("/proc/self/uid_map", O_WRONLY);
			(void)!write(fd, map, snprintf(map, sizeof map, "%d %d 1", uid, uid));
			fd = open("/proc/self/gid_map", O_WRONLY);
			(void)!write(fd, map, snprintf(map, sizeof map, "%d %d 1", gid, gid));
			fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY);
			if (write(fd, "0", 1) != 1) { perror("max_user_namespaces"); exit(77); }
			continue;
		}
		if (!strcmp(w, "notify")) { listener = 1; continue; } // only one filter of a process can have a listener
		if (!strcmp(w, "landlock")) from = 444, to = 446;
		refusing = 1;
		for (; from <= to; from++) {
			f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, from, 0, 1);
			f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
		}
	}
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog p = {n, f};
	if (listener || refusing) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) exit(77);
		int fd = syscall(SYS_seccomp, 1, listener ? 1 << 3 : 0, &p);
		if (fd < 0) { perror("seccomp"); exit(77); }
		if (listener) fcntl(fd, F_SETFD, 0);
	}
	execv(argv[0], argv);
	perror(argv[0]);
	exit(77);
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "", *a = argc > 2 ? argv[2] : "", *b = argc > 3 ? argv[3] : "", *c = argc > 4 ? argv[4] : "";
	setvbuf(stdout, 0, _IOLBF, 0);
#define IS(s) (!strcmp(what, s))
	if (IS("without")) without(argv[2], argv + 3);
	else if (IS("privileged")) privileged();
	else if (IS("namespaces")) namespaces();
	else if (IS("mounts")) mounts(a);
	else if (IS("setns")) setnss();
	else if (IS("poke")) poke(atoi(a), strtoul(b, 0, 10));
	else if (IS("victim")) victim();
	else if (IS("handle")) handle(a, b);
	else if (IS("nodes")) nodes(a);
	else if (IS("types")) types(a, atoi(b));
	else if (IS("immutable")) immutable(a);
	else if (IS("volumes")) volumes(a, b);
	else if (IS("foreign")) foreign();
	else if (IS("reach")) reach(a, b, c);
	else if (IS("local")) local(a, b);
	else if (IS("families")) families();
	else if (IS("memory")) memory(a, b);
	else if (IS("attributes")) attributes(a);
	else if (IS("names")) names(a, b);
	else if (IS("bind")) bound(a);
	else if (IS("keeper")) keeper(a, b);
	else if (IS("serve")) serve(a, b, c);
	else if (IS("hammer")) hammer(a, atoi(b), atoi(c));
	else if (IS("swap-local")) swapLocal(a, b, atoi(c));
	else if (IS("swap-name")) swapName(a, b, atoi(c));
	else if (IS("unseen")) unseen(a, b);
	else if (IS("unseen-attributes")) unseenAttributes(a);
	else if (IS("flip")) flip(a, b, atoi(c));
	else if (IS("flip-attributes")) flipAttributes(a, b, atoi(c));
	else if (IS("mmap")) mapped(a);
	else if (IS("exhaust")) exhaust(a, b);
	else if (IS("crash")) { raise(SIGSEGV); }
	else return 2;
	return 0;
}
