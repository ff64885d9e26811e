package http

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"time"
)

// certLife is how long a certificate of our own is valid. The key lives no longer than the process.
const certLife = 30 * 24 * time.Hour

// serverTLS is the configuration of TLS; nil: there is none.
func serverTLS(o Options) (*tls.Config, error) {
	switch {
	case !o.OwnCert:
		return certificate(o.CertFile, o.KeyFile)
	case o.CertFile+o.KeyFile != "":
		return nil, errors.New("a certificate is given: leave out either it or --tls-self-signed")
	}
	return ownCertificate(o)
}

// ownCertificate makes a certificate for the names of the server, with a key that is never written to a file.
func ownCertificate(o Options) (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "toolhost"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	name(&template, o)
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}, nil
}

// name puts the names and addresses of the server into its certificate.
func name(template *x509.Certificate, o Options) {
	given, _, _ := net.SplitHostPort(o.Addr)
	for _, name := range append([]string{"localhost", "127.0.0.1", "::1", given}, o.AllowedHosts...) {
		if host := hostname(name); host != "" {
			name = host
		}
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else if name != "" {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
}
