package core_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/alerts"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/files"
	"bankgraph/core/fx"
	"bankgraph/core/ledger"
	"bankgraph/core/limits"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/roles"
	"bankgraph/core/signatories"
	"bankgraph/core/sweeps"
	"bankgraph/core/users"
	"bankgraph/core/verifications"
	"bankgraph/core/virtualaccounts"
	"bankgraph/core/waterfalls"
	"bankgraph/core/webhooks"
	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// stocked is a bank in which a partner's customer has one of everything.
type stocked struct {
	*coretest.Bank
	partner, own *customers.Customer
	account      *accounts.Account
	contact      *contacts.Contact
	signatory    *signatories.Signatory
	role         *roles.Role
	user         *users.User
	approval     changes.UID
	payment      payments.UID
	recurrence   payments.RecurrenceUID
	file         files.FileUID
	rule         positivepay.UID
	entry        audit.ID
	webhook      webhooks.UID
	delivery     webhooks.DeliveryUID
	trade        fx.TradeUID
	quote        fx.QuoteUID
	virtual      virtualaccounts.UID
	alert        alerts.UID
	verification verifications.UID
}

func newStocked(t *testing.T) *stocked {
	t.Helper()
	s := &stocked{Bank: coretest.New(t)}
	s.partner = s.DownstreamPartner()
	s.own = s.Customer(coretest.OwnedBy(s.partner), dual,
		func(c *customers.Customer) { c.RelationshipManager = "their.officer" })
	s.account, s.contact, s.signatory, s.role = s.Account(s.own), s.Contact(s.own), s.Signatory(s.own),
		s.Role(s.own)
	s.Sweep(s.account, func(w *accounts.Sweep) { w.ToContact = &s.contact.UID })
	s.user = s.User(s.own, []*roles.Role{s.role}, func(u *users.User) { u.LoginID = "their.officer" })
	s.Limit(s.own, "ACH_PAYMENT_LIMIT_PER_DAY", 1)
	s.Fee(s.own)
	done, err := changeSignatory(s.Bank, s.signatory.UID)(s.Staff(), "")
	if err != nil {
		t.Fatal(err)
	}
	s.approval = changes.UID(done.Approval)
	paid, err := repeatTransfer(s.Bank, s.own, 0)(s.Staff(), "")
	if err != nil {
		t.Fatal(err)
	}
	s.payment, s.recurrence = paid.Result.(payments.Saved).UID, paid.Result.(payments.Saved).Recurrence
	s.Exec(`UPDATE payments SET receiver_account = ? WHERE tenant = ? AND uid = ?`, s.account.UID,
		s.Tenant, s.payment)
	s.Exec(`INSERT INTO payment_details (tenant, payment, number_sealed, number_hash, number_last4, bank_id,
		uetr)
		VALUES (?, ?, '', '', '', '', '')`, s.Tenant, s.payment)
	s.Exec(`INSERT INTO ach_entries (tenant, payment, origin, class, company_id, company_name, description,
		account, same_day)
		VALUES (?, ?, '', '', '', '', '', '', false)`, s.Tenant, s.payment)
	s.Exec(`INSERT INTO payment_requests (tenant, payment, execution_date, expiry_date, amount_modifiable, early,
		guaranteed)
		VALUES (?, ?, now(), now(), false, false, false)`, s.Tenant, s.payment)
	s.Exec(`INSERT INTO payment_screenings (tenant, payment, name, matches, status, created_at)
		VALUES (?, ?, '', '[]', 'PENDING', now())`, s.Tenant, s.payment)
	s.Exec(`INSERT INTO network_messages (tenant, rail, direction, kind, message_id, payment, body, at)
		VALUES (?, 'FEDNOW', 'OUT', 'pacs.008', '1', ?, '', now())`, s.Tenant, s.payment)
	s.Exec(`INSERT INTO information_requests (tenant, id, payment, rail, direction, bank, message_id, codes,
		asked_sealed, at)
		SELECT tenant, id, payment, 'FEDNOW', 'OUT', '', message_id, '', '', now()
		FROM network_messages WHERE tenant = ?`, s.Tenant)
	s.Exec(`INSERT INTO ach_notices (tenant, id, payment, number, code, data_sealed, at)
		VALUES (?, 1, ?, 1, 'C01', '', now())`, s.Tenant, s.payment)
	s.Exec(`INSERT INTO holds (tenant, id, account, amount, currency, payment, state, placed_at)
		VALUES (?, 1, ?, 1, 'USD', 1, 'OPEN', now())`, s.Tenant, s.account.UID)
	s.rule = s.PositivePayRule(s.account).UID
	s.Exec(`INSERT INTO positive_pay_exceptions (tenant, uid, payment, customer, account, type, rule, amount,
		currency, ach_company_id, beneficiary_name, beneficiary_bank_id, beneficiary_bank_name, sec_code,
		individual_id, debit_date, reason, status, created_at, expires_at, updated_at, version)
		VALUES (?, 1, ?, ?, ?, 'ACH', ?, 1, 'USD', '', '', '', '', '', '', now(), '', 'PENDING', now(), now(),
		now(), 1)`, s.Tenant, s.payment, s.own.UID, s.account.UID, s.rule)
	s.virtual, s.alert = s.VirtualAccount(s.account).UID, s.BalanceAlert(s.account).UID
	s.verification = s.Verification(s.contact, s.account).UID
	s.Exec(`INSERT INTO virtual_postings (tenant, id, virtual_account, customer, account, payment, journal,
		amount, currency, at)
		SELECT ?, 1, ?, ?, ?, ?, min(id), 1, 'USD', now() FROM journals WHERE tenant = ?`, s.Tenant,
		s.virtual, s.own.UID, s.account.UID, s.payment, s.Tenant)
	s.trade, s.quote = traded(s.Bank, s.own), quoted(s.Bank, s.own)
	s.webhook = webhook(s.Bank, s.own)
	filed, err := uploadFile(s.Bank, s.own)(s.Staff(), "")
	if err != nil {
		t.Fatal(err)
	}
	s.file = filed.Result.(files.Saved).UID
	s.Exec(`INSERT INTO bulk_file_lines (tenant, id, file, number, status, entry_type, rail, amount, currency)
		VALUES (?0, ?1::bigint << 24 | 2, ?1, 2, 'VALID', 'CREDIT', '', 1, 'USD')`, s.Tenant, s.file)
	s.Exec(`INSERT INTO waterfalls (tenant, uid, waterfall_id, customer, external_reference_id, status,
		payments, maker, maker_client,
		created_at, updated_at, version) VALUES
		(?, 7, gen_random_uuid(), ?, '', 'PROCESSED', 1, '{}', '', now(), now(), 1)`, s.Tenant, s.own.UID)
	s.Exec(`INSERT INTO waterfall_steps (tenant, id, waterfall, payment_index, status, amount,
		currency, draft_sealed)
		VALUES (?, 1, 7, 1, 'WAITING', 1, 'USD', '')`, s.Tenant)
	s.Exec(`INSERT INTO sweep_runs (tenant, uid, account, customer, direction, day, outcome,
		currency, payment, at)
		SELECT tenant, 1, account, ?, direction, now(), 'PAID', currency, ?, now()
		FROM sweeps WHERE tenant = ?`, s.own.UID, s.payment, s.Tenant)
	s.Exec(`INSERT INTO bulk_file_batches (tenant, file, number, id, batch_number, service_class, originator,
		company_name, company_id, class,
		description, entry_hash, entries, credits, debits, balanced)
		VALUES (?, ?, 1, '', 1, '', '', '', '', '', '', 1, 1, 1, 1, false)`,
		s.Tenant, s.file)
	err = s.DB.InTx(t.Context(), int64(s.Tenant), func(ctx context.Context, tx bun.Tx) error {
		return tx.NewRaw(`INSERT INTO webhook_deliveries
			(tenant, webhook, customer, payment, number, state, due_at, created_at)
			VALUES (?, ?, ?, ?, 1, 'WAITING', now(), now()) RETURNING uid`, s.Tenant, s.webhook, s.own.UID, s.payment).
			Scan(ctx, &s.delivery)
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Exec(`INSERT INTO webhook_attempts (tenant, delivery, number, at) VALUES (?, ?, 1, now())`,
		s.Tenant, s.delivery)
	err = s.DB.NewRaw(`SELECT id FROM audit_entries WHERE tenant = ? AND customer = ? LIMIT 1`, s.Tenant,
		s.own.UID).Scan(t.Context(), &s.entry)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asked returns arguments for reads of the customer, by the type of a parameter. parents are those whose
// lists are read.
func (s *stocked) asked(parents []customers.UID) map[reflect.Type]reflect.Value {
	values := map[reflect.Type]reflect.Value{}
	for _, value := range []any{
		parents, s.own.UID,
		10, // how many
		[]accounts.UID{s.account.UID},
		[]contacts.UID{s.contact.UID},
		[]signatories.UID{s.signatory.UID},
		[]payments.UID{s.payment},
		[]payments.RecurrenceUID{s.recurrence},
		payments.RecurrenceSearch{},
		[]roles.UID{s.role.UID},
		[]users.UID{s.user.UID},
		[]uuid.UUID{s.user.UID.UUID},
		[]changes.UID{s.approval},
		[]audit.ID{s.entry},
		[]webhooks.UID{s.webhook},
		[]webhooks.DeliveryUID{s.delivery},
		[]files.FileUID{s.file},
		[]files.LineID{1},
		files.FileSearch{},
		files.FileLineSearch{},
		[]waterfalls.UID{7},
		waterfalls.Search{},
		waterfalls.StepSearch{},
		sweeps.RunSearch{},
		[]fx.TradeUID{s.trade},
		[]fx.QuoteUID{s.quote},
		fx.Search{},
		webhooks.Search{},
		[]positivepay.UID{s.rule},
		[]positivepay.ExceptionUID{1},
		positivepay.ExceptionSearch{},
		s.rule,
		positivepay.Search{},
		[]virtualaccounts.UID{s.virtual},
		[]alerts.UID{s.alert},
		[]verifications.UID{s.verification},
		[]virtualaccounts.PostingID{1},
		virtualaccounts.Search{},
		virtualaccounts.PostingSearch{},
		webhooks.DeliverySearch{},
		payments.InformationPart{Last: 50, Words: true},
		customers.Search{UID: s.own.UID},
		audit.Search{Customer: int64(s.own.UID)},
		changes.Search{Customer: int64(s.own.UID)},
		accounts.Search{},
		contacts.Search{},
		users.Search{},
		roles.Search{},
		payments.Search{},
		accounts.By{UID: s.account.UID},
		ledger.Days{From: time.Now().AddDate(0, 0, -7), To: time.Now().AddDate(0, 0, 7)},
		[]ledger.Span{{Account: s.account.UID, Last: 9}},
		false, time.Now().AddDate(1, 0, 0),
		limits.Asked{Rail: rails.ACH, EntryType: rails.Credit},
		db.Columns{},
		page.First(50), int64(0),
	} {
		values[reflect.TypeOf(value)] = reflect.ValueOf(value)
	}
	return values
}

// read queues a read as a caller. rows returns how many rows the result has, once the batch is sent.
type read func(ctx context.Context, b *db.Batch) (rows func() (int, error))

// reads returns all reads: the methods of services that queue one, and the functions of package audit.
func (s *stocked) reads(t *testing.T, parents []customers.UID) map[string]read {
	t.Helper()
	values, all := s.asked(parents), map[string]read{}
	for name, service := range services(s.Core) {
		for m := range service.NumMethod() {
			method, queue := name+"."+service.Type().Method(m).Name, service.Method(m)
			// everybody may know the institution, and the directory of banks
			if !takes(queue.Type(), reflect.TypeFor[*db.Batch]()) || method == "Customers.Institution" ||
				name == "Banks" ||
				// for the bank alone, see ledger's tests
				method == "Ledger.FindJournals" || method == "Ledger.PostingsOf" ||
				method == "Payments.Refused" || method == "Payments.CountRefused" { // and those of payments
				continue
			}
			all[method] = func(ctx context.Context, b *db.Batch) func() (int, error) {
				in := []reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(b)}
				for i := 2; i < queue.Type().NumIn(); i++ {
					value, known := values[queue.Type().In(i)]
					if !known {
						t.Fatalf("%s takes a %s: say in this test what to ask with", method, queue.Type().In(i))
					}
					in = append(in, value)
				}
				return s.rows(queue.Call(in)[0].Interface())
			}
		}
	}
	all["Accounts.FindWith, its customer too"] = func(ctx context.Context, b *db.Batch) func() (int, error) {
		return s.rows(s.Accounts.FindWith(ctx, b, accounts.By{UID: s.account.UID}, db.Columns{},
			db.ColumnsOf[customers.Customer]("LegalName")))
	}
	of := []signatories.UID{s.signatory.UID}
	all["audit.OfObjects"] = func(ctx context.Context, b *db.Batch) func() (int, error) {
		return s.rows(audit.OfObjects(ctx, b, "signatory", of, db.Columns{}, page.First(50)))
	}
	all["audit.CountOfObjects"] = func(ctx context.Context, b *db.Batch) func() (int, error) {
		return s.rows(audit.CountOfObjects(ctx, b, "signatory", of, 0))
	}
	return all
}

// rows counts what a result shows of the customer.
func (s *stocked) rows(answer any) func() (int, error) {
	return func() (n int, err error) {
		switch answer := answer.(type) {
		case *customers.Scope: // shows nothing else of the customer
			_, err := answer.Check()
			if err == nil {
				n = 1
			}
			return n, nil
		case *limits.Answers:
			found, err := answer.Of(s.own.UID)
			return len(found), err
		}
		fields := reflect.ValueOf(answer).Elem()
		if err, failed := fields.FieldByName("Err").Interface().(error); failed {
			return 0, err
		}
		lists := []reflect.Value{fields.Field(0)}
		if lists[0].Kind() == reflect.Map {
			lists = nil
			for _, list := range fields.Field(0).Seq2() {
				lists = append(lists, list)
			}
		}
		for _, list := range lists {
			for i := range list.Len() {
				if count, is := list.Index(i).Interface().(*db.Count); is {
					n += int(count.N)
				} else {
					n++
				}
			}
		}
		return n, nil
	}
}

// bankOnly lists the reads of what a customer is not shown of its own.
var bankOnly = map[string]bool{"Payments.ScreeningsOf": true}

// No read of what a customer has depends on an earlier check of the customer: each includes the scope itself.
func TestNoReadShowsWhatIsOutOfScope(t *testing.T) {
	t.Parallel()
	s := newStocked(t)
	sibling, rival := s.Customer(coretest.OwnedBy(s.partner)), s.DownstreamPartner()
	may := map[string]context.Context{
		"the bank": s.Staff(), "its partner": s.Partner(s.partner), "its own user": s.PersonOf(s.own, s.user),
	}
	mayNot := map[string]context.Context{
		"another partner": s.Partner(rival), "somebody of another partner": s.PersonOf(rival, s.User(rival, nil)),
		"somebody of another customer of its partner": s.PersonOf(sibling, s.User(sibling, nil)),
		"somebody of its partner":                     s.PersonOf(s.partner, s.User(s.partner, nil)),
		"another bank":                                s.Another().Staff(),
	}
	// one parent and several have different queries
	for _, parents := range [][]customers.UID{{s.own.UID}, {s.own.UID, 1}} {
		reads := s.reads(t, parents)
		if len(reads) < 25 {
			t.Errorf("only %d reads: the test has lost the services", len(reads))
		}
		for name, read := range reads {
			for callers, wanted := range map[*map[string]context.Context]bool{&may: true, &mayNot: false} {
				for who, ctx := range *callers {
					b := s.Batch()
					rows := read(ctx, b)
					if err := b.Send(ctx); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					wanted := wanted && (who == "the bank" || !bankOnly[name])
					if n, err := rows(); err != nil || (n > 0) != wanted {
						t.Errorf("%s shows %s %d rows: %v", name, who, n, err)
					}
				}
			}
		}
	}
}

func services(c *core.Core) map[string]reflect.Value {
	all, fields := map[string]reflect.Value{}, reflect.ValueOf(c).Elem()
	for i := range fields.NumField() {
		if field := fields.Field(i); field.Kind() == reflect.Pointer &&
			strings.HasSuffix(field.Type().String(), ".Service") {
			all[fields.Type().Field(i).Name] = field
		}
	}
	return all
}

// takes reports whether a method has a parameter of the type.
func takes(signature, kind reflect.Type) bool {
	for i := range signature.NumIn() {
		if signature.In(i) == kind {
			return true
		}
	}
	return false
}

// A lookup shows nothing without its account, so its other reads are tested by the statements that the server
// has prepared.
func TestEachReadOfALookupCarriesTheScope(t *testing.T) {
	t.Parallel()
	b := coretest.On(t, dbtest.Owner(dbtest.Shared(t)), dbtest.Shared(t), db.Options{Connections: 1})
	partner := b.DownstreamPartner()
	account := b.Account(b.Customer(coretest.OwnedBy(partner)))
	if found, err := b.Accounts.Lookup(b.Partner(partner), coretest.AccountNumber(account.UID),
		""); err != nil || found == nil {
		t.Fatal(found, err)
	}
	type prepared struct{ Statement string }
	all, err := coretest.Rows(b, t.Context(), func(batch *db.Batch) *db.Rows[prepared] {
		return db.Queue(batch,
			db.NewQuery[prepared](
				`SELECT statement FROM pg_prepared_statements WHERE statement ~ 'number_hash = ANY'`))
	})
	if err != nil || len(all) < 4 {
		t.Fatal(len(all), err)
	}
	for _, one := range all {
		if !strings.Contains(one.Statement, "owner = $2") &&
			!strings.Contains(one.Statement, "pg_prepared_statements") {
			t.Errorf("has no scope: %s", one.Statement)
		}
	}
}
