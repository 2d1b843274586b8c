package contacts

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/ident"
	"bankgraph/core/seal"
)

// report builds the report of a draft: new values are sealed, kept entries stay.
func (s *Service) report(k *Contact, drafts []ReportingDraft, kept []*Reporting) Report {
	report := make(Report, len(drafts))
	for i, d := range drafts {
		if kept[i] != nil {
			report[i] = Reporting{Key: d.Key, Value: kept[i].Value}
			continue
		}
		report[i] = k.reported(s.keys, d)
	}
	return report
}

// reported seals the entry of a draft. If the contact already has the same value, its hash stays, so that it
// does not look like a change.
func (k *Contact) reported(keys *seal.Keys, d ReportingDraft) Reporting {
	at := k.ReportingPlace(d.Key)
	for _, e := range k.RegulatoryReporting {
		if ident.Same(e.Key, d.Key) && keys.Same(e.Value, d.Value, at) {
			return Reporting{Key: d.Key, Value: keys.Replace(e.Value, d.Value, at)}
		}
	}
	return k.Reported(keys, d.Key, d.Value)
}

// inTheClear finds contacts with regulatory entries from before they were sealed. Workers seal them, as does
// any change of the contact. It is the condition of the index contacts_plain_reporting.
const inTheClear = `k.regulatory_reporting @@ 'exists($[*].value)'`

// sealedAtOnce is how many contacts one transaction seals.
const sealedAtOnce = 200

// Seal seals the regulatory entries of some contacts of the caller's bank, and returns of how many; 0 means
// that none is left in the clear, except for contacts that are locked. The content stays the same, so a
// contact keeps its version.
func (s *Service) Seal(ctx context.Context) (sealed int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		var rows []column
		err := tx.NewRaw(
			`SELECT k.uid, k.regulatory_reporting::text AS text FROM contacts AS k
			WHERE k.tenant = ? AND `+inTheClear+`
			ORDER BY k.uid LIMIT ? FOR NO KEY UPDATE SKIP LOCKED`, caller.Tenant, sealedAtOnce).
			Scan(ctx, &rows)
		if sealed = len(rows); err != nil || sealed == 0 {
			return err
		}
		for _, row := range rows { // one by one: the plan of a join may scan all contacts of the bank for each
			k := &Contact{Tenant: caller.Tenant, UID: row.UID}
			if err := k.seal(s.keys, row.Text); err != nil {
				return fmt.Errorf("contact %s: %w", row.UID, err)
			}
			if _, err := tx.NewUpdate().Model(k).Column("regulatory_reporting").WherePK().Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("seal the regulatory entries of bank %d: %w", caller.Tenant, err)
	}
	return sealed, nil
}

// column is the raw text of a contact's column, which may hold values in the clear.
type column struct {
	UID  UID    `bun:"uid"`
	Text string `bun:"text"`
}

// sealTx seals the entries of a contact, whose row is locked, so that they can be written.
func (s *Service) sealTx(ctx context.Context, tx bun.IDB, k *Contact) error {
	if k.RegulatoryReporting.sealed() {
		return nil
	}
	var row column
	err := tx.NewRaw(`SELECT uid, regulatory_reporting::text AS text FROM contacts
		WHERE tenant = ? AND uid = ?`, k.Tenant, k.UID).Scan(ctx, &row)
	if err != nil {
		return err
	}
	return k.seal(s.keys, row.Text)
}

// seal reads the entries of a column, and seals those in the clear.
func (k *Contact) seal(keys *seal.Keys, text string) error {
	entries, err := read(text)
	if err != nil {
		return err
	}
	k.RegulatoryReporting = make(Report, len(entries))
	for i, e := range entries {
		k.RegulatoryReporting[i] = e.reporting()
		if e.Plain != nil {
			k.RegulatoryReporting[i] = k.Reported(keys, e.Key, *e.Plain)
		}
	}
	return nil
}
