package persist

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"toolhost/agenttool/json"
)

// Payloads counts the files that VerifySession found beside the journal.
type Payloads struct {
	Checked  int       // that exist
	Pruned   int       // that Prune removed
	Problems []Problem // each names the record
}

// VerifySession verifies the journal in a session's directory, as [VerifyFile] does, and the payloads that its records
// refer to: each must exist and have the digest in its record. Payloads without a record are checked only if there are
// no records at all: then the records were lost. The error is one of the journal.
func VerifySession(dir string) (Report, Payloads, error) {
	f, err := openRegular(os.OpenFile, filepath.Join(dir, LogName), os.O_RDONLY)
	if err != nil {
		return Report{}, Payloads{}, err
	}
	defer f.Close()
	p := payloadCheck{dir: dir, seen: map[payloadRef]bool{}, pruned: prunedPayloads(dir)}
	report, err := verify(f, p.record)
	if err == nil && report.Records == 0 && !report.HasNewer() {
		p.found.Problems = append(p.found.Problems, unrecorded(dir)...)
	}
	return report, p.found, err
}

// payloadCheck checks the payloads of one session.
type payloadCheck struct {
	dir    string
	seen   map[payloadRef]bool
	pruned map[string]Removal
	found  Payloads
}

// record checks the payloads that a record refers to, each once.
func (p *payloadCheck) record(e Entry) {
	for _, ref := range refsIn(e.Event) {
		if p.seen[ref] || len(p.found.Problems) >= maxProblems {
			continue
		}
		p.seen[ref] = true
		kind, detail := checkPayload(p.dir, ref)
		if _, pruned := p.pruned[ref.file]; kind == Missing && pruned {
			p.found.Pruned++
			continue
		}
		p.found.Checked++
		if kind != "" {
			p.found.Problems = append(p.found.Problems, Problem{Kind: kind, Seq: e.Seq, Detail: detail})
		}
	}
}

// PrunedPayload finds the removal of a payload by Prune, by its file, in a session's directory.
func PrunedPayload(dir, file string) (Removal, bool) {
	r, ok := prunedPayloads(dir)[file]
	return r, ok && file != ""
}

// prunedPayloads returns the payloads that Prune removed from a session, by file.
func prunedPayloads(dir string) map[string]Removal {
	f, err := os.Open(filepath.Join(dir, prunedName))
	if err != nil {
		return nil
	}
	defer f.Close()
	pruned := map[string]Removal{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r Removal
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			pruned[r.Payload] = r
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
	if !bytes.Contains(event, []byte("/"+resultsDir+"/")) || !bytes.Contains(event, []byte(`"digest"`)) {
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
