// attack makes, changes and removes protected names of a workspace by every race that it knows, for as long as it is told:
//
//   cc -O1 -static -pthread -o attack attack.c; cd WORKSPACE; attack SECONDS SEED OUTSIDE
//
// It prints what each technique tried and how often the kernel said yes; whether a name was made is seen from outside, by
// the test. OUTSIDE is a path beside the workspace, of the same length but for one byte of a path inside it. It harms nothing
// but the workspace and OUTSIDE, which belong to the test.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

// wanted are the names that must not be made, changed or removed. Those that are there have content.
static const char *wanted[] = {
	".envrc", ".mcp.json", ".vscode", ".husky", ".toolhost/settings.local.json", ".git/commondir", ".git/config.worktree",
	".git/hooks/pre-commit", ".git/hooks/post-merge", ".git/config", "tree/.envrc", "tree/.vscode", "vendor/sub/.git/hooks/evil",
	"vendor/sub/.git/config", ".git/worktrees/wt/commondir", "wt/.git", "loose/.envrc", "loose/in/.mcp.json", ".config/git",
	".cargo/config.toml", ".local/bin", ".claude/settings.json",
};
#define WANTED (sizeof wanted / sizeof *wanted)

static volatile int *shared; // 1 while it runs, also in children
#define running (*shared)
static char top[2048], outside[4096];
static int confined, masked;
static unsigned long tried[64], done[64];
static const char *names[64];

static __thread unsigned state;
static unsigned dice(unsigned n) {
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % n;
}
static void count(int technique, const char *name, long r) {
	names[technique] = name;
	__atomic_add_fetch(&tried[technique], 1, __ATOMIC_RELAXED);
	if (r >= 0) __atomic_add_fetch(&done[technique], 1, __ATOMIC_RELAXED);
}

// never counts what must not succeed.
static void never(int technique, const char *name, const char *what, long r) {
	count(technique, name, r);
	if (r >= 0) printf("ESCAPED %s\n", what);
}

// A harmless name differs from a wanted one in the first byte of its last component.
static void harmlessOf(const char *want, char *out, size_t n) {
	snprintf(out, n, "%s", want);
	char *last = strrchr(out, '/');
	last = last ? last + 1 : out;
	*last = 'a';
}

// lie is memory whose text another thread turns between the two.
struct lie { char *text; char a, b; size_t at; volatile int stop; };
static void *turn(void *p) {
	struct lie *l = p;
	for (unsigned i = 0; running && !l->stop; i++) {
		((volatile char *)l->text)[l->at] = i & 1 ? l->a : l->b;
		if ((i & 15) == 0) sched_yield(); // those who race with us need the processor, too
	}
	return 0;
}

static char *page(void) {
	char *m = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return m == MAP_FAILED ? 0 : m;
}

// make makes something of a name by a call of its choice, and removes what it may.
static long make(const char *path, const char *spare) {
	if (!running) return -1;
	long r = -1;
	int fd;
	switch (dice(10)) {
	case 0: r = fd = open(path, O_CREAT | O_WRONLY | O_NONBLOCK, 0755); if (fd >= 0) { (void)!write(fd, "evil\n", 5); close(fd); } break;
	case 1: r = fd = open(path, O_CREAT | O_RDWR | O_TRUNC | (dice(2) ? O_EXCL : 0), 0600); if (fd >= 0) close(fd); break;
	case 2: r = mkdir(path, 0755); break;
	case 3: r = mknod(path, S_IFIFO | 0600, 0); break;
	case 4: r = symlink("/nowhere", path); break;
	case 5: close(open(spare, O_CREAT | O_WRONLY | O_NONBLOCK, 0600)); r = link(spare, path); break;
	case 6: close(open(spare, O_CREAT | O_WRONLY | O_NONBLOCK, 0600)); r = rename(spare, path); break;
	case 7: close(open(spare, O_CREAT | O_WRONLY | O_NONBLOCK, 0600)); r = syscall(SYS_renameat2, AT_FDCWD, spare, AT_FDCWD, path, 2 - dice(2)); break;
	case 8: r = fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK); if (fd >= 0) { (void)!write(fd, "evil\n", 5); close(fd); } break;
	case 9: r = truncate(path, 3); break;
	}
	return r;
}

static long take(const char *path) {
	if (!running) return -1;
	switch (dice(4)) {
	case 0: return unlink(path);
	case 1: return rmdir(path);
	case 2: return rename(path, "spare-taken");
	default: return chmod(path, 0777);
	}
}

static char spares[64][64];

// round by round, one technique after the other on a name.
static void flipped(int t, const char *want, const char *spare, char *memory) {
	char harmless[256];
	harmlessOf(want, harmless, sizeof harmless);
	snprintf(memory, 4096, "%s", harmless);
	struct lie l = {memory, 0, 0, 0, 0};
	while (harmless[l.at] == want[l.at]) l.at++;
	l.a = want[l.at], l.b = harmless[l.at];
	pthread_t th;
	if (pthread_create(&th, 0, turn, &l)) return;
	for (int i = 0; i < 60 && running; i++) {
		count(t, "bytes that change", make(memory, spare));
		if (dice(3) == 0) take(memory);
		unlink(harmless);
		rmdir(harmless);
	}
	l.stop = 1;
	pthread_join(th, 0);
}

static void secret(int t, const char *want, const char *spare) {
#ifdef SYS_memfd_secret
	int fd = syscall(SYS_memfd_secret, O_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 4096)) { if (fd >= 0) close(fd); return; }
	char *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (m == MAP_FAILED) return;
	snprintf(m, 4096, "%s", want);
	for (int i = 0; i < 20 && running; i++) count(t, "memory that nobody else reads", dice(4) ? make(m, spare) : take(m));
	munmap(m, 4096);
#endif
}

// A page that comes and goes: mapped from a file that is cut and grown, protected, thrown away.
struct moving { char *page; int fd; const char *text; volatile int stop; };
static void *movePage(void *p) {
	struct moving *m = p;
	for (unsigned i = 0; running && !m->stop; i++) {
		switch (i % 5) {
		case 0: mprotect(m->page, 4096, PROT_NONE); break;
		case 1: mprotect(m->page, 4096, PROT_READ | PROT_WRITE); break;
		case 2: (void)!ftruncate(m->fd, 0); break;
		case 3: (void)!ftruncate(m->fd, 4096); (void)!pwrite(m->fd, m->text, strlen(m->text) + 1, 0); break;
		case 4: madvise(m->page, 4096, MADV_DONTNEED); sched_yield(); break;
		}
	}
	return 0;
}
static void slowPage(int t, const char *want, const char *spare) {
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);
	if (fd < 0 || ftruncate(fd, 4096)) { if (fd >= 0) close(fd); return; }
	(void)!pwrite(fd, want, strlen(want) + 1, 0);
	char *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct moving mv = {m, fd, want, 0};
	pthread_t th;
	if (m != MAP_FAILED && !pthread_create(&th, 0, movePage, &mv)) {
		for (int i = 0; i < 40 && running; i++) count(t, "pages that come and go", make(m, spare));
		mv.stop = 1;
		pthread_join(th, 0);
	}
	if (m != MAP_FAILED) munmap(m, 4096);
	close(fd);
}

// The working directory of a process of its own, moved by its other thread.
static volatile int wandering;
static void *wander(void *p) {
	const char **places = p;
	for (unsigned i = 0; wandering && running; i++) { (void)!chdir(top); (void)!chdir(places[i % 4]); sched_yield(); }
	return 0;
}
static void wanderer(int t, const char *spare) {
	static const char *places[] = {"plain", ".", "tree", "loose"}, *here[] = {".envrc", ".mcp.json", ".vscode", "in/.mcp.json"};
	pid_t c = fork();
	if (c == 0) {
		alarm(20);
		pthread_t th;
		wandering = 1;
		if (pthread_create(&th, 0, wander, places)) _exit(0);
		unsigned long n = 0;
		for (int i = 0; i < 40 && running; i++) { make(here[dice(4)], spare); n++; }
		wandering = 0;
		pthread_join(th, 0);
		(void)!chdir(top);
		char litter[4200];
		for (int i = 0; i < 4; i++) { snprintf(litter, sizeof litter, "plain/%s", here[i]); unlink(litter); rmdir(litter); }
		_exit(n == 40 || !running ? 0 : 1);
	}
	int st;
	if (c > 0) waitpid(c, &st, 0);
	count(t, "a working directory that moves, 40 calls each", c > 0 ? 0 : -1);
}

// Directories that move while names are made in them.
static void trees(int t) {
	char n[64], in[128];
	snprintf(n, sizeof n, "n%u", dice(4));
	mkdir(n, 0755);
	static const char *below[] = {".envrc", "git", "settings.json", "config.toml", "bin", ".vscode", "in", "in/.mcp.json", "hooks", "commondir"};
	for (int i = 0; i < 4; i++) {
		snprintf(in, sizeof in, "%s/%s", n, below[dice(10)]);
		if (dice(3)) mkdir(in, 0755); else close(open(in, O_CREAT | O_WRONLY | O_NONBLOCK, 0644));
	}
	static const char *to[] = {"loose", "tree", ".config", ".cargo", ".local", ".claude", ".vscode", ".husky", "loose/in", "plain/p", "n0", "n1", "n2", ".git/modules/x", "vendor/sub"};
	const char *target = to[dice(15)];
	switch (dice(5)) {
	case 0: count(t, "trees that move", rename(n, target)); break;
	case 1: count(t, "trees that move", syscall(SYS_renameat2, AT_FDCWD, n, AT_FDCWD, target, 2)); break;
	case 2: count(t, "trees that move", rename(target, n)); break;
	case 3: snprintf(in, sizeof in, "%s/%s", target, below[dice(10)]); count(t, "trees that move", make(in, n)); break;
	case 4: chmod(n, 0); count(t, "trees that move", rename(n, target)); chmod(n, 0755); chmod(target, 0755); break;
	}
}

// Links in place of directories, exchanged with them.
static void links(int t, const char *spare) {
	static const char *to[] = {".", "tree", "loose", ".git", ".git/hooks", "plain", "vendor/sub/.git", ".toolhost"};
	char l[64], m[64], in[128];
	snprintf(l, sizeof l, "l%u", dice(3));
	snprintf(m, sizeof m, "m%u", dice(3));
	static const char *below[] = {".envrc", ".vscode", "commondir", "hooks/pre-commit", "pre-commit", "settings.local.json", "config", ".mcp.json"};
	symlink(to[dice(8)], l);
	symlink("plain", m);
	syscall(SYS_renameat2, AT_FDCWD, l, AT_FDCWD, m, 2);
	snprintf(in, sizeof in, "%s/%s", dice(2) ? l : m, below[dice(8)]);
	count(t, "links that are swapped", make(in, spare));
	static const char *places[] = {"loose", "loose/in", ".config", ".cargo", "tree"};
	const char *place = places[dice(5)];
	if (!dice(3)) { rename(place, "away"); count(t, "links that are swapped", symlink(top, place)); unlink(place); rename("away", place); }
	unlink(l);
	unlink(m);
}

static void byProc(int t, const char *want, const char *spare) {
	char path[4200];
	int fd = open(dice(2) ? "." : "tree", O_PATH | O_DIRECTORY);
	const char *rest = want;
	switch (dice(7)) {
	case 0: snprintf(path, sizeof path, "/proc/self/fd/%d/%s", fd, rest); break;
	case 1: snprintf(path, sizeof path, "/proc/self/cwd/%s", rest); break;
	case 2: snprintf(path, sizeof path, "/proc/self/root%s/%s", top, rest); break;
	case 3: snprintf(path, sizeof path, "/proc/thread-self/cwd/%s", rest); break;
	case 4: snprintf(path, sizeof path, "/proc/%d/cwd/%s", getpid(), rest); break;
	case 5: snprintf(path, sizeof path, "/dev/fd/%d/%s", fd, rest); break;
	case 6: snprintf(path, sizeof path, "/proc/1/cwd/%s", rest); break;
	}
	count(t, "ways through /proc", dice(4) ? make(path, spare) : take(path));
	close(fd);
	int have = open(want, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
	if (have >= 0) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", have);
		int again = open(path, O_NONBLOCK | (dice(2) ? O_WRONLY | O_TRUNC : O_RDWR));
		count(t, "ways through /proc", again);
		if (again >= 0) { (void)!write(again, "evil", 4); close(again); }
		close(have);
	}
}

static void nameless(int t, const char *want) {
	char path[64];
	int fd = open(".", O_TMPFILE | O_RDWR, 0755);
	if (fd < 0) return;
	(void)!write(fd, "evil\n", 5);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	count(t, "files without a name", linkat(AT_FDCWD, path, AT_FDCWD, want, AT_SYMLINK_FOLLOW));
	count(t, "files without a name", linkat(fd, "", AT_FDCWD, want, AT_EMPTY_PATH));
	close(fd);
}

static void resolving(int t, const char *want) {
	struct open_how how = {.flags = O_CREAT | O_WRONLY, .mode = 0755, .resolve = dice(64)};
	count(t, "openat2", syscall(SYS_openat2, AT_FDCWD, want, &how, sizeof how));
}

static void binding(int t, const char *want) {
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char harmless[256];
	harmlessOf(want, harmless, sizeof harmless);
	snprintf(a.sun_path, sizeof a.sun_path, "%.107s", harmless);
	struct lie l = {a.sun_path, 0, 0, 0, 0};
	while (harmless[l.at] == want[l.at]) l.at++;
	l.a = want[l.at], l.b = harmless[l.at];
	pthread_t th;
	if (pthread_create(&th, 0, turn, &l)) return;
	for (int i = 0; i < 10 && running; i++) {
		int two[2];
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, two)) break;
		count(t, "sockets that get a name", bind(two[0], (void *)&a, sizeof a));
		close(two[0]), close(two[1]);
		int s = socket(AF_UNIX, SOCK_STREAM, 0);
		if (s >= 0) { count(t, "sockets that get a name", bind(s, (void *)&a, sizeof a)); close(s); }
		unlink(harmless);
	}
	l.stop = 1;
	pthread_join(th, 0);
}

// A descriptor that is another directory from call to call.
struct swap { int fd, one, other; volatile int stop; };
static void *swapDir(void *p) {
	struct swap *s = p;
	for (unsigned i = 0; running && !s->stop; i++) {
		dup2(i & 1 ? s->one : s->other, s->fd);
		if ((i & 15) == 0) sched_yield();
	}
	return 0;
}
static void swapped(int t) {
	static const char *there[] = {".", ".git", "tree", ".toolhost", ".git/hooks"}, *base[] = {".envrc", "commondir", ".vscode", "settings.local.json", "pre-commit"};
	unsigned k = dice(5);
	struct swap s = {0, open("plain", O_PATH), open(there[k], O_PATH), 0};
	s.fd = dup(s.one);
	pthread_t th;
	if (s.one >= 0 && s.other >= 0 && s.fd >= 0 && !pthread_create(&th, 0, swapDir, &s)) {
		for (int i = 0; i < 60 && running; i++) {
			int fd = openat(s.fd, base[k], O_CREAT | O_WRONLY | O_NONBLOCK, 0755);
			count(t, "descriptors that change", fd);
			if (fd >= 0) close(fd);
			mkdirat(s.fd, base[k], 0755);
			unlinkat(s.one, base[k], 0);
			unlinkat(s.one, base[k], AT_REMOVEDIR);
		}
		s.stop = 1;
		pthread_join(th, 0);
	}
	close(s.fd), close(s.one), close(s.other);
}

// What is known of files: inside, and where a path turns to the outside.
static void attributes(int t, char *memory) {
	static const char *have[] = {".git/config", ".git/hooks/post-merge", "vendor/sub/.git/config", "wt/.git"};
	const char *want = dice(2) ? outside : have[dice(4)];
	char own[3000];
	if (want == outside) snprintf(own, sizeof own, "%s/file", top); else harmlessOf(want, own, sizeof own);
	close(open(own, O_CREAT | O_WRONLY | O_NONBLOCK, 0644));
	snprintf(memory, 4096, "%s", own);
	struct lie l = {memory, 0, 0, 0, 0};
	while (own[l.at] && own[l.at] == want[l.at]) l.at++;
	l.a = want[l.at], l.b = own[l.at];
	pthread_t th;
	if (pthread_create(&th, 0, turn, &l)) return;
	struct timespec times[2] = {{1, 0}, {1, 0}};
	for (int i = 0; i < 60 && running; i++) {
		long r = -1;
		switch (dice(5)) {
		case 0: r = chmod(memory, 0777); break;
		case 1: r = utimensat(AT_FDCWD, memory, times, 0); break;
		case 2: r = setxattr(memory, "user.evil", "1", 1, 0); break;
		case 3: r = chown(memory, -1, getgid()); break;
		case 4: r = truncate(memory, 1); break;
		}
		count(t, "attributes", r);
	}
	l.stop = 1;
	pthread_join(th, 0);
}

// have are protected files and one outside, which can be read.
static const char *pickHave(void) {
	static const char *have[] = {".git/config", ".git/hooks/post-merge", "vendor/sub/.git/config", "wt/.git"};
	return dice(3) ? have[dice(4)] : outside;
}

// Requests of files and terminals that make names, change files, or type; then any number.
static void controls(int t) {
	static const unsigned long known[] = {
		0x5000940e, 0x5000940f, 0x50009401, 0x50009417, 0x50009418, 0x40087602, 0x40086604, 0x40086602, 0x401c5820, 0xc0189436,
		0x40049409, 0x4020940d, 0xc0c0586d, 0x40305828, 0x4030582a, 0x40305839, 0x6685, 0x40806685, 0x40047211, 0x5412, 0x541c, 0x5423, 0x8901, 0x8902,
	};
	struct { long long fd; char name[4088]; } a = {0, ""};
	const char *want = pickHave(), *dirs[] = {".", ".git", ".git/hooks", "tree"};
	char up[4200];
	snprintf(up, sizeof up, "%s", outside);
	char *end = strrchr(up, '/');
	if (end) *end = 0;
	int fd = dice(2) ? open(want, O_RDONLY | O_NONBLOCK) : open(dice(5) ? dirs[dice(4)] : up, O_RDONLY | O_DIRECTORY);
	int from = open("tree", O_RDONLY | O_DIRECTORY);
	snprintf(a.name, sizeof a.name, "%s", wanted[dice(4)]);
	a.fd = dice(2) ? from : 0x20;
	unsigned long request = known[dice(sizeof known / sizeof *known)];
	if (confined && dice(2)) request = dice(3) ? known[dice(24)] ^ (1ul << dice(33)) : (unsigned long)dice(1u << 24) << 8 | dice(256);
	if (!confined && request != 0x5000940e && request != 0x40087602) request = 0x5401;
	count(t, "ioctls", syscall(SYS_ioctl, fd, request, &a));
	close(fd), close(from);
}

// A process of its own changes what it is, then makes names.
static void natures(int t, const char *want, const char *spare) {
	pid_t c = fork();
	if (c == 0) {
		alarm(10);
		for (int i = 0; i < 6; i++) {
			switch (dice(12)) {
			case 0: prctl(PR_SET_DUMPABLE, dice(3)); break;
			case 1: prctl(PR_SET_CHILD_SUBREAPER, dice(2)); break;
			case 2: prctl(PR_SET_NO_NEW_PRIVS, 0); break;
			case 3: prctl(PR_SET_KEEPCAPS, 1); break;
			case 4: prctl(PR_SET_PTRACER, -1); break;
			case 5: prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, dice(40), 0, 0); break;
			case 6: prctl(PR_SET_SECUREBITS, dice(64)); break;
			case 7: unshare(CLONE_FILES); break;
			case 8: unshare(CLONE_FS); chdir("tree"); break;
			case 9: prctl(PR_SET_MM, dice(14), top, 0, 0); break;
			case 10: { struct rlimit l = {dice(40), 4096}; if (confined) setrlimit(RLIMIT_NOFILE, &l); break; }
			case 11: syscall(SYS_personality, dice(2) ? 0x400000 : 0x40000); break;
			}
			make(want, spare);
			char path[4200];
			snprintf(path, sizeof path, "%s/%s", top, want);
			make(path, spare);
		}
		_exit(0);
	}
	if (c > 0) waitpid(c, 0, 0);
	count(t, "processes that change what they are, 12 calls each", c);
}

// Limits and signals of processes that are none of its own. Where others than the session's have numbers only the parent is tried.
static void directed(int t) {
	if (!confined) return;
	struct rlimit64 { unsigned long long cur, max; } few = {4, 4};
	unsigned long one = 1;
	pid_t parent = getppid(), target = parent ? parent : 1;
	const char *name = "limits, priorities and signals of others";
	switch (dice(10)) {
	case 0: never(t, name, "prlimit", syscall(SYS_prlimit64, target, RLIMIT_NOFILE, &few, 0)); break;
	case 1: never(t, name, "prlimit, upper half set", syscall(SYS_prlimit64, (1ul << 32) | target, RLIMIT_NOFILE, &few, 0)); break;
	case 2: never(t, name, "sched_setaffinity", syscall(SYS_sched_setaffinity, target, 8, &one)); break;
	case 3: never(t, name, "setpriority", setpriority(PRIO_PROCESS, target, 19)); break;
	case 4: never(t, name, "setpriority of the user", setpriority(PRIO_USER, getuid(), 19)); break;
	case 5: never(t, name, "ioprio_set", syscall(SYS_ioprio_set, 1, target, 3 << 13)); break;
	case 6: { struct sched_param p = {0}; never(t, name, "sched_setscheduler", syscall(SYS_sched_setscheduler, target, SCHED_BATCH, &p)); break; }
	case 7: { int h = syscall(SYS_pidfd_open, target, 0); if (parent) never(t, name, "pidfd_send_signal", h < 0 ? -1 : syscall(SYS_pidfd_send_signal, h, SIGCONT, 0, 0)); close(h); break; }
	case 8: if (parent) never(t, name, "kill", kill(target, SIGCONT)); break;
	case 9: {
		static const char *files[] = {"oom_score_adj", "coredump_filter", "comm", "autogroup", "timerslack_ns", "clear_refs", "mem"};
		char path[64];
		snprintf(path, sizeof path, "/proc/%d/%s", target, files[dice(7)]);
		int fd = open(path, O_WRONLY);
		never(t, name, path, fd);
		close(fd);
	}
	}
}

static void mounting(int t) {
	if (!confined) return;
	const char *name = "mounts";
	switch (dice(10)) {
	case 0: never(t, name, "mount", mount("none", "tree", "tmpfs", 0, 0)); break;
	case 1: never(t, name, "bind", mount(outside, "wt/.git", 0, MS_BIND, 0)); break;
	case 2: never(t, name, "umount", umount2(dice(2) ? ".env" : ".git/hooks", MNT_DETACH)); break;
	case 3: never(t, name, "remount", mount(0, ".git/hooks", 0, MS_REMOUNT | MS_BIND, 0)); break;
	case 4: never(t, name, "open_tree", syscall(428, AT_FDCWD, ".git", 1)); break;
	case 5: never(t, name, "fsopen", syscall(430, "tmpfs", 0)); break;
	case 6: never(t, name, "unshare", unshare(dice(2) ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS)); break;
	case 7: { int fd = open("/proc/1/ns/mnt", O_RDONLY); never(t, name, "setns", fd < 0 ? -1 : setns(fd, 0)); close(fd); break; }
	case 8: never(t, name, "chroot", chroot("tree")); break;
	case 9: { unsigned long attr[4] = {0, 1}; never(t, name, "mount_setattr", syscall(442, AT_FDCWD, ".git/hooks", 0, attr, sizeof attr)); break; }
	}
}

// Locks on a file outside, by a descriptor that is a file of its own from call to call. They last as long as the descriptors.
static void locking(int t) {
	struct swap s = {0, open("spare-lock", O_CREAT | O_RDWR, 0644), open(outside, O_RDONLY), 0};
	s.fd = dup(s.one);
	pthread_t th;
	struct flock all = {.l_type = F_RDLCK};
	if (s.one >= 0 && s.other >= 0 && s.fd >= 0 && !pthread_create(&th, 0, swapDir, &s)) {
		for (int i = 0; i < 40 && running; i++) {
			switch (dice(4)) {
			case 0: count(t, "locks of files outside", flock(s.fd, LOCK_EX | LOCK_NB)); break;
			case 1: count(t, "locks of files outside", flock(s.other, LOCK_SH | LOCK_NB)); break;
			case 2: count(t, "locks of files outside", fcntl(s.fd, F_OFD_SETLK, &all)); break;
			case 3: count(t, "locks of files outside", fcntl(s.other, dice(2) ? F_SETLK : F_OFD_SETLK, &all)); break;
			}
			if (dice(4) == 0) { struct timespec hold = {0, 2000000}; nanosleep(&hold, 0); } // to be seen
		}
		s.stop = 1;
		pthread_join(th, 0);
	}
	close(s.fd), close(s.one), close(s.other);
}

// Data that goes into files which are open for reading only.
static void flows(int t) {
	const char *name = "data for files that are open for reading";
	int fd = open(pickHave(), O_RDONLY | O_NONBLOCK), own = open("spare-data", O_CREAT | O_RDWR | O_TRUNC, 0644), p[2];
	if (fd < 0 || own < 0 || pipe(p)) { close(fd), close(own); return; }
	(void)!write(own, "evil\n", 5);
	(void)!write(p[1], "evil\n", 5);
	lseek(own, 0, SEEK_SET);
	off_t zero = 0;
	struct { unsigned a[30]; } ring = {{0}};
	switch (dice(10)) {
	case 0: count(t, name, copy_file_range(own, 0, fd, 0, 5, 0)); break;
	case 1: count(t, name, splice(p[0], 0, fd, 0, 5, 0)); break;
	case 2: count(t, name, sendfile(fd, own, &zero, 5)); break;
	case 3: count(t, name, ftruncate(fd, 0)); break;
	case 4: count(t, name, fallocate(fd, 3, 0, 4096)); break;
	case 5: count(t, name, pwrite(fd, "evil", 4, 0)); break;
	case 6: { char *m = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0); count(t, name, m == MAP_FAILED ? -1 : mprotect(m, 4096, PROT_READ | PROT_WRITE)); if (m != MAP_FAILED) munmap(m, 4096); break; }
	case 7: never(t, name, "io_uring_setup", confined ? syscall(SYS_io_uring_setup, 4, &ring) : -1); break;
	case 8: count(t, name, fcntl(fd, F_SETFL, O_RDWR)); break;
	case 9: { char path[64]; snprintf(path, sizeof path, "/proc/self/fd/%d", fd); int again = open(path, O_RDWR | (dice(2) ? O_TRUNC : 0)); count(t, name, again); if (again >= 0) { (void)!write(again, "evil", 4); close(again); } break; }
	}
	close(fd), close(own), close(p[0]), close(p[1]);
}

// Programs without a name, by descriptors and by scripts whose interpreter is exchanged: the filter goes along.
static void programs(int t, const char *want) {
	pid_t c = fork();
	if (c == 0) {
		alarm(5);
		char text[4300], name[64];
		snprintf(text, sizeof text, "#!%s\necho evil > '%s'; mkdir -p '%s'; ln -sf /nowhere '%s'\n", dice(2) ? "/bin/sh" : "./spare-sh", want, want, want);
		snprintf(name, sizeof name, "spare-x%u", dice(3));
		symlink("/bin/sh", "spare-sh");
		int fd = dice(2) ? (int)syscall(SYS_memfd_create, "x", 0) : open(name, O_CREAT | O_RDWR | O_TRUNC, 0755);
		(void)!write(fd, text, strlen(text));
		if (dice(2)) { char path[64]; snprintf(path, sizeof path, "/proc/self/fd/%d", fd); fd = open(path, O_RDONLY); }
		int null = open("/dev/null", O_WRONLY);
		dup2(null, 1), dup2(null, 2);
		char *argv[] = {"x", 0}, *env[] = {"PATH=/usr/bin:/bin", 0};
		if (dice(2)) syscall(SYS_execveat, fd, "", argv, env, AT_EMPTY_PATH);
		syscall(SYS_execveat, AT_FDCWD, name, argv, env, 0);
		_exit(0);
	}
	if (c > 0) waitpid(c, 0, 0);
	count(t, "programs by descriptors and scripts", c);
}

// A secret that must be masked.
static void secrets(int t, char *memory) {
	static const char *of[] = {".env", "tree/.env.local", "./tree/../.env", "/proc/self/cwd/.env"};
	const char *want = of[dice(4)];
	char buffer[64] = "", path[64];
	int fd = -1, place;
	switch (dice(4)) {
	case 0: fd = open(want, O_RDONLY); break;
	case 1: place = open(want, O_PATH); snprintf(path, sizeof path, "/proc/self/fd/%d", place); fd = open(path, O_RDONLY); close(place); break;
	case 2: snprintf(memory, 4096, "%s", want); fd = open(memory, O_RDWR); break;
	case 3: link(want, "spare-secret"), rename(want, "spare-secret2"); fd = open(dice(2) ? "spare-secret" : "spare-secret2", O_RDONLY); break;
	}
	long n = fd < 0 ? -1 : read(fd, buffer, sizeof buffer - 1);
	count(t, "secrets that are masked", n);
	if (masked && n > 0 && strstr(buffer, "CANARY")) printf("ESCAPED secret %s\n", want);
	close(fd);
}

enum { ATTACKERS = 3 };

static void *attacker(void *p) {
	unsigned me = (unsigned long)p;
	state = me * 2654435761u + (unsigned)time(0);
	char *memory = page(), *spare = spares[me % 64];
	snprintf(spare, sizeof spares[0], "spare%u", me);
	while (running && memory) {
		const char *want = wanted[dice(WANTED)];
		switch (dice(21)) {
		case 0: flipped(0, want, spare, memory); break;
		case 1: secret(1, want, spare); break;
		case 2: slowPage(2, want, spare); break;
		case 3: if (me % ATTACKERS == 1) wanderer(3, spare); break;
		case 4: for (int i = 0; i < 20 && running; i++) trees(4); break;
		case 5: for (int i = 0; i < 10 && running; i++) links(5, spare); break;
		case 6: for (int i = 0; i < 10 && running; i++) byProc(6, wanted[dice(WANTED)], spare); break;
		case 7: for (int i = 0; i < 10 && running; i++) nameless(7, wanted[dice(WANTED)]); break;
		case 8: resolving(8, want); break;
		case 9: binding(9, want); break;
		case 10: swapped(10); break;
		case 11: attributes(11, memory); break;
		case 13: for (int i = 0; i < 60 && running; i++) controls(13); break;
		case 14: natures(14, want, spare); break;
		case 15: for (int i = 0; i < 20 && running; i++) directed(15); break;
		case 16: for (int i = 0; i < 20 && running; i++) mounting(16); break;
		case 17: locking(17); break;
		case 18: for (int i = 0; i < 20 && running; i++) flows(18); break;
		case 19: programs(19, want); break;
		case 20: for (int i = 0; i < 20 && running; i++) secrets(20, memory); break;
		case 12: for (int i = 0; i < 20 && running; i++) count(12, "plain calls", dice(3) ? make(wanted[dice(WANTED)], spare) : take(wanted[dice(WANTED)])); break;
		}
	}
	return 0;
}

// again puts back what the workspace needs to be attacked.
static void *again(void *unused) {
	while (running) {
		mkdir("plain", 0755), mkdir("loose", 0755), mkdir("loose/in", 0755);
		struct timespec pause = {0, 50000000};
		nanosleep(&pause, 0);
	}
	return unused;
}

int main(int argc, char **argv) {
	if (argc < 4 || !getcwd(top, sizeof top)) return 2;
	snprintf(outside, sizeof outside, "%s", argv[3]);
	signal(SIGPIPE, SIG_IGN);
	confined = prctl(PR_GET_SECCOMP) == 2, masked = argc > 4;
	shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) return 2;
	running = 1;
	pthread_t th[ATTACKERS + 1];
	pthread_create(&th[ATTACKERS], 0, again, 0);
	unsigned long seed = strtoul(argv[2], 0, 10);
	for (unsigned long i = 0; i < ATTACKERS; i++) pthread_create(&th[i], 0, attacker, (void *)(seed * ATTACKERS + i + 1));
	sleep(atoi(argv[1]));
	running = 0;
	struct timespec patience;
	clock_gettime(CLOCK_REALTIME, &patience);
	patience.tv_sec += 30;
	int late = 0;
	for (int i = 0; i <= ATTACKERS; i++) late += pthread_timedjoin_np(th[i], 0, &patience) != 0;
	if (late) printf("%d threads did not end\n", late);
	unsigned long all = 0, yes = 0;
	for (int i = 0; i < 64; i++) {
		if (!names[i]) continue;
		printf("%-50s %10lu calls, %10lu done\n", names[i], tried[i], done[i]);
		all += tried[i], yes += done[i];
	}
	printf("%-50s %10lu calls, %10lu done\n", "all", all, yes);
	fflush(stdout);
	_exit(late ? 3 : 0);
}
