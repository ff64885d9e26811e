package persist

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// benchEvent has 300 bytes.
func benchEvent() []byte {
	e := event(1)
	return append(e[:len(e)-1], fmt.Appendf(nil, `,"subject":"%s"}`, strings.Repeat("s", 300-len(e)-13))...)
}

func BenchmarkAppend(b *testing.B) {
	for _, name := range []string{"disk", "memory"} {
		b.Run(name, func(b *testing.B) {
			o := testOptions(b.TempDir())
			o.Ephemeral = name == "memory"
			s := New(o)
			e := benchEvent()
			if err := s.Reserve(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(4 * len(e)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Append(e, e, e, e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReserve(b *testing.B) {
	s := New(testOptions(b.TempDir()))
	for b.Loop() {
		if err := s.Reserve(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	var c chain
	var log []byte
	for range 20_000 {
		log = c.append(log, benchEvent())
	}
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		if r, err := Verify(bytes.NewReader(log)); err != nil || !r.OK() {
			b.Fatal(err, r)
		}
	}
}

func BenchmarkPayload(b *testing.B) {
	s := New(testOptions(b.TempDir()))
	content := make([]byte, 100<<10)
	b.SetBytes(int64(len(content)))
	n := 0
	for b.Loop() {
		n++
		p, err := s.Payload("inv_1", fmt.Sprintf("out%d", n), "text/plain", "full_output")
		if err != nil {
			b.Fatal(err)
		}
		_, _ = p.Write(content)
		if _, err := p.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// 10,000 sessions, which each command that looks at past ones lists.
func BenchmarkRecent(b *testing.B) {
	dir := b.TempDir()
	for i := range 10_000 {
		at := filepath.Join(dir, fmt.Sprintf("ses_%026d", i))
		if err := os.Mkdir(at, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, LogName), []byte("{}\n"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if list, err := Recent(dir, time.Now()); err != nil || len(list) != 10_000 {
			b.Fatal(len(list), err)
		}
	}
}
