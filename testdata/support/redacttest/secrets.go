// Package redacttest makes secrets of known forms for tests. They are made when a test runs: a scanner that finds tokens
// in source would report literal ones.
package redacttest

import (
	"encoding/base64"
	"hash/crc32"
	"math/rand/v2"
	"strings"
)

// Secret is a made-up secret.
type Secret struct {
	Kind  string // as the redactor names it
	Value string
}

const (
	hexDigits  = "0123456789abcdef"
	upperAlnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	alnum      = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	dashed     = alnum + "_-"
)

// maker makes random text.
type maker struct{ *rand.Rand }

func (m maker) text(letters string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[m.IntN(len(letters))]
	}
	return string(b)
}

// Sum returns the six letters that GitHub and npm write behind the random part of a token.
func Sum(body string) string {
	sum, out := crc32.ChecksumIEEE([]byte(body)), ""
	for range 6 {
		out = string(alnum[sum%62]) + out
		sum /= 62
	}
	return out
}

func (m maker) checked(prefix string) string {
	body := m.text(alnum, 30)
	return prefix + body + Sum(body)
}

// jwt makes a token with a signature that belongs to no key.
func (m maker) jwt() string {
	e := base64.RawURLEncoding
	return e.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + e.EncodeToString([]byte(`{"sub":"`+m.text(alnum, 12)+`"}`)) + "." + m.text(dashed, 43)
}

// PEM makes text in the form of a private key.
func (m maker) pem() string {
	lines := []string{"-----BEGIN RSA " + "PRIVATE KEY-----"}
	for range 6 {
		lines = append(lines, m.text(alnum+"+/", 64))
	}
	return strings.Join(append(lines, "-----END RSA "+"PRIVATE KEY-----"), "\n")
}

// Secrets returns secrets of all kinds that stand alone: about fifty. Equal seeds give equal secrets.
func Secrets(seed uint64) []Secret {
	m := maker{rand.New(rand.NewPCG(seed, 7))}
	return append([]Secret{
		{"github_token", m.checked("ghp_")}, {"github_token", m.checked("gho_")}, {"github_token", m.checked("ghs_")},
		{"github_token", "github_pat_" + m.text(alnum, 22) + "_" + m.text(alnum, 59)},
		{"npm_token", m.checked("npm_")}, {"pypi_token", "pypi-AgE" + m.text(dashed, 150)}, {"rubygems_key", "rubygems_" + m.text(hexDigits, 48)},
		{"docker_token", "dckr_pat_" + m.text(dashed, 27)}, {"gitlab_token", "glpat-" + m.text(dashed, 20)}, {"gitlab_token", "glrt-" + m.text(dashed, 20)},
		{"slack_token", "xoxb-" + m.text("0123456789", 12) + "-" + m.text("0123456789", 12) + "-" + m.text(alnum, 24)},
		{"slack_token", "xoxp-" + m.text("0123456789", 12) + "-" + m.text(alnum, 32)},
		{"telegram_token", "1" + m.text("0123456789", 9) + ":AA" + m.text(dashed, 33)},
		{"twilio_key", "SK" + m.text(hexDigits, 32)}, {"sendgrid_key", "SG." + m.text(dashed, 22) + "." + m.text(dashed, 43)},
		{"stripe_key", "sk_live_" + m.text(alnum, 24)}, {"stripe_key", "rk_live_" + m.text(alnum, 24)}, {"shopify_token", "shpat_" + m.text(hexDigits, 32)},
		{"aws_key", "AKIA" + m.text(upperAlnum, 16)}, {"aws_key", "ASIA" + m.text(upperAlnum, 16)},
	}, m.more()...)
}

func (m maker) more() []Secret {
	return []Secret{
		{"google_key", "AIza" + m.text(dashed, 34) + "a"}, {"google_token", "ya29." + m.text(dashed, 100)}, {"google_secret", "GOCSPX-" + m.text(dashed, 28)},
		{"azure_secret", m.text(alnum, 3) + "8Q~" + m.text(alnum, 34)}, {"digitalocean_token", "dop_v1_" + m.text(hexDigits, 64)},
		{"anthropic_key", "sk-ant-" + "api03-" + m.text(dashed, 93) + "AA"}, {"openai_key", "sk-proj-" + m.text(dashed, 120)},
		{"openai_key", "sk-" + m.text(alnum, 20) + "T3BlbkFJ" + m.text(alnum, 20)}, {"huggingface_token", "hf_" + m.text(alnum, 34)},
		{"groq_key", "gsk_" + m.text(alnum, 52)}, {"replicate_token", "r8_" + m.text(alnum, 37)},
		{"vault_token", "hvs." + m.text(dashed, 90)}, {"databricks_token", "dapi" + m.text(hexDigits, 32)}, {"grafana_token", "glsa_" + m.text(alnum, 32) + "_" + m.text(hexDigits, 8)},
		{"newrelic_key", "NRAK-" + m.text(upperAlnum, 27)}, {"postman_key", "PMAK-" + m.text(hexDigits, 24) + "-" + m.text(hexDigits, 34)},
		{"linear_key", "lin_api_" + m.text(alnum, 40)}, {"figma_token", "figd_" + m.text(dashed, 40)}, {"tailscale_key", "tskey-auth-" + m.text(alnum, 17) + "-" + m.text(alnum, 32)},
		{"age_key", "AGE-SECRET-KEY-1" + m.text(upperAlnum, 58)}, {"jwt", m.jwt()}, {"private_key", m.pem()},
	}
}
