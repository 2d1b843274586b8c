package issuers_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/issuers"
	"bankgraph/core/users"
)

// lookAlikes are texts that look like admin, or that Unicode folds to it.
var lookAlikes = []string{
	"adm\u0130n", "ADM\u0130N", "adm\u0131n", "admi\u0307n", "\uff41dmin", "\u0430dmin", "admin\u200b",
	"\u200badmin", "admin\u200d", "admin\ufeff",
	"admin ", " admin", "admin\t", "admin\n", "admin\u00a0", "admin\u00ad", "a\u0301dmin", "admi\u207f",
	"admin\u202e", "\U0001d41admin", "admin\x00",
}

func TestNobodyPassesForAnotherByALookAlike(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	b.user("mark", b.self())
	for _, login := range lookAlikes {
		b.refused("look-alike", b.token(p, "preferred_username", login))
	}
	b.refused("Kelvin's k", b.token(p, "preferred_username", "mar\u212a"))
	for _, login := range []string{"admin", "ADMIN", "Admin", "mark", "MarK"} {
		if caller, err := b.verify(b.token(p, "preferred_username", login)); err != nil ||
			!strings.EqualFold(caller.LoginID, login) {
			t.Errorf("%s: %+v, %v", login, caller, err)
		}
	}
}

// Rows with login ids that are no longer allowed stay, but name nobody and block nobody's login id.
func TestARowBeyondTheAlphabetIsNobody(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	b.user("l\u0130nda", b.self())
	for _, login := range []string{"l\u0130nda", "linda", "l\u0131nda", "LINDA"} {
		b.refused("the row", b.token(p, "preferred_username", login))
	}
	b.user("linda", b.self())
	if caller, err := b.verify(b.token(p, "preferred_username", "Linda")); err != nil ||
		caller.LoginID != "linda" {
		t.Errorf("%+v, %v", caller, err)
	}
}

// bound returns a bank with an issuer that names people by sub, and a user who is not linked yet.
func bound(t *testing.T, changes ...func(*issuers.Draft)) (*bank, *provider, users.UID) {
	t.Helper()
	b := newBank(t)
	p := b.provider()
	b.accept(p, append(changes, func(d *issuers.Draft) { d.SubjectClaim = "sub" })...)
	return b, p, users.UID{UUID: b.user("jane.doe", b.self(), access.ViewCustomers)}
}

func (b *bank) link(p *provider, uid users.UID, subject string) error {
	_, err := b.Users.Link(b.operator, uid, users.SubjectDraft{Issuer: p.url, Subject: subject},
		changes.RequestOptions{})
	return err
}

func TestASubjectThatIsLinkedCountsWhateverTheNameIs(t *testing.T) {
	t.Parallel()
	b, p, jane := bound(t)
	b.refused("before it is linked", b.token(p, "sub", "7f1c", "preferred_username", "jane.doe"))
	if err := b.link(p, jane, "7f1c"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []any{"jane.doe", "admin", "jane.smith", nil, 7} {
		caller, err := b.verify(b.token(p, "sub", "7f1c", "preferred_username", name))
		if err != nil || caller.User != jane.UUID || caller.LoginID != "jane.doe" {
			t.Errorf("as %v: %+v, %v", name, caller, err)
		}
	}
	for _, subject := range []any{"7F1C", "7f1c ", "7f1", "", nil, 7, "\uff17f1c", []string{"7f1c"}} {
		b.refused("another subject", b.token(p, "sub", subject, "preferred_username", "jane.doe"))
	}
	other := b.provider()
	b.accept(other, func(d *issuers.Draft) { d.SubjectClaim = "sub" })
	b.refused("the subject at another issuer", b.token(other, "sub", "7f1c"))
	b.exec(`UPDATE users SET status = 'Suspended' WHERE tenant = ? AND uid = ?`, b.tenant.ID, jane.String())
	b.later(10 * time.Second)
	b.refused("of a suspended user", b.token(p, "sub", "7f1c"))
}

func TestALinkIsMadeOnceAndEnds(t *testing.T) {
	t.Parallel()
	b, p, jane := bound(t)
	ada := users.UID{UUID: b.user("ada", b.self())}
	if err := b.link(p, jane, "7f1c"); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"somebody else's subject": b.link(p, ada, "7f1c"), "another subject of hers": b.link(p, jane, "8e2d"),
	} {
		if !errors.Is(err, users.ErrLinked) {
			t.Errorf("%s: %v", what, err)
		}
	}
	token := b.token(p, "sub", "7f1c")
	if _, err := b.verify(token); err != nil {
		t.Fatal(err)
	}
	end := func() error {
		_, err := b.Users.Unlink(b.operator, jane, users.SubjectDraft{Issuer: p.url}, changes.RequestOptions{})
		return err
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	b.later(10 * time.Second)
	b.refused("a link that has ended", token)
	if err := end(); !errors.Is(err, users.ErrNotLinked) {
		t.Errorf("ended twice: %v", err)
	}
	if err := b.link(p, ada, "7f1c"); err != nil {
		t.Errorf("free again: %v", err)
	}
	var entries []string
	err := b.DB.NewRaw(
		`SELECT action || ' ' || (before->>'unlinked' IS NULL)::text || ' ' || coalesce(after->>'linked',
			after->>'unlinked') FROM audit_entries
		WHERE tenant = ? AND uid = ? AND decision = 'done' ORDER BY id`, b.tenant.ID, jane.String()).
		Scan(b.stranger, &entries)
	what := p.url + " " + audience + " sub=7f1c"
	if err != nil || len(entries) != 2 || entries[0] != "linkSubject true "+what ||
		entries[1] != "unlinkSubject true "+what {
		t.Errorf("recorded %q, %v", entries, err)
	}
}

func TestLinksDoNotOutliveAnIssuerThatIsAddedAnew(t *testing.T) {
	t.Parallel()
	b, p, jane := bound(t)
	named := func(d *issuers.Draft) { d.SubjectClaim = "sub" }
	b.accept(p, named, func(d *issuers.Draft) { d.Audience = "second" })
	for _, at := range []string{audience, "second"} {
		if _, err := b.Users.Link(b.operator, jane, users.SubjectDraft{
			Issuer:   p.url,
			Audience: at, Subject: "7f1c",
		},
			changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Issuers.Disable(b.operator, p.url, audience); err != nil {
		t.Fatal(err)
	}
	all, err := b.Users.Subjects(b.operator)
	if err != nil || len(all) != 2 || all[0].Live || !all[1].Live {
		t.Errorf("listed as %+v, %v", all, err)
	}
	b.accept(p, named)
	b.refused("a link from before", b.token(p, "sub", "7f1c"))
	if _, err := b.verify(b.token(p, "sub", "7f1c", "aud", "second")); err != nil {
		t.Errorf("the other audience: %v", err)
	}
	var recorded string
	err = b.DB.NewRaw(`SELECT after->>'unlinked' FROM audit_entries
		WHERE tenant = ? AND action = 'unlinkSubject' AND object = 'user' AND uid = ?`, b.tenant.ID, jane.String()).
		Scan(b.stranger, &recorded)
	if err != nil || recorded != p.url+" "+audience+" sub=7f1c" {
		t.Errorf("recorded %q, %v", recorded, err)
	}
	if _, err := b.Users.Link(b.operator, jane,
		users.SubjectDraft{Issuer: p.url, Audience: audience, Subject: "7f1c"},
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.verify(b.token(p, "sub", "7f1c")); err != nil {
		t.Errorf("linked anew: %v", err)
	}
}

func TestWhoMayLink(t *testing.T) {
	t.Parallel()
	b, p, jane := bound(t)
	as := func(change func(*access.Caller)) context.Context {
		caller, _ := access.Require(b.operator)
		caller.Client, caller.LoginID = "portal", ""
		change(&caller)
		return access.With(b.stranger, caller)
	}
	draft := users.SubjectDraft{Issuer: p.url, Subject: "7f1c"}
	for what, c := range map[string]struct {
		ctx   context.Context
		draft users.SubjectDraft
		want  error
	}{
		"nobody": {b.stranger, draft, access.ErrUnauthenticated},
		"without the permission": {
			as(func(c *access.Caller) { c.Permissions = access.Readers }), draft, access.ErrDenied,
		},
		"a partner": {
			as(func(c *access.Caller) { c.Reach, c.Entity = access.OfPartner, b.self() }), draft, users.ErrBankLinks,
		},
		"herself": {
			as(func(c *access.Caller) { c.User, c.LoginID = jane.UUID, "jane.doe" }), draft, users.ErrOwnAccess,
		},
		"a program of hers": {
			as(func(c *access.Caller) { c.Responsible = jane.UUID }), draft, users.ErrOwnAccess,
		},
		"an issuer that is unknown": {
			b.operator, users.SubjectDraft{Issuer: p.url + "/", Subject: "7f1c"}, users.ErrNoIssuer,
		},
		"no subject":             {b.operator, users.SubjectDraft{Issuer: p.url}, nil},
		"a subject beyond ASCII": {b.operator, users.SubjectDraft{Issuer: p.url, Subject: "7f1\u212a"}, nil},
	} {
		_, err := b.Users.Link(c.ctx, jane, c.draft, changes.RequestOptions{})
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	b.refused("not linked", b.token(p, "sub", "7f1c"))
}

// Access tokens of Dex look like id tokens: no typ, no scope, at_hash, and the client as audience.
func TestTokensOfDexCountWhereTheIssuersRowSaysSo(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	none, strict, dex := "", b.provider(), b.provider()
	b.accept(strict)
	b.accept(dex, func(d *issuers.Draft) { d.IDTokens, d.Scope = true, &none })
	made := func(p *provider, changes ...any) string {
		claims := b.claims(p, append([]any{
			"scope", nil, "azp", nil, "jti", nil, "nbf", nil, "at_hash",
			rand.Text(), "email_verified", true, "groups",
			[]string{"staff"},
		}, changes...)...)
		return b.signed(p.keys[0], "", claims)
	}
	b.refused("where nothing is said", made(strict))
	if caller, err := b.verify(made(dex)); err != nil || caller.LoginID != "admin" {
		t.Fatalf("%+v, %v", caller, err)
	}
	if _, err := b.verify(made(dex, "nonce", "n", "azp", "portal", "aud",
		[]string{audience, "portal"})); err != nil {
		t.Errorf("with a nonce: %v", err)
	}
	for what, token := range map[string]string{
		"another audience": made(dex, "aud", "portal"), "a logout token": made(dex, "events", map[string]any{}),
		"a bound token":   made(dex, "cnf", map[string]any{}),
		"a refresh token": made(dex, "typ", "Refresh"), "expired": made(dex, "exp", b.now.Load().Unix()-61),
		"a header of another type": b.signed(dex.keys[0], "logout+jwt", b.claims(dex, "scope", nil)),
	} {
		b.refused(what, token)
	}
}

func TestTheScopeIsThatOfTheIssuersRow(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p, word := b.provider(), "bank.read"
	b.accept(p, func(d *issuers.Draft) { d.Scope = &word })
	if _, err := b.verify(b.token(p, "scope", "openid bank.read")); err != nil {
		t.Error(err)
	}
	if _, err := b.verify(b.token(p)); !errors.Is(err, access.ErrDenied) {
		t.Errorf("roles alone: %v", err)
	}
}

func TestTokensThatLiveTooLongAreRefused(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	day, brief := b.provider(), b.provider()
	b.accept(day)
	b.accept(brief, func(d *issuers.Draft) { d.LongestLife = 5 * time.Minute })
	now := b.now.Load().Unix()
	for _, c := range []struct {
		p    *provider
		life int64
		good bool
	}{{day, 24 * 3600, true}, {day, 24*3600 + 1, false}, {brief, 300, true}, {brief, 301, false}} {
		for _, since := range []int64{0, 100} { // the whole lifetime counts, not the rest of it
			token := b.token(c.p, "iat", now-since, "nbf", nil, "exp", now-since+c.life)
			if _, err := b.verify(token); (err == nil) != c.good {
				t.Errorf("%d seconds: %v", c.life, err)
			}
		}
	}
	for _, life := range []time.Duration{time.Second, -time.Hour, 31 * 24 * time.Hour} {
		if _, err := b.Issuers.Add(b.operator,
			issuers.Draft{URL: b.provider().url, Audience: audience, LongestLife: life}); err == nil {
			t.Errorf("%s is accepted", life)
		}
	}
}

func TestUsersOfACustomerThatIsNotActiveDoNotGetIn(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	partner := b.customer(0)
	b.user("nina", partner)
	token := b.token(p, "preferred_username", "nina")
	if _, err := b.verify(token); err != nil {
		t.Fatal(err)
	}
	b.exec(`UPDATE customers SET status = 'Suspended' WHERE tenant = ? AND uid = ?`, b.tenant.ID, partner)
	b.later(10 * time.Second)
	b.refused("of a suspended customer", token)
}

// The log tells the reason of every refusal, and holds no token or secret.
func TestEveryRefusalExplainsItself(t *testing.T) {
	t.Parallel()
	b, p, _ := bound(t)
	other := b.provider()
	b.accept(other, func(d *issuers.Draft) { d.EntityClaim, d.PartnerClaim = "le", "partner" })
	now := b.now.Load().Unix()
	key := other.keys[0]
	header := func(kind string) string { return b.signed(key, kind, b.claims(other)) }
	unknown := key
	unknown.KeyID = "unknown"
	swapped := strings.Split(b.token(other), ".")
	swapped[2] = strings.Split(b.token(other), ".")[2]
	for why, token := range map[string]string{
		"no JWT":                   "x",
		"longer than any":          strings.Repeat("a", 9000),
		"base64url":                b.token(p) + "=",
		"no bank accepts":          b.token(b.provider()),
		"linked to no active user": b.token(p, "sub", "7f1c"),
		"has no sub":               b.token(p, "sub", nil),
		"has no typ":               header(""),
		"neither at+jwt nor JWT":   header("logout+jwt"),
		"no key of its kid":        b.signed(unknown, "at+jwt", b.claims(other)),
		"signature":                strings.Join(swapped, "."),
		"another audience":         b.token(other, "aud", "x"),
		"from when to when":        b.token(other, "iat", nil),
		"expired":                  b.token(other, "exp", now-100),
		"of the future":            b.token(other, "iat", now+100),
		"longer than the bank":     b.token(other, "exp", now+100_000),
		"another than Bearer":      b.token(other, "typ", "ID"),
		"claim of id tokens":       b.token(other, "nonce", "x"),
		"another kind of token":    b.token(other, "cnf", map[string]any{}),
		"as in an id token":        b.token(other, "azp", audience),
		"no login id":              b.token(other, "preferred_username", "adm\u0130n"),
		"is no text":               b.token(other, "preferred_username", 7),
		"none of the claims":       b.token(other, "preferred_username", nil, "sub", nil),
		"no active user":           b.token(other, "preferred_username", "nobody"),
		"another legal entity":     b.token(other, "le", 7),
		"no number of a customer":  b.token(other, "partner", "x", "le", b.self()),
		"scope lacks roles":        b.token(other, "scope", nil, "le", b.self()),
		"of another realm's making": b.signed(key, "at+jwt",
			b.claims(other, "iss", "https://ours.example/auth/realms/x")),
	} {
		_, err := b.Clients.Verify(b.stranger, token)
		refused, is := errors.AsType[access.TokenRefusal](err)
		if !is {
			t.Errorf("%s: %v", why, err)
			continue
		}
		if why == "of another realm's making" {
			why = "not signed with ES256, or"
			if !strings.Contains(refused.Why, why) {
				why = "key id is none of ours"
			}
		}
		if !strings.Contains(refused.Why, why) {
			t.Errorf("%s: the log says %q", why, refused.Why)
		}
		for _, piece := range strings.Split(token, ".") {
			if len(piece) > 20 && strings.Contains(refused.Why+refused.Issuer, piece) {
				t.Errorf("%s: the log shows the token: %q", why, refused)
			}
		}
	}
}

func TestEveryLinkOfTheBankIsListed(t *testing.T) {
	t.Parallel()
	b, p, jane := bound(t)
	if err := b.link(p, jane, "7f1c"); err != nil {
		t.Fatal(err)
	}
	all, err := b.Users.Subjects(b.operator)
	if err != nil || len(all) != 1 || all[0].Login != "jane.doe" || all[0].Subject != "7f1c" ||
		all[0].User != jane {
		t.Errorf("%+v, %v", all, err)
	}
	if uid, err := b.Users.UIDOf(b.operator, "Jane.Doe"); err != nil || uid != jane {
		t.Errorf("%s, %v", uid, err)
	}
	if _, err := b.Users.UIDOf(b.operator, "jane.d\u00f6e"); !errors.Is(err, users.ErrNotFound) {
		t.Error(err)
	}
	if uid := uuid.New(); b.link(p, users.UID{UUID: uid}, "x") == nil {
		t.Error("nobody was linked")
	}
}

// Whoever approves a link was shown one audience and one claim of one issuer, as the bank accepted it then.
func TestAnApprovedLinkIsTheOneThatWasShown(t *testing.T) {
	t.Parallel()
	checker := access.Caller{
		Client: "checker", LoginID: "carol", Reach: access.OfBank,
		Permissions: []access.Permission{access.ManageUsers},
	}
	for what, c := range map[string]struct {
		anew []func(*issuers.Draft)
		want error
	}{
		"the same issuer": {},
		"another audience": {
			anew: []func(*issuers.Draft){func(d *issuers.Draft) { d.Audience = "other" }},
			want: users.ErrNoIssuer,
		},
		"another claim": {
			anew: []func(*issuers.Draft){func(d *issuers.Draft) { d.SubjectClaim = "oid" }},
			want: changes.ErrStale,
		},
		"the issuer anew": {anew: []func(*issuers.Draft){func(*issuers.Draft) {}}, want: changes.ErrStale},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b, p, jane := bound(t)
			b.exec(`UPDATE customers SET access_user_dual_approval = true WHERE tenant = ?`, b.tenant.ID)
			b.exec(`INSERT INTO tenant_settings (tenant, people_decide) VALUES (?, false)`, b.tenant.ID)
			out, err := b.Users.Link(b.operator, jane, users.SubjectDraft{Issuer: p.url, Subject: "7f1c"},
				changes.RequestOptions{})
			if err != nil || out.Approval == 0 {
				t.Fatal(out, err)
			}
			if c.anew != nil {
				b.later(time.Minute)
				if err := b.Issuers.Disable(b.operator, p.url, ""); err != nil {
					t.Fatal(err)
				}
				b.accept(p, append([]func(*issuers.Draft){func(d *issuers.Draft) { d.SubjectClaim = "sub" }},
					c.anew...)...)
			}
			by := checker
			by.Tenant, by.Entity = b.tenant.ID, b.self()
			_, err = b.Changes.Approve(access.With(b.operator, by), changes.UID(out.Approval),
				changes.RequestOptions{})
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}
