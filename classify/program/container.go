package program

import "strings"

// containerSpecs describes docker, podman and kubectl. All of them reach a daemon or a cluster; some only ask.
func containerSpecs() []*Spec {
	return []*Spec{
		{Names: "docker podman nerdctl", Carries: "command=exec,run,create", Options: dockerGlobals, Operands: "sub?", Sub: dockerSubs()},
		{Names: "docker-compose podman-compose", Carries: "command", Options: composeOptions, Operands: "sub?", Sub: composeSubs()},
		{Names: "kubectl oc", Carries: "command=exec,run,rsh,debug,--", Options: kubectlGlobals, Operands: "sub?", Sub: kubectlSubs()},
		{Names: "helm", Options: "-n,--namespace:text --kube-context:text", Sub: []*Spec{
			{Names: "version", Options: "--short --template:text"},
			{Names: "list ls status history get", Operands: "text*", Effects: "reaches",
				Options: `-n,--namespace:text -A,--all-namespaces -o,--output:text -a,--all -f,--filter:text -q,--short -m,--max:text
					--offset:text -d,--date -r,--reverse --revision:text --kube-context:text --no-headers -h,--help`},
			{Names: "install upgrade rollback push pull repo template dependency lint plugin create package", Raw: true,
				Effects: "writes reaches runs_code", Judge: effectsAlone},
			{Names: "uninstall delete", Raw: true, Effects: "writes reaches destroys", Judge: effectsAlone},
		}},
	}
}

// dockerGlobals may send the command to another daemon, or load plugins from another place.
const dockerGlobals = `-D,--debug -l,--log-level:text -v,--version --help -H,--host:host!runs_code
	-c,--context:text!runs_code --config:read!runs_code --tls --tlsverify --tlscacert:read --tlscert:read --tlskey:read
	--url:host!runs_code --connection:text!runs_code --remote!runs_code`

const dockerFilters = ` -f,--filter:text --format:text -q,--quiet --no-trunc -a,--all `

func dockerSubs() []*Spec {
	ask := func(names, options, operands string) *Spec {
		return &Spec{Names: names, Options: options, Operands: operands, Effects: "reaches observes_host"}
	}
	ps := ask("ps", dockerFilters+"-n,--last:text -l,--latest -s,--size", "")
	images := ask("images", dockerFilters+"--digests --tree", "text?")
	inspect := ask("inspect", "-f,--format:text -s,--size --type:text", "text*")
	logs := ask("logs", "-f,--follow!long_running --since:text --until:text -n,--tail:text -t,--timestamps --details",
		"text")
	top := ask("top", "", "text*")
	stats := &Spec{Names: "stats", Options: "-a,--all --format:text --no-stream --no-trunc", Operands: "text*",
		Effects: "reaches observes_host", Judge: judgeDockerStats}
	history := ask("history", "-H,--human --format:text --no-trunc -q,--quiet", "text")
	again := func(s *Spec, names string) *Spec {
		return &Spec{Names: names, Options: s.Options, Operands: s.Operands, Effects: s.Effects, Judge: s.Judge}
	}
	list := ask("ls list", dockerFilters, "")
	removes := &Spec{Names: "rm remove rmi prune", Raw: true, Effects: "writes reaches destroys", Judge: effectsAlone}
	return append([]*Spec{
		ps, images, inspect, logs, top, stats, history,
		ask("version", "-f,--format:text", ""), ask("info", "-f,--format:text", ""), ask("port", "", "text text?"),
		ask("diff", "", "text"),
		{Names: "events", Options: "-f,--filter:text --format:text --since:text --until:text",
			Effects: "reaches observes_host long_running"},
		{Names: "search", Options: "-f,--filter:text --format:text --limit:text --no-trunc", Operands: "text",
			Effects: "reaches"},
		{Names: "container", Sub: []*Spec{again(ps, "ls ps list"), again(inspect, "inspect"), again(logs, "logs"),
			again(top, "top"),
			again(stats, "stats"), ask("port", "", "text text?"), ask("diff", "", "text"), removes}},
		{Names: "image", Sub: []*Spec{again(images, "ls list"), again(inspect, "inspect"), again(history, "history"),
			removes}},
		{Names: "network volume node service stack secret config plugin swarm", Sub: []*Spec{list, again(inspect,
			"inspect"), removes}},
		{Names: "context", Sub: []*Spec{{Names: "ls list show inspect", Options: "--format:text -q,--quiet -f:text",
			Operands: "text*"},
			{Names: "create use rm update import export", Raw: true, Effects: "writes", Judge: effectsAlone}}},
		{Names: "system", Sub: []*Spec{ask("df", "--format:text -v,--verbose", ""), ask("info", "-f,--format:text", ""),
			removes}},
		{Names: "compose", Options: composeOptions, Operands: "sub?", Sub: composeSubs()},
	}, dockerWrites()...)
}

// judgeDockerStats marks stats as endless unless it has --no-stream.
func judgeDockerStats(a *Args, u *Use) {
	if !a.Has("--no-stream") {
		u.Add(LongRunning, "docker stats shows a stream")
	}
}

func dockerWrites() []*Spec {
	return []*Spec{
		{Names: "exec", Options: `-d,--detach --detach-keys:text -e,--env:text --env-file:read -i,--interactive
			--privileged -t,--tty!interactive -u,--user:text -w,--workdir:text`, Operands: "text inside*", InOrder: true,
			Effects: "writes reaches runs_code", Judge: judgeInside},
		{Names: "run create", Options: `--rm -d,--detach -i,--interactive -t,--tty!interactive -e,--env:text
			--env-file:read -v,--volume:volume -w,--workdir:text -p,--publish:text -P,--publish-all --name:text
			--network,--net:text -u,--user:text --entrypoint:text --platform:text --mount:mount --privileged
			-l,--label:text --memory,-m:text --cpus:text --add-host:text --init --pull:text --gpus:text --restart:text
			--cap-add:text --cap-drop:text --security-opt:text --tmpfs:text --device:text -h,--hostname:text --read-only
			--ulimit:text --shm-size:text --pid:text --ipc:text --userns:text -q,--quiet --link:text --dns:text`,
			Operands: "image inside*", InOrder: true, Effects: "writes reaches runs_code", Judge: judgeDockerRun},
		{Names: "cp", Options: "-a,--archive -L,--follow-link -q,--quiet", Operands: "copied*", Effects: "writes reaches", Judge: judgeContainerCopy},
		{Names: "pull", Options: "-a,--all-tags -q,--quiet --platform:text --disable-content-trust", Operands: "image*",
			Effects: "writes reaches adds", Judge: judgeImages},
		{Names: "push", Options: "-a,--all-tags -q,--quiet --platform:text --disable-content-trust", Operands: "image*",
			Effects: "writes reaches", Judge: judgeImages},
		{Names: "rm rmi kill", Raw: true, Effects: "writes reaches destroys", Judge: effectsAlone},
		{Names: `build buildx builder tag commit save load import export start stop restart pause
			unpause rename update wait attach login logout trust manifest checkpoint`, Raw: true,
			Effects: "writes reaches",
			Judge:   effectsAlone},
	}
}

const composeOptions = `--ansi:text --progress:text -f,--file:read -p,--project-name:text --profile:text
	--project-directory:read --env-file:read --compatibility --all-resources -v,--version --help`

func composeSubs() []*Spec {
	return []*Spec{
		{Names: "ps images ls top port", Options: dockerFilters + "--services --status:text --orphans",
			Operands: "text*", Effects: "reaches observes_host"},
		{Names: "logs", Options: `-f,--follow!long_running --tail,-n:text -t,--timestamps --since:text --until:text
			--no-color --no-log-prefix --index:text`, Operands: "text*", Effects: "reaches observes_host"},
		{Names: "version", Options: "-f,--format:text --short"},
		{Names: "exec run", Options: `-d,--detach -T,--no-TTY -e,--env:text -u,--user:text -w,--workdir:text --rm
			--no-deps --index:text -i,--interactive`,
			Operands: "text inside*", InOrder: true, Effects: "writes reaches runs_code", Judge: judgeInside},
		{Names: "cp", Options: "-a,--archive -L,--follow-link --all --index:text --dry-run", Operands: "copied*", Effects: "writes reaches",
			Judge: judgeContainerCopy},
		{Names: "down rm kill", Raw: true, Effects: "writes reaches destroys", Judge: effectsAlone},
		{Names: `up build create start stop restart pull push pause unpause watch convert config scale wait attach
			events`,
			Raw: true, Effects: "writes reaches runs_code", Judge: effectsAlone},
	}
}

// kubectlGlobals are the options of every command. A file of --kubeconfig may name programs that make credentials.
const kubectlGlobals = ` -n,--namespace:text --context:text --cluster:text --request-timeout:text -v,--v:text
	--warnings-as-errors --kubeconfig:read!runs_code -s,--server:host!runs_code --as:text!runs_code
	--as-group:text!runs_code --token:text --user:text --insecure-skip-tls-verify --cache-dir:write `

func kubectlSubs() []*Spec {
	const selects = kubectlGlobals + ` -A,--all-namespaces -l,--selector:text --field-selector:text -o,--output:text
		--no-headers --show-labels --sort-by:text --template:text --ignore-not-found -L,--label-columns:text --show-kind
		--chunk-size:text --subresource:text --show-managed-fields -R,--recursive -f,--filename:read `
	ask := func(names, options string) *Spec {
		return &Spec{Names: names, Options: options, Operands: "text*", Effects: "reaches not_concurrent",
			Judge: reason("asks the cluster, may run the program that makes credentials, and keeps a cache of its resources")}
	}
	return []*Spec{
		ask("get", selects+`-w,--watch!long_running --watch-only!long_running --output-watch-events --raw:text
			--server-print`),
		ask("describe", selects+"--show-events"),
		ask("logs", kubectlGlobals+`-f,--follow!long_running -c,--container:text --all-containers --tail:text
			--since:text --since-time:text --timestamps -p,--previous --prefix -l,--selector:text --limit-bytes:text
			--max-log-requests:text --ignore-errors --all-pods`),
		ask("explain", kubectlGlobals+"--recursive --api-version:text -o,--output:text"),
		ask("api-resources api-versions", kubectlGlobals+`-o,--output:text --namespaced:text --verbs:text
			--api-group:text --no-headers --sort-by:text --cached`),
		ask("version", kubectlGlobals+"-o,--output:text --client --short"),
		ask("cluster-info", kubectlGlobals),
		{Names: "top events", Options: selects + "--containers --sum --types:text --for:text", Operands: "text*",
			Effects: "reaches not_concurrent"},
		{Names: "auth", Sub: []*Spec{ask("can-i whoami", selects+"--list -q,--quiet")}},
		{Names: "rollout", Sub: []*Spec{ask("status history", selects+"--revision:text --timeout:text -w,--watch"),
			{Names: "undo restart pause resume", Raw: true, Effects: "writes reaches", Judge: effectsAlone}}},
		{Names: "config", Options: kubectlGlobals, Sub: []*Spec{
			{Names: "view get-contexts get-clusters get-users current-context", Options: kubectlGlobals +
				`-o,--output:text --minify --raw --flatten --no-headers --merge`, Operands: "text*",
				Effects: "reads_elsewhere"},
			{Names: `use-context use set set-context set-cluster set-credentials unset rename-context delete-context
				delete-cluster delete-user`,
				Raw: true, Effects: "writes", Judge: effectsAlone},
		}},
		{Names: "exec", Options: kubectlGlobals + "-i,--stdin -t,--tty!interactive -c,--container:text -q,--quiet",
			Operands: "text inside*", Effects: "writes reaches runs_code", Judge: judgeInside},
		{Names: "cp", Options: kubectlGlobals + "-c,--container:text --no-preserve --retries:text", Operands: "copied*", Effects: "writes reaches",
			Judge: judgeContainerCopy},
		{Names: "delete drain", Raw: true, Effects: "writes reaches destroys", Judge: effectsAlone},
		{Names: "replace", Raw: true, Effects: "writes reaches destroys", Judge: effectsAlone},
		{Names: `apply create edit patch scale autoscale annotate label run expose set taint cordon uncordon attach
			port-forward proxy debug wait diff kustomize certificate plugin completion`, Raw: true,
			Effects: "writes reaches runs_code", Judge: effectsAlone},
	}
}

// judgeInside adds what runs in a container, whose paths are not those of this machine.
func judgeInside(a *Args, u *Use) {
	u.Reasons = append(u.Reasons, because("runs a command in a container, through a service that may reach other machines"))
	inside := a.Values("inside")
	if len(inside) > 0 && inside[0].Static && inside[0].Text == "--" {
		inside = inside[1:]
	}
	if len(inside) > 0 {
		u.Runs = append(u.Runs, Command{Argv: inside, Away: true})
	}
}

// judgeDockerRun names the directories of this machine that a new container is given, and the host of its image.
func judgeDockerRun(a *Args, u *Use) {
	judgeInside(a, u)
	judgeImages(a, u)
	for _, w := range a.Values("volume") {
		from, rest, _ := strings.Cut(w.Text, ":")
		shares(u, w, from, strings.HasSuffix(rest, ":ro") || strings.Contains(rest, ":ro,"))
	}
	for _, w := range a.Values("mount") {
		from, reads := "", false
		for field := range strings.SplitSeq(w.Text, ",") {
			name, value, _ := strings.Cut(field, "=")
			switch name {
			case "source", "src":
				from = value
			case "readonly", "ro":
				reads = true
			}
		}
		shares(u, w, from, reads)
	}
}

// shares names a path of this machine that a container gets. Names without a slash are volumes of the daemon.
func shares(u *Use, at Word, path string, reads bool) {
	if at.Static && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, ".") && !strings.HasPrefix(path, "~") {
		return
	}
	at.Text = path
	u.Reads = append(u.Reads, at)
	if !reads {
		u.Writes = append(u.Writes, at)
	}
}

// judgeImages names the hosts of images that spell theirs: HOST/NAME, where HOST has a dot or a port. Only the daemon knows the
// host of the others.
func judgeImages(a *Args, u *Use) {
	for _, w := range a.Values("image") {
		host, _, ok := strings.Cut(w.Text, "/")
		if ok && strings.ContainsAny(host, ".:") {
			w.Text, w.Static = host, true
			u.Hosts = append(u.Hosts, w)
		} else {
			u.Effects = append(u.Effects, HostsUnknown)
		}
	}
}

// judgeContainerCopy tells paths of this machine from those in containers, CONTAINER:PATH. The last word is written; - is a stream.
func judgeContainerCopy(a *Args, u *Use) {
	words := a.Values("copied")
	for i, w := range words {
		colon, slash := strings.IndexByte(w.Text, ':'), strings.IndexByte(w.Text, '/')
		switch {
		case colon > 0 && (slash != 0 && w.Text[0] != '.'), w.Static && w.Text == "-":
		case i == len(words)-1:
			u.Writes = append(u.Writes, w)
		default:
			u.Reads = append(u.Reads, w)
		}
	}
}
