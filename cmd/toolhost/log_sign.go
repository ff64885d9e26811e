package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"toolhost/agenttool/visible"
	"toolhost/persist"
)

// signatureName is the file with the signature of a log, beside it: the signed text, and the SSH signature.
const signatureName = "log.sig"

// signatureNamespace keeps signatures apart from those of files and commits with the same key.
const signatureNamespace = "toolhost-log"

func newLogSign() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "sign [SESSION]",
		Short: "Sign the number of records and the head of a log with an SSH key",
		Long: `sign checks a log and signs the number of its records and the hash of the last one with an SSH key, by ssh-keygen. The signature stands
beside the log, in log.sig; toolhost log verify --key checks it. Records that follow are not signed until sign runs again.
` + exitCodes,
		Example: `  toolhost log sign --key ~/.ssh/id_ed25519
  toolhost log verify --key ~/.ssh/id_ed25519.pub`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if key == "" {
				return errors.New("give the key: toolhost log sign --key ~/.ssh/id_ed25519")
			}
			paths, err := logPaths(args)
			if err != nil {
				return err
			}
			text, err := signLog(paths[0], key)
			if err != nil {
				return exitf(exitFailed, "sign %s: %v", paths[0], err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "signed in %s:\n%s", filepath.Join(filepath.Dir(paths[0]), signatureName), text)
			return err
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "private SSH key `file`; a public one if an agent holds the private one")
	return cmd
}

// signLog writes the signature of a log beside it, and returns the signed text.
func signLog(path, key string) (string, error) {
	if err := persist.CheckFormat(path); err != nil {
		return "", err
	}
	report, err := persist.VerifyFile(path)
	switch {
	case err != nil:
		return "", err
	case !report.OK():
		return "", errors.New("the log is not as it was written: see toolhost log verify")
	case report.Records == 0:
		return "", errors.New("the log has no records")
	}
	text := signedText(path, report.Last, report.Head)
	signature, err := sshKeygen(text, "-Y", "sign", "-q", "-n", signatureNamespace, "-f", key)
	if err != nil {
		return "", err
	}
	return text, os.WriteFile(filepath.Join(filepath.Dir(path), signatureName), append([]byte(text), signature...), 0o600)
}

// signedText is the text that a signature of a log is over.
func signedText(path string, count int64, head string) string {
	return fmt.Sprintf("toolhost log 1\nsession %s\nrecords %d\nhead %s\n", filepath.Base(filepath.Dir(path)), count, head)
}

// verifySignature checks the signature of a log with a public key, and returns the number of signed records. The log itself is
// verified elsewhere.
func verifySignature(path, key string) (count int64, err error) {
	b, err := os.ReadFile(filepath.Join(filepath.Dir(path), signatureName))
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

// publicKey reads a file with a public key.
func publicKey(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	if err == nil && bytes.Contains(b, []byte("PRIVATE KEY")) {
		return nil, fmt.Errorf("%s is a private key: give the public one, %s.pub", file, file)
	}
	return b, err
}

// checkSignature checks an SSH signature of a text.
func checkSignature(text string, signature []byte, key string) error {
	public, err := publicKey(key)
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
	_, err = sshKeygen(text, "-Y", "verify", "-n", signatureNamespace, "-I", "log", "-f", signers, "-s", sig)
	if err != nil {
		return fmt.Errorf("the signature is not one of %s: %w", key, err)
	}
	return nil
}

// sshKeygen runs ssh-keygen with a text as its input.
func sshKeygen(text string, args ...string) ([]byte, error) {
	cmd := exec.Command("ssh-keygen", args...)
	var out, failed bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), &out, &failed
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("ssh-keygen is not installed: it comes with OpenSSH")
	}
	if err != nil {
		return nil, fmt.Errorf("ssh-keygen: %s", visible.Text(strings.TrimSpace(failed.String()+out.String())))
	}
	return out.Bytes(), nil
}
