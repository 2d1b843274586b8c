package clients

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"

	"bankgraph/core/access"
)

// Sign signs a text with the key that signs the tokens of the caller's bank, and returns the key's id and a
// compact JWS. The JWS type as must not be that of tokens, so that the text cannot be used as one.
func (s *Service) Sign(ctx context.Context, as string, what []byte) (kid, signature string, err error) {
	caller, err := access.Require(ctx, access.ManageClients)
	if err != nil {
		return "", "", err
	}
	if as == tokenType || as == "" {
		return "", "", errors.New("what is signed needs a type of its own")
	}
	known, err := s.signing(ctx, caller.Tenant)
	if err != nil {
		return "", "", err
	}
	var key *signingKey
	for _, one := range known.keys { // the last one that signs, as for tokens
		if one.signs(known.read) {
			key = one
		}
	}
	signer, err := s.signer(key, jose.ContentType(as))
	if err != nil {
		return "", "", err
	}
	signed, err := signer.Sign(what)
	if err != nil {
		return "", "", fmt.Errorf("sign with key %s: %w", key.KID, err)
	}
	signature, err = signed.CompactSerialize()
	return key.KID, signature, err
}

// EverSigned returns the public keys of all signing keys of the caller's bank, including retired ones.
func (s *Service) EverSigned(ctx context.Context) ([]jose.JSONWebKey, error) {
	caller, err := access.Require(ctx, access.ManageClients)
	if err != nil {
		return nil, err
	}
	var all []*signingKey
	err = s.db.NewSelect().Model(&all).Where("k.tenant = ?", caller.Tenant).Order("k.signs_from").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the signing keys of tenant %d: %w", caller.Tenant, err)
	}
	keys := make([]jose.JSONWebKey, len(all))
	for i, key := range all {
		if err := keys[i].UnmarshalJSON(key.Public); err != nil {
			return nil, fmt.Errorf("read signing key %s: %w", key.KID, err)
		}
	}
	return keys, nil
}
