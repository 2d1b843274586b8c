package contacts

import (
	"context"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/seal"
)

// report seals what a draft brings, and takes over what it leaves as it is.
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

// reported is the entry of a draft. One that the contact has already keeps its hash, so that it reads as no
// change.
func (k *Contact) reported(keys *seal.Keys, d ReportingDraft) Reporting {
	at := k.ReportingPlace(d.Key)
	for _, e := range k.RegulatoryReporting {
		if strings.EqualFold(e.Key, d.Key) && keys.Same(e.Value, d.Value, at) {
			return Reporting{Key: d.Key, Value: keys.Replace(e.Value, d.Value, at)}
		}
	}
	return k.Reported(keys, d.Key, d.Value)
}

// inTheClear finds contacts that were written when regulatory entries were not sealed yet. Workers seal them,
// and so does who changes one. It is the condition of the index contacts_plain_reporting, which is empty once
// that is done.
const inTheClear = `k.regulatory_reporting @@ 'exists($[*].value)'`

// sealedAtOnce is how many contacts are sealed in one transaction.
const sealedAtOnce = 200

// Seal seals the regulatory entries of some contacts of the caller's bank, and returns of how many; at 0
// there are none left in the clear, but for contacts that somebody else is changing. It says the same as
// before, so a contact keeps its version.
func (s *Service) Seal(ctx context.Context) (sealed int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		var rows []column
		err := tx.NewRaw(
			`SELECT k.uid, k.regulatory_reporting::text AS text FROM contacts AS k WHERE k.tenant = ? AND `+inTheClear+
				`
			ORDER BY k.uid LIMIT ? FOR NO KEY UPDATE SKIP LOCKED`, caller.Tenant, sealedAtOnce).Scan(ctx, &rows)
		if sealed = len(rows); err != nil || sealed == 0 {
			return err
		}
		for _, row := range rows { // one by one: a join may look at all contacts of the bank for each
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

// column is what a contact's column holds, whatever is in the clear in it.
type column struct {
	UID  UID    `bun:"uid"`
	Text string `bun:"text"`
}

// sealTx makes the entries of a contact, whose row is locked, ready to be written.
func (s *Service) sealTx(ctx context.Context, tx bun.IDB, k *Contact) error {
	if k.RegulatoryReporting.sealed() {
		return nil
	}
	var row column
	err := tx.NewRaw(`SELECT uid, regulatory_reporting::text AS text FROM contacts WHERE tenant = ? AND uid = ?`,
		k.Tenant, k.UID).Scan(ctx, &row)
	if err != nil {
		return err
	}
	return k.seal(s.keys, row.Text)
}

// seal takes the entries of a column, those in the clear sealed.
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
