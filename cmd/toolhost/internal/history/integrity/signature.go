package integrity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/persist"
	"toolhost/settings"
)

// signatureName is the file with the signature of a log, beside it: the signed text, and the SSH signature.
const signatureName = "log.sig"

func signatureOf(path string) string { return filepath.Join(filepath.Dir(path), signatureName) }

// namespace keeps signatures apart from those of files and commits with the same key.
const namespace = "toolhost-log"

// Sign writes the signature of a log beside it, and returns the signed text and the file. The key is a private one, or a public one whose
// private one an agent holds.
func Sign(path, key string) (text, file string, err error) {
	if err := persist.CheckFormat(path); err != nil {
		return "", "", err
	}
	report, err := persist.VerifyFile(path)
	switch {
	case err != nil:
		return "", "", err
	case !report.OK():
		return "", "", errors.New("the log is not as it was written: see toolhost log verify")
	case report.Records == 0:
		return "", "", errors.New("the log has no records")
	}
	text, file = signedText(path, report.Last, report.Head), signatureOf(path)
	signature, err := sshKeygen(text, "-Y", "sign", "-q", "-n", namespace, "-f", key)
	if err != nil {
		return "", "", err
	}
	return text, file, settings.ReplaceFile(file, append([]byte(text), signature...), 0o600)
}

// signedText is the text that a signature of a log is over.
func signedText(path string, count int64, head string) string {
	return fmt.Sprintf("toolhost log 1\nsession %s\nrecords %d\nhead %s\n", history.Session(path), count, head)
}

// checkSigned checks the signature of a log with a public key, and returns the number of signed records. The log itself is
// verified elsewhere.
func checkSigned(path, key string) (count int64, err error) {
	b, err := os.ReadFile(signatureOf(path))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, errors.New("it is not signed: toolhost log sign does it")
	}
	if err != nil {
		return 0, err
	}
	at := bytes.Index(b, []byte("-----BEGIN SSH SIGNATURE-----"))
	if at < 0 {
		return 0, fmt.Errorf("%s holds no signature", signatureName)
	}
	text, session, head := string(b[:at]), "", ""
	if _, err := fmt.Sscanf(text, "toolhost log 1\nsession %s\nrecords %d\nhead %s\n", &session, &count, &head); err != nil {
		return 0, fmt.Errorf("%s does not say what is signed", signatureName)
	}
	if err := checkSignature(text, b[at:], key); err != nil {
		return 0, err
	}
	if want := signedText(path, count, head); text != want {
		return 0, fmt.Errorf("the signature is of another session: %s", visible.Text(session))
	}
	there, err := persist.HashOf(path, count)
	if err != nil {
		return 0, err
	}
	if there != head {
		return 0, fmt.Errorf("record %d is not the one that was signed", count)
	}
	return count, nil
}

// PublicKey reads a file with a public key.
func PublicKey(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	if err == nil && bytes.Contains(b, []byte("PRIVATE KEY")) {
		return nil, fmt.Errorf("%s is a private key: give the public one, %s.pub", file, file)
	}
	return b, err
}

// checkSignature checks an SSH signature of a text.
func checkSignature(text string, signature []byte, key string) error {
	public, err := PublicKey(key)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "toolhost-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	signers, sig := filepath.Join(dir, "signers"), filepath.Join(dir, "sig")
	if err := errors.Join(os.WriteFile(signers, append([]byte("log "), public...), 0o600), os.WriteFile(sig, signature, 0o600)); err != nil {
		return err
	}
	_, err = sshKeygen(text, "-Y", "verify", "-n", namespace, "-I", "log", "-f", signers, "-s", sig)
	if err != nil {
		return fmt.Errorf("the signature is not one of %s: %w", key, err)
	}
	return nil
}

// keygenLimit is how long ssh-keygen may take: a person may have to type a passphrase, or to touch a key.
const keygenLimit = 2 * time.Minute

// sshKeygen runs ssh-keygen with a text as its input.
func sshKeygen(text string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), keygenLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ssh-keygen", args...)
	cmd.WaitDelay = time.Second // an agent that it started may hold its output
	var out, failed bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), &out, &failed
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("ssh-keygen is not installed: it comes with OpenSSH")
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("ssh-keygen did not end within %s: the key, its agent or a file system does not answer", keygenLimit)
	}
	if err != nil {
		return nil, fmt.Errorf("ssh-keygen: %s", visible.Text(strings.TrimSpace(failed.String()+out.String())))
	}
	return out.Bytes(), nil
}
