package payments_test

import (
	"path/filepath"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/payments"
	"bankgraph/core/seal"
)

// The next payment of a series is sealed under its own row, though it cannot be made: else nothing could move
// it to another key, and no key could be retired (README, rotating keys). What older releases copied as it
// was heals with the next rotation.
func TestPaymentsOfASeriesThatFailMoveToOtherKeys(t *testing.T) {
	t.Parallel()
	file := seal.File{Path: filepath.Join(t.TempDir(), "keyset.json")}
	if err := seal.Create(file.Path); err != nil {
		t.Fatal(err)
	}
	keys, err := file.Load()
	if err != nil {
		t.Fatal(err)
	}
	s := newSenderOf(coretest.Under(t, keys))
	s.Exec(`UPDATE accounts SET sec_codes = '{PPD,IAT}' WHERE tenant = ?`, s.Tenant)
	daily := func(o *payments.Order) {
		o.Repeat = &payments.Repetition{Frequency: "Daily", Until: "Cancelled"}
	}
	wire := s.send(t, s.order("10", wireTo(payments.ReceiverBank{
		IDType: "NID", ID: overFedwire, AccountType: "Others", Account: "77-01",
	}, between(payments.ReceiverBank{IDType: "NID", ID: gateway, Account: "88-02"})), daily))
	s.send(t, s.order("10", toGermany, daily))
	s.through(t, "2026-11-18 20:00")
	s.Exec(`UPDATE accounts SET status = 'Suspended' WHERE tenant = ?`, s.Tenant)
	s.through(t, "2026-11-19 20:00")
	type row struct {
		UID          int64
		State        payments.State
		Bank         []byte
		Intermediary []byte
		Abroad       []byte
	}
	opens := func(when string, want int) {
		t.Helper()
		var rows []row
		if err := s.DB.NewRaw(`SELECT uid, state, bank_account_sealed AS bank,
				intermediary_account_sealed AS intermediary, abroad_sealed AS abroad
			FROM payments JOIN payment_details ON payment_details.tenant = payments.tenant AND payment = uid
			WHERE payments.tenant = ?`, s.Tenant).Scan(t.Context(), &rows); err != nil {
			t.Fatal(err)
		}
		failed := 0
		for _, r := range rows {
			if r.State == payments.Invalid {
				failed++
			}
			opened := ""
			for column, sealed := range map[string][]byte{
				payments.BankAccountColumn: r.Bank, payments.IntermediaryAccountColumn: r.Intermediary,
				payments.AbroadColumn: r.Abroad,
			} {
				clear, err := s.Keys.Open(seal.Value{Sealed: sealed},
					seal.Place{Tenant: int64(s.Tenant), Column: column, Row: r.UID})
				if opened += clear; err != nil {
					t.Errorf("%s: %s of payment %d: %v", when, column, r.UID, err)
				}
			}
			if opened == "" {
				t.Errorf("%s: payment %d has nothing sealed", when, r.UID)
			}
		}
		if failed != want {
			t.Errorf("%s: %d payments failed, want %d", when, failed, want)
		}
	}
	opens("on the first day", 2)
	s.Exec(`UPDATE payment_details AS d SET bank_account_sealed = b.bank_account_sealed,
			intermediary_account_sealed = b.intermediary_account_sealed, abroad_sealed = b.abroad_sealed
		FROM payments AS p, payments AS f, payment_details AS b
		WHERE d.tenant = ? AND p.tenant = d.tenant AND p.uid = d.payment AND p.state = 'INVALID'
			AND f.tenant = p.tenant AND f.recurrence = p.recurrence AND f.state <> 'INVALID'
			AND b.tenant = f.tenant AND b.payment = f.uid`, s.Tenant) // as an older release did
	s.through(t, "2026-11-20 20:00")

	step := func(take func(time.Time) (seal.Info, error), after time.Duration) {
		t.Helper()
		if _, err := take(time.Now().Add(after)); err != nil {
			t.Fatal(err)
		}
		if _, err := keys.Reload(); err != nil {
			t.Fatal(err)
		}
	}
	step(func(at time.Time) (seal.Info, error) { return file.Add(true, at) }, time.Hour)
	step(file.Promote, 2*time.Hour)
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	for done := false; !done; {
		did, err := s.Keysets.Move(operator)
		if err != nil || did.Trouble != nil || did.Idle {
			t.Fatal(did, err)
		}
		done = did.Done
	}
	if left, _, err := s.Keysets.Prove(operator); len(left) > 0 || err != nil {
		t.Error(left, err)
	}
	opens("after the rotation", 4)
	s.Exec(`UPDATE accounts SET status = 'Active' WHERE tenant = ?`, s.Tenant)
	s.through(t, "2026-11-23 23:00")
	if r := s.series(t, wire.Recurrence); r.Made < 4 {
		t.Errorf("%+v", r)
	}
	s.Prove()
}
