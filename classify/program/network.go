package program

import "strings"

// networkSpecs describes programs that reach other machines. Their operands are hosts; a Judge adds the files that they write or
// send.
func networkSpecs() []*Spec {
	return []*Spec{
		{Names: "curl", Loses: true, Options: curlOptions, Operands: "host*", Effects: "reaches", Judge: judgeCurl},
		{Names: "wget", Options: `-q,--quiet -v,--verbose -nv,--no-verbose -O,--output-document:write
			-o,--output-file:write -P,--directory-prefix:write -c,--continue -r,--recursive -l,--level:text -np -N
			-U,--user-agent:text --header:text -T,--timeout:text -t,--tries:text -S,--server-response --spider
			--no-check-certificate -b,--background -i,--input-file:read --post-data:text --post-file:read --method:text
			-e,--execute:text!runs_code -k -p -nc,--no-clobber -nd -A:text -R:text -w,--wait:text`,
			Operands: "host*",
			Effects:  "writes reaches hosts_unknown", Judge: judgeWget},
		{Names: "ssh slogin autossh", Carries: "shell", Options: sshOptions + `-E:write -D:text -e:text -I:read -L:text -m:text -O:text
			-Q:text -R:text -w:text -W:text`,
			Operands: "host inner*", InOrder: true, Judge: judgeSSH},
		{Names: "scp sftp", Options: sshOptions + "-r -P:text -3 -O -R -d -D:text", Operands: "text*",
			Effects: "reaches writes", Judge: judgeCopies},
		{Names: "rsync", Options: `-a,--archive -v,--verbose -n,--dry-run -r,--recursive -z,--compress -P --progress
			--partial -h,--human-readable -u,--update -c,--checksum -l,--links -L,--copy-links -p,--perms -t,--times
			-g,--group -o,--owner -D -H -A -X -x -q,--quiet -i,--itemize-changes --stats --exclude:text --include:text
			--exclude-from:read --include-from:read --files-from:read -e,--rsh:run!runs_code --rsync-path:run!runs_code
			--delete!destroys --del!destroys --delete-before!destroys --delete-during!destroys --delete-delay!destroys
			--delete-after!destroys --delete-excluded!destroys --remove-source-files!destroys --force!destroys
			--existing --ignore-existing --size-only --bwlimit:text --timeout:text --log-file:write --backup -b
			--backup-dir:write --inplace --append --numeric-ids --chmod:text --chown:text -m -R,--relative`,
			Operands: "text*", Effects: "writes", Judge: judgeCopies},
		{Names: "nc ncat netcat socat", Raw: true, Effects: "reaches", Judge: judgeNetcat},
		{Names: "ping ping6", Options: `-c:text -i:text -w:text -W:text -s:text -t:text -I:text -n -q -4 -6 -a -D -O -v
			-V -h`, Operands: "host",
			Effects: "reaches", Judge: judgePing},
		{Names: "dig", Raw: true, Effects: "reaches", Judge: judgeDig},
		{Names: "host nslookup", Options: `-a -C -d -l -r -s -T -U -v -w -4 -6 -c:text -N:text -R:text -t:text -W:text
			-V -type:text -query:text`, Ungrouped: true, Operands: "host text?", Effects: "reaches"},
		{Names: "whois", Options: "-h,--host:host -p,--port:text -H", Operands: "text*", Effects: "reaches"},
		{Names: "traceroute tracepath traceroute6", Raw: true, Effects: "reaches", Judge: effectsAlone},
		{Names: "telnet ftp lftp tftp nmap ssh-copy-id", Raw: true, Effects: "reaches writes runs_code",
			Judge: hostsAmongWords},
		{Names: "mosh rlogin rsh", Raw: true, Effects: "reaches writes runs_code", Carries: "shell", Judge: hostsAmongWords},
		{Names: "tcpdump tshark http https httpie xh aria2c axel youtube-dl yt-dlp",
			Raw: true, Effects: "reaches writes runs_code", Judge: effectsAlone},
		{Names: "redis-cli", Raw: true, Carries: "query", Loses: true, Effects: "reaches writes runs_code", Judge: removesKeys},
		{Names: "valkey-cli", Partial: true, Raw: true, Carries: "query", Loses: true, Judge: removesKeys},
		{Names: "psql mysql mariadb sqlcmd clickhouse-client cqlsh", Raw: true, Carries: "query",
			Effects: "reaches writes runs_code", Judge: effectsAlone},
		{Names: "mongo mongosh", Raw: true, Carries: "script", Effects: "reaches writes runs_code", Judge: effectsAlone},
	}
}

// removesKeys finds the commands of Redis that remove keys.
var removesKeys = judgeWords("removes keys", "flushall", "flushdb", "del", "unlink", "getdel")

// judgeWget: without a name for it, what is got replaces no file.
func judgeWget(a *Args, u *Use) {
	u.Reasons = append(u.Reasons, because("writes the host's answer to a file"))
	if !a.oneOf("--output-document", "--output-file", "--continue", "--recursive", "-N", "-nc", "--no-clobber") {
		u.Effects = append(u.Effects, Adds)
	}
}

// curlOptions are those that are known to do nothing else than to say how to ask, and those that write or send.
const curlOptions = `-s,--silent -S,--show-error -L,--location!hosts_unknown -i,--include,--show-headers -I,--head -f,--fail
	--fail-with-body -v,--verbose -k,--insecure -H,--header:data -A,--user-agent:text -e,--referer:text -u,--user:text
	-X,--request:method -m,--max-time:text --connect-timeout:text --retry:text --retry-delay:text --retry-connrefused
	-g,--globoff -4,--ipv4 -6,--ipv6 --http1.1 --http2 --compressed -N,--no-buffer -G,--get -w,--write-out:format
	-r,--range:text --max-redirs:text -x,--proxy:host --noproxy:text --resolve:text --url:host -#,--progress-bar
	--no-progress-meter --tlsv1.2 --tlsv1.3 --cacert:read --raw -b,--cookie:cookie -V,--version -h,--help
	-o,--output:write -O,--remote-name!writes -J,--remote-header-name!writes --remote-name-all!writes --output-dir:write
	--create-dirs!writes -D,--dump-header:write -c,--cookie-jar:write --trace:write --trace-ascii:write --stderr:write
	--etag-save:write --hsts:write --alt-svc:write -d,--data,--data-ascii:data!writes --data-raw:text!writes
	--data-binary:data!writes --data-urlencode:data!writes --json:data!writes -F,--form:data!writes
	--form-string:text!writes -T,--upload-file:read!writes -Q,--quote:text!writes -n,--netrc!reads_elsewhere`

// judgeCurl judges methods, and values that name a file: @FILE of data, the name of a cookie jar.
func judgeCurl(a *Args, u *Use) {
	for _, w := range a.Values("method") {
		switch {
		case w.Static && (w.Text == "GET" || w.Text == "HEAD" || w.Text == "OPTIONS"):
		case w.Text == "DELETE":
			u.Add(Destroys, "deletes data at the host")
			u.Effects = append(u.Effects, Writes)
		default:
			u.Add(Writes, "may change data at the host: its method is "+spelled(w))
		}
	}
	for _, w := range a.Values("data") {
		if at := strings.IndexByte(w.Text, '@'); at >= 0 {
			u.Reads = append(u.Reads, part(w, at+1))
		} else if at := strings.Index(w.Text, "=<"); at >= 0 {
			u.Reads = append(u.Reads, part(w, at+2))
		} else if !w.Static && w.Text == "" {
			u.Unknown("this may name a file to send", w)
		}
	}
	for _, w := range a.Values("format") {
		if !w.Static || strings.HasPrefix(w.Text, "@") || strings.Contains(w.Text, "%output") {
			u.Unknown("this format may write a file, or be read from one", w)
		}
	}
	for _, w := range a.Values("cookie") {
		if !strings.Contains(w.Text, "=") {
			u.Reads = append(u.Reads, w)
		}
	}
	for _, w := range a.Values("host") {
		if strings.HasPrefix(strings.ToLower(w.Text), "file:") {
			u.Unknown("this URL reads a file", w)
		}
	}
}

const sshOptions = `-1 -2 -4 -6 -A -a -C -f -G -g -K -k -M -N!long_running -n -q -s -T -t!interactive -V -v -X -x -Y -y
	-p:text -l:text -i:read -F:read!runs_code -o:text!runs_code -J:host -b:text -B:text -c:text -S:text `

// judgeSSH adds the command that the other machine runs, as a shell there does.
func judgeSSH(a *Args, u *Use) {
	if a.Has("-V") && len(a.Argv) == 2 {
		return
	}
	for _, e := range []Effect{Reaches, Writes, RunsCode} {
		u.Add(e, "runs a command on another machine")
	}
	inner := a.Values("inner")
	if len(inner) > 0 && inner[0].Static && inner[0].Text == "--" {
		inner = inner[1:]
	}
	if len(inner) > 0 {
		u.Runs = append(u.Runs, Command{Shell: joined(inner), Joined: true, Away: true})
		return
	}
	u.Add(Interactive, "opens a shell on another machine")
}

// judgeCopies tells hosts from paths: HOST:PATH, HOST::MODULE and scheme://HOST. The last word is written. Without a host rsync
// copies on this machine.
func judgeCopies(a *Args, u *Use) {
	if name := a.Argv[0].Text; name != "rsync" && a.Has("-S") || name == "sftp" && a.Has("-D") {
		u.Add(RunsCode, name+" runs the program that the option names")
	}
	for i, w := range a.Operands {
		colon := strings.IndexByte(w.Text, ':')
		slash := strings.IndexByte(w.Text, '/')
		switch {
		case colon > 0 && (slash < 0 || colon < slash), a.Argv[0].Text == "sftp":
			if colon > 0 && !strings.HasPrefix(w.Text[colon:], "://") {
				w.Text, w.Static = w.Text[:colon], true
			}
			u.Hosts = append(u.Hosts, w)
			u.Add(Reaches, "copies from or to another machine: "+spelled(w))
		case !w.Static && slash != 0 && a.Argv[0].Text == "rsync":
			u.Add(Reaches, "may copy from or to another machine")
		case i == len(a.Operands)-1:
			u.Writes = append(u.Writes, w)
		default:
			u.Reads = append(u.Reads, w)
		}
	}
}

// judgeNetcat finds options that listen and options that run a program. It does not parse socat's addresses.
func judgeNetcat(a *Args, u *Use) {
	u.Add(Writes, "sends the files that it reads to another machine")
	for _, w := range a.Operands {
		text := strings.ToLower(w.Text)
		switch {
		case !strings.HasPrefix(text, "-"):
			if strings.HasPrefix(text, "exec:") || strings.HasPrefix(text, "system:") {
				u.Add(RunsCode, "runs a program for another machine")
			}
		case strings.ContainsAny(text, "ec") && !strings.HasPrefix(text, "--"):
			u.Add(RunsCode, "may run a program for another machine: "+spelled(w))
		}
		if strings.HasPrefix(text, "-") && strings.Contains(text, "l") {
			u.Add(LongRunning, "listens")
		}
	}
	hostsAmongWords(a, u)
}

// hostsAmongWords finds the words that look like the name or the address of a host: those with a dot or an @ that are no option
// and no path.
func hostsAmongWords(a *Args, u *Use) {
	for _, w := range a.Operands {
		if strings.ContainsAny(w.Text, ".@") && !strings.ContainsAny(w.Text, "/,=") && w.Text[0] != '-' && w.Text[0] != '+' && w.Text[0] != '.' {
			w.Text = strings.TrimPrefix(w.Text, "@")
			u.Hosts = append(u.Hosts, w)
		}
	}
}

func judgePing(a *Args, u *Use) {
	if !a.oneOf("-c", "-w") {
		u.Add(LongRunning, "ping goes on until it is stopped")
	}
}

// judgeDig judges the words of dig: @SERVER, +OPTION, names and types. Options with a dash take files.
// digFlags are the options of dig without a value that only shape the question.
var digFlags = WordSet("-x -4 -6 -t -q -u -v")

func judgeDig(a *Args, u *Use) {
	hostsAmongWords(a, u)
	for i, w := range a.Operands {
		switch {
		case !w.Static && (w.Text == "" || w.Text[0] == '-'):
			u.Unknown("this may be an option of dig", w)
		case strings.HasPrefix(w.Text, "@") && !strings.Contains(w.Text, "."):
			u.Hosts = append(u.Hosts, part(w, 1))
		case w.Text == "-f" || w.Text == "-k":
			u.Unknown("dig takes words from a file", w)
			if i+1 < len(a.Operands) {
				u.Reads = append(u.Reads, a.Operands[i+1])
			}
		case digFlags[w.Text]:
		case strings.HasPrefix(w.Text, "-"):
			u.Unknown("dig: the option "+w.Text+" is not known", w)
		}
	}
}
