package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
)

// newSender is a bank with an account of a partner's customer that sends payments of every speed, and the
// number of a contact of that customer.
func newSender(t *testing.T) (p *payers, contact string) {
	t.Helper()
	newBank(t) // the directory is there with the first one
	p = newPayers(t)
	c := p.Customer(coretest.OwnedBy(p.payer))
	p.from = p.Account(c, coretest.Holding(2_000_000_00, 0), coretest.Sends)
	return p, p.Contact(c, func(k *contacts.Contact) { k.Bank.NationalCode = listedBank.number }).UID.String()
}

// sends is a document that sends a payment of the account; to and more are input.
func (p *payers) sends(to, amount, key, more string) string {
	return fmt.Sprintf(`mutation { sendPayment(input: {senderAccount: {uid: "%s"}, receiver: {%s}, amount: %q,
		externalReferenceId: "INV-7", idempotencyKey: %q, %s}) {
		payment { uid status } } }`, p.from.UID, to, amount, key, more)
}

// What a payment that waits for repair lacks takes it from no list.
func TestAPaymentThatLacksAReceiverIsShown(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	all := joined(everything(schema.Types["Payment"]))
	for i, speed := range []string{"INSTANT", "EXPRESS", "ECONOMY", "ECONOMY_PLUS"} {
		for k, receiver := range []string{
			``, `name: "Ada Byron"`, `accountNumber: "4400123401"`,
			`bankId: "611590103"`,
		} {
			data, errors := p.asks(t, p.Partner(p.payer), p.sends(receiver, "10.00", fmt.Sprint("k", i, k),
				`currency: "USD", repairable: true, speed: `+speed))
			if errors != nil || !strings.Contains(data, `"status":"REPAIR"`) {
				t.Errorf("%s, {%s}: %s %v", speed, receiver, data, errors)
			}
		}
	}
	data, errors := p.asks(t, p.Staff(),
		filled(`{ payments(first: 20, filter: {status: [REPAIR]}) { nodes { %s } } }`, all))
	if errors != nil || strings.Count(data, `"status":"REPAIR"`) < 16 ||
		!strings.Contains(data, `"receiverName":""`) {
		t.Errorf("%.2000s %v", data, errors)
	}
}

// Who pays follows a payment over its network to the end; another partner does not know of it.
func TestAPaymentOverANetworkIsFollowed(t *testing.T) {
	t.Parallel()
	p, contact := newSender(t)
	data, errors := p.asks(t, p.Partner(p.payer), p.sends(`contact: "`+contact+`"`, "10.01", "1",
		`currency: "USD", speed: INSTANT, remittance: "Rent of May"`))
	var made struct {
		SendPayment struct{ Payment struct{ UID, Status string } }
	}
	if err := json.Unmarshal([]byte(data), &made); err != nil || errors != nil ||
		made.SendPayment.Payment.Status != "READY_TO_TRANSMIT" {
		t.Fatal(data, errors, err)
	}
	follows := func(status, reason, code, messages, timeline string) {
		t.Helper()
		want := fmt.Sprintf(
			`{"payments":{"nodes":[{"status":%q,"rail":"FEDNOW","speed":"INSTANT","reason":%s,"contact":{"uid":%q},`+
				`"receiverAccount":null,"details":{"bankId":"611090001","remittance":"Rent of May",`+
				`"route":null,"returnCode":%s},`+
				`"messages":[%s],"timeline":[%s]}]}}`, status, reason, contact, code, messages, timeline)
		document := `{ payments(filter: {rail: [FEDNOW], speed: [INSTANT], contact: "` + contact +
			`"}) { nodes { status rail speed
			reason contact { uid } receiverAccount { uid } details { bankId remittance route returnCode }
			messages { direction kind code } timeline { status } } } }`
		if data, errors := p.asks(t, p.Partner(p.payer), document); data != want || errors != nil {
			t.Errorf("%s %v\nwant %s", data, errors, want)
		}
		if data, errors := p.asks(t, p.Partner(p.paid), document); data != `{"payments":{"nodes":[]}}` ||
			errors != nil {
			t.Errorf("another partner: %s %v", data, errors)
		}
	}
	ready := `{"status":"READY_TO_TRANSMIT"}`
	follows("READY_TO_TRANSMIT", "null", "null", "", ready)
	operator := access.Operator(t.Context(), p.Tenant, p.Code, coretest.Zone())
	if _, err := p.Payments.SendQueued(operator); err != nil {
		t.Fatal(err)
	}
	out := `{"direction":"OUT","kind":"pacs.008","code":null}`
	follows("TRANSMITTED", "null", "null", out, ready+`,{"status":"TRANSMITTED"}`)
	if _, err := p.Payments.HandOver(operator); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Payments.Receive(operator); err != nil {
		t.Fatal(err)
	}
	follows("REJECTED", `"AC03: the account is not known"`, `"AC03"`,
		out+`,{"direction":"IN","kind":"pacs.002","code":"RJCT AC03"}`,
		ready+`,{"status":"TRANSMITTED"},{"status":"REJECTED"}`)
}

// Who pays sees what a payment says as an entry of ACH, and the file that it went out in.
func TestAnEntryOfACHIsShown(t *testing.T) {
	t.Parallel()
	p, contact := newSender(t)
	if data, errors := p.asks(t, p.Partner(p.payer), p.sends(`contact: "`+contact+`"`, "10.01", "1",
		`currency: "USD", speed: ECONOMY, secCode: CCD, notes: "Rent of May"`)); errors != nil {
		t.Fatal(data, errors)
	}
	document := `{ payments(filter: {rail: [ACH], speed: [ECONOMY]}) { nodes { status rail speed
		paymentDate settlesAt
		achEntry { secCode companyId description accountType traceNumber }
		messages { direction kind handedAt } } } }`
	follows := func(status, settles, trace, messages string) {
		t.Helper()
		want := fmt.Sprintf(
			`{"payments":{"nodes":[{"status":%q,"rail":"ACH","speed":"ECONOMY","paymentDate":"2026-11-19",`+
				`"settlesAt":%s,"achEntry":{"secCode":"CCD","companyId":"1234567890","description":"Rent of Ma",`+
				`"accountType":"CHECKING","traceNumber":%s},"messages":[%s]}]}}`, status, settles, trace, messages)
		if data, errors := p.asks(t, p.Partner(p.payer), document); data != want || errors != nil {
			t.Errorf("%s %v\nwant %s", data, errors, want)
		}
	}
	follows("READY_TO_TRANSMIT", "null", "null", "")
	p.Clock.Advance(4 * time.Hour)
	operator := access.Operator(t.Context(), p.Tenant, p.Code, coretest.Zone())
	for _, work := range []func(context.Context) (int, error){p.Payments.SendQueued, p.Payments.SealFiles} {
		if n, err := work(operator); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	follows("TRANSMITTED", `"2026-11-19T13:30:00Z"`, `"611090000000001"`,
		`{"direction":"OUT","kind":"nacha","handedAt":null}`)
	refused := p.sends(`contact: "`+contact+`"`, "10.01", "2", `currency: "USD", speed: ECONOMY_PLUS`)
	if _, errors := p.asks(t, p.Partner(p.payer), refused); !strings.Contains(fmt.Sprint(errors), "secCode") {
		t.Error(errors)
	}
}

// What is wrong with a payment is told with its published code, under the names of the schema.
func TestARefusedOrderHasItsPublishedCode(t *testing.T) {
	t.Parallel()
	p, contact := newSender(t)
	named := `contact: "` + contact + `"`
	described := func(fields string) string {
		return `accountNumber: "440055551", name: "Ada", bankId: "611090001"` + fields
	}
	const instant, express = `currency: "USD", speed: INSTANT`, `currency: "USD", speed: EXPRESS`
	off := *p
	off.from = p.Account(&customers.Customer{Tenant: p.Tenant, UID: p.from.Customer},
		coretest.Holding(100_00, 0))
	for document, want := range map[string]string{
		p.sends(named, "2000000.01", "1", instant):                      "STATE PAYMENT001 amount",
		p.sends(named, "1", "2", instant+`, paymentDate: "2020-01-01"`): "INVALID VALIDATION_ERROR paymentDate",
		off.sends(named, "100.01", "3", instant):                        "STATE PAYMENT001 speed",
		p.sends(`contact: "4711"`, "1", "4", instant):                   "NOT_FOUND PAYMENT001 receiver.contact",
		p.sends(named+`, name: "Ada"`, "1", "5", instant):               "INVALID VALIDATION_ERROR receiver",
		p.sends(`accountNumber: "440055551", name: "Ada", bankId: "021000021"`, "1", "6",
			instant): "NOT_FOUND PAYMENT001 receiver.bankId",
		p.sends(`name: "Ada", bankId: "611090001"`, "1", "7",
			instant): "INVALID VALIDATION_ERROR receiver.accountNumber",
		p.sends(described(`, accountSubType: "x"`), "1", "8",
			instant): "INVALID VALIDATION_ERROR receiver.accountSubType",
		p.sends(described(`, emailAddress: "x"`), "1", "9",
			instant): "INVALID VALIDATION_ERROR receiver.emailAddress",
		p.sends(described(`, address: {line1: "1 Lake Rd"}`), "1", "10",
			express): "INVALID VALIDATION_ERROR receiver.address.city",
		p.sends(named, "1", "11", `currency: "EUR", speed: INSTANT`): "INVALID VALIDATION_ERROR currency",
		p.sends(named, "1.001", "12", instant):                       "INVALID VALIDATION_ERROR amount",
		p.sends(named, "1", "", instant):                             "INVALID VALIDATION_ERROR idempotencyKey",
		p.sends(named, "1", "13", instant+`, detailsOfCharges: "x"`): "INVALID VALIDATION_ERROR detailsOfCharges",
		p.sends(named, "1", "14",
			instant+`, referenceForBeneficiary: "12345678901234567"`): "INVALID VALIDATION_ERROR " +
			"referenceForBeneficiary",
		p.sends(named, "1", "15", instant+`, senderToReceiver: "`+strings.Repeat("x",
			106)+`"`): "INVALID VALIDATION_ERROR senderToReceiver",
	} {
		if data, errors := p.asks(t, p.Staff(), document); len(errors) == 0 || errors[0] != want {
			t.Errorf("%s\n%s %v, want %s", document, data, errors, want)
		}
	}
}

// An enrolment is asked for, refused and shown under the names of the schema.
func TestAnEnrolmentIsAskedForAndShown(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	p.Exec(`UPDATE accounts SET sec_codes = '{ENR}' WHERE tenant = ? AND uid = ?`, p.Tenant, p.from.UID)
	enrolment := func(key, name string) string {
		return p.sends(fmt.Sprintf("bankId: %q", listedBank.number), "0", key, `currency: "USD", speed: ECONOMY,
			secCode: ENR, benefit: {federalBenefitType: POST_911_GI_BILL, accountNumber: "4400123401",
			socialSecurityNumber: "219099999", firstName: "`+name+`", lastName: "King", subAccountType: "Savings"}`)
	}
	_, errors := p.asks(t, p.Partner(p.payer), enrolment("1", "Alexandra"))
	if len(errors) != 1 || errors[0] != "INVALID VALIDATION_ERROR benefit.firstName" {
		t.Error(errors)
	}
	if data, errors := p.asks(t, p.Partner(p.payer), enrolment("2", "Ada")); errors != nil {
		t.Fatal(data, errors)
	}
	data, errors := p.asks(t, p.Partner(p.payer),
		`{ payments(filter: {rail: [ACH]}) { nodes { amount achEntry { secCode }
		details { benefit { federalBenefitType accountNumber socialSecurityNumber representativePayee
		firstName } } } } }`)
	want := `{"payments":{"nodes":[{"amount":"0.00","achEntry":{"secCode":"ENR"},"details":{"benefit":` +
		`{"federalBenefitType":"POST_911_GI_BILL","accountNumber":"****3401","socialSecurityNumber":"****9999",` +
		`"representativePayee":false,"firstName":"Ada"}}}]}}`
	if data != want || errors != nil {
		t.Errorf("%s %v, want %s", data, errors, want)
	}
}

// An entry to an account abroad is asked for, refused and shown under the names of the schema.
func TestAnEntryAbroadIsAskedForAndShown(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	p.Exec(`UPDATE accounts SET sec_codes = '{IAT}' WHERE tenant = ? AND uid = ?`, p.Tenant, p.from.UID)
	abroad := func(key, purpose, country string) string {
		return p.sends(fmt.Sprintf(`bankId: %q, accountNumber: "DE89370400440532013000", accountType: "Deposit",
			accountSubType: "Checking", accountCurrency: "EUR", name: "Gerda Muster", bankName: "Commerzbank",
			address: {line1: "Unter den Linden 1", city: "Berlin", countryCode: "DE"}, bankCountry: %q`,
			listedBank.number, country), "1", key, `currency: "USD", speed: ECONOMY, secCode: IAT,
			transactionTypeCode: "`+purpose+`", receiverIdentificationNumber: "COBADEFFXXX"`)
	}
	for want, asked := range map[string]string{
		"INVALID VALIDATION_ERROR transactionTypeCode":  abroad("1", "XYZ", "DE"),
		"INVALID VALIDATION_ERROR receiver.bankCountry": abroad("2", "BUS", ""),
	} {
		if _, errors := p.asks(t, p.Partner(p.payer), asked); len(errors) != 1 || errors[0] != want {
			t.Errorf("%s: %v", want, errors)
		}
	}
	if data, errors := p.asks(t, p.Partner(p.payer), abroad("3", "BUS", "DE")); errors != nil {
		t.Fatal(data, errors)
	}
	data, errors := p.asks(t, p.Partner(p.payer), `{ payments(filter: {rail: [ACH]}) { nodes { amount
		achEntry { secCode transactionTypeCode currency } details { bankId bankName bankCountry } } } }`)
	want := `{"payments":{"nodes":[{"amount":"1.00","achEntry":{"secCode":"IAT","transactionTypeCode":"BUS",` +
		`"currency":"EUR"},"details":{"bankId":"` + listedBank.number +
		`","bankName":"Commerzbank","bankCountry":"DE"}}]}}`
	if data != want || errors != nil {
		t.Errorf("%s %v, want %s", data, errors, want)
	}
	collects := strings.NewReplacer("sendPayment", "requestDebit", "senderAccount", "creditorAccount",
		"receiver:", "debtor:")
	if data, errors := p.asks(t, p.Partner(p.payer), collects.Replace(abroad("4", "BUS", "DE"))); errors != nil {
		t.Error(data, errors)
	}
	if _, errors := p.asks(t, p.Partner(p.payer),
		collects.Replace(abroad("5", "BUS", "US"))); len(errors) == 0 ||
		!strings.HasSuffix(errors[0], " debtor.bankCountry") {
		t.Error(errors)
	}
}

// The banks that a wire goes over are named and shown under the names of the schema, and so are their faults.
func TestAWireGoesOverBanks(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	p.Exec(`UPDATE accounts SET enable_international_wires = true WHERE tenant = ? AND uid = ?`,
		p.Tenant, p.from.UID)
	to := func(bank string) string {
		return `accountNumber: "440055551", name: "Ada", address: {line1: "1 Lake Rd", city: "Erie",
			countryCode: "US"}, ` +
			bank
	}
	const express = `currency: "USD", speed: EXPRESS, correspondentBankId: "%s"`
	over := fmt.Sprintf(express, listedBank.number)
	known := fmt.Sprintf(`bankId: %q`, listedBank.number)
	for document, want := range map[string]string{
		p.sends(to(`bankBic: "NOBODEFF"`), "1", "1",
			fmt.Sprintf(express, "")): "NOT_FOUND PAYMENT001 receiver.bankBic",
		p.sends(to(`bankBic: "NOBODEFF"`), "1", "2",
			fmt.Sprintf(express, "011000138")): "NOT_FOUND PAYMENT001 correspondentBankId",
		p.sends(to(known), "1", "3",
			fmt.Sprintf(express, "1")): "INVALID VALIDATION_ERROR correspondentBankId",
		p.sends(to(known+`, intermediaryBankId: "1"`), "1", "4",
			over): "INVALID VALIDATION_ERROR receiver.intermediaryBankId",
		p.sends(to(known+`, intermediaryAccountNumber: "1"`), "1", "5",
			over): "INVALID VALIDATION_ERROR receiver.intermediaryBankId",
		p.sends(to(known+`, bankAccountNumber: "!"`), "1", "6",
			over): "INVALID VALIDATION_ERROR receiver.bankAccountNumber",
	} {
		if _, errors := p.asks(t, p.Partner(p.payer), document); len(errors) == 0 || errors[0] != want {
			t.Errorf("%s: %v, want %s", document, errors, want)
		}
	}
	if data, errors := p.asks(t, p.Partner(p.payer), p.sends(to(`bankBic: "NOBODEFF", bankAccountNumber: "77-01",
		intermediaryBankId: "011000138", intermediaryAccountNumber: "88-02"`), "1", "7", over)); errors != nil {
		t.Fatal(data, errors)
	}
	data, errors := p.asks(t, p.Partner(p.payer),
		`{ payments(filter: {rail: [FEDWIRE]}) { nodes { details { bankId
		correspondentId intermediaryId intermediaryBic } } } }`)
	want := fmt.Sprintf(`{"payments":{"nodes":[{"details":{"bankId":"NOBODEFF","correspondentId":%q,`+
		`"intermediaryId":"011000138","intermediaryBic":null}}]}}`, listedBank.number)
	if data != want || errors != nil {
		t.Errorf("%s %v, want %s", data, errors, want)
	}
}
