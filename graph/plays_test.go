package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
)

func init() {
	const said = `messageId rail`
	mutations["playIncomingCredit"] = tried{access.InitiatePayments, func(c customers.UID) string {
		return fmt.Sprintf(`account: "%s", amount: "12.50", currency: "USD", rail: RTP, senderName: "Ada Byron",
			senderNumber: "440055551", senderBankId: "611090001",
			externalReferenceId: "INV-7", notes: "Rent"`,
			accountOf(activeOf(c), 0))
	}, said}
	mutations["playIncomingDebit"] = tried{access.InitiatePayments, func(c customers.UID) string {
		return fmt.Sprintf(`account: "%s", amount: "12.50", achCompanyId: "9100011223",
			companyName: "Lakefront Util",
			companyBankId: "611090001", secCode: "PPD", individualId: "METER-7", description: "WATER",
			paymentDate: "2026-11-23", accountNumber: "440055551"`, accountOf(activeOf(c), 0))
	}, said}
	mutations["playIncomingRequest"] = tried{access.InitiatePayments, func(c customers.UID) string {
		return fmt.Sprintf(`account: "%s", amount: "12.50", rail: FEDNOW, creditorName: "Harbor Chandlery",
			creditorNumber: "440055551",
			creditorBankId: "611090001", externalReferenceId: "INV-77", notes: "Ropes",
			requestedExecutionDate: "2026-11-23",
			expiryDate: "2026-11-30", amountModificationAllowed: true, earlyPayment: false`, accountOf(activeOf(c), 0))
	}, said}
	mutations["playAnswer"] = tried{access.InitiatePayments, func(c customers.UID) string {
		return fmt.Sprintf(`payment: "%s", answer: RETURNED, code: "AC06", amount: "1.00"`, overNetwork(c, wentOut))
	}, said}
	mutations["playRecall"] = tried{access.InitiatePayments, func(c customers.UID) string {
		return fmt.Sprintf(`payment: "%s", code: "DUPL", notes: "Paid twice"`, overNetwork(c, cameIn))
	}, said}
}

// A developer lets other banks pay, debit and ask back, and sees in the same place what comes of it.
func TestOtherBanksArePlayed(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	p.from = p.Account(p.Customer(coretest.OwnedBy(p.payer)), coretest.Holding(100_00, 0), coretest.Sends,
		func(a *accounts.Account) { a.EnablePositivePay = true })
	staff := p.Staff()
	for _, play := range []string{
		`playIncomingCredit(input: {account: "%s", amount: "7.25", rail: RTP, notes: "Rent"}) {
			messageId rail replayed }`,
		`playIncomingDebit(input: {account: "%s", amount: "8.50", companyBankId: "` + listedBank.number +
			`", companyName: "Lakefront Util"}) { messageId rail replayed }`,
	} {
		if data, errors := p.asks(t, staff, "mutation { "+fmt.Sprintf(play, p.from.UID)+" }"); errors != nil {
			t.Fatal(data, errors)
		}
	}
	receive := func() {
		if _, err := p.Payments.Receive(access.Operator(t.Context(), p.Tenant, "test",
			coretest.Zone())); err != nil {
			t.Fatal(err)
		}
	}
	receive()
	data, errors := p.asks(t, staff, fmt.Sprintf(
		`{ account(by: {uid: "%s"}) { payments(first: 5) { nodes { uid amount rail
			direction status notes } } } }`, p.from.UID))
	var seen struct {
		Account struct {
			Payments struct {
				Nodes []struct{ UID, Amount, Rail, Direction, Status, Notes string }
			}
		}
	}
	if err := json.Unmarshal([]byte(data), &seen); err != nil || errors != nil ||
		len(seen.Account.Payments.Nodes) != 2 {
		t.Fatal(data, errors, err)
	}
	debit, credit := seen.Account.Payments.Nodes[0], seen.Account.Payments.Nodes[1]
	if debit.Rail == "RTP" {
		debit, credit = credit, debit
	}
	if credit.Amount != "7.25" || credit.Rail != "RTP" || credit.Direction != "IN" ||
		credit.Status != "PROCESSED" ||
		credit.Notes != "Rent" {
		t.Errorf("%+v", credit)
	}
	if debit.Amount != "8.50" || debit.Rail != "ACH" || debit.Direction != "IN" || debit.Status != "HOLD" {
		t.Errorf("%+v", debit)
	}

	for _, uid := range []string{credit.UID, debit.UID} { // nothing that another bank leaves out is an error
		document := filled(fmt.Sprintf(`{ payment(uid: "%s") { %%s } }`, uid),
			joined(everything(schema.Types["Payment"])))
		if data, errors := p.asks(t, staff, document); errors != nil {
			t.Errorf("%s %v", data, errors)
		}
	}
	recall := fmt.Sprintf(`mutation { playRecall(input: {payment: "%s"}) { rail } }`, credit.UID)
	if data, errors := p.asks(t, staff, recall); data != `{"playRecall":{"rail":"RTP"}}` || errors != nil {
		t.Errorf("%s %v", data, errors)
	}
	for document, want := range map[string]string{
		fmt.Sprintf(`mutation { playRecall(input: {payment: "%s"}) { rail } }`, debit.UID): "STATE SANDBOX001",
		fmt.Sprintf(`mutation { playIncomingCredit(input: {account: "%s", amount: "7", rail: SWIFT}) { rail } }`,
			p.from.UID): "INVALID VALIDATION_ERROR rail",
		fmt.Sprintf(
			`mutation { playIncomingDebit(input: {account: "%s", amount: "7",
				companyName: "A name that is too long"}) { rail } }`,
			p.from.UID): "INVALID VALIDATION_ERROR companyName",
		`mutation { playIncomingDebit(input: {account: "7", amount: "7"}) {
			rail } }`: "NOT_FOUND SANDBOX001 account",
		fmt.Sprintf(`mutation { playIncomingRequest(input: {account: "%s", amount: "7", rail: FEDWIRE,
			earlyPayment: true}) { rail } }`,
			p.from.UID): "INVALID VALIDATION_ERROR earlyPayment",
	} {
		if data, errors := p.asks(t, staff, document); len(errors) != 1 || errors[0] != want {
			t.Errorf("%s\n%s %v, want %s", document, data, errors, want)
		}
	}
}

// A notice of change is played, and says what is right: the number whole to whoever may correct the contact.
func TestANoticeOfChangeIsShown(t *testing.T) {
	t.Parallel()
	p, contact := newSender(t)
	data, errors := p.asks(t, p.Staff(), p.sends(`contact: "`+contact+`"`, "10.00", "1",
		`currency: "USD", speed: ECONOMY, secCode: CCD`))
	var made struct {
		SendPayment struct{ Payment struct{ UID string } }
	}
	if err := json.Unmarshal([]byte(data), &made); err != nil || errors != nil {
		t.Fatal(data, errors, err)
	}
	uid := made.SendPayment.Payment.UID
	operator := access.Operator(t.Context(), p.Tenant, "test", coretest.Zone())
	does := func(all ...func(context.Context) (int, error)) {
		t.Helper()
		for _, do := range all {
			if _, err := do(operator); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.Clock.Advance(5 * time.Hour)
	does(p.Payments.SendQueued, p.Payments.SealFiles)
	play := fmt.Sprintf(`mutation { playAnswer(input: {payment: "%s", answer: NOTICE_OF_CHANGE, code: "C07",
		accountNumber: "1918171614", routingNumber: "061000052", accountType: SAVINGS}) { rail } }`, uid)
	if data, errors := p.asks(t, p.Staff(), play); data != `{"playAnswer":{"rail":"ACH"}}` || errors != nil {
		t.Fatal(data, errors)
	}
	does(p.Payments.Receive)
	for number, ctx := range map[string]context.Context{
		"1918171614": p.Staff(), "****1614": p.As(access.ViewPayments, access.ViewContacts),
	} {
		data, errors := p.asks(t, ctx,
			fmt.Sprintf(`{ payment(uid: "%s") { status reason noticesOfChange { code meaning
			accountNumber routingNumber accountType individualName identification } } }`, uid))
		want := `{"payment":{"status":"TRANSMITTED",` +
			`"reason":"C07: the routing number, the account number and the type of the ` +
			`account are incorrect","noticesOfChange":[{"code":"C07","meaning":"the routing number, ` +
			`the account number and the ` +
			`type of the account are incorrect","accountNumber":"` + number +
			`","routingNumber":"061000052",` +
			`"accountType":"SAVINGS","individualName":null,"identification":null}]}}`
		if data != want || errors != nil {
			t.Errorf("%s %v\nwant %s", data, errors, want)
		}
	}
	const waits = `{ attention(filter: {kind: [NOTICE]}) { waiting { kind count } } }`
	data, errors = p.asks(t, p.Staff(), waits)
	if data != `{"attention":{"waiting":[{"kind":"NOTICE","count":1}]}}` || errors != nil {
		t.Error(data, errors)
	}
	apply := fmt.Sprintf(`mutation { applyNoticeOfChange(input: {payment: "%s", code: "C07"}) { contact { uid
		bank { accountNumber { masked } nationalCode accountType accountSubType } }
		approval { uid } replayed } }`, uid)
	for _, want := range []string{
		`{"applyNoticeOfChange":{"contact":{"uid":"` + contact +
			`","bank":{"accountNumber":{"masked":"****1614"},` +
			`"nationalCode":"061000052","accountType":"Deposit","accountSubType":"Savings"}},` +
			`"approval":null,"replayed":false}} []`,
		`{"applyNoticeOfChange":null} [STATE PAYMENT001]`, // a notice is applied once
	} {
		if data, errors := p.asks(t, p.Staff(), apply); fmt.Sprint(data, " ", errors) != want {
			t.Errorf("%s %v, want %s", data, errors, want)
		}
	}
	for document, want := range map[string]string{
		fmt.Sprintf(`{ payment(uid: "%s") { noticesOfChange { state appliedBy } } }`, uid): `{"payment":` +
			`{"noticesOfChange":[{"state":"APPLIED","appliedBy":"staff"}]}}`,
		waits: `{"attention":{"waiting":[]}}`,
	} {
		if data, errors := p.asks(t, p.Staff(), document); data != want || errors != nil {
			t.Errorf("%s %v, want %s", data, errors, want)
		}
	}
}
