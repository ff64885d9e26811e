// Package redact finds secrets in text and in JSON, and replaces them.
//
//	r, err := redact.New(redact.Options{Key: key})
//	r.Add("variable", os.Getenv("DEPLOY_TOKEN"))
//	line, found, err := r.JSON(event)          // [redacted github_token 5f1c09aa83b1d2e4]
//
// # What is a secret
//
//   - What [secret.All] finds: tokens of known forms, and values in a place of secrets.
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
// JSON is parsed only if one fast pass finds something in it.
package redact
