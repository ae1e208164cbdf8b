package mysql

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
)

// TLS says how connections are encrypted.
type TLS struct {
	Mode TLSMode // empty: preferred, or verify-ca where CA is given
	CA   string  // file of certificates to trust; empty means the system's
	Cert string  // file of our own certificate, with Key
	Key  string
}

// TLSMode is one of MySQL's --ssl-mode.
type TLSMode string

// The modes, from no encryption to a certificate that names the host.
const (
	TLSDisabled       TLSMode = "disabled"
	TLSPreferred      TLSMode = "preferred" // if the server can
	TLSRequired       TLSMode = "required"  // with any certificate
	TLSVerifyCA       TLSMode = "verify-ca"
	TLSVerifyIdentity TLSMode = "verify-identity"
)

// mode is the mode in effect, in whatever way it is written: MySQL's own is
// VERIFY_CA. A CA that nothing is checked against would be no use, so with
// one the weaker modes check.
func (t TLS) mode() (TLSMode, error) {
	mode := TLSMode(strings.ReplaceAll(strings.ToLower(string(t.Mode)), "_", "-"))
	switch mode {
	case "", TLSPreferred, TLSRequired:
		if t.CA != "" {
			return TLSVerifyCA, nil
		}
		if mode == "" {
			return TLSPreferred, nil
		}
		return mode, nil
	case TLSDisabled, TLSVerifyCA, TLSVerifyIdentity:
		return mode, nil
	}
	return "", fmt.Errorf("--ssl-mode=%s: want disabled, preferred, required, verify-ca or verify-identity", t.Mode)
}

// Validate reports what is wrong with the modes and files.
func (t TLS) Validate() error {
	_, _, err := Config{TLS: t}.encryption()
	return err
}

// encryption is the TLS configuration for the server, nil for none. With
// fallback, a server that can't encrypt is spoken to in the clear.
func (c Config) encryption() (config *tls.Config, fallback bool, err error) {
	mode, err := c.TLS.mode()
	if err != nil || mode == TLSDisabled {
		return nil, false, err
	}
	if mode == TLSPreferred && c.Socket != "" {
		return nil, false, nil // it doesn't leave the machine
	}
	config = &tls.Config{ServerName: c.Host, MinVersion: tls.VersionTLS12}
	if config.RootCAs, err = authorities(c.TLS.CA); err != nil {
		return nil, false, err
	}
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		return nil, false, errors.New("--ssl-cert and --ssl-key go together")
	}
	if c.TLS.Cert != "" {
		own, err := tls.LoadX509KeyPair(c.TLS.Cert, c.TLS.Key)
		if err != nil {
			return nil, false, fmt.Errorf("--ssl-cert=%s: %w", c.TLS.Cert, err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	switch mode {
	case TLSVerifyIdentity: // what package tls does by itself
	case TLSVerifyCA:
		config.InsecureSkipVerify = true // the host's name, that is:
		config.VerifyConnection = func(state tls.ConnectionState) error { return trusted(state, config.RootCAs) }
	default:
		config.InsecureSkipVerify = true
	}
	return config, mode == TLSPreferred, nil
}

// trusted checks the server's chain, whatever host it names.
func trusted(state tls.ConnectionState, roots *x509.CertPool) error {
	between := x509.NewCertPool()
	for _, cert := range state.PeerCertificates[1:] {
		between.AddCert(cert)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
	if err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
	}
	return nil
}

func authorities(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil // the system's
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--ssl-ca=%s: %w", path, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--ssl-ca=%s: no certificate in it", path)
	}
	return pool, nil
}
