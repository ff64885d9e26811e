package program

import "strings"

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
