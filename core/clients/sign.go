package clients

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"

	"bankgraph/core/access"
)

// Sign signs for the caller's bank, with the key that its tokens are signed with, and returns the key's id
// and a compact JWS. The type keeps what is signed from passing for anything else: it is never that of a
// token.
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
	for _, one := range known.keys { // the last that signs, as for tokens
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

// EverSigned are the public halves of all keys that the caller's bank has signed with, retired ones too.
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
