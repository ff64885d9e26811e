// Package redact finds secrets in text and in JSON, and replaces them.
//
//	r, err := redact.New(redact.Options{Key: key})
//	r.Add("variable", os.Getenv("DEPLOY_TOKEN"))
//	line, found, err := r.JSON(event)          // [redacted github_token 5f1c09aa83b1d2e4]
//
// # What is a secret
//
//   - Tokens whose form is known (table.go): a prefix, an alphabet, a length and, where the issuer has one, a checksum.
//   - Values that have a secret's place: the password of a URL, the value of an Authorization header, of a variable
//     such as DB_PASSWORD=, of a JSON member such as "client_secret", and private keys in PEM.
//   - Values that the host knows ([Redactor.Add]): of variables with secret-looking names, of files that are secrets,
//     of fields that a tool declares as sensitive.
//   - Matches of the user's own patterns.
//
// # What is left
//
// The mark names the kind of the secret and 64 bits of an HMAC-SHA256 under the user's key. Equal secrets have equal
// marks, and a reader without the key cannot test guesses. In a payload the mark is as long as the secret, so that
// offsets and lines stay valid.
//
// # Cost
//
// One pass looks at every second pair of bytes. A pair that begins no known prefix costs one table look-up, which is
// all that most text costs. JSON is parsed only if the pass finds something.
package redact
