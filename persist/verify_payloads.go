package persist

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Payloads is the result of VerifyPayloads.
type Payloads struct {
	Checked  int       // that exist
	Pruned   int       // that Prune removed
	Problems []Problem // each names the record
}

// VerifyPayloads checks the payloads that a session's records refer to: each must exist and have the digest in its
// record. Payloads without a record are checked only if there are no records at all: then the records were lost. The
// error is one of the journal.
func VerifyPayloads(dir string) (found Payloads, err error) {
	f, err := os.Open(filepath.Join(dir, LogName))
	if err != nil {
		return found, err
	}
	defer f.Close()
	seen, pruned, records := map[string]bool{}, prunedPayloads(dir), 0
	for entry, err := range Read(f) {
		if errors.Is(err, ErrNewer) {
			records++ // it may be the record of a payload
		}
		if err != nil {
			continue // Verify reports it
		}
		records++
		for _, ref := range refsIn(entry.Event) {
			if key := ref.file + ref.digest; seen[key] || len(found.Problems) >= maxProblems {
				continue
			} else {
				seen[key] = true
			}
			kind, detail := checkPayload(dir, ref)
			if kind == Missing && pruned[ref.file] {
				found.Pruned++
				continue
			}
			found.Checked++
			if kind != "" {
				found.Problems = append(found.Problems, Problem{Kind: kind, Seq: entry.Seq, Detail: detail})
			}
		}
	}
	if records == 0 {
		found.Problems = append(found.Problems, unrecorded(dir)...)
	}
	return found, nil
}

// prunedPayloads returns the files of the payloads that Prune removed from a session.
func prunedPayloads(dir string) map[string]bool {
	f, err := os.Open(filepath.Join(dir, prunedName))
	if err != nil {
		return nil
	}
	defer f.Close()
	pruned := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r Removal
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			pruned[r.Payload] = true
		}
	}
	return pruned
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
		return Changed, fmt.Sprintf("payload %s differs from the stored one: its digest is %s, the record says %s", ref.file, got, ref.digest)
	}
	return "", ""
}
