package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/holds"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/sandbox"
	"bankgraph/core/screening"
	"bankgraph/graph"
)

func init() {
	declare("Payment", node{
		needs: access.ViewPayments, list: "payments", rows: paymentRows,
		id: func(c customers.UID, n int) string { return "pay_" + paymentOf(c, n).String() },
	})
	view, accounts := []access.Permission{access.ViewPayments}, []access.Permission{access.ViewAccounts}
	needs["Query.payment"], needs["Query.payments"], needs["Account.payments"] = view, view, view
	needs["Payment.senderAccount"], needs["Payment.receiverAccount"] = accounts, accounts
	needs["Payment.contact"] = []access.Permission{access.ViewContacts}
	needs["Payment.trade"] = []access.Permission{access.ViewTrades}
	needs["Payment.screening"] = []access.Permission{access.ScreenPayments}
	required["Account.payments"] = "(first: 2)"
	lookups["Query.payment.uid"] = lookup{
		`{ payment(uid: "%s") { ALL(Payment) } }`,
		func(c customers.UID) string { return paymentOf(c, 0).String() },
	}
	for list, way := range map[string]string{
		"Query.payments":    "{ %s }",
		"Customer.payments": "{ customers(first: 7) { nodes { %s } } }",
		"Account.payments":  "{ customers(first: 7) { nodes { accounts(first: 1) { nodes { %s } } } } }",
	} {
		for field, value := range map[string]func(customers.UID) string{
			"uid":      func(c customers.UID) string { return paymentOf(c, 0).String() },
			"customer": customers.UID.String,
			"account":  func(c customers.UID) string { return accountOf(c, 0).String() },
			"contact":  func(c customers.UID) string { return contactOf(c, 0).String() },
			"senderName": func(c customers.UID) string {
				return fmt.Sprint("alpha sendername ", paymentOf(c, 0))
			},
			"receiverName": func(c customers.UID) string { return fmt.Sprint("ReceiverName ", paymentOf(c, 0)) },
			"externalReferenceId": func(c customers.UID) string {
				return fmt.Sprint("Alpha ExternalReferenceID ", paymentOf(c, 0))
			},
			"notes": func(c customers.UID) string { return fmt.Sprint("NOTES ", paymentOf(c, 0)) },
		} {
			lookups[list+".filter."+field] = lookup{strings.ReplaceAll(way, "%s",
				`payments(first: 2, filter: {`+field+`: "%s"}) { totalCount nodes { ALL(Payment) } }`), value}
		}
	}
	mutations["transferFunds"] = tried{
		access.InitiatePayments, func(c customers.UID) string {
			return fmt.Sprintf(`senderAccount: {uid: "%s"}, receiverAccount: {number: "%s"}, amount: "12.50",
			currency: "USD",
			paymentDate: "2026-11-20", externalReferenceId: "INV-7", notes: "Rent", channel: "Portal"`,
				accountOf(activeOf(c), 0), numberOf(activeOf(c), 1))
		},
		`payment { id status rail amount fee currency paymentDate externalReferenceId notes channel
		senderName receiverName
		senderNumber { masked } senderAccount { uid balances { ledger } } receiverAccount { uid }
		customer { uid } timeline { number status client } version } approval { uid }`,
	}
	mutations["sendPayment"] = tried{
		access.InitiatePayments, func(c customers.UID) string {
			return fmt.Sprintf(`senderAccount: {uid: "%s"}, receiver: {accountNumber: "440055551",
			accountType: "Deposit",
			accountSubType: "Checking", name: "Ada Byron", address: {line1: "1 Lake Rd", city: "Erie",
			countryCode: "US"},
			emailAddress: "ada@mail.example", phoneNumber: "+1 614 555 0123", bankId: "611090001",
			bankName: "Listed Bank"},
			amount: "12.50", currency: "USD", speed: INSTANT, externalReferenceId: "INV-7", notes: "Rent",
			remittance: "Rent of May",
			fee: {name: "Courier", amount: "1.25", currency: "USD"}, referenceForBeneficiary: "LEASE-44",
			detailsOfCharges: "SHA", originatorToBeneficiary: "x", senderToReceiver: "y",
			localInstrument: "STANDARD", remittanceMethod: "EMAL",
			channel: "Portal", costCenter: "CC1", requestMethod: "PHONE-IN", operationNote: "z",
			paymentDate: "2026-11-20"`,
				accountOf(activeOf(c), 0))
		},
		`payment { id status rail speed amount fee customFee currency paymentDate externalReferenceId notes
		channel receiverName
		receiverNumber { masked } senderAccount { uid balances { held } } receiverAccount { uid }
		contact { uid } customer { uid }
		details { accountType accountSubType address { line1 city countryCode } emailAddress phoneNumber
		bankId bankName remittance
		remittanceMethod remittanceAddress referenceForBeneficiary originatorToBeneficiary senderToReceiver
		localInstrument detailsOfCharges costCenter requestMethod operationNote
		route returnCode } messages { kind } timeline { number status client } version } approval { uid }`,
	}
	mutations["requestDebit"] = tried{
		access.InitiatePayments, func(c customers.UID) string {
			return fmt.Sprintf(`creditorAccount: {uid: "%s"}, debtor: {accountNumber: "440055551",
			accountType: "Deposit",
			accountSubType: "Checking", name: "Ada Byron",
			address: {line1: "1 Lake Rd", city: "Erie", countryCode: "US"},
			emailAddress: "ada@mail.example", phoneNumber: "+1 614 555 0123", bankId: "611090001",
			bankName: "Listed Bank"},
			amount: "12.50", currency: "USD", speed: INSTANT, requestedExecutionDate: "2026-11-23",
			expiryDate: "2026-11-30",
			amountModificationAllowed: true, earlyPayment: true, guaranteedPayment: true,
			externalReferenceId: "INV-7", notes: "Rent",
			remittance: "Rent of May", detailsOfCharges: "SHA", originatorToBeneficiary: "x",
			senderToReceiver: "y", localInstrument: "FDNA",
			channel: "Portal", costCenter: "CC1", requestMethod: "PHONE-IN", operationNote: "z",
			paymentDate: "2026-11-20"`,
				accountOf(activeOf(c), 0))
		},
		`payment { id status rail speed entryType direction amount fee currency paymentDate
		externalReferenceId notes channel
		senderName senderNumber { masked } senderAccount { uid } receiverAccount { uid balances { held } }
		contact { uid }
		customer { uid } details { accountType accountSubType address { line1 city countryCode } emailAddress
		phoneNumber bankId
		bankName remittance originatorToBeneficiary senderToReceiver localInstrument detailsOfCharges
		costCenter requestMethod operationNote }
		achEntry { secCode } messages { kind } request { requestedExecutionDate expiryDate
		amountModificationAllowed earlyPayment
		guaranteedPayment paidBy } timeline { number status client } version } approval { uid }`,
	}
	mutations["repairPayment"] = tried{
		access.InitiatePayments, func(c customers.UID) string {
			return fmt.Sprintf(`uid: "%s", speed: INSTANT, paymentDate: "2026-11-20", notes: "Rent",
			remittance: "March", detailsOfCharges: "SHA",
			reason: "Corrected", receiver: {accountNumber: "440055551", name: "Ada Byron", bankId: "611090001",
			address: {line1: "1 Lake Rd", city: "Erie", countryCode: "US"}}`, overNetwork(c, unfit))
		},
		`payment { uid status rail speed notes receiverName receiverNumber { masked } paymentDate
		details { bankId bankName remittance
		detailsOfCharges } timeline { number status reason } version } approval { uid }`,
	}
	mutations["cancelPayment"] = tried{access.CancelPayments, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s", reason: "Paid twice"`, paymentOf(activeOf(c), 0))
	}, `payment { uid status reason timeline { number status reason } version } approval { uid }`}
	mutations["returnPayment"] = tried{access.ReturnPayments, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s", code: "CUST", notes: "Not ours"`, overNetwork(c, cameIn))
	}, `payment { uid status returnStatus returned } approval { uid }`}
	mutations["reversePayment"] = tried{access.ReversePayments, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s", code: "DUPL", notes: "Paid twice"`, overNetwork(c, wentOut))
	}, `payment { uid status returnStatus } approval { uid }`}
	mutations["releaseScreenedPayment"] = tried{
		access.ScreenPayments, func(c customers.UID) string {
			return fmt.Sprintf(`uid: "%s", reason: "Another person"`, overNetwork(c, onList))
		},
		`payment { uid status reason screening { name matches { list name program reference } status
		decidedBy reason } timeline { number status reason } version } approval { uid }`,
	}
	mutations["rejectScreenedPayment"] = tried{
		access.ScreenPayments, func(c customers.UID) string {
			return fmt.Sprintf(`uid: "%s", reason: "The same person"`, overNetwork(c, onListToo))
		},
		`payment { uid status reason screening { status reason } timeline { number status reason }
			version } approval { uid }`,
	}
	for _, name := range []string{
		"transferFunds", "sendPayment", "requestDebit",
		"repairPayment", "cancelPayment", "releaseScreenedPayment",
		"rejectScreenedPayment",
	} {
		staffOnly[name] = true // as changeLimits
	}
}

// The places of the numbers of payments that came in and went out over a network: they are made when they are
// needed.
const (
	cameIn  = "%CAME-IN"
	wentOut = "%WENT-OUT"
	debited = "%DEBITED" // a debit that waits for people
	unfit   = "%UNFIT"   // a payment that waits for repair
	// payments that compliance looks at
	onList    = "%LISTED"
	onListToo = "%TOO-LISTED"
)

// overNetwork is the place of such a payment of the star's customer, and any payment of others.
func overNetwork(c customers.UID, place string) string {
	if c == star {
		return place
	}
	return paymentOf(c, 0).String()
}

// networked are the payments over a network of a bank.
type networked struct {
	once     sync.Once
	names    *strings.Replacer
	recorded int // entries that making them has left in the record
}

// named puts the numbers of payments over a network into their places.
func (n *networked) named(t testing.TB, b *bank, document string) string {
	t.Helper()
	if !slices.ContainsFunc([]string{cameIn, wentOut, debited, unfit, placed, onList, onListToo},
		func(place string) bool {
			return strings.Contains(document, place)
		}) {
		return document
	}
	n.once.Do(func() {
		staff, account := access.With(t.Context(), *b.staff()), accountOf(activeOf(star), 0)
		_, failed := b.core.Sandbox.PlayCredit(staff, sandbox.Credit{
			Account: account,
			Amount:  "25", Rail: "FEDNOW",
		},
			changes.RequestOptions{})
		_, bad := b.core.Sandbox.PlayDebit(staff, sandbox.Debit{
			Account: account, Amount: "25",
			CompanyBank: listedBank.number,
		},
			changes.RequestOptions{})
		out, err := b.core.Payments.Send(staff, payments.Order{
			Sender: payments.Party{UID: account}, Amount: "12.50", Currency: "USD", Speed: "Instant",
			ExternalReferenceID: "INV-1", Receiver: payments.Receiver{
				Number: "440055551", Name: "Ada Byron", Bank: payments.ReceiverBank{ID: listedBank.number},
			},
		}, changes.RequestOptions{})
		wrong, worse := b.core.Payments.Send(staff, payments.Order{
			Sender: payments.Party{UID: account}, Amount: "12.50", Currency: "USD", Speed: "Instant",
			ExternalReferenceID: "INV-2", Repairable: true,
		}, changes.RequestOptions{})
		if err := errors.Join(failed, bad, err, worse); err != nil {
			t.Fatal(err)
		}
		screened := b.screened(t, account)
		operator := access.Operator(t.Context(), b.tenant, "", time.UTC)
		for range 3 {
			for _, work := range []func(context.Context) (int, error){
				b.core.Payments.SendQueued, b.core.Payments.HandOver, b.core.Payments.Receive,
			} {
				if _, err := work(operator); err != nil {
					t.Fatal(err)
				}
			}
		}
		var in, debit payments.UID
		if err := b.core.DB.NewRaw(`SELECT max(uid) FILTER (WHERE entry_type = 'CREDIT'),
			max(uid) FILTER (WHERE state = 'HOLD')
			FROM payments WHERE tenant = ? AND direction = 'IN'`, b.tenant).Scan(t.Context(), &in,
			&debit); err != nil {
			t.Fatal(err)
		}
		hold, err := b.core.Holds.Place(staff, holds.Draft{Account: account, Amount: "1"},
			changes.RequestOptions{Reason: "x"})
		if err != nil {
			t.Fatal(err)
		}
		n.names = strings.NewReplacer(cameIn, in.String(), wentOut, out.Result.UID.String(),
			debited, debit.String(), unfit, wrong.Result.UID.String(), placed, hold.Result.UID.String(),
			onList, screened[0].String(), onListToo, screened[1].String())
		n.recorded = b.recorded(t, "done")
	})
	return n.names.Replace(document)
}

// screened makes two payments from an account to a name on a list, which another program than staff asks for.
func (b *bank) screened(t testing.TB, from accounts.UID) (all [2]payments.UID) {
	t.Helper()
	_, err := b.core.Screening.Import(access.Operator(t.Context(), b.tenant, "", time.UTC), screening.Import{
		List: "sanctions", Format: screening.CSV,
		From: strings.NewReader("name,program,reference\nViktor Drazenko,TEST,7\n"),
	})
	maker := *b.staff()
	maker.Client = "maker"
	for i := range all {
		out, failed := b.core.Payments.Send(access.With(t.Context(), maker), payments.Order{
			Sender: payments.Party{UID: from}, Amount: "12.50", Currency: "USD", Speed: "Instant",
			ExternalReferenceID: "INV-3",
			Receiver: payments.Receiver{
				Number: "440055552", Name: "Drazenko, Viktor", Bank: payments.ReceiverBank{ID: listedBank.number},
			},
		}, changes.RequestOptions{})
		all[i], err = out.Result.UID, errors.Join(err, failed)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func paymentOf(c customers.UID, n int) payments.UID {
	return payments.UID(int(c-theBank)*100 + n + 500_000_000)
}

// paymentRows are payments that wait for their day, from the first account of each customer to its others.
// They have what only payments over networks have, too, so that every field has a value.
func paymentRows(b *bank, of []customers.UID) any {
	var all []payments.Payment
	for _, c := range of {
		for n := range 2 * each {
			p := payments.Payment{UID: paymentOf(c, n), Customer: c}
			b.fill(&p, int64(p.UID))
			p.Tenant, p.State, p.Rail, p.Speed, p.Version = b.tenant, payments.Scheduled, rails.Book,
				payments.Instant, 2
			p.Direction, p.EntryType, p.ReturnedMinor = payments.Out, rails.Credit, p.Minor
			p.SenderAccount, p.ReceiverAccount, p.ReceiverCustomer = accountOf(c, 0), accountOf(c, 1+n%2), c
			p.Date, p.Recurrence, p.Virtual = now.AddDate(0, 0, 7+n), recurrenceOf(c, 1), 0
			p.Exchange = payments.Exchange{} // the trade comes with the trades
			all = append(all, p)
		}
	}
	return &all
}

// payers is a bank with two partners, an account of a customer of each, and what it answers.
type payers struct {
	*coretest.Bank
	from, to    *accounts.Account
	payer, paid *customers.Customer // the partners
}

func newPayers(t *testing.T) *payers {
	t.Helper()
	b := coretest.New(t)
	p := &payers{Bank: b, payer: b.DownstreamPartner(), paid: b.DownstreamPartner()}
	p.from = b.Account(b.Customer(coretest.OwnedBy(p.payer)), coretest.Holding(100_00, 0))
	p.to = b.Account(b.Customer(coretest.OwnedBy(p.paid)))
	return p
}

// asks asks a document and returns the answer's data, and its errors as "kind code field".
func (p *payers) asks(t *testing.T, ctx context.Context, document string) (data string, errors []string) {
	t.Helper()
	got := ask(ctx, graph.New(p.Core, graph.Options{}), document)
	for _, raw := range got.Errors {
		var e shown
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		errors = append(errors, strings.TrimSpace(e.Extensions.Kind+" "+e.Extensions.Code+" "+e.Extensions.Field))
	}
	return string(got.Data), errors
}

// pays makes a payment and returns its number. more is further input.
func (p *payers) pays(t *testing.T, amount, more string) string {
	t.Helper()
	data, errors := p.asks(t, p.Staff(),
		fmt.Sprintf(`mutation { transferFunds(input: {senderAccount: {uid: "%s"},
		receiverAccount: {uid: "%s"}, amount: %q, idempotencyKey: %q, %s}) { payment { uid } } }`,
			p.from.UID, p.to.UID, amount, "pays "+amount, more))
	var made struct {
		TransferFunds struct{ Payment struct{ UID string } }
	}
	if err := json.Unmarshal([]byte(data), &made); err != nil || errors != nil {
		t.Fatal(data, errors, err)
	}
	return made.TransferFunds.Payment.UID
}

// Each side sees the payment; the other side's account and customer are null, without an error, and for who
// is paid what is the payer's alone, too.
func TestEachSideOfAPaymentSeesItsOwnAccountAlone(t *testing.T) {
	t.Parallel()
	p := newPayers(t)
	made := p.Payment(p.from, p.to, func(pay *payments.Payment) {
		pay.Minor, pay.FeeMinor, pay.Reason = 12_50, 25, "late"
	})
	document := fmt.Sprintf(`{ payment(uid: "%s") { status amount notes senderNumber { masked }
		receiverNumber { masked }
		senderAccount { uid } receiverAccount { uid } customer { uid } fee channel
		reason timeline { number status client } } }`,
		made.UID)
	number := func(a *accounts.Account) string {
		text := coretest.AccountNumber(a.UID)
		return "****" + text[len(text)-4:]
	}
	for name, who := range map[string]struct {
		ctx              context.Context
		from, to, client string
		sees             bool
	}{
		"who pays":    {p.Partner(p.payer), fmt.Sprintf(`{"uid":"%s"}`, p.from.UID), "null", `"partner"`, true},
		"who is paid": {p.Partner(p.paid), "null", fmt.Sprintf(`{"uid":"%s"}`, p.to.UID), "null", true},
		"a third":     {p.Partner(p.DownstreamPartner()), "", "", "", false},
	} {
		customer, own := "null", `"fee":null,"channel":null,"reason":null`
		if who.from != "null" {
			own = `"fee":"0.25","channel":"API","reason":"late"`
			customer = fmt.Sprintf(`{"uid":"%s"}`, p.from.Customer)
		}
		want := fmt.Sprintf(`{"payment":{"status":"PROCESSED","amount":"12.50","notes":"Rent",`+
			`"senderNumber":{"masked":%q},`+
			`"receiverNumber":{"masked":%q},"senderAccount":%s,"receiverAccount":%s,"customer":%s,%s,`+
			`"timeline":[{"number":1,"status":"PROCESSED","client":%s}]}}`,
			number(p.from), number(p.to), who.from, who.to, customer, own, who.client)
		if !who.sees {
			want = `{"payment":null}`
		}
		if data, errors := p.asks(t, who.ctx, document); data != want || errors != nil {
			t.Errorf("%s: %s %v\nwant %s", name, data, errors, want)
		}
	}
}

func TestARefusedPaymentHasItsPublishedCode(t *testing.T) {
	t.Parallel()
	p := newPayers(t)
	suspended := p.Account(p.Customer(func(c *customers.Customer) { c.Status = customers.Suspended }))
	transfer := func(sender, receiver, amount, key string) string {
		return fmt.Sprintf(`mutation { transferFunds(input: {senderAccount: {%s}, receiverAccount: {%s}, amount: %q,
			idempotencyKey: %q}) { payment { uid } } }`, sender, receiver, amount, key)
	}
	from, to := fmt.Sprintf(`uid: "%s"`, p.from.UID), fmt.Sprintf(`uid: "%s"`, p.to.UID)
	cancel := func(uid string) string {
		return fmt.Sprintf(`mutation { cancelPayment(input: {uid: %q}) { payment { uid } } }`, uid)
	}
	for document, want := range map[string]string{
		transfer(from, to, "100.01", "1"):            "STATE BOOKTRF001",
		transfer(from, `uid: "4711"`, "1", "2"):      "NOT_FOUND BOOKTRF001 receiverAccount.uid",
		transfer(`number: "47114711"`, to, "1", "3"): "NOT_FOUND BOOKTRF001 senderAccount.number",
		transfer(from, fmt.Sprintf(`uid: "%s"`, suspended.UID), "1",
			"4"): "STATE BOOKTRF001 receiverAccount",
		transfer(from, to, "1.001", "5"): "INVALID VALIDATION_ERROR amount",
		transfer(from, to, "0", "6"):     "INVALID VALIDATION_ERROR amount",
		transfer(from, to, "1", ""):      "INVALID VALIDATION_ERROR idempotencyKey",
		transfer(from, from, "1", "7"):   "INVALID VALIDATION_ERROR receiverAccount",
		cancel(p.pays(t, "1", "")):       "STATE PAYMENT001", cancel("4711"): "NOT_FOUND API900",
		`{ payments(filter: {amountAtLeast: "1"}) {
			nodes { uid } } }`: "INVALID VALIDATION_ERROR filter.currency",
		`{ payments(filter: {amount: "1.001", currency: "USD"}) {
			nodes { uid } } }`: "INVALID VALIDATION_ERROR filter.amount",
		`{ payment(uid: "x") { uid } }`: "INVALID VALIDATION_ERROR uid",
	} {
		if data, errors := p.asks(t, p.Staff(), document); len(errors) != 1 || errors[0] != want {
			t.Errorf("%s\n%s %v, want %s", document, data, errors, want)
		}
	}
	// What a variable holds is not looked at before the mutation runs.
	body := fmt.Sprintf(
		`{"query": "mutation($in: TransferFundsInput!) { transferFunds(input: $in) { replayed } }",
		"variables": {"in": {"senderAccount": {"uid": "%s", "number": "1234"}, "receiverAccount": {%s},
		"amount": "1", "idempotencyKey": "8"}}}`,
		p.from.UID, `"uid": "1"`)
	if got := post(p.Staff(), graph.New(p.Core, graph.Options{}),
		body); !strings.Contains(fmt.Sprintf("%s", got.Errors),
		"senderAccount: exactly one of the fields must be given") {
		t.Errorf("%s", got.Errors)
	}
}

func TestPaymentsAreFoundByEachFieldOfTheFilter(t *testing.T) {
	t.Parallel()
	p := newPayers(t)
	day := p.Now().In(coretest.Zone()).AddDate(0, 0, 3).Format("2006-01-02")
	uids := map[string]string{
		p.pays(t, "1", `externalReferenceId: "A-1"`): "a", p.pays(t, "2", `notes: "Two of them"`): "b",
		p.pays(t, "3", `paymentDate: "`+day+`"`): "c",
	}
	for filter, want := range map[string]string{
		"":                                           "cba",
		`status: [FUTURE_DATED]`:                     "c",
		`status: [FUTURE_DATED, PROCESSED]`:          "cba",
		`status: []`:                                 "",
		`externalReferenceId: "A-1"`:                 "a",
		`notes: "two"`:                               "b",
		`currency: USD`:                              "cba",
		`currency: "USD", amount: "2.00"`:            "b",
		`currency: "USD", amountAtLeast: "2"`:        "cb",
		`currency: "USD", amountAtMost: "2"`:         "ba",
		`currency: "EUR", amount: "2"`:               "",
		`paymentDateFrom: "` + day + `"`:             "c",
		`paymentDateTo: "` + day + `"`:               "cba",
		`account: "` + p.to.UID.String() + `"`:       "cba",
		`customer: "` + p.to.Customer.String() + `"`: "",
	} {
		filter = strings.ReplaceAll(filter, ": USD", `: "USD"`)
		data, errors := p.asks(t, p.Staff(), `{ payments(filter: {`+filter+`}) { totalCount nodes { uid } }
			account(by: {uid: "`+p.from.UID.String()+`"}) { payments(filter: {`+filter+
			`}) { totalCount nodes { uid } } } }`)
		type list struct {
			TotalCount int
			Nodes      []struct{ UID string }
		}
		var found struct {
			Payments list
			Account  struct{ Payments list }
		}
		if err := json.Unmarshal([]byte(data), &found); err != nil || errors != nil {
			t.Fatal(filter, data, errors, err)
		}
		for _, l := range []list{found.Payments, found.Account.Payments} {
			got := ""
			for _, node := range l.Nodes {
				got += uids[node.UID]
			}
			if got != want || l.TotalCount != len(want) {
				t.Errorf("%s: %q and %d in all, want %q", filter, got, l.TotalCount, want)
			}
		}
	}
}
