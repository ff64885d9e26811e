package persist

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool/json"
)

// Payloads counts the files that VerifySession found beside the journal.
type Payloads struct {
	Checked  int       // that exist
	Pruned   int       // that Prune removed
	Problems []Problem // each names the record
}

// Tampered reports whether a payload was changed or removed after it was stored.
func (p Payloads) Tampered() bool {
	return slices.ContainsFunc(p.Problems, func(p Problem) bool { return p.Kind != Unwritten })
}

// VerifySession verifies the journal in a session's directory, as [VerifyFile] does, and the payloads that its records
// refer to: each must exist and have the digest in its record. One that is shorter, or has blocks of NUL, is [Unwritten] unless the session ended
// in order after it, which waits for the disk. Payloads without a record are checked only if there are
// no records at all: then the records were lost. The error is one of the journal.
func VerifySession(dir string) (Report, Payloads, error) {
	path := filepath.Join(dir, LogName)
	f, err := openRegular(os.OpenFile, path, os.O_RDONLY)
	if err != nil {
		return Report{}, Payloads{}, err
	}
	defer f.Close()
	if _, err := os.Lstat(filepath.Join(dir, rewrittenName)); err == nil {
		return Report{}, Payloads{}, errInterrupted
	}
	p := payloadCheck{dirs: append([]string{dir}, partsBefore(dir)...), seen: map[payloadRef]bool{}, pruned: map[string]Removal{}}
	for _, dir := range p.dirs {
		maps.Copy(p.pruned, prunedPayloads(dir))
	}
	report, err := verify(f, p.record)
	p.judge()
	if err == nil {
		report.session(path)
	}
	if err == nil && report.Records == 0 && !report.HasNewer() {
		p.found.Problems = append(p.found.Problems, unrecorded(dir)...)
	}
	return report, p.found, err
}

// payloadCheck checks the payloads of one session.
type payloadCheck struct {
	dirs   []string // of the session's parts, this one first: any of them may have a payload
	seen   map[payloadRef]bool
	pruned map[string]Removal
	found  Payloads
	synced int64 // the payloads of records up to here were on the disk, as a closing record says
}

// record checks the payloads that a record refers to, each once.
func (p *payloadCheck) record(e Entry) {
	if c, ok := readClosing(e.Event); ok && c.PayloadsSynced {
		p.synced = e.Seq
	}
	for _, ref := range refsIn(e.Event) {
		if p.seen[ref] || len(p.found.Problems) >= maxProblems {
			continue
		}
		p.seen[ref] = true
		kind, detail := checkPayload(p.dirs, ref)
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

// judge calls a payload changed that cannot be unwritten.
func (p *payloadCheck) judge() {
	for i := range p.found.Problems {
		b := &p.found.Problems[i]
		if b.Kind == Unwritten && b.Seq < p.synced {
			b.Kind = Changed
			b.Detail = strings.TrimSuffix(b.Detail, notOnDisk) + ", and all of it was on the disk when the session ended"
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
type payloadRef struct {
	file, digest string
	size         int64 // 0: the record does not say
}

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
				number, _ := v["size_bytes"].(json.Number)
				size, _ := number.Int64() // 0 if it says none
				refs = append(refs, payloadRef{file, digest, size})
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return refs
}

// notOnDisk ends the detail of a payload that is unwritten.
const notOnDisk = ": the rest did not reach the disk before the machine stopped"

func checkPayload(dirs []string, ref payloadRef) (ProblemKind, string) {
	if ref.file != filepath.Base(ref.file) {
		return Changed, fmt.Sprintf("payload %q has no name that a payload can have", ref.file)
	}
	var f *os.File
	err := fs.ErrNotExist
	for _, dir := range dirs {
		if f, err = openRegular(os.OpenFile, filepath.Join(dir, resultsDir, ref.file), os.O_RDONLY); err == nil {
			break
		}
	}
	if err != nil {
		return Missing, fmt.Sprintf("payload %s cannot be read: %v", ref.file, err)
	}
	defer f.Close()
	hash, blocks := sha256.New(), &blankBlocks{}
	size, err := io.Copy(io.MultiWriter(hash, blocks), f)
	if err != nil {
		return Missing, fmt.Sprintf("payload %s cannot be read: %v", ref.file, err)
	}
	got := "sha256:" + hex.EncodeToString(hash.Sum(nil))
	switch blank := blocks.count(); {
	case got == ref.digest:
		return "", ""
	case size < ref.size:
		return Unwritten, fmt.Sprintf("payload %s has %d of %d bytes%s", ref.file, size, ref.size, notOnDisk)
	case size == ref.size && blank > 0:
		return Unwritten, fmt.Sprintf("payload %s has NUL in %d of its blocks%s", ref.file, blank, notOnDisk)
	}
	return Changed, fmt.Sprintf("payload %s differs from the stored one: its digest is %s, the record says %s", ref.file, got, ref.digest)
}

// blankBlocks counts the blocks of a file that have only NUL, as those that never reached the disk.
type blankBlocks struct {
	blank  int
	filled int  // bytes of the current block
	other  bool // one of them is not NUL
}

const blockSize = 4 << 10 // the least of the usual file systems

func (c *blankBlocks) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		part := rest[:min(len(rest), blockSize-c.filled)]
		rest = rest[len(part):]
		c.other = c.other || len(bytes.TrimLeft(part, "\x00")) > 0
		if c.filled += len(part); c.filled == blockSize {
			c.end()
		}
	}
	return len(b), nil
}

// end ends a block. The last one of a file may be short, but not shorter than what counts as never written.
func (c *blankBlocks) end() {
	if !c.other && c.filled >= len(hole) {
		c.blank++
	}
	c.filled, c.other = 0, false
}

// count returns their number once the file was read.
func (c *blankBlocks) count() int {
	c.end()
	return c.blank
}
