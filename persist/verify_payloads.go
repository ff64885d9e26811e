package persist

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// VerifyPayloads checks the payloads that the records of a session's directory refer to: whether each is there and
// still has the digest that its record holds. Problems name the record. A payload that no record refers to is not
// looked at, unless there are no records at all: then they were lost. The error is one of the journal.
func VerifyPayloads(dir string) (checked int, problems []Problem, err error) {
	f, err := os.Open(filepath.Join(dir, logName))
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	seen, records := map[string]bool{}, 0
	for entry, err := range Read(f) {
		if err != nil {
			continue // Verify names it
		}
		records++
		for _, ref := range refsIn(entry.Event) {
			if key := ref.file + ref.digest; seen[key] || len(problems) >= maxProblems {
				continue
			} else {
				seen[key] = true
			}
			checked++
			if kind, detail := checkPayload(dir, ref); kind != "" {
				problems = append(problems, Problem{Kind: kind, Seq: entry.Seq, Detail: detail})
			}
		}
	}
	if records == 0 {
		problems = append(problems, unrecorded(dir)...)
	}
	return checked, problems, nil
}

// unrecorded returns the problem of payloads beside a log without records, if there are any.
func unrecorded(dir string) []Problem {
	payloads, err := os.ReadDir(filepath.Join(dir, resultsDir))
	if err != nil || len(payloads) == 0 {
		return nil
	}
	return []Problem{{Kind: Missing, Seq: 1, Detail: fmt.Sprintf("the log has no records, and %d payloads are beside it", len(payloads))}}
}

// payloadRef is a payload that a record refers to.
type payloadRef struct{ file, digest string }

// refsIn returns the references to payloads, with a digest, at any depth of an event.
func refsIn(event json.RawMessage) []payloadRef {
	if !strings.Contains(string(event), `"digest"`) {
		return nil
	}
	var v any
	if json.Unmarshal(event, &v) != nil {
		return nil
	}
	var refs []payloadRef
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			uri, _ := v["uri"].(string)
			digest, _ := v["digest"].(string)
			if _, file, ok := strings.Cut(uri, "/"+resultsDir+"/"); ok && strings.HasPrefix(uri, "toolhost://") && digest != "" {
				refs = append(refs, payloadRef{file, digest})
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return refs
}

func checkPayload(dir string, ref payloadRef) (ProblemKind, string) {
	if ref.file != filepath.Base(ref.file) {
		return Changed, fmt.Sprintf("payload %q has no name that a payload can have", ref.file)
	}
	f, err := os.Open(filepath.Join(dir, resultsDir, ref.file))
	if err != nil {
		return Missing, fmt.Sprintf("payload %s cannot be read: %v", ref.file, err)
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return Missing, fmt.Sprintf("payload %s cannot be read: %v", ref.file, err)
	}
	if got := "sha256:" + hex.EncodeToString(hash.Sum(nil)); got != ref.digest {
		return Changed, fmt.Sprintf("payload %s is not what was stored: its digest is %s, the record says %s", ref.file, got, ref.digest)
	}
	return "", ""
}
