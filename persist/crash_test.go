package persist

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test binary be the process that is killed, or the one that lives on a full disk.
func TestMain(m *testing.M) {
	switch os.Getenv("PERSIST_TEST_HELPER") {
	case "writer":
		writeUntilKilled(os.Getenv("PERSIST_TEST_DIR"))
	default:
		os.Exit(m.Run())
	}
}

// writeUntilKilled appends groups and payloads and prints the last number after each, as a host tells a client.
func writeUntilKilled(dir string) {
	s, err := Resume(Options{Dir: dir, ID: "ses_crash"})
	for n := 0; err == nil; n++ {
		if n%8 == 0 {
			err = s.Reserve(context.Background())
		}
		if n%5 == 0 && err == nil {
			p, openErr := s.Payload("inv_1", fmt.Sprintf("out%d-%d", os.Getpid(), n), "text/plain", "full_output")
			if err = openErr; err == nil {
				_, _ = p.Write(make([]byte, rand.IntN(100<<10)))
				_, err = p.Close()
			}
		}
		group := [][]byte{event(n), event(n + 1), event(n + 2)}
		if n%3 == 0 { // large enough to be cut in the middle
			group = append(group, fmt.Appendf(nil, `{"data":"%s"}`, strings.Repeat("x", rand.IntN(500<<10))))
		}
		first, appendErr := s.Append(group...)
		if err == nil {
			err = appendErr
		}
		fmt.Println(first + int64(len(group)) - 1)
	}
	fmt.Println("writer:", err)
	os.Exit(1)
}

func TestSIGKILLAtAnyMoment(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "ses_crash", LogName)
	torn := 0
	for round := range rounds {
		told := killWriter(t, dir, rand.IntN(12))
		r := verifyLog(t, path)
		if r.Closed || r.Last < told || r.Records != r.Last {
			t.Fatalf("round %d: told %d, then\n%s", round, told, r)
		}
		if r.TornBytes > 0 {
			torn++
		}
		if round%10 == 9 { // keep the log short
			if err := os.RemoveAll(filepath.Join(dir, "ses_crash")); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d of %d rounds left a torn line", torn, rounds)
}

// killWriter starts a writer, kills it after it has told of a number of groups, and returns the last it told.
func killWriter(t *testing.T, dir string, groups int) (told int64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PERSIST_TEST_HELPER=writer", "PERSIST_TEST_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if _, err := fmt.Sscan(lines.Text(), &told); err != nil {
			t.Fatalf("the writer says: %s", lines.Text())
		}
		if n == groups {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
	return told
}
