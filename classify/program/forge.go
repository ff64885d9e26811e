package program

import "strings"

// forgeSpecs describes gh and glab: they reach a host with the person's credentials; some commands only ask. --web is
// missing everywhere, which runs a browser, and so are aliases and extensions.
func forgeSpecs() []*Spec {
	return []*Spec{
		{Names: "gh", Options: "--version --help", Operands: "sub?", Sub: ghSubs(), Judge: judgeGh},
		{Names: "aws", Raw: true, Loses: true, Effects: "reaches not_concurrent", Judge: judgeAWS},
		{Names: "glab hub gcloud az doctl heroku flyctl fly vercel netlify wrangler firebase s3cmd rclone",
			Raw: true, Loses: true,
			Effects: "writes reaches", Judge: judgeForge},
	}
}

// judgeGh names the hosts that gh reaches unless the repository or the configuration is of another server.
func judgeGh(a *Args, u *Use) {
	if u.Has(Reaches) {
		u.Hosts = append(u.Hosts, Lit("github.com"), Lit("api.github.com"))
		u.Effects = append(u.Effects, HostsUnknown)
	}
}

// awsValues are the options of aws itself with a value; others before the service are not understood.
var awsValues = WordSet("--region --profile --output --query --color --ca-bundle --cli-read-timeout --cli-connect-timeout")

// judgeAWS: describe-… and list-… only ask, whatever their parameters are, and so do two more.
func judgeAWS(a *Args, u *Use) {
	words := a.Operands
	for len(words) > 1 && words[0].Static && awsValues[words[0].Text] {
		words = words[2:]
	}
	if len(words) == 1 && words[0].Static && words[0].Text == "--version" {
		return
	}
	for _, w := range words[:min(len(words), 2)] {
		if !w.Static {
			u.Unknown("aws: the request is not known", w)
			awsRemoves(a, u)
			return
		}
	}
	if len(words) > 1 && !strings.HasPrefix(words[0].Text, "-") && awsAsks(words[0].Text, words[1].Text) {
		return
	}
	u.Add(Writes, "works on a service with the person's credentials")
	awsRemoves(a, u)
}

var awsRemoves = judgeWords("removes resources", "rm", "rb", "delete-", "terminate-")

// judgeForge finds commands that remove resources of a service.
func judgeForge(a *Args, u *Use) {
	u.Reasons = append(u.Reasons, because("works on a service with the person's credentials"))
	judgeWords("removes resources", "delete", "destroy", "apps:destroy")(a, u)
}

func awsAsks(service, verb string) bool {
	return strings.HasPrefix(verb, "describe-") || strings.HasPrefix(verb, "list-") || service == "s3" && verb == "ls" ||
		service == "sts" && verb == "get-caller-identity"
}

const ghShow = ` -R,--repo:text --json:text -q,--jq:text -t,--template:text -L,--limit:text `

func ghSubs() []*Spec {
	ask := func(names, options string) *Spec {
		return &Spec{Names: names, Options: ghShow + options, Operands: "text*", Effects: "reaches"}
	}
	const lists = `-s,--state:text -l,--label:text -a,--assignee:text -A,--author:text -S,--search:text -B,--base:text
		-H,--head:text -m,--milestone:text --mention:text -d,--draft --app:text `
	changes := func(names string) *Spec {
		return &Spec{Names: names, Raw: true, Effects: "writes reaches adds", Judge: effectsAlone}
	}
	removes := func(names string) *Spec {
		return &Spec{Names: names, Raw: true, Effects: "writes reaches destroys", Judge: effectsAlone}
	}
	group := func(names string, subs ...*Spec) *Spec {
		return &Spec{Names: names, Options: "-R,--repo:text", Sub: subs}
	}
	return []*Spec{
		group("pr", ask("view", "-c,--comments"), ask("list ls", lists), ask("status", "-c,--conflict-status"),
			ask("checks", "--required --watch!long_running -i,--interval:text --fail-fast"),
			ask("diff", "--color:text --patch --name-only"),
			changes(`create new checkout co close reopen merge ready edit comment review update-branch lock unlock
				revert`)),
		group("issue", ask("view", "-c,--comments"), ask("list ls", lists), ask("status", ""),
			changes("create new close reopen edit comment pin unpin transfer lock unlock develop"), removes("delete")),
		group("repo", ask("view", "-b,--branch:text"),
			ask("list ls", "--visibility:text --source --fork --language:text --topic:text --archived --no-archived"),
			changes("create new clone fork sync edit rename archive unarchive set-default deploy-key autolink"),
			removes("delete")),
		group("run", ask("view", "-j,--job:text --log --log-failed -a,--attempt:text --exit-status -v,--verbose"),
			ask("list ls", `-w,--workflow:text -b,--branch:text -s,--status:text -u,--user:text -e,--event:text
				-c,--commit:text --created:text -a,--all`),
			&Spec{Names: "watch", Options: ghShow + "--exit-status -i,--interval:text --compact", Operands: "text*",
				Effects: "reaches long_running"}, changes("download rerun cancel"), removes("delete")),
		group("workflow", ask("view", "-r,--ref:text -y,--yaml"), ask("list ls", "-a,--all"),
			changes("run enable disable")),
		group("release", ask("view", ""), ask("list ls", "--exclude-drafts --exclude-pre-releases -O,--order:text"),
			changes("create new edit upload download"), removes("delete delete-asset")),
		group("gist", ask("view", "-f,--filename:text --files -r,--raw"), ask("list ls", "--public --secret --filter:text"),
			changes("create edit clone rename"), removes("delete")),
		group("label", ask("list ls", "-S,--search:text --order:text --sort:text"), changes("create edit clone"),
			removes("delete")),
		group("secret variable", ask("list ls", "-e,--env:text -o,--org:text -u,--user -a,--app:text"),
			changes("set get"), removes("delete remove")),
		group("cache", ask("list ls", "-k,--key:text -r,--ref:text -O,--order:text -S,--sort:text"), removes("delete")),
		group("search", ask("repos issues prs commits code", lists+`--language:text --owner:text --extension:text
			--filename:text --sort:text --order:text --match:text`)),
		group("ruleset rs", ask("view list ls check", "-o,--org:text -p,--parents")),
		group("auth", &Spec{Names: "status", Options: "-h,--hostname:text -a,--active", Effects: "reaches"},
			changes("login logout refresh setup-git switch token")),
		{Names: "status", Options: "-e,--exclude:text -o,--org:text", Effects: "reaches"},
		{Names: "api", Options: `-X,--method:method -f,--raw-field:field -F,--field:field --input:field -H,--header:text
			--hostname:text -i,--include -q,--jq:text -t,--template:text --paginate --slurp --silent --cache:text
			-p,--preview:text`,
			Operands: "text", Effects: "reaches", Loses: true, Judge: judgeGhAPI},
		changes("alias config extension ext browse codespace cs ssh-key gpg-key project org attestation completion"),
	}
}

// judgeGhAPI judges the method: GET unless there are fields.
func judgeGhAPI(a *Args, u *Use) {
	methods := a.Values("method")
	for _, w := range methods {
		if !w.Static || !strings.EqualFold(w.Text, "GET") && !strings.EqualFold(w.Text, "HEAD") {
			u.Add(Writes, "changes data at the host: its method is "+spelled(w))
			if strings.EqualFold(w.Text, "DELETE") {
				u.Add(Destroys, "deletes data at the host")
			}
		}
	}
	if len(a.Values("field")) > 0 && len(methods) == 0 {
		u.Add(Writes, "sends a POST: it has fields")
	}
	for _, w := range a.Operands {
		if strings.HasPrefix(w.Text, "graphql") {
			u.Add(Writes, "may change data at the host: it is a GraphQL query")
		}
	}
}
