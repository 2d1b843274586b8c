package issuers_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/fault"
	"bankgraph/core/issuers"
)

func TestIssuerIsAcceptedForItsAudienceOnly(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	token := b.token(p)
	b.refused("before it is accepted", token)
	b.accept(p)
	if _, err := b.verify(token); err != nil {
		t.Fatal(err)
	}
	for _, aud := range []any{
		nil, "", "account", audience + "/",
		strings.ToUpper(audience),
		[]string{"account", "portal"},
		[]string{},
	} {
		b.refused("audience", b.token(p, "aud", aud))
	}
	if _, err := b.verify(b.token(p, "aud", []string{"account", audience})); err != nil {
		t.Errorf("among others: %v", err)
	}
}

func TestTokenOfAnotherIssuerOrKeyIsRefused(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p, other, unknown := b.provider(), b.provider(), b.provider()
	b.accept(p)
	b.accept(other)
	b.refused("an issuer that no bank accepts", b.token(unknown))
	b.refused("another issuer's key", b.signed(other.keys[0], "at+jwt", b.claims(p)))
	theirs := b.provider()
	if _, err := b.Issuers.Add(b.at(b.add()), issuers.Draft{URL: theirs.url, Audience: audience}); err != nil {
		t.Fatal(err)
	}
	b.refused("the key of another bank's issuer", b.signed(theirs.keys[0], "at+jwt", b.claims(p)))
	forged := other.keys[0]
	forged.KeyID = p.keys[0].KeyID
	b.refused("another issuer's key under this one's id", b.signed(forged, "at+jwt", b.claims(p)))
	nameless := p.keys[0]
	nameless.KeyID = ""
	b.refused("no key id", b.signed(nameless, "at+jwt", b.claims(p)))
	for _, almost := range []string{
		p.url + "/", strings.ToUpper(p.url), " " + p.url, "",
		"https://ours.example/auth/realms/" + b.tenant.Code,
	} {
		b.refused("iss "+almost, b.token(p, "iss", almost))
	}
	if unknown.fetches() != 0 {
		t.Errorf("fetched %v", unknown.asked)
	}
}

func TestIssuerAndAudienceNameOneBank(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	draft := issuers.Draft{URL: p.url, Audience: audience}
	other := b.add()
	if _, err := b.Issuers.Add(b.at(other), draft); !errors.Is(err, issuers.ErrTaken) {
		t.Errorf("at another bank: %v", err)
	}
	if _, err := b.Issuers.Add(b.operator, draft); !errors.Is(err, issuers.ErrExists) {
		t.Errorf("twice at one bank: %v", err)
	}
	draft.Audience = "other-bank"
	if _, err := b.Issuers.Add(b.at(other), draft); err != nil {
		t.Errorf("at another bank for another audience: %v", err)
	}
	if caller, err := b.verify(b.token(p, "aud", "other-bank")); err != nil || caller.Tenant != other.ID {
		t.Errorf("token of the other bank: %+v, %v", caller, err)
	}
	if caller, err := b.verify(b.token(p)); err != nil || caller.Tenant != b.tenant.ID {
		t.Errorf("token of this bank: %+v, %v", caller, err)
	}
	b.refused("a token for both", b.token(p, "aud", []string{audience, "other-bank"}))

	// Rows that were not made by Add.
	b.execAt(other.ID, `UPDATE issuers SET audience = ? WHERE tenant = ?`, audience, other.ID)
	b.later(10 * time.Second)
	b.refused("a token that could be for both", b.token(p))
}

func TestBanksThatAddAnIssuerAtOnceDoNotBothGetIt(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p, other := b.provider(), b.add()
	answer := make(chan error, 1)
	err := b.DB.InTx(b.stranger, int64(other.ID), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx,
			`INSERT INTO issuers (tenant, url, audience, user_claims, algorithms)
				VALUES (?, ?, ?, '{sub}', '{ES256}')`,
			other.ID, p.url, audience)
		go func() {
			_, err := b.Issuers.Add(b.operator, issuers.Draft{URL: p.url, Audience: audience})
			answer <- err
		}()
		select {
		case err = <-answer:
			return fmt.Errorf("it did not wait for the other bank: %w", err)
		case <-time.After(200 * time.Millisecond):
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-answer; !errors.Is(err, issuers.ErrTaken) {
		t.Errorf("error = %v", err)
	}
}

func TestDisabledIssuerIsDeadUntilItIsAddedAnew(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	b.accept(p, func(d *issuers.Draft) { d.Audience = "second" })
	token := b.token(p)
	if _, err := b.verify(token); err != nil {
		t.Fatal(err)
	}
	if err := b.Issuers.Disable(b.operator, p.url, audience); err != nil {
		t.Fatal(err)
	}
	b.refused("a new token", b.token(p))
	b.later(10 * time.Second)
	b.refused("a token that was verified before", token)
	if _, err := b.verify(b.token(p, "aud", "second")); err != nil {
		t.Errorf("the other audience: %v", err)
	}
	if err := b.Issuers.Disable(b.operator, p.url, audience); !errors.Is(err, issuers.ErrDisabled) {
		t.Errorf("twice: %v", err)
	}
	if err := b.Issuers.Disable(b.operator, p.url, ""); err != nil {
		t.Errorf("all audiences: %v", err)
	}
	b.refused("the other audience", b.token(p, "aud", "second"))
	if err := b.Issuers.Disable(b.operator, "https://nowhere.example",
		""); !errors.Is(err, issuers.ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
	b.accept(p, func(d *issuers.Draft) { d.UserClaims = []string{"email"} })
	if _, err := b.verify(b.token(p, "email", "admin")); err != nil {
		t.Errorf("added anew, with another claim: %v", err)
	}
}

func TestRecordSaysWhomTheBankTrustsAndSinceWhen(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p, func(d *issuers.Draft) { d.PartnerClaim = "partner" })
	if err := b.Issuers.Disable(b.operator, p.url, ""); err != nil {
		t.Fatal(err)
	}
	var entries []audit.Entry
	if err := b.DB.NewSelect().Model(&entries).Where("e.tenant = ?", b.tenant.ID).
		Where("e.object = 'issuer'").
		Order("e.id").Scan(b.stranger); err != nil || len(entries) != 2 {
		t.Fatalf("%+v, %v", entries, err)
	}
	added, disabled := entries[0], entries[1]
	if added.Action != "addIssuer" || added.Client != "operator" || added.UID != p.url+" "+audience ||
		!strings.Contains(string(added.After), `"partnerClaim":"partner"`) {
		t.Errorf("added: %+v %s", added, added.After)
	}
	if disabled.Action != "disableIssuer" || !strings.Contains(string(disabled.After), "disabledAt") ||
		strings.Contains(string(disabled.After), "partner") {
		t.Errorf("disabled: %+v %s", disabled, disabled.After)
	}
}

func TestIssuersOfOtherBanksAreOutOfReach(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p, func(d *issuers.Draft) { d.PartnerClaim, d.Algorithms = "partner", []string{"ES384"} })
	other := b.at(b.add())
	if all, err := b.Issuers.List(other); err != nil || len(all) != 0 {
		t.Errorf("list: %v, %v", all, err)
	}
	if err := b.Issuers.Disable(other, p.url, ""); !errors.Is(err, issuers.ErrNotFound) {
		t.Errorf("disable: %v", err)
	}
	all, err := b.Issuers.List(b.operator)
	if err != nil || len(all) != 1 || all[0].PartnerClaim != "partner" || all[0].DisabledAt != nil ||
		!slices.Equal(all[0].UserClaims, issuers.UserClaims) || len(all[0].Algorithms) != 1 {
		t.Errorf("own list: %+v, %v", all, err)
	}
	if keys, err := b.Issuers.Reach(b.operator, p.url); err != nil || keys != 1 {
		t.Errorf("reach: %d, %v", keys, err)
	}
	staff := access.With(b.stranger,
		access.Caller{Tenant: b.tenant.ID, Permissions: []access.Permission{access.ViewUsers}})
	if _, err := b.Issuers.Add(staff,
		issuers.Draft{URL: p.url, Audience: "x"}); !errors.Is(err, access.ErrDenied) {
		t.Errorf("without the permission: %v", err)
	}
}

func TestEveryWrongFieldOfAnIssuerIsNamed(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	_, err := b.Issuers.Add(b.operator, issuers.Draft{
		URL: "ftp://x", Audience: "a b", UserClaims: []string{""}, PartnerClaim: "a\x00", EntityClaim: " ",
		Algorithms: []string{"HS256", "none"},
	})
	var wrong fault.Faults
	if !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	var fields []string
	for _, one := range wrong {
		fields = append(fields, one.Field)
	}
	if want := []string{
		"url", "audience", "userClaims", "partnerClaim", "legalEntityClaim", "algorithms", "algorithms",
	}; !reflect.DeepEqual(fields, want) {
		t.Errorf("fields = %v, want %v", fields, want)
	}
	for _, url := range []string{
		"", "idp.example", "http://idp.example", "http://10.0.0.1", "http://localhost.example", "https://",
		"https://:443", "https://u:p@idp.example",
		"https://idp.example?x=1", "https://idp.example?", "https://idp.example#x", "https://idp.example#",
		"file:///etc", "https://" + strings.Repeat("a", 500),
	} {
		if _, err := b.Issuers.Add(b.operator, issuers.Draft{URL: url, Audience: "x"}); err == nil {
			t.Errorf("%q was added", url)
		}
	}
	for _, url := range []string{
		"https://10.0.0.1:8443/realms/x",
		"http://127.0.0.1:3000", "http://[::1]:3000", "http://localhost:3000",
	} {
		if _, err := b.Issuers.Add(b.operator, issuers.Draft{URL: url, Audience: b.tenant.Code}); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}
