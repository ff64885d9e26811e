// Package secret says what a secret is: the one table that the log, the masks of the sandbox, the views of configuration, the tools that read,
// and the variables of commands ask.
//
//	for _, s := range secret.All().Find(text) { … text[s.Start:s.End] is a s.Kind … }
//
// A secret is known by
//
//   - its own form (table.go): a prefix, an alphabet, a length and, where the issuer has one, a checksum;
//   - its place (places.go, settings.go): the password of a URL, a header, a variable such as DB_PASSWORD, a member, a setting, a PEM key;
//   - the command that takes it (commands.go): mysql -p, curl -u, docker login -p.
//
// Text is searched in one pass that looks at every second pair of bytes. A pair that begins no known literal costs one table look-up, which is
// all that most text costs.
package secret
