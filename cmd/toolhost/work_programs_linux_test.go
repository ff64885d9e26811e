package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// nodeDir has a directory programs with node_modules, which testdata/programs.sh fills.
const nodeDir = "TOOLHOST_NODE_DIR"

// TestWorkPrograms: programs that stay work over the calls of a session, end with it, and leave nothing outside of the workspace. The session of
// root ends with its input, that of an ordinary user by SIGKILL of the host. testdata/programs.sh installs all of them.
func TestWorkPrograms(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	t.Run("all", func(t *testing.T) { // ends when all have ended, before the place goes
		for _, w := range programWork() {
			if (long() || os.Getuid() != 0) && !(w.ordinary && os.Getuid() == 0) {
				t.Run(w.name, func(t *testing.T) { p.runProgram(t, w) })
			}
			if os.Getuid() == 0 {
				t.Run(w.name+", as an ordinary user", func(t *testing.T) {
					p := p
					p.uid = ordinary(t)
					p.runProgram(t, w)
				})
			}
		}
	})
}

// program is a program that stays.
type program struct {
	name    string
	needs   string // the programs that it takes: without one of them it is skipped
	npm     string // a node package that it takes likewise
	files   string // what is in the workspace beforehand, as txtar
	remains string // a part of the command line of a process that the last step leaves running
	long    bool   // only in the long form

	ordinary bool // not as root: screen gives its terminal to the group tty, which has no number in the sandbox
	steps    []step
}

// runProgram runs the calls of a program, ends the session and looks for what is left.
func (p place) runProgram(t *testing.T, w program) {
	t.Helper()
	t.Parallel()
	if w.long && !long() {
		t.Skip("it takes its time: testdata/programs.sh runs it")
	}
	if program := lacking(w.needs, ordinaryPath); program != "" {
		t.Skip(program + " is not installed")
	}
	base := filepath.Join(p.dir, strings.NewReplacer("/", "-", " ", "_").Replace(strings.TrimPrefix(t.Name(), "TestWorkPrograms/all/")))
	ws, home := filepath.Join(base, "ws"), filepath.Join(base, "home")
	must(t, os.MkdirAll(ws, 0o755))
	if w.npm != "" {
		from := filepath.Join(os.Getenv(nodeDir), "programs", "node_modules")
		if !isDirectory(filepath.Join(from, w.npm)) {
			t.Skip(w.npm + " is not in the directory programs of $" + nodeDir)
		}
		must(t, os.CopyFS(filepath.Join(ws, "node_modules"), os.DirFS(from)))
	}
	before := filesOutside(home)
	d := p.desk(t, base, w.files)
	d.level()
	for _, s := range w.steps {
		d.do(s)
	}
	inside := d.do(step{in: `find /tmp /var/tmp /dev/shm /run -not -type d 2> /dev/null; touch "$PWD/looked"`}).text()
	all := tree(d.host.Cmd.Process.Pid)
	if !slices.ContainsFunc(all, func(q process) bool { return bytes.Contains(lineOf(q.pid), []byte(w.remains)) }) {
		t.Errorf("%s does not live before the end of the session", w.remains)
	}
	if p.uid < 0 {
		d.close()
	} else {
		d.host.Kill()
		d.host = nil
	}
	checkEnded(t, "the end of the session", all)
	for _, path := range filesOutside(home) {
		made := strings.HasPrefix(path, home) || slices.Contains(strings.Split(inside, "\n"), path)
		if made && !slices.Contains(before, path) {
			t.Errorf("%s is left", path)
		}
	}
}

// filesOutside are the files in the places where programs leave theirs: a home, and those of the machine.
func filesOutside(home string) (all []string) {
	for _, dir := range []string{home, "/tmp", "/var/tmp", "/dev/shm", "/run"} {
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				all = append(all, path)
			}
			return nil
		})
	}
	return all
}

// programWork are programs that stay: one call starts them, later ones use, reload, find and end them, as lines typed into a terminal do. What
// the last step leaves running ends with the session.
func programWork() []program {
	until := func(so string) string { return "for i in $(seq 1200); do " + so + " && break; sleep 0.05; done; " }
	const (
		nginx    = `nginx -p "$PWD" -c nginx.conf -e error.log`
		gunicorn = `gunicorn --daemon --pid g.pid --bind 127.0.0.1:8380 --error-logfile g.log app:wsgi`
		memcache = `stats() { exec 3<>/dev/tcp/127.0.0.1/11299 && printf 'stats\r\nquit\r\n' >&3 && grep "STAT $1 " <&3 | tr -d '\r'; }; `
		vite     = `node node_modules/.bin/vite --host 127.0.0.1 --port 5199 --strictPort`
	)
	return []program{
		{name: "nginx", needs: "nginx curl pgrep", files: nginxFiles, remains: "nginx", steps: []step{
			{in: nginx + ` && echo started`, want: "^started$"},
			{in: `curl -sS http://127.0.0.1:8180/f`, want: "^one$"},
			{in: `pgrep -x nginx | grep -qx "$(cat nginx.pid)" && echo found > found; cat found`, want: "^found$"},
			{in: `sed -i 's/root site/root other/' nginx.conf && ` + nginx + ` -s reload && ` + until(`curl -sS http://127.0.0.1:8180/f | grep -q two`) +
				`curl -sS http://127.0.0.1:8180/f`, want: "^two$"},
			{in: nginx, fails: true, want: `127\.0\.0\.1:8180 is job j1, PID \d+: nginx`},
			{in: nginx + ` -s quit && ` + until(`[ ! -e nginx.pid ]`) + `curl -sS http://127.0.0.1:8180/f || echo free`, want: "^free$"},
			{in: nginx + ` -s quit`, fails: true, want: "No such file"},
			{in: nginx + ` && curl -sS http://127.0.0.1:8180/f`, want: "^two$"},
		}},
		{name: "caddy", needs: "caddy curl", files: caddyFiles, remains: "caddy", steps: []step{
			{in: `caddy start --pidfile caddy.pid 2> log && curl -sS http://127.0.0.1:8280/`, want: "^one$"},
			{in: `curl -sS http://127.0.0.1:8280/ && kill -0 "$(cat caddy.pid)" && echo alive`, want: "^one(.|\n)*alive$"},
			{in: `sed -i s/one/two/ Caddyfile && caddy reload 2> log && curl -sS http://127.0.0.1:8280/`, want: "^two$"},
			{in: `caddy stop 2> log; ` + until(`! kill -0 "$(cat caddy.pid)" 2> err`) + `curl -sS http://127.0.0.1:8280/ || echo free`, want: "^free$"},
			{in: `caddy start 2> log && curl -sS http://127.0.0.1:8280/`, want: "^two$"},
		}},
		// The edit changes the size: python takes its compiled file for current if size and second are the same.
		{name: "gunicorn", needs: "gunicorn curl", files: pythonServer, remains: "gunicorn", steps: []step{
			{in: gunicorn + `; ` + until(`[ -s g.pid ] && curl -sS http://127.0.0.1:8380/ > out`) + `cat out`, want: "^one$"},
			{in: `sed -i s/one/another/ app.py; kill -HUP "$(cat g.pid)"; ` + until(`curl -sS http://127.0.0.1:8380/ | grep -q another`) + `cat g.log`, want: "Handling signal: hup"},
			{in: `curl -sS http://127.0.0.1:8380/`, want: "^another$"},
			{in: strings.Replace(gunicorn, " --daemon", "", 1), fails: true, want: `Already running on PID \d+`},
			{in: `kill "$(cat g.pid)"; ` + until(`[ ! -e g.pid ]`) + `curl -sS http://127.0.0.1:8380/ || echo free`, want: "^free$"},
			{in: gunicorn + `; ` + until(`curl -sS http://127.0.0.1:8380/`), want: "^another$"},
		}},
		{name: "uvicorn", needs: "uvicorn curl", files: pythonServer, remains: "uvicorn", steps: []step{
			{in: `uvicorn --port 8381 app:asgi > log 2>&1 & echo $! > u.pid; ` + until(`curl -sS http://127.0.0.1:8381/ > out 2> err`) + `cat out`, want: "^one$"},
			{in: `uvicorn --port 8381 app:asgi`, fails: true, want: `127\.0\.0\.1:8381 is job j1, PID \d+: .*uvicorn`},
			{in: `kill "$(cat u.pid)"; ` + until(`! kill -0 "$(cat u.pid)" 2> err`) + `cat log`, want: "Finished server process"},
			{in: `uvicorn --port 8381 app:asgi > log 2>&1 & ` + until(`curl -sS http://127.0.0.1:8381/ > out 2> err`) + `cat out`, want: "^one$"},
		}},
		{name: "redis and its client", needs: "redis-server redis-cli", remains: "redis-server", steps: []step{
			{in: `redis-server --port 6398 --daemonize yes --dir "$PWD" > log; ` + until(`redis-cli -p 6398 ping 2>&1 | grep PONG`), want: "^PONG$"},
			{in: `redis-cli -p 6398 set a 41 && redis-cli -p 6398 save`, want: "^OK$"},
			{in: `redis-cli -p 6398 shutdown; ` + until(`! pgrep -x redis-server > pids`) + `redis-cli -p 6398 ping || echo free`, want: "^free$"},
			{in: `redis-server --port 6398 --daemonize yes --dir "$PWD" > log; ` + until(`redis-cli -p 6398 get a | grep 41`), want: "^41$"},
		}},
		{name: "memcached", needs: "memcached", remains: "memcached", steps: []step{
			{in: `memcached -d -P "$PWD/m.pid" -l 127.0.0.1 -p 11299 -u "$(id -un)"; ` + until(`[ -s m.pid ]`) + `echo up`, want: "^up$"},
			{in: memcache + until(`stats pid`) + `cat m.pid`, want: `^STAT pid (\d+)\n(.*\n)?\d+$`},
			{in: memcache + `stats pid | grep -qw "$(cat m.pid)" && echo same > same; cat same`, want: "^same$"},
			{in: `kill "$(cat m.pid)"; ` + until(`! kill -0 "$(cat m.pid)" 2> err`) + `(echo > /dev/tcp/127.0.0.1/11299) || echo free`, want: "^free$"},
			{in: `memcached -d -P "$PWD/m.pid" -l 127.0.0.1 -p 11299 -u "$(id -un)" && echo up`, want: "^up$"},
		}},
		{name: "a server of node", needs: "node pgrep lsof ss curl", npm: "vite", files: viteFiles, remains: "keep.js", steps: []step{
			{in: vite + ` > log 2>&1 & node keep.js > keep.log 2>&1 & ` + until(`curl -sS http://127.0.0.1:5199/ > out 2> err && curl -sS http://127.0.0.1:5198/ > kept 2> err`) + `cat out kept`,
				want: "one(.|\n)*^kept$"},
			{in: `pgrep -f 'vite --host'`, want: `^\d+$`},
			{in: `pgrep -f 'vite --host' | wc -l`, want: `^1$`},
			{in: `ss -ltnp`, want: `5199(.|\n)*127\.0\.0\.1:5199 is job j1, PID \d+: node .*vite`},
			{in: `lsof -i :5199 -P -n`, fails: true, want: `127\.0\.0\.1:5199 is job j1, PID \d+: node .*vite`},
			{in: vite, fails: true, want: `127\.0\.0\.1:5199 is job j1, PID \d+: node .*vite`},
			{in: `pkill -f vite; ` + until(`! pgrep -f vite > pids`) + `curl -sS http://127.0.0.1:5199/ 2> err || echo free; curl -sS http://127.0.0.1:5198/`, want: "^free\nkept$"},
			{in: vite + ` > log 2>&1 & ` + until(`curl -sS http://127.0.0.1:5199/ > out 2> err`) + `cat out`, want: "one"},
			{in: `pkill -f 'vite --host 127.0.0.1 --port 5199'; echo after; ` + until(`! pgrep -f vite > pids`), want: "^after$"},
			{in: `@shell_output {"job":"j8","wait_ms":30000}`, want: `has ended: exit status 0; job j9 sent SIGTERM to node`},
		}},
		{name: "ssh-agent", needs: "ssh-agent ssh-add ssh-keygen", remains: "ssh-agent", steps: []step{
			{in: `ssh-keygen -q -t ed25519 -N '' -C one -f key && ssh-agent -s > agent.env && cat agent.env`, want: "SSH_AGENT_PID="},
			{in: `. ./agent.env && ssh-add -q key && ssh-add -l`, want: " one .ED25519.$"},
			{in: `. ./agent.env && ssh-add -T key.pub && echo signs`, want: "^signs$"},
			{in: `. ./agent.env && kill -0 "$SSH_AGENT_PID" && ssh-agent -k`, want: "killed;"},
			{in: `. ./agent.env && ssh-add -l`, fails: true, want: "No such file|connecting to agent"},
			{in: `ssh-agent -a /tmp/a > agent.env && SSH_AUTH_SOCK=/tmp/a ssh-add -q key && echo added`, want: "^added$"},
		}},
		{name: "gpg-agent", needs: "gpg gpg-agent gpgconf gpg-connect-agent", remains: "gpg-agent", steps: []step{
			{in: `mkdir -m 700 /tmp/keys && export GNUPGHOME=/tmp/keys && gpg --batch -q --passphrase '' --quick-gen-key one@example.com && gpg-connect-agent 'getinfo pid' /bye | tee agent`, want: `^D \d+$`},
			{in: `export GNUPGHOME=/tmp/keys; gpg-connect-agent 'getinfo pid' /bye | diff agent - && echo text > f && gpg --batch -q --detach-sign f && gpg --verify f.sig f`, want: "Good signature"},
			{in: `export GNUPGHOME=/tmp/keys; gpgconf --kill gpg-agent && ` + until(`! pgrep -x gpg-agent > pids`) + `cat pids; echo gone`, want: "^gone$"},
			{in: `export GNUPGHOME=/tmp/keys; gpg --batch -q --yes --detach-sign f && gpg --verify f.sig f`, want: "Good signature"},
		}},
		{name: "emacs", long: true, needs: "emacs emacsclient", remains: "emacs", steps: []step{
			{in: `mkdir -p /tmp/home; export HOME=/tmp/home; emacs -Q --daemon > log 2>&1 && emacsclient -e '(setq one 41)'`, want: "^41$"},
			{in: `export HOME=/tmp/home; echo text > f; emacsclient -e '(with-current-buffer (find-file-noselect "'"$PWD"'/f") (insert "more ") (save-buffer) (1+ one))' && cat f`, want: "^42\n(.*\n)*more text$"},
			{in: `mkdir -p /tmp/home; export HOME=/tmp/home; emacsclient -e '(kill-emacs)'; ` + until(`! pgrep -x emacs > pids`) + `emacsclient -e 1 2>&1 || echo gone`, want: "^gone$"},
			{in: `mkdir -p /tmp/home; export HOME=/tmp/home; emacs -Q --daemon > log 2>&1 && emacsclient -e '(emacs-pid)'`, want: `^\d+$`},
		}},
		{name: "screen", needs: "screen", ordinary: true, remains: "SCREEN", steps: []step{
			{in: `export SCREENDIR=/tmp/screens; screen -d -m -S w sh && ` + until(`screen -ls`), want: `\d+\.w\s`},
			{in: `export SCREENDIR=/tmp/screens; screen -S w -X stuff 'echo hi-$((1+1)) > f^M' && ` + until(`[ -s f ]`) + `cat f`, want: "^hi-2$"},
			{in: `export SCREENDIR=/tmp/screens; screen -S w -X quit; ` + until(`! pgrep -x screen > pids`) + `export SCREENDIR=/tmp/screens; screen -ls || echo gone`, want: "^gone$"},
			{in: `export SCREENDIR=/tmp/screens; screen -d -m -S w sh && ` + until(`screen -ls`), want: `\d+\.w\s`},
		}},
		{name: "tmux", needs: "tmux", remains: "tmux", steps: []step{
			{in: `SHELL=/bin/sh tmux new -d -s w && echo begun`, want: "^begun$"},
			{in: `tmux send-keys -t w 'echo hi-$((1+1))' Enter && ` + until(`tmux capture-pane -p -t w | grep '^hi-2'`), want: "^hi-2$"},
			{in: `tmux list-sessions`, want: "^w: 1 windows"},
			{in: `tmux kill-server; ` + until(`! pgrep -x 'tmux: server' > pids`) + `tmux list-sessions || echo gone`, want: "^gone$"},
			{in: `SHELL=/bin/sh tmux new -d -s w 'sleep 1000' && echo begun`, want: "^begun$"},
		}},
		{name: "watchman", long: true, needs: "watchman", remains: "watchman", steps: []step{
			{in: `mkdir d && watchman watch d`, want: `"watch":`},
			{in: `touch d/made && watchman since d n:one > out && ` + until(`watchman find d made | grep made`), want: `"made"`},
			{in: `watchman get-pid`, want: `"pid": \d+`},
			{in: `watchman shutdown-server`, want: `"shutdown-server": true`},
			{in: `watchman watch d`, want: `"watch":`},
		}},
		{name: "sccache", long: true, needs: "sccache gcc", remains: "sccache", steps: []step{
			{in: `export SCCACHE_DIR="$PWD/cache"; echo 'int main(void) { return 0; }' > m.c; sccache --start-server && sccache gcc -c m.c -o m.o && echo built`, want: "^built$"},
			{in: `export SCCACHE_DIR="$PWD/cache"; sccache gcc -c m.c -o m.o && sccache --show-stats`, want: `^Cache hits +1$`},
			{in: `sccache --stop-server`, want: `Stopping sccache server`},
			{in: `export SCCACHE_DIR="$PWD/cache"; sccache gcc -c m.c -o m.o && sccache --show-stats`, want: `^Cache hits +1$`},
		}},
		{name: "the daemon of turbo", long: true, needs: "node git", npm: "turbo", files: turboFiles, remains: "turbo", steps: []step{
			{in: `git init -q . && node node_modules/.bin/turbo daemon start 2>&1`, want: "daemon is running"},
			{in: `node node_modules/.bin/turbo daemon status 2>&1`, want: "daemon is running"},
			{in: `node node_modules/.bin/turbo daemon stop 2>&1; node node_modules/.bin/turbo daemon status 2>&1`, want: "daemon is not running"},
			{in: `node node_modules/.bin/turbo daemon start 2>&1`, want: "daemon is running"},
		}},
		{name: "the daemon of Gradle", long: true, needs: "gradle", files: gradleFiles, remains: "GradleDaemon", steps: []step{
			{in: `export GRADLE_USER_HOME="$PWD/home"; gradle -q --offline hello`, want: "^one$"},
			{in: `export GRADLE_USER_HOME="$PWD/home"; gradle -q --offline hello && gradle --status`, want: `^one\n(.|\n)*\d+ IDLE`},
			{in: `export GRADLE_USER_HOME="$PWD/home"; gradle --stop`, want: "1 Daemon stopped"},
			{in: `export GRADLE_USER_HOME="$PWD/home"; gradle -q --offline hello`, want: "^one$"},
		}},
	}
}

const nginxFiles = `
-- nginx.conf --
user root root;
pid nginx.pid;
worker_processes 2;
events {}
http {
	access_log off;
	client_body_temp_path tmp;
	proxy_temp_path tmp;
	fastcgi_temp_path tmp;
	uwsgi_temp_path tmp;
	scgi_temp_path tmp;
	server {
		listen 127.0.0.1:8180;
		root site;
	}
}
-- site/f --
one
-- other/f --
two
`

const caddyFiles = `
-- Caddyfile --
{
	auto_https off
}
http://127.0.0.1:8280 {
	respond "one"
}
`

const pythonServer = `
-- app.py --
def wsgi(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"one\n"]

async def asgi(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"one\n"})
`

const viteFiles = `
-- package.json --
{"name":"m","private":true,"type":"commonjs"}
-- index.html --
<p>one</p>
-- keep.js --
require("http").createServer((q, r) => r.end("kept\n")).listen(5198, "127.0.0.1")
`

const turboFiles = `
-- package.json --
{"name":"m","private":true,"packageManager":"npm@10.0.0","workspaces":["a"]}
-- package-lock.json --
{"name":"m","lockfileVersion":3,"packages":{"":{"name":"m"}}}
-- turbo.json --
{"tasks":{"build":{}}}
-- a/package.json --
{"name":"a","version":"1.0.0"}
`

const gradleFiles = `
-- build.gradle --
task hello { doLast { println 'one' } }
`
