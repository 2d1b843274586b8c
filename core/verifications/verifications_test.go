package verifications_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
	"bankgraph/core/verifications"
	"bankgraph/db"
)

// verifying is a bank with an account of a partner's customer and a contact of that customer.
type verifying struct {
	*coretest.Bank
	t            *testing.T
	partner, own *customers.Customer
	account      *accounts.Account
	contact      *contacts.Contact
	operator     context.Context
}

func newVerifying(t *testing.T, edits ...func(*customers.Customer)) *verifying {
	t.Helper()
	w := &verifying{Bank: coretest.New(t), t: t}
	w.Directory()
	w.partner = w.DownstreamPartner()
	w.own = w.Customer(append(edits, coretest.OwnedBy(w.partner))...)
	w.account = w.Account(w.own, coretest.Holding(1000_00, 0), coretest.Sends)
	w.contact = w.Contact(w.own)
	w.operator = access.Operator(t.Context(), w.Tenant, w.Code, coretest.Zone())
	return w
}

// numbered makes a contact whose account has this number.
func (w *verifying) numbered(number string) *contacts.Contact {
	return w.Contact(w.own, func(k *contacts.Contact) {
		k.Bank.AccountNumber = w.Keys.Seal(number, seal.Place{
			Tenant: int64(w.Tenant),
			Column: contacts.NumberColumn, Row: int64(k.UID),
		})
	})
}

// until moves the clock, which begins on Wednesday, 18 November 2026, at 10:00, and lets the bank work on its
// way.
func (w *verifying) until(text string) {
	w.t.Helper()
	to, err := time.ParseInLocation("2006-01-02 15:04", text, coretest.Zone())
	if err != nil {
		w.t.Fatal(err)
	}
	for w.Clock.Now().Before(to) {
		w.Clock.Advance(min(4*time.Hour, to.Sub(w.Clock.Now())))
		w.work()
	}
}

func (w *verifying) work() {
	w.t.Helper()
	if _, err := w.Work(w.operator); err != nil {
		w.t.Fatal(err)
	}
}

func (w *verifying) starts(as context.Context, contact *contacts.Contact) (verifications.UID, error) {
	out, err := w.Verifications.Start(as, verifications.Draft{
		Contact: contact.UID, Account: w.account.UID, Method: verifications.SmallDeposits,
	}, changes.RequestOptions{})
	return out.Result.UID, err
}

func (w *verifying) started(contact *contacts.Contact) verifications.UID {
	w.t.Helper()
	uid, err := w.starts(w.Partner(w.partner), contact)
	if err != nil {
		w.t.Fatal(err)
	}
	return uid
}

func (w *verifying) confirms(uid verifications.UID, amounts ...string) (matched bool, err error) {
	out, err := w.Verifications.Confirm(w.Partner(w.partner), uid, verifications.Amounts{Amounts: amounts},
		changes.RequestOptions{})
	return out.Result.Matched, err
}

func (w *verifying) find(as context.Context, uid verifications.UID) *verifications.Verification {
	w.t.Helper()
	b := w.PrimaryBatch()
	found := w.Verifications.FindMany(as, b, []verifications.UID{uid}, db.Columns{})
	if err := b.Send(w.t.Context()); err != nil || found.Err != nil {
		w.t.Fatal(err, found.Err)
	}
	if len(found.Of[uid]) == 0 {
		return nil
	}
	return found.Of[uid][0]
}

// is fails unless a verification is in a state, with the code and the words of a failure or a notice.
func (w *verifying) is(uid verifications.UID, state verifications.State, codes ...string) {
	w.t.Helper()
	v := w.find(w.Staff(), uid)
	got := slices.DeleteFunc([]string{v.FailureCode, v.Failure, v.NoticeCode, v.Notice()},
		func(s string) bool { return s == "" })
	if v.State != state || !slices.Equal(got, codes) {
		w.t.Errorf("%s: %s %q, want %s %q", w.Clock.Now(), v.State, got, state, codes)
	}
}

// deposits are the payments of a verification.
func (w *verifying) deposits(uid verifications.UID) (all []*payments.Payment) {
	w.t.Helper()
	err := w.DB.NewSelect().Model(&all).Where("pay.tenant = ?", w.Tenant).
		Where("pay.external_reference_id LIKE ?", fmt.Sprintf("VERIFY-%s-_", uid)).OrderExpr("pay.uid").
		Scan(w.t.Context())
	if err != nil || len(all) != 2 {
		w.t.Fatal(len(all), err)
	}
	return all
}

// sent are the amounts of a verification's deposits.
func (w *verifying) sent(uid verifications.UID) (all []string) {
	w.t.Helper()
	for _, p := range w.deposits(uid) {
		all = append(all, p.Amount().String())
	}
	return all
}

// wrong returns amounts that are not those of the deposits.
func wrong(sent []string) []string {
	if sent[0] == "0.10" || sent[1] == "0.10" {
		return []string{"0.20", "0.20"}
	}
	return []string{"0.10", sent[1]}
}

func TestAContactIsVerifiedByWhoKnowsTheDeposits(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	uid := w.started(w.contact)
	w.is(uid, verifications.AwaitingAmounts)
	var cents int64
	for i, p := range w.deposits(uid) {
		cents += p.Minor
		if p.Minor < 1 || p.Minor > 99 || p.State != payments.Queued || p.ReceiverName != w.contact.Name ||
			p.ExternalReferenceID != fmt.Sprintf("VERIFY-%s-%d", uid, i+1) {
			t.Errorf("%+v", p)
		}
	}
	sent := w.sent(uid)
	if sent[0] == sent[1] {
		t.Errorf("both deposits are %s", sent[0])
	}
	w.until("2026-11-19 08:29")
	if _, err := w.confirms(uid, sent...); !errors.Is(err, verifications.ErrEarly) {
		t.Error(err)
	}
	w.until("2026-11-19 08:30")
	var description string
	err := w.DB.NewRaw(`SELECT string_agg(DISTINCT description, ',') FROM ach_entries WHERE tenant = ?`,
		w.Tenant).
		Scan(t.Context(), &description)
	if err != nil || description != "ACCTVERIFY" {
		t.Error(description, err)
	}
	for _, malformed := range [][]string{
		{}, {"0.10"}, {"0.10", "0.20", "0.30"}, {"0.10", "x"}, {"0.00", "0.10"}, {"1.00", "0.10"}, {"0.101", "0.1"},
	} {
		if _, err := w.confirms(uid, malformed...); !is(err, fault.Invalid) {
			t.Errorf("%q: %v", malformed, err)
		}
	}
	if matched, err := w.confirms(uid, wrong(sent)...); matched || err != nil {
		t.Error(matched, err)
	}
	if v := w.find(w.Staff(), uid); *v.TriesLeft() != 2 || v.ExpiresAt == nil {
		t.Errorf("%+v", v)
	}
	if matched, err := w.confirms(uid, sent[1], sent[0]); !matched || err != nil {
		t.Error(matched, err)
	}
	w.is(uid, verifications.Verified)
	if v := w.find(w.Staff(), uid); *v.TriesLeft() != 2 || v.VerifiedAt == nil || v.ExpiresAt != nil ||
		v.MakerClient != "partner" {
		t.Errorf("%+v", v)
	}
	if _, err := w.confirms(uid, sent...); !errors.Is(err, verifications.ErrOver) {
		t.Error(err)
	}
	var ledger int64
	if err := w.DB.NewRaw(`SELECT ledger FROM balances WHERE tenant = ? AND account = ?`, w.Tenant,
		w.account.UID).Scan(t.Context(), &ledger); err != nil || ledger != 1000_00-cents {
		t.Error(ledger, cents, err)
	}
	w.Prove()
	w.until("2026-12-04 12:00")
	w.is(uid, verifications.Verified)
	if v := w.find(w.Staff(), uid); v.DueAt != nil {
		t.Errorf("still due at %s", v.DueAt)
	}
}

func is(err error, kind fault.Kind) bool {
	f, is := fault.Of(err)
	return is && f.Kind == kind
}

// Nothing that is kept of a verification tells what its deposits are: the payments alone do.
func TestTheAmountsStandInThePaymentsAlone(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	uid := w.started(w.contact)
	w.until("2026-11-19 09:00")
	sent := w.sent(uid)
	if _, err := w.confirms(uid, wrong(sent)...); err != nil {
		t.Fatal(err)
	}
	if _, err := w.confirms(uid, sent...); err != nil {
		t.Fatal(err)
	}
	var kept string
	err := w.DB.NewRaw(`SELECT coalesce(string_agg(row.text, ' '), '') FROM (
		SELECT e::text AS text FROM audit_entries AS e WHERE e.tenant = ?0 AND e.object = 'contactVerification'
		UNION ALL SELECT v::text FROM events AS v WHERE v.tenant = ?0 AND v.object = 'contactVerification'
		UNION ALL SELECT k.outcome::text FROM idempotency_keys AS k WHERE k.tenant = ?0
		UNION ALL SELECT c::text FROM contact_verifications AS c WHERE c.tenant = ?0) AS row`, w.Tenant).
		Scan(t.Context(), &kept)
	if err != nil || !strings.Contains(kept, "confirmContactVerification") {
		t.Fatal(kept, err)
	}
	if strings.Contains(kept, "maker") { // whom the entry names, it names to whom may know
		t.Error(kept)
	}
	for _, amount := range append(sent, wrong(sent)...) {
		if strings.Contains(kept, `"`+amount) || strings.Contains(kept, " "+amount) ||
			strings.Contains(kept, amount+`"`) {
			t.Errorf("%s is in %s", amount, kept)
		}
	}
}

func TestThreeWrongTriesEndAVerificationHoweverManyTryAtOnce(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	uid := w.started(w.contact)
	w.until("2026-11-19 09:00")
	amounts := wrong(w.sent(uid))
	var all sync.WaitGroup
	var mu sync.Mutex
	tried, over := 0, 0
	for range 8 {
		all.Go(func() {
			matched, err := w.confirms(uid, amounts...)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && !matched:
				tried++
			case errors.Is(err, verifications.ErrOver):
				over++
			default:
				t.Error(matched, err)
			}
		})
	}
	all.Wait()
	if tried != 3 || over != 5 {
		t.Errorf("%d tries, %d after the end", tried, over)
	}
	w.is(uid, verifications.Failed, "the amounts were wrong three times")
}

func TestOneOfManyStartsAtOnceVerifiesAContact(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	var all sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		all.Go(func() { _, errs[i] = w.starts(w.Partner(w.partner), w.contact) })
	}
	all.Wait()
	begun := 0
	for _, err := range errs {
		if err == nil {
			begun++
		} else if !errors.Is(err, verifications.ErrOpen) {
			t.Error(err)
		}
	}
	var made int
	if err := w.DB.NewRaw(`SELECT count(*) FROM payments WHERE tenant = ?`, w.Tenant).
		Scan(t.Context(), &made); err != nil ||
		begun != 1 || made != 2 {
		t.Errorf("%d begun, with %d payments: %v", begun, made, err)
	}
}

func TestAVerificationExpiresAfterTwoWeeks(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	uid := w.started(w.contact)
	began := w.Clock.Now()
	w.until("2026-11-19 09:00")
	sent := w.sent(uid)
	next, err := w.Verifications.Next(w.operator, w.Clock.Now())
	if err != nil || next == nil || !next.Equal(began.AddDate(0, 0, 14)) {
		t.Error(next, err)
	}
	w.Clock.Advance(began.AddDate(0, 0, 14).Sub(w.Clock.Now()))
	if _, err := w.confirms(uid, sent...); !errors.Is(err, verifications.ErrOver) {
		t.Error(err)
	}
	w.work()
	w.is(uid, verifications.Expired)
	if next, err := w.Verifications.Next(w.operator, w.Clock.Now()); next != nil || err != nil {
		t.Error(next, err)
	}
	if uid := w.started(w.contact); uid == 0 {
		t.Error("it cannot be tried again")
	}
}

// The account numbers of the sandbox say what becomes of deposits, whatever their amounts are.
func TestADepositThatComesBackFailsTheVerification(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]struct {
		state verifications.State
		codes []string
	}{
		"9990000002": {verifications.Failed, []string{"R02", "the account is closed"}},
		"9990000003": {verifications.Failed, []string{"R03", "there is no such account"}},
		"9990000004": {verifications.Failed, []string{"R04", "the account number is wrong"}},
		"9990000013": {verifications.Failed, []string{"R13", "there is no such bank"}},
		"9990000016": {verifications.Failed, []string{"R16", "the account is blocked"}},
		"9990000020": {verifications.Failed, []string{"R20", "no account of this kind takes it"}},
		"9990000101": {verifications.AwaitingAmounts, []string{"C01", "the account number is incorrect"}},
		"9990000001": {verifications.AwaitingAmounts, nil},
	} {
		t.Run(number, func(t *testing.T) {
			t.Parallel()
			w := newVerifying(t)
			uid := w.started(w.numbered(number))
			w.until("2026-11-23 12:00")
			w.is(uid, want.state, want.codes...)
			w.Prove()
		})
	}
}

// Who closes the account behind a deposit was not verified after all.
func TestADepositThatComesBackLateUndoesTheVerification(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	uid := w.started(w.numbered("9990000016"))
	w.until("2026-11-19 09:00")
	if matched, err := w.confirms(uid, w.sent(uid)...); !matched || err != nil {
		t.Fatal(matched, err)
	}
	w.is(uid, verifications.Verified)
	w.until("2026-11-23 12:00")
	w.is(uid, verifications.Failed, "R16", "the account is blocked")
}

func TestDepositsWaitForASecondPersonAsPaymentsDo(t *testing.T) {
	t.Parallel()
	w := newVerifying(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	uid := w.started(w.contact)
	sent := w.deposits(uid)
	if sent[0].State != payments.PendingApproval || sent[1].State != payments.PendingApproval {
		t.Fatal(sent[0].State, sent[1].State)
	}
	var approvals []changes.UID
	if err := w.DB.NewRaw(`SELECT uid FROM approvals WHERE tenant = ? AND status = 'Open' ORDER BY uid`,
		w.Tenant).
		Scan(t.Context(), &approvals); err != nil || len(approvals) != 2 {
		t.Fatal(approvals, err)
	}
	if _, err := w.Changes.Approve(w.Checker(), approvals[0], changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Changes.Refuse(w.Checker(), approvals[1], changes.RequestOptions{Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	w.work()
	w.is(uid, verifications.Failed, "no")
}

func TestOnlyWhoMayManageAContactVerifiesIt(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	uid := w.started(w.contact)
	stranger := w.DownstreamPartner()
	others := w.Customer(coretest.OwnedBy(stranger))
	foreign := w.Account(others, coretest.Holding(1000_00, 0), coretest.Sends)
	another := w.Contact(w.own)
	start := func(as context.Context, k *contacts.Contact, from *accounts.Account) error {
		_, err := w.Verifications.Start(as, verifications.Draft{
			Contact: k.UID, Account: from.UID, Method: verifications.SmallDeposits,
		}, changes.RequestOptions{})
		return err
	}
	for name, c := range map[string]struct{ err, want error }{
		"another partner starts": {
			start(w.Partner(stranger), another, foreign),
			verifications.ErrContact,
		},
		"who reads starts": {start(w.Reader(), another, w.account), access.ErrDenied},
		"who may not pay starts": {start(w.As(access.ManageContacts, access.ViewContacts), another,
			w.account), access.ErrDenied},
		"another customer's account pays": {start(w.Partner(w.partner), another, foreign), payments.ErrAccount},
		"another customer's, by the bank": {start(w.Staff(), another, foreign), payments.ErrContact},
		"a contact that is not there": {
			start(w.Staff(), &contacts.Contact{UID: 1}, w.account),
			verifications.ErrContact,
		},
		"an account that sends no ACH": {start(w.Staff(), another,
			w.Account(w.own, coretest.Holding(10_00, 0))), payments.ErrRailOff},
		"an account that has no money": {start(w.Staff(), another,
			w.Account(w.own, coretest.Holding(0, 0), coretest.Sends)), nil},
		"a contact that waits": {
			start(w.Staff(),
				w.Contact(w.own, func(k *contacts.Contact) { k.Status = contacts.Pending }), w.account),
			verifications.ErrContactState,
		},
		"a contact that is verified already": {start(w.Staff(), w.contact, w.account), verifications.ErrOpen},
	} {
		if c.want == nil && c.err == nil || c.want != nil && !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	if v := w.find(w.Partner(stranger), uid); v != nil {
		t.Errorf("another partner sees %+v", v)
	}
	if _, err := w.Verifications.Confirm(w.Partner(stranger), uid,
		verifications.Amounts{Amounts: []string{"0.10", "0.11"}},
		changes.RequestOptions{}); !errors.Is(err, verifications.ErrNotFound) {
		t.Error(err)
	}
	if _, err := w.Verifications.Cancel(w.Partner(stranger), uid,
		changes.RequestOptions{}); !errors.Is(err, verifications.ErrNotFound) {
		t.Error(err)
	}
	if _, err := w.Verifications.Cancel(w.Reader(), uid,
		changes.RequestOptions{}); !errors.Is(err, access.ErrDenied) {
		t.Error(err)
	}
	list := func(as context.Context) (all []*verifications.Verification) {
		b := w.PrimaryBatch()
		found := w.Verifications.OfContacts(as, b, []contacts.UID{w.contact.UID}, db.Columns{},
			page.Window{Size: 5})
		counted := w.Verifications.CountOfContacts(as, b, []contacts.UID{w.contact.UID}, 0)
		if err := errors.Join(b.Send(t.Context()), found.Err, counted.Err); err != nil {
			t.Fatal(err)
		}
		if all = found.Of[w.contact.UID]; len(all) > 0 && counted.Of[w.contact.UID][0].N != int64(len(all)) {
			t.Error(counted.Of[w.contact.UID][0].N, len(all))
		}
		return all
	}
	if own, foreign := list(w.Partner(w.partner)), list(w.Partner(stranger)); len(own) != 1 ||
		len(foreign) != 0 {
		t.Error(len(own), len(foreign))
	}
}

func TestACancelledVerificationIsOver(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	uid := w.started(w.contact)
	v := w.find(w.Staff(), uid)
	if _, err := w.Verifications.Cancel(w.Partner(w.partner), uid,
		changes.RequestOptions{Version: v.Version + 1}); !errors.Is(err, changes.ErrStale) {
		t.Error(err)
	}
	if _, err := w.Verifications.Cancel(w.Partner(w.partner), uid,
		changes.RequestOptions{Version: v.Version}); err != nil {
		t.Fatal(err)
	}
	w.is(uid, verifications.Cancelled)
	if _, err := w.Verifications.Cancel(w.Partner(w.partner), uid,
		changes.RequestOptions{}); !errors.Is(err, verifications.ErrOver) {
		t.Error(err)
	}
	w.until("2026-11-19 09:00")
	if _, err := w.confirms(uid, w.sent(uid)...); !errors.Is(err, verifications.ErrOver) {
		t.Error(err)
	}
}

func TestAContactIsVerifiedFiveTimesAMonthAtMost(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	for range 5 {
		uid := w.started(w.contact)
		if _, err := w.Verifications.Cancel(w.Staff(), uid, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.starts(w.Staff(), w.contact); !errors.Is(err, verifications.ErrMany) {
		t.Error(err)
	}
	w.Clock.Advance(31 * 24 * time.Hour)
	if _, err := w.starts(w.Staff(), w.contact); err != nil {
		t.Error(err)
	}
}

// several copies a verification under the numbers before it, in a state; what is set says otherwise of a
// copy.
func (w *verifying) several(of verifications.UID, n int, set string, state verifications.State) {
	w.t.Helper()
	w.Exec(`INSERT INTO contact_verifications
		SELECT (jsonb_populate_record(v, jsonb_build_object('uid', v.uid - n, 'state', ?::text,
		  'due_at', '2027-01-01')`+set+`)).*
		FROM contact_verifications AS v, generate_series(1, ?) AS n WHERE v.tenant = ? AND v.uid = ?`,
		state, n, w.Tenant, of)
}

// What may come of the verifications of a customer is looked for with that of all others.
func TestACustomerHasSoManyOpenVerifications(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	first := w.started(w.contact)
	w.Exec(`INSERT INTO contacts SELECT (jsonb_populate_record(k,
		  jsonb_build_object('uid', k.uid + 1000 + n, 'template_name', ''))).*
		FROM contacts AS k, generate_series(1, ?) AS n WHERE k.tenant = ? AND k.uid = ?`,
		verifications.MostOpen, w.Tenant, w.contact.UID)
	w.several(first, verifications.MostOpen-2, ` || jsonb_build_object('contact', v.contact + 1000 + n)`,
		verifications.AwaitingAmounts)
	last := w.started(w.Contact(w.own))
	another := w.Contact(w.own)
	if _, err := w.starts(w.Staff(), another); !errors.Is(err, verifications.ErrManyOpen) {
		t.Errorf("one too many: %v", err)
	}
	if _, err := w.Verifications.Cancel(w.Staff(), last, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.starts(w.Staff(), another); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

// However many verifications are watched, a call looks at so many: those behind have their turn in the next.
func TestWhatComesOfManyVerificationsIsLookedForInTurns(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	first := w.started(w.contact)
	w.several(first, verifications.WatchedAtATime, "", verifications.Verified)
	last := w.started(w.Contact(w.own))
	back := func(of verifications.UID) {
		w.Exec(`UPDATE payments SET state = 'RETURNED' WHERE tenant = ? AND uid = ?`, w.Tenant,
			w.deposits(of)[0].UID)
	}
	back(last)
	for _, want := range []int{0, 1, 0, 0} {
		if n, err := w.Verifications.Work(w.operator); n != want || err != nil {
			t.Errorf("%d end, %v, want %d", n, err, want)
		}
	}
	w.is(last, verifications.Failed, "the deposit is RETURNED")
	back(first)
	if n, err := w.Verifications.Work(w.operator); n != verifications.AtATime || err != nil {
		t.Errorf("%d end, %v: all are of the same deposit", n, err)
	}
}

// What was found out about an account counts for that account alone.
func TestAnotherAccountEndsWhatWasVerified(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	verified, open, failed := w.started(w.contact), w.Contact(w.own), w.Contact(w.own)
	opened, cancelled := w.started(open), w.started(failed)
	w.until("2026-11-19 09:00")
	if matched, err := w.confirms(verified, w.sent(verified)...); !matched || err != nil {
		t.Fatal(matched, err)
	}
	if _, err := w.Verifications.Cancel(w.Staff(), cancelled, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	change := func(k *contacts.Contact, d contacts.Draft) {
		t.Helper()
		if _, err := w.Contacts.Change(w.Staff(), w.own.UID, k.UID, d, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	text := func(s string) given.Text { return given.Text{Given: true, Value: s} }
	for _, k := range []*contacts.Contact{w.contact, open, failed} {
		change(k, contacts.Draft{Name: text("Another Name"), Bank: contacts.BankDraft{
			AccountNumber: text(coretest.ContactNumber(k.UID)), Name: text("Old Mill"),
		}})
	}
	w.is(verified, verifications.Verified)
	w.is(opened, verifications.AwaitingAmounts)
	change(w.contact, contacts.Draft{Bank: contacts.BankDraft{AccountNumber: text("4417000001")}})
	change(open, contacts.Draft{Bank: contacts.BankDraft{
		AccountType:    text("Deposit"),
		AccountSubType: text("Savings"),
	}})
	change(failed, contacts.Draft{Bank: contacts.BankDraft{NationalCode: text("011000015")}})
	w.is(verified, verifications.Superseded)
	w.is(opened, verifications.Superseded)
	w.is(cancelled, verifications.Cancelled)
	var told []string
	err := w.DB.NewRaw(`SELECT uid FROM events WHERE tenant = ? AND kind = 'supersedeContactVerification'
		ORDER BY uid::bigint`, w.Tenant).
		Scan(t.Context(), &told)
	if want := []string{verified.String(), opened.String()}; err != nil || !reflect.DeepEqual(told, want) {
		t.Errorf("%q %v, want %q", told, err, want)
	}
}

// Deposits do not go to an account that the contact had, and what was held for them is free again.
func TestDepositsDoNotGoToAFormerAccount(t *testing.T) {
	t.Parallel()
	for name, dual := range map[string]bool{"before their file": false, "before they are approved": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newVerifying(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = dual })
			uid, other := w.started(w.contact), w.started(w.Contact(w.own))
			if _, err := w.Contacts.Change(w.Partner(w.partner), w.own.UID, w.contact.UID, contacts.Draft{
				Bank: contacts.BankDraft{AccountNumber: given.Of("4417000001")},
			}, changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			w.is(uid, verifications.Superseded)
			for _, p := range w.deposits(uid) {
				if want := "the contact has another account since: verification " + uid.String() +
					" is over"; p.State != payments.Cancelled || p.Reason != want {
					t.Errorf("%s %q", p.State, p.Reason)
				}
			}
			var waits, held int64
			if err := w.DB.NewRaw(`SELECT (SELECT count(*) FROM approvals
				WHERE tenant = ?0 AND status = 'Open'),
				(SELECT held FROM balances WHERE tenant = ?0 AND account = ?1)`, w.Tenant, w.account.UID).
				Scan(t.Context(), &waits, &held); err != nil || dual != (waits == 2) {
				t.Error(waits, held, err)
			}
			want := int64(0)
			for _, p := range w.deposits(other) {
				if want += p.Minor; dual {
					want = 0
				}
				if p.State == payments.Cancelled {
					t.Error("those of another contact are cancelled")
				}
			}
			if held != want {
				t.Errorf("%d is held, want %d", held, want)
			}
			w.until("2026-11-20 12:00")
			if entries, _ := w.entries(); !dual && len(entries) != 2 || dual && len(entries) != 0 {
				t.Errorf("%+v", entries)
			}
			w.Prove()
		})
	}
}

// A wrong amount with a key counts once, and is answered alike.
func TestATryIsCountedOnceForItsKey(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	uid := w.started(w.contact)
	w.until("2026-11-19 09:00")
	amounts := verifications.Amounts{Amounts: wrong(w.sent(uid))}
	for i := range 4 {
		out, err := w.Verifications.Confirm(w.Staff(), uid, amounts,
			changes.RequestOptions{IdempotencyKey: "guess"})
		if err != nil || out.Result.Matched || out.Replayed != (i > 0) {
			t.Errorf("%+v %v", out, err)
		}
	}
	if v := w.find(w.Staff(), uid); *v.TriesLeft() != 2 {
		t.Errorf("%+v", v)
	}
	right := verifications.Amounts{Amounts: w.sent(uid)}
	if _, err := w.Verifications.Confirm(w.Staff(), uid, right,
		changes.RequestOptions{IdempotencyKey: "guess"}); !errors.Is(err, changes.ErrKeyReused) {
		t.Error(err)
	}
}

// What an account has says whether it can pay deposits: nothing is begun where it cannot.
func TestDepositsCostWhatPaymentsCost(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	poor := w.Account(w.own, coretest.Holding(1, 0), coretest.Sends)
	_, err := w.Verifications.Start(w.Staff(), verifications.Draft{
		Contact: w.contact.UID, Account: poor.UID, Method: verifications.SmallDeposits,
	}, changes.RequestOptions{})
	if err == nil || !is(err, fault.State) {
		t.Error(err)
	}
	var n int
	if err := w.DB.NewRaw(`SELECT (SELECT count(*) FROM payments WHERE tenant = ?0) + (SELECT count(*)
		FROM contact_verifications WHERE tenant = ?0)`, w.Tenant).Scan(t.Context(), &n); err != nil ||
		n != 0 {
		t.Error(n, err)
	}
}

func (w *verifying) asks(as context.Context, contact *contacts.Contact) (verifications.UID, error) {
	out, err := w.Verifications.Start(as, verifications.Draft{
		Contact: contact.UID, Account: w.account.UID, Method: verifications.Prenote,
	}, changes.RequestOptions{})
	return out.Result.UID, err
}

func (w *verifying) asked(contact *contacts.Contact) verifications.UID {
	w.t.Helper()
	uid, err := w.asks(w.As(access.ManageContacts), contact)
	if err != nil {
		w.t.Fatal(err)
	}
	return uid
}

// entries are those of the files that the bank has sent, with their batches.
func (w *verifying) entries() (all []nacha.Entry, batches []nacha.Batch) {
	w.t.Helper()
	var messages []*payments.Message
	if err := w.DB.NewSelect().Model(&messages).
		Where("nm.tenant = ? AND nm.rail = 'ACH' AND nm.direction = 'OUT'", w.Tenant).
		OrderExpr("nm.id").Scan(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	for _, m := range messages {
		body, err := w.Keys.Open(seal.Value{Sealed: m.Body},
			seal.Place{Tenant: int64(w.Tenant), Column: payments.BodyColumn, Row: int64(m.ID)})
		if err != nil {
			w.t.Fatal(err)
		}
		if _, _, err := nacha.Read(strings.NewReader(body), func(b nacha.Batch, e nacha.Entry) error {
			all, batches = append(all, e), append(batches, b)
			return nil
		}); err != nil {
			w.t.Fatal(err)
		}
	}
	return all, batches
}

// A prenote goes out with the next file, without money. Who says nothing for three banking days has the
// account.
func TestAPrenoteThatNobodyAnswersVerifiesAContact(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	savings := w.Contact(w.own, func(k *contacts.Contact) { k.Bank.AccountSubType = "Savings" })
	checked, saved := w.asked(w.contact), w.asked(savings)
	w.is(checked, verifications.Pending)
	next, err := w.Payments.Next(w.operator, w.Clock.Now())
	if err != nil || next == nil || next.In(coretest.Zone()).Format("2006-01-02 15:04") != "2026-11-18 14:00" {
		t.Error(next, err)
	}
	w.until("2026-11-18 13:59")
	if entries, _ := w.entries(); len(entries) != 0 {
		t.Errorf("%+v", entries)
	}
	w.until("2026-11-18 14:01")
	entries, batches := w.entries()
	if len(entries) != 2 {
		t.Fatalf("%+v", entries)
	}
	for i, want := range []struct {
		contact *contacts.Contact
		account rails.AccountType
		uid     verifications.UID
	}{{w.contact, rails.Checking, checked}, {savings, rails.Savings, saved}} {
		e, b := entries[i], batches[i]
		if e.Kind != nacha.Prenote || e.Amount.Minor != 0 || e.Direction != rails.Credit ||
			e.Account != want.account || e.Routing != "611590103" ||
			e.Number != coretest.ContactNumber(want.contact.UID) || e.ID != "VERIFY-"+want.uid.String() {
			t.Errorf("%+v", e)
		}
		if b.Description != "PRENOTE" || b.CompanyID != "1234567890" ||
			b.Effective.Format(time.DateOnly) != "2026-11-19" {
			t.Errorf("%+v", b)
		}
	}
	// the three banking days after the 19th are the 20th, the 23rd and the 24th
	w.until("2026-11-24 08:29")
	w.is(checked, verifications.Pending)
	w.until("2026-11-24 08:30")
	w.is(checked, verifications.Verified)
	w.is(saved, verifications.Verified)
	if v := w.find(w.Staff(), checked); v.TriesLeft() != nil || v.VerifiedAt == nil {
		t.Errorf("%+v", v)
	}
	var left int64
	if err := w.DB.NewRaw(`SELECT ledger - held + (SELECT count(*) FROM payments WHERE tenant = ?0)
		FROM balances WHERE tenant = ?0 AND account = ?1`,
		w.Tenant, w.account.UID).Scan(t.Context(), &left); err != nil || left != 1000_00 {
		t.Error(left, err)
	}
	w.Prove()
	w.until("2026-12-04 12:00")
	if v := w.find(w.Staff(), checked); v.State != verifications.Verified || v.DueAt != nil {
		t.Errorf("%+v", v)
	}
}

func TestAPrenoteThatComesBackFailsTheVerification(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]struct {
		state verifications.State
		codes []string
	}{
		"9990000002": {verifications.Failed, []string{"R02", "the account is closed"}},
		"9990000003": {verifications.Failed, []string{"R03", "there is no such account"}},
		"9990000004": {verifications.Failed, []string{"R04", "the account number is wrong"}},
		"9990000013": {verifications.Failed, []string{"R13", "there is no such bank"}},
		"9990000016": {verifications.Failed, []string{"R16", "the account is blocked"}},
		"9990000020": {verifications.Failed, []string{"R20", "no account of this kind takes it"}},
		"9990000101": {verifications.Corrected, []string{"C01", "the account number is incorrect"}},
	} {
		t.Run(number, func(t *testing.T) {
			t.Parallel()
			w := newVerifying(t)
			uid := w.asked(w.numbered(number))
			w.until("2026-11-23 12:00")
			w.is(uid, want.state, want.codes...)
			if v := w.find(w.Staff(), uid); want.state == verifications.Corrected && v.RightLast4 != "0101" {
				t.Errorf("%+v", v)
			}
			w.Prove()
		})
	}
}

// A prenote whose verification is over before its file is made does not go out.
func TestAPrenoteIsWithdrawn(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	cancelled, moved := w.asked(w.contact), w.Contact(w.own)
	superseded := w.asked(moved)
	if _, err := w.Verifications.Cancel(w.Staff(), cancelled, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Contacts.Change(w.Staff(), w.own.UID, moved.UID, contacts.Draft{
		Bank: contacts.BankDraft{AccountNumber: given.Of("4417000001")},
	}, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	w.until("2026-11-19 12:00")
	if entries, _ := w.entries(); len(entries) != 0 {
		t.Errorf("%+v", entries)
	}
	w.is(cancelled, verifications.Cancelled)
	w.is(superseded, verifications.Superseded)
	if _, err := w.confirms(w.asked(w.contact), "0.10", "0.11"); !errors.Is(err, verifications.ErrOver) {
		t.Error(err)
	}
}

// What leaves in a file goes on after it: a prenote that has not left is not taken for answered.
func TestAPrenoteThatHasNotLeftIsNotTakenForAnswered(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	uid := w.asked(w.contact)
	w.Clock.Advance(10 * 24 * time.Hour)
	if n, err := w.Verifications.Work(w.operator); n != 1 || err != nil {
		t.Error(n, err)
	}
	w.is(uid, verifications.Pending)
	if n, err := w.Verifications.Work(w.operator); n != 0 || err != nil {
		t.Error(n, err)
	}
	w.until("2026-12-02 12:00")
	w.is(uid, verifications.Pending)
	w.until("2026-12-04 12:00")
	w.is(uid, verifications.Verified)
}

func TestAPrenoteIsRefusedWhereACreditWouldBe(t *testing.T) {
	t.Parallel()
	w := newVerifying(t)
	stranger := w.DownstreamPartner()
	foreign := w.Account(w.Customer(coretest.OwnedBy(stranger)), coretest.Holding(1000_00, 0), coretest.Sends)
	start := func(as context.Context, k *contacts.Contact, from *accounts.Account) error {
		_, err := w.Verifications.Start(as, verifications.Draft{
			Contact: k.UID, Account: from.UID,
			Method: verifications.Prenote,
		}, changes.RequestOptions{})
		return err
	}
	abroad := w.Contact(w.own, func(k *contacts.Contact) { k.Bank.Country = "Germany" })
	nowhere := w.Contact(w.own, func(k *contacts.Contact) { k.Bank.NationalCode = "021000089" })
	for name, c := range map[string]struct{ err, want error }{
		"another partner": {
			start(w.Partner(stranger), w.contact, foreign),
			verifications.ErrContact,
		},
		"who reads":                         {start(w.Reader(), w.contact, w.account), access.ErrDenied},
		"another customer's account":        {start(w.Staff(), w.contact, foreign), payments.ErrContact},
		"an account that sends no ACH":      {start(w.Staff(), w.contact, w.Account(w.own)), payments.ErrRailOff},
		"a contact abroad":                  {start(w.Staff(), abroad, w.account), payments.ErrNoAccount},
		"a bank that the directory has not": {start(w.Staff(), nowhere, w.account), payments.ErrBank},
		"nothing":                           {start(w.Staff(), w.contact, w.account), nil},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}
