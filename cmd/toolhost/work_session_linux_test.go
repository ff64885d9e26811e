package main

// sessionWork spans several calls of one session.
func sessionWork() []work {
	return []work{
		{name: "a file in /tmp", users: true, steps: []step{
			{in: `echo one > /tmp/f`}, {in: `cat /tmp/f`, want: "^one$"},
			{in: `@read {"path":"/tmp/f"}`, want: "one"},
			{in: `@edit {"path":"/tmp/f","old_string":"one","new_string":"two"}`, want: "edited /tmp/f"},
			{in: `cat /tmp/f`, want: "^two$"},
			{in: `@write {"path":"/tmp/g","content":"three\n"}`, want: "created /tmp/g"},
			{in: `cat /tmp/f /tmp/g; rm /tmp/g`, want: "^two\nthree$"},
			{in: `@read {"path":"/tmp/g"}`, fails: true, want: "/tmp/g"},
			{in: `mkdir /tmp/d && mv /tmp/f /tmp/d && ln /tmp/d/f /tmp/d/g && ln -s d/f /tmp/l &&
				cat /tmp/l`, want: "^two$"},
			{in: `@read {"path":"/tmp/d/g"}`, want: "two"},
		}},
		{name: "grep and glob in /tmp", steps: []step{
			{in: `mkdir /tmp/d; echo one > /tmp/d/f`},
			{in: `@grep {"pattern":"one","path":"/tmp"}`, want: "^/tmp/d/f:1:one"},
			{in: `@glob {"pattern":"/tmp/*/f"}`, want: "^/tmp/d/f$"},
			{in: `@glob {"pattern":"**/f","path":"/tmp"}`, want: `^(/tmp/)?d/f$`},
		}},
		{name: "mktemp and TMPDIR", alone: true, users: true, steps: []step{
			{in: `mktemp; f=$(mktemp -d) && touch "$f/x" &&
				ls "$f"; echo "$TMPDIR"; mktemp -p /var/tmp`, want: `^/tmp/tmp\.\w+\nx\n/tmp\n/var/tmp/tmp`},
			{in: `touch /var/tmp/x /dev/shm/y && ls /dev/shm /var/tmp`, want: "^y$"},
		}},
		{name: "/var/tmp is one for the session", steps: []step{{in: `echo one > /var/tmp/f`}, {in: `cat /var/tmp/f`,
			want: "^one$"}}},
		{name: "a python server and a later client", needs: "python3 curl", steps: []step{
			{in: `echo one > f; python3 -u -m http.server --bind 127.0.0.1 8123 >log 2>&1 &
				for i in $(seq 1200); do grep -q Serving log && break; sleep 0.05; done; echo up`, want: "^up$"},
			{in: `curl -sS http://127.0.0.1:8123/f`, want: "^one$"},
			{in: `curl -sS http://localhost:8123/f`, want: "^one$"},
			{in: `curl -sS --fail http://127.0.0.1:8123/missing`, fails: true, want: "404"},
			{in: `python3 -c 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:8123/f").read())'`,
				want: `one`},
			{in: `u=http://127.0.0.1:8123/f; curl -sS $u`, want: "^one$"},
		}},
		{name: "a node server and a later client", needs: "node curl", steps: []step{
			{in: `echo 'require("http").createServer((q,r)=>r.end("one\n")).listen(8123,()=>console.log("up"))' > s.js
				node s.js > log 2>&1 & for i in $(seq 1200); do grep -q up log && break; sleep 0.05; done; cat log`,
				want: "^up$"},
			{in: `curl -sS http://127.0.0.1:8123/`, want: "^one$"},
			{in: `echo 'fetch("http://127.0.0.1:8123/").then(r=>r.text()).then(console.log)' > c.js; node c.js`,
				want: "^one$"},
		}},
		{name: "a port that the kernel chooses", needs: "python3", alone: true, users: true, steps: []step{
			{in: `python3 - <<'E'
import http.server, threading, urllib.request
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=s.serve_forever, daemon=True).start()
print(urllib.request.urlopen("http://127.0.0.1:%d/" % s.server_port).status)
s6 = http.server.HTTPServer(("localhost", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=s6.serve_forever, daemon=True).start()
print(urllib.request.urlopen("http://localhost:%d/" % s6.server_port).status)
E`, want: "^200\n"},
		}},
		{name: "IPv6 and UDP on the loopback", needs: "python3", alone: true, steps: []step{
			{in: `python3 - <<'E'
import socket
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    s = socket.create_server((host, 0), family=family)
    c = socket.create_connection(s.getsockname()[:2]); c.send(b"x"); print(s.accept()[0].recv(1))
    u = socket.socket(family, socket.SOCK_DGRAM); u.bind((host, 0))
    v = socket.socket(family, socket.SOCK_DGRAM); v.sendto(b"y", u.getsockname()); print(u.recv(1))
E`, want: "^b'x'\nb'y'\nb'x'\nb'y'$"},
		}},
		{name: "a background program goes on", steps: []step{
			{in: `(while :; do date > beat; sleep 0.05; done) >/dev/null 2>&1 &
				for i in $(seq 1200); do [ -s beat ] && break; sleep 0.05; done; cat beat`, want: ":"},
			{in: `rm beat; for i in $(seq 1200); do [ -s beat ] && break; sleep 0.05; done; cat beat`, want: ":"},
		}},
		{name: "nohup and setsid", steps: []step{
			{in: `nohup sh -c 'sleep 0.2; echo done > f' >/dev/null 2>&1 &`},
			{in: `setsid -f sh -c 'sleep 0.1; echo done > g'`},
			{in: `for i in $(seq 1200); do [ -s f ] && [ -s g ] &&
				break; sleep 0.05; done; cat f g`, want: "^done\ndone$"},
		}},
		{name: "kill of what an earlier call started", steps: []step{
			{in: `sh -c 'while [ ! -e stop ]; do sleep 0.05; done; echo stopped > f' >/dev/null 2>&1 & echo $! > pid`},
			{in: `kill "$(cat pid)"; sleep 0.1; touch stop; sleep 0.3; cat f || echo killed`,
				want: "^killed$"},
		}},
		{name: "a process is seen and ended by later calls", needs: "ps pgrep pkill", users: true, steps: []step{
			{in: `sleep 98762 & echo $! > pid`, want: "goes on as job"},
			{in: `ps -o args= -p "$(cat pid)"; pgrep -f 'sleep 9876[2]' | diff - pid && kill -0 "$(cat pid)" && echo alive > seen; cat seen`,
				want: "^sleep 98762\nalive$"},
			{in: `pkill -f 'sleep 98762'; sleep 0.3; kill -0 "$(cat pid)" 2> err || echo gone`, want: "^gone$"},
			{in: `@shell_output {"job":"j1"}`, want: `has ended: exit status 0|SIGTERM`},
		}},
		{name: "a taken port names its job", needs: "python3 ss lsof", users: true, steps: []step{
			{in: `python3 -u -m http.server --bind 127.0.0.1 8124 >log 2>&1 &
				for i in $(seq 1200); do grep -q Serving log && break; sleep 0.05; done; echo up`, want: "^up$"},
			{in: `python3 -m http.server --bind 127.0.0.1 8124`, fails: true,
				want: `listening in this session: 127.0.0.1:8124 is job j1, PID \d+: python3 -u -m http.server`},
			{in: `ss -ltn`, want: `8124(.|\n)*is job j1, PID`},
			{in: `lsof -i -P -n`, fails: true, want: `is job j1, PID`},
		}},
		{name: "PostgreSQL over many calls", needs: "psql", users: true, ordinary: true, steps: []step{
			{in: `d=$(ls -d /usr/lib/postgresql/*/bin | tail -1); ln -s "$d" bin; bin/initdb -D data -A trust > log && echo made`, want: "^made$"},
			{in: `bin/pg_ctl -D data -o "-k /tmp -p 5999 -c max_connections=10 -c shared_buffers=4MB" -l serverlog -w -t 120 start`, want: "^server started$"},
			{in: `bin/pg_ctl -D data status && touch x`, want: `^pg_ctl: server is running \(PID: \d+\)`},
			{in: `psql -qAt -h /tmp -p 5999 -d postgres -c "create table t(a int)" -c "insert into t select generate_series(1,20000)" &&
				psql -qAt -h /tmp -p 5999 -d postgres -c "select count(*) from t"`, want: "^20000$"},
			{in: `bin/pg_ctl -D data -o "-k /tmp -p 5998" -l second -w -t 60 start; cat second`, want: `lock file "postmaster.pid" already exists`},
			{in: `bin/pg_ctl -D data -m fast -w -t 120 stop`, want: "^server stopped$"},
			{in: `bin/pg_ctl -D data status; touch x`, want: "no server running"},
			{in: `bin/pg_ctl -D data -o "-k /tmp -p 5999 -c shared_buffers=4MB" -l serverlog -w -t 120 start && psql -qAt -h /tmp -p 5999 -d postgres -c "select count(*) from t"`,
				want: "^20000$"},
			{in: `bin/pg_ctl -D data -m immediate -w -t 120 stop`, want: "^server stopped$"},
		}},
		{name: "redis with a pid file", needs: "redis-server redis-cli", users: true, steps: []step{
			{in: `redis-server --port 6399 --bind 127.0.0.1 --save "" --daemonize yes --pidfile "$PWD/redis.pid" --dir "$PWD" > log
				for i in $(seq 1200); do redis-cli -p 6399 ping 2>&1 | grep -q PONG && break; sleep 0.05; done; echo up`, want: "^up$"},
			{in: `redis-cli -p 6399 set a 41; redis-cli -p 6399 incr a`, want: "^42$"},
			{in: `redis-server --port 6399 --bind 127.0.0.1 --save "" --dir "$PWD"`, fails: true, want: `6399 is job j1, PID`},
			{in: `kill "$(cat redis.pid)"; for i in $(seq 1200); do [ -e redis.pid ] || break; sleep 0.05; done; ls redis.pid`, fails: true, want: "No such file"},
		}},
		{name: "tmux over calls", needs: "tmux", users: true, steps: []step{
			{in: `SHELL=/bin/sh tmux -S "$PWD/t" -f /dev/null new-session -d -s w sh && tmux -S "$PWD/t" send-keys -t w 'echo hi-$((1+1))' Enter && echo begun`, want: "^begun$"},
			{in: `for i in $(seq 1200); do tmux -S "$PWD/t" capture-pane -p -t w | grep -qE '^(\$ )?hi-2' && break; sleep 0.05; done; tmux -S "$PWD/t" capture-pane -p -t w`, want: `^(\$ )?hi-2$`},
			{in: `tmux -S "$PWD/t" kill-server; sleep 0.3; tmux -S "$PWD/t" ls`, fails: true, want: "no server running|No such file"},
		}},
		{name: "a unix socket in /tmp and in the workspace, between calls", needs: "python3", users: true, steps: []step{
			{in: `cat > serve.py <<'E'
import socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print("u" + "p", flush=True)
while True:
    c, _ = s.accept(); c.send(b"one"); c.close()
E
				for n in 1 2; do [ $n = 1 ] && at=/tmp/s || at=s; python3 serve.py $at > log$n 2>&1 &
				done; for i in $(seq 1200); do grep -q up log1 && grep -q up log2 && break; sleep 0.05; done; cat log1 log2; ls s /tmp/s`, want: "^s$"},
			{in: `cat > ask.py <<'E'
import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(s.recv(9))
E
				python3 ask.py /tmp/s; python3 ask.py s`, want: `^b'one'\nb'one'$`},
		}},
		{name: "caches stay", steps: []step{
			{in: `mkdir -p "$XDG_CACHE_HOME" &&
				echo one > "$XDG_CACHE_HOME/f"`}, {in: `cat "$XDG_CACHE_HOME/f"; true > f`, want: "^one$"},
		}},
	}
}
