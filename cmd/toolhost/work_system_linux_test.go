package main

// systemWork is what programs ask of a system.
func systemWork() []work {
	return []work{
		{name: "exit codes and streams", alone: true, users: true, steps: []step{
			{in: `echo out; echo err >&2; exit 7`, fails: true, want: "^out$"},
			{in: `echo err >&2`, want: "err"}, {in: `false; true`}, {in: `kill -TERM $$`, fails: true},
			{in: `cat; echo $?`, want: "^0$"}, {in: `no-such-program`, fails: true, want: "not found"},
		}},
		{name: "the working directory", steps: []step{
			{in: `mkdir -p a/b && cd a/b && pwd && echo one > f`, want: `/ws/a/b$`},
			{in: `@shell {"command":"pwd; cat f; echo two > ../g","cwd":"WS/a/b"}`, want: "/ws/a/b\none$"},
			{in: `cat a/g`, want: "^two$"},
		}},
		{name: "a directory that is made, entered and left", alone: true, steps: []step{
			{in: `echo one > f; mkdir b && cd b && cat ../f && cp ../f g && cd .. && cat b/../b/g`, want: "^one\none$"},
			{in: `mkdir -p x/y; cd x/y; cat ../../f; cat nowhere/../f || echo none`, want: "^one\n(.*\n)?none$"},
		}},
		{name: "terminals", needs: "script python3", alone: true, users: true, steps: []step{
			{in: `script -qec 'tty; stty size; echo in a terminal' /dev/null`, want: `^/dev/pts/\d+`},
			{in: `python3 -c 'import pty,sys; sys.exit(pty.spawn(["sh","-c","tty; test -t 0; echo yes $?"]) >> 8)' </dev/null`, want: "^yes 0"},
			{in: `python3 - <<'E'
import os, pty, select
pid, fd = pty.fork()
if pid == 0:
    os.execlp("sh", "sh", "-c", "read x; echo got $x; cat > /dev/tty")
os.write(fd, b"one\n")
text = b""
while b"got one" not in text:
    text += os.read(fd, 100)
os.write(fd, b"\x04")
print(os.waitpid(pid, 0)[1])
E`, want: "^0$"},
		}},
		{name: "python multiprocessing", needs: "python3", alone: true, users: true, steps: []step{
			{in: `cat > p.py <<'E'
import multiprocessing as m, threading, concurrent.futures as c
from multiprocessing import shared_memory as s
def f(n): return n * n
if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        with m.get_context(method).Pool(2) as p: print(p.map(f, [1, 2, 3]))
    a = s.SharedMemory(create=True, size=1 << 20); b = s.SharedMemory(a.name); a.buf[0] = 7; print(b.buf[0]); b.close(); a.close(); a.unlink()
    q = m.Queue(); m.Process(target=q.put, args=(8,)).start(); print(q.get())
    with m.Manager() as manager: print(manager.list([9]))
    with m.Lock(): print("locked")
    with c.ThreadPoolExecutor(8) as e: print(sum(e.map(f, range(10))))
    with c.ProcessPoolExecutor(2) as e: print(sum(e.map(f, range(10))))
E
				python3 p.py`, want: `^7\n8\n\[9\]\nlocked\n285\n285$`},
		}},
		{name: "pipes, FIFOs and sockets", needs: "python3", alone: true, users: true, steps: []step{
			{in: `mkfifo p /tmp/p; echo one > p & cat p; (echo two > /tmp/p &); cat /tmp/p; cat <(echo three) | tee >(cat > f) | cat; wait; cat <<< four`, want: `^one\ntwo\nthree\nfour$`},
			{in: `python3 -c '
import socket
for at in ("s", "/tmp/s", "\0abstract"):
    s = socket.socket(socket.AF_UNIX); s.bind(at); s.listen()
    c = socket.socket(socket.AF_UNIX); c.connect(at); c.send(b"x"); print(s.accept()[0].recv(1))
a, b = socket.socketpair(); a.send(b"y"); print(b.recv(1))'`, want: "^b'x'\nb'x'\nb'x'\nb'y'$"},
		}},
		{name: "scripts and links", alone: true, users: true, steps: []step{
			{in: `printf '#!/bin/sh\necho ran "$@"\n' > s; chmod +x s; ./s x`, want: "^ran x$"},
			{in: `cp s /tmp/s && /tmp/s y; chmod 600 s; stat -c %a s; chmod u+s s &&
				stat -c %A s; true`, want: "^ran y\n600$"},
			{in: `ln -s s l && readlink l && ln s h && stat -c %h s && mkdir -p d/e && mv h d/e/h && mv d/e f &&
				cat f/h | head -1`, want: `^s\n2\n#!/bin/sh$`},
			{in: `umask 027; touch u; stat -c %a u; truncate -s 1M big; fallocate -l 64K alloc; stat -c %s big; touch -d 2001-02-03 u; date -r u +%Y`, want: `^640\n1048576\n2001$`},
			{in: `mv f g; rm -rf g; ls -d g f || echo gone`, want: "^gone$"},
		}},
		{name: "mv between the workspace and /tmp", alone: true, users: true, steps: []step{
			{in: `mkdir d; echo one > d/f; mv d /tmp/ && cat /tmp/d/f && mv /tmp/d . && cat d/f && cp -a d /tmp/e &&
				diff -r d /tmp/e && echo same`, want: `^one\none\nsame$`},
		}},
		{name: "locks", needs: "python3 flock", alone: true, users: true, steps: []step{
			{in: `flock l -c 'echo held; flock -n l true || echo busy'`, want: "^held\nbusy$"},
			{in: `python3 -c '
import fcntl, os, sqlite3
f = open("g", "w"); fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB); print("posix")
d = sqlite3.connect("db"); d.execute("pragma journal_mode=wal"); d.execute("create table t(x)"); d.execute("insert into t values(1)"); d.commit(); print(d.execute("select * from t").fetchall())'`, want: `^posix\n\[\(1,\)\]$`},
		}},
		{name: "sqlite3", needs: "sqlite3", alone: true, steps: []step{
			{in: `sqlite3 db 'create table t(x); insert into t values(42); select * from t'`, want: "^42$"},
		}},
		{name: "watching files", needs: "python3", alone: true, users: true, steps: []step{
			{in: `touch f; (sleep 0.2; echo one >> f) & timeout 50 tail -n +1 -f f | head -1`, want: "^one$"},
			{in: `python3 -c '
import ctypes, os
c = ctypes.CDLL(None, use_errno=True); fd = c.inotify_init(); print(c.inotify_add_watch(fd, b".", 0x100) > 0)
open("made", "w"); print(b"made" in os.read(fd, 4096))'`, want: "^True\nTrue$"},
		}},
		{name: "large files", alone: true, steps: []step{
			{in: `head -c 16M /dev/zero > big && cp big copy && cmp big copy && cp --reflink=auto big c2 &&
				dd if=big of=d bs=1M status=none && sha256sum big d | cut -c1-64 | uniq | wc -l`, want: "^1$"},
			{in: `cat big | gzip -1 | gunzip | wc -c; split -b 4M big part. &&
				ls part.* | wc -l; rm big copy c2 d part.*`, want: "^16777216\n4$"},
		}},
		{name: "archives", needs: "tar zip unzip gzip", alone: true, users: true, steps: []step{
			{in: `mkdir -p d/e; echo one > d/e/f; ln -s f d/e/l; chmod 755 d/e/f; tar czf a.tgz d && mkdir x &&
				tar xzf a.tgz -C x && diff -r d x/d && echo same`, want: "^same$"},
			{in: `zip -qr a.zip d && unzip -q a.zip -d y && cat y/d/e/f && cp -a d z && cat z/e/l`, want: "^one\none$"},
			{in: `tar xpf a.tgz -C /tmp && cat /tmp/d/e/f`, want: "^one$"},
		}},
		{name: "an archive of somebody else's files", needs: "tar", alone: true, users: true, steps: []step{
			{in: `echo one > f; tar --owner=1234 --group=1234 -cf a.tar f && rm f && tar xf a.tar &&
				cat f`, want: "^one$"},
		}},
		{name: "rsync", needs: "rsync", alone: true, steps: []step{{in: `mkdir d; echo one > d/f; rsync -a d/ e/ &&
				cat e/f`, want: "^one$"}}},
		{name: "install and chown to oneself", alone: true, users: true, steps: []step{
			{in: `echo one > f; install -m 755 f g && install -D -m 644 f d/e/f && chown "$(id -u):$(id -g)" f &&
				chgrp "$(id -g)" g && ls -ln g`, want: "^-rwxr-xr-x"},
			{in: `cp -a /etc/passwd . && cp -rp /etc/alternatives copy && echo copied`, want: "^copied$"},
		}},
		{name: "editing in place", needs: "patch sed perl", alone: true, users: true, steps: []step{
			{in: `printf 'one\ntwo\n' > f; sed -i s/one/1/ f; perl -pi -e s/two/2/ f; cat f`, want: "^1\n2$"},
			{in: `cp f g; echo 3 >> g; diff -u f g > p; patch f < p && tail -1 f`, want: "^3$"},
			{in: `sort -o f f && printf 'x\n' | tee -a f >/dev/null && wc -l < f`, want: "^4$"},
		}},
		{name: "jobs, signals and limits of time", alone: true, users: true, steps: []step{
			{in: `timeout 0.2 sleep 50; echo $?`,
				want: "^124$"}, {in: `seq 8 | xargs -P4 -n1 sh -c 'echo $0' | sort -n | tail -1`, want: "^8$"},
			{in: `set -m; sleep 50 & jobs; kill %1; wait %1 2>/dev/null; echo $?`, want: `^143$`},
			{in: `trap 'echo caught' TERM; kill -TERM $$; trap 'echo bye' EXIT`, want: "^caught\nbye$"},
			{in: `sleep 50 & p=$!; kill -STOP $p; kill -CONT $p; kill $p; wait $p; echo $?`, want: "^143$"},
			{in: `(exit 3) & wait $!; echo $?; nice -n 5 true; nproc >/dev/null; ulimit -n; time true`, want: `^3$`},
			{in: `coproc cat; echo one >&"${COPROC[1]}"; read -r x <&"${COPROC[0]}"; echo "$x"; kill $COPROC_PID`,
				want: "^one$"},
		}},
		{name: "processes", needs: "ps pgrep", alone: true, users: true, steps: []step{
			{in: `tail -f /dev/null & for i in $(seq 1200); do pgrep -x tail >/dev/null && break; sleep 0.05; done
				ps -o comm= -p $!; pkill -x tail; wait; pgrep -x tail || echo gone`, want: "^tail\ngone$"},
			{in: `cat /proc/self/comm; ls /proc/self/fd >/dev/null && readlink /proc/self/exe >/dev/null &&
				free -m >/dev/null; uptime >/dev/null; df . | tail -1`, want: "^cat$"},
			{in: `cat /proc/cpuinfo /proc/meminfo /proc/loadavg /sys/fs/cgroup/cgroup.controllers >/dev/null 2>&1; getconf _NPROCESSORS_ONLN`, want: `^\d+$`},
		}},
		{name: "strace of a child", needs: "strace", alone: true, steps: []step{{in: `strace -f -o t true &&
				grep -c execve t`, want: "^1$"}}},
		{name: "gdb of a child", needs: "gdb", alone: true, steps: []step{{in: `gdb -q -batch -ex run --args true 2>&1`,
			want: "exited normally"}}},
		{name: "other programs", alone: true, users: true, steps: []step{
			{in: `id -u; whoami; hostname >/dev/null; date +%Y; uname -s; locale >/dev/null; env -i true; which sh; tty; echo $?`, want: "^Linux$"},
			{in: `getent passwd root; getent hosts localhost; openssl version >/dev/null 2>&1; python3 -c 'import ssl,random,tempfile; tempfile.TemporaryFile(); tempfile.NamedTemporaryFile()'`, want: "^root:"},
			{in: `find . -newer /etc/passwd -exec true {} +; find / -maxdepth 1 >/dev/null; du -sh . >/dev/null; ls -la / /etc /usr/bin >/dev/null && echo seen`, want: "^seen$"},
		}},
		{name: "ssh -V", needs: "ssh", alone: true, steps: []step{{in: `ssh -V 2>&1; ssh-keygen -q -t ed25519 -N '' -f key && cut -c1-11 key.pub`, want: "^ssh-ed25519$"}}},
	}
}
