package users

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/db"
)

// Subject identifies a user at an issuer of access tokens, by the value of a claim that never changes for a
// person.
type Subject struct {
	bun.BaseModel `bun:"table:subjects,alias:j" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	URL      string        `bun:"url,pk" json:"issuer"` // the issuer's
	Audience string        `bun:"audience,pk" json:"audience"`
	Claim    string        `bun:"claim,pk" json:"claim"`
	Subject  string        `bun:"subject,pk" json:"subject"` // compared byte by byte
	Customer customers.UID `bun:"customer" json:"-"`
	User     UID           `bun:"user_uid,type:uuid" json:"userId"`
	LinkedAt time.Time     `bun:"linked_at" json:"linkedAt"`
	// when the bank began to accept the issuer; of issuerTx only
	Since time.Time `bun:"since,scanonly" json:"-"`
	// filled by Subjects only
	Login string `bun:"login,scanonly" json:"loginId"`
	// the bank accepts the issuer, which names people by this claim
	Live bool `bun:"live,scanonly" json:"live"`
}

// text returns a link as the record shows it.
func (j Subject) text() string { return j.URL + " " + j.Audience + " " + j.Claim + "=" + j.Subject }

// ValidSubject reports whether a subject can be linked: OpenID Connect allows 255 characters of ASCII.
func ValidSubject(text string) bool { return text != "" && len(text) <= 255 && ident.Printable(text) }

// SubjectDraft is what a request says about a link.
type SubjectDraft struct {
	Issuer   string `json:"issuer"`
	Audience string `json:"audience"` // optional while the bank accepts the issuer with one audience only
	Subject  string `json:"subject"`  // '' to end the link
}

// linkDraft is a draft with what the issuer was when the change was proposed: an approval holds for no other.
type linkDraft struct {
	SubjectDraft
	Claim string    `json:"claim,omitzero"`
	Since time.Time `json:"since,omitzero"`
}

var (
	// ErrNoIssuer is returned for an issuer that the bank does not accept, or that names people by their
	// login ids.
	ErrNoIssuer = fault.New(fault.NotFound, "user.no_issuer",
		"the bank has no issuer of this address that names people by a subject claim").On("issuer")
	// ErrAudience is returned when no audience is given and the bank accepts the issuer with several.
	ErrAudience = fault.New(fault.State, "user.audience",
		"the bank accepts the issuer with several audiences: name one").On("audience")
	// ErrLinked is returned for a subject that is linked to somebody else, or a user who is linked to another
	// subject.
	ErrLinked = fault.New(fault.Conflict, "user.linked",
		"the subject is linked to somebody else, or the user to another subject: end that link first").
		On("subject")
	// ErrNotLinked is returned for a user without a link.
	ErrNotLinked = fault.New(fault.NotFound, "user.not_linked",
		"the user is linked to no subject of this issuer")
	// ErrBankLinks is returned when a caller outside the bank is to make or end a link.
	ErrBankLinks = fault.New(fault.Denied, "user.bank_links",
		"only the bank can link users to subjects of its issuers")
)

// Link links a subject of an issuer to a user, so that tokens for the subject act as the user. It is for the
// bank's people, who cannot link themselves, nor anybody who may do more than they could grant. It waits for
// a second person if changes of users do.
func (s *Service) Link(
	ctx context.Context, uid UID, draft SubjectDraft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.link.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	c := check.Of("user")
	c.Required("issuer", draft.Issuer)
	c.Required("subject", draft.Subject)
	if !ValidSubject(draft.Subject) {
		c.Fail("subject", fault.Malformed, "must be 1 to 255 letters, digits and special characters of ASCII")
	}
	if err := c.Err(); err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.link.Do(ctx, caller, changes.Target{UID: uid.String()}, linkDraft{SubjectDraft: draft}, options)
}

// Unlink ends a link. It takes access away, so it never waits for a second person.
func (s *Service) Unlink(
	ctx context.Context, uid UID, draft SubjectDraft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.unlink.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.unlink.Do(ctx, caller, changes.Target{UID: uid.String()}, draft, options)
}

// EndLinksTx ends all links to the subjects of an issuer, and records each. A bank that accepts an issuer
// anew starts without links: who somebody was there before the bank stopped to accept it may be untrue.
func EndLinksTx(ctx context.Context, tx bun.Tx, caller access.Caller, issuer, audience string) error {
	var gone []*Subject
	_, err := tx.NewDelete().Model(&gone).Where("tenant = ?", caller.Tenant).Where("url = ?", issuer).
		Where("audience = ?", audience).Returning("?TableColumns").Exec(ctx)
	if err != nil {
		return fmt.Errorf("end the links to an issuer: %w", err)
	}
	for _, link := range gone {
		after, err := json.Marshal(map[string]string{"unlinked": link.text()})
		if err != nil {
			return err
		}
		if err := audit.WriteTx(ctx, tx, audit.Entry{
			Action: "unlinkSubject", Decision: audit.Done, Object: "user", UID: link.User.String(),
			Customer: new(int64(link.Customer)), After: after, Reason: "the bank accepts the issuer anew",
		}.By(caller)); err != nil {
			return err
		}
	}
	return nil
}

// Subjects returns all links of the bank, by issuer and subject, also those to issuers that it accepts no
// more.
func (s *Service) Subjects(ctx context.Context) ([]*Subject, error) {
	caller, err := access.Require(ctx, access.ManageClients)
	if err != nil {
		return nil, err
	}
	var all []*Subject
	err = s.db.NewSelect().Model(&all).ColumnExpr("?TableColumns, u.login_id AS login").
		ColumnExpr("i.disabled_at IS NULL AND i.subject_claim = j.claim AS live").
		Join("JOIN issuers AS i ON i.tenant = j.tenant AND i.url = j.url AND i.audience = j.audience").
		Join("JOIN users AS u ON u.tenant = j.tenant AND u.uid = j.user_uid").
		Where("j.tenant = ?", caller.Tenant).
		Order("j.url", "j.audience", "j.claim", "j.subject").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the subjects of issuers: %w", err)
	}
	return all, nil
}

// UIDOf returns the UID of the user with this login id, whatever the user's status. It is for operators.
func (s *Service) UIDOf(ctx context.Context, login string) (uid UID, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return UID{}, err
	}
	folded, ok := ident.Login(login)
	if !ok {
		return UID{}, ErrNotFound
	}
	var text string
	err = s.db.NewRaw(`SELECT uid::text FROM users WHERE tenant = ? AND lower(login_id COLLATE "C") = ?`,
		caller.Tenant, folded).Scan(ctx, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return UID{}, ErrNotFound
	}
	if err != nil {
		return UID{}, fmt.Errorf("find a user by its login id: %w", err)
	}
	number, err := uuid.Parse(text)
	return UID{number}, err
}

func (s *Service) linkTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft linkDraft,
) (Saved, error) {
	from, err := s.issuerTx(ctx, tx, draft.SubjectDraft)
	if err != nil {
		return Saved{}, err
	}
	if tx.NeedsApproval(true) {
		draft.Audience, draft.Claim, draft.Since = from.Audience, from.Claim, from.Since
		if err := tx.Keep(draft); err != nil {
			return Saved{}, err
		}
	} else if draft.Audience != from.Audience || draft.Claim != from.Claim || !draft.Since.Equal(from.Since) {
		return Saved{}, changes.ErrStale
	}
	return saved(s.lifecycle().Modify(ctx, tx, at, func(_, p *person) error {
		switch {
		case tx.Caller.Accountable().Person == p.UID.UUID:
			return ErrOwnAccess
		case p.beyond(tx.Caller):
			return ErrBeyond.On("")
		}
		from.Subject, from.Customer, from.User, from.LinkedAt = draft.Subject, p.Customer, p.UID, tx.Now
		p.link, p.Linked = from, from.text()
		return nil
	}))
}

func (s *Service) unlinkTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft SubjectDraft,
) (Saved, error) {
	from, err := s.issuerTx(ctx, tx, draft)
	if err != nil {
		return Saved{}, err
	}
	return saved(s.prompt().Modify(ctx, tx, at, func(_, p *person) error {
		gone := new(Subject)
		_, err := tx.NewDelete().Model(gone).Where("tenant = ?", p.Tenant).Where("url = ?", from.URL).
			Where("audience = ?", from.Audience).
			Where("claim = ?", from.Claim).Where("user_uid = ?", p.UID).Returning("?TableColumns").Exec(ctx)
		if err != nil {
			return fmt.Errorf("end the link of a user: %w", err)
		}
		if gone.Subject == "" {
			return ErrNotLinked
		}
		p.Unlinked = gone.text()
		return nil
	}))
}

// issuerTx finds the issuer of a link, and the claim by which it names people. Only the bank may make or end
// links.
func (s *Service) issuerTx(ctx context.Context, tx *changes.Tx, draft SubjectDraft) (*Subject, error) {
	if tx.Caller.Reach != access.OfBank {
		return nil, ErrBankLinks
	}
	var all []*Subject
	err := tx.NewRaw(`SELECT tenant, url, audience, subject_claim AS claim, created_at AS since FROM issuers
		WHERE tenant = ? AND url = ? AND ? IN ('', audience) AND disabled_at IS NULL AND subject_claim <> ''`,
		tx.Caller.Tenant, draft.Issuer, draft.Audience).Scan(ctx, &all)
	switch {
	case err != nil:
		return nil, fmt.Errorf("find the issuer of a subject: %w", err)
	case len(all) == 0:
		return nil, ErrNoIssuer
	case len(all) > 1:
		return nil, ErrAudience
	}
	return all[0], nil
}

// writeLinkTx stores the link that a change makes.
func (p *person) writeLinkTx(ctx context.Context, tx *changes.Tx) error {
	if p.link == nil {
		return nil
	}
	_, err := tx.NewInsert().Model(p.link).Exec(ctx)
	if _, taken := db.UniqueViolation(err); taken {
		return ErrLinked
	}
	if err != nil {
		return fmt.Errorf("link a user: %w", err)
	}
	return nil
}
