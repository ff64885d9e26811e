package secret

import (
	"slices"
	"sync"
)

// forms are the known kinds of secrets, by issuer. Lengths are those that issuers document or that their tokens have;
// a longer run is a secret as well.
var forms = sync.OnceValue(func() []form {
	return slices.Concat(tokens, places, commandForms())
})

var tokens = []form{
	checked("github_token", letters, 36, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
	token("github_token", words, 60, "github_pat_"),
	checked("npm_token", letters, 36, "npm_"),
	token("pypi_token", dashed, 50, "pypi-AgE"),
	token("rubygems_key", lowerHex, 48, "rubygems_"),
	token("docker_token", dashed, 20, "dckr_pat_", "dckr_oat_"),
	token("gitlab_token", set("0-9A-Za-z_.-"), 20, "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "glimt-"),

	token("slack_token", set("0-9A-Za-z-"), 20, "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xoxc-", "xoxd-", "xapp-"),
	token("slack_webhook", set("0-9A-Za-z/"), 30, "hooks.slack.com/services/"),
	{kind: "telegram_token", literals: []string{":AA"}, letters: dashed, find: telegram},
	{kind: "discord_webhook", literals: []string{"/api/webhooks/"}, letters: set("0-9A-Za-z_/-"), find: discord},
	word("twilio_key", lowerHex, 31, each("SK", "0123456789abcdef")...),
	{kind: "sendgrid_key", literals: []string{"SG."}, letters: dotted, find: sendgrid},

	token("stripe_key", letters, 20, "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"),
	token("shopify_token", lowerHex, 32, "shpat_", "shpca_", "shppa_", "shpss_"),
	token("square_token", dashed, 22, "sq0atp-", "sq0csp-"),

	{kind: "aws_key", literals: []string{"AKIA", "ASIA"}, find: awsKey},
	{kind: "aws_secret", literals: []string{"AKIA", "ASIA"}, find: awsBeside},
	{kind: "aws_secret", literals: []string{"aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey"}, find: awsNamed},
	word("google_key", dashed, 35, "AIza"),
	token("google_token", set("0-9A-Za-z_.-"), 40, "ya29."),
	token("google_secret", dashed, 28, "GOCSPX-"),
	{kind: "azure_key", literals: []string{"AccountKey=", "SharedAccessKey="}, letters: base64s, find: after(base64s, 40)},
	{kind: "azure_signature", literals: []string{"?sig=", "&sig="}, find: after(set("0-9A-Za-z%+/=_-"), 40)},
	{kind: "azure_secret", literals: each("", "0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"), letters: azureLetters, find: azureSecret},
	token("digitalocean_token", lowerHex, 64, "dop_v1_", "doo_v1_", "dor_v1_"),
	token("alibaba_key", letters, 16, "LTAI5t"),
	token("flyio_token", base64s, 40, "FlyV1 fm2_", "fo1_"),
	token("heroku_key", dashed, 50, "HRKU-AA"),
	token("cloudflare_key", lowerHex, 140, "v1.0-"),

	token("anthropic_key", dashed, 20, "sk-ant-"),
	token("openai_key", dashed, 20, "sk-proj-", "sk-svcacct-", "sk-admin-"),
	{kind: "openai_key", literals: []string{"T3BlbkFJ"}, find: openAI},
	{kind: "api_key", literals: []string{"sk-"}, letters: letters, find: skKey},
	word("huggingface_token", letters, 34, "hf_"),
	token("groq_key", letters, 40, "gsk_"),
	token("replicate_token", letters, 30, "r8_"),
	token("perplexity_key", letters, 40, "pplx-"),
	token("xai_key", letters, 60, "xai-"),

	token("vault_token", dashed, 24, "hvs.", "hvb.", "hvr."),
	token("terraform_token", base64s, 50, ".atlasv1."),
	token("pulumi_token", lowerHex, 40, "pul-"),
	token("databricks_token", lowerHex, 32, "dapi"),
	token("grafana_token", dashed, 30, "glsa_", "glc_"),
	token("newrelic_key", set("0-9A-Z"), 27, "NRAK-"),
	token("sentry_token", base64s, 40, "sntrys_", "sntryu_"),
	token("postman_key", dashed, 40, "PMAK-"),
	token("linear_key", letters, 32, "lin_api_"),
	token("notion_token", letters, 40, "ntn_"),
	token("figma_token", dashed, 36, "figd_"),
	token("atlassian_token", base64s, 100, "ATATT3", "ATCTT3"),
	token("doppler_token", letters, 40, "dp.pt.", "dp.st."),
	token("tailscale_key", dashed, 20, "tskey-auth-", "tskey-api-", "tskey-client-"),
	token("onepassword_token", base64s, 100, "ops_eyJ"),
	token("age_key", set("0-9A-Z"), 58, "AGE-SECRET-KEY-1"),
	token("age_key", set("0-9A-Z"), 58, "AGE-PLUGIN-"),
	{kind: "jwt", literals: []string{".eyJ"}, find: jwt},
}

// each returns prefix followed by each of the endings; a single string stands for its letters.
func each(prefix string, endings ...string) (all []string) {
	if len(endings) == 1 {
		for _, c := range endings[0] {
			all = append(all, prefix+string(c))
		}
		return all
	}
	for _, end := range endings {
		all = append(all, prefix+end)
	}
	return all
}
