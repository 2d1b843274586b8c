package main

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/vault/api"
	"github.com/tink-crypto/tink-go-hcvault/v2/integration/hcvault"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// kms opens keys of key management services, which can wrap a keyset, by the scheme of the key's URI. To
// support another service, add a function here.
var kms = map[string]func(*url.URL) (tink.AEAD, error){"hcvault": vault}

func keyOfKMS(uri string) (tink.AEAD, error) {
	key, err := url.Parse(uri)
	if err != nil {
		return nil, fmt.Errorf("the URI of the key: %w", err)
	}
	open := kms[key.Scheme]
	if open == nil {
		return nil, fmt.Errorf(
			"the URI of a key is hcvault://HOST:PORT/transit/keys/NAME, or hcvault:///transit/keys/NAME with "+
				"VAULT_ADDR: not %q", uri)
	}
	return open(key)
}

// vault opens a key of HashiCorp Vault's (or OpenBao's) transit engine. Token, namespace and certificates
// come from Vault's own variables: VAULT_TOKEN, VAULT_NAMESPACE, VAULT_CACERT, ….
func vault(uri *url.URL) (tink.AEAD, error) {
	config := api.DefaultConfig()
	if config.Error != nil {
		return nil, fmt.Errorf("settings of Vault: %w", config.Error)
	}
	if uri.Host != "" {
		config.Address = "https://" + uri.Host
	}
	config.Timeout = 10 * time.Second
	client, err := api.NewClient(config)
	if err != nil {
		return nil, fmt.Errorf("Vault: %w", err)
	}
	config.HttpClient.Transport = shortly{config.HttpClient.Transport}
	return hcvault.NewAEAD(uri.EscapedPath(), client.Logical())
}

// shortly cuts answers that are longer than any that Vault should give, since its client reads them whole.
type shortly struct{ http.RoundTripper }

const longestOfVault = 1 << 20

func (s shortly) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("Vault at %s: %w", r.URL.Host, err)
	}
	answer.Body = http.MaxBytesReader(nil, answer.Body, longestOfVault)
	return answer, nil
}
