package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// abroad is a credit in euros to an account in Germany; info is what its additionalInfo says.
func abroad(b *bank, amount, info string) string {
	return fmt.Sprintf(`{"externalReferenceId": "INV-7", "paymentAmount": %s, "paymentCurrency": "EUR",
		"speed": "SPOT",
		"paymentNotes": "Machines", "sender": {"accountUID": "%s"},
		"receiver": {"accountNumber": "DE89370400440532013000",
		"name": "Juergen Mueller", "accountCurrency": "EUR",
		"bank": {"bankIdType": "SWIFT", "swiftCode": "MUSTDEFF"},
		"intermediaryBank": {"bankIdType": "SWIFT", "swiftCode": "GOBEUS33", "name": "Go Between"}},
		"additionalInfo": {%s}}`,
		amount, b.purse.UID, info)
}

// member returns what a member of an answer has, as text.
func member(body, name string) string {
	_, rest, _ := strings.Cut(body, `"`+name+`":`)
	value, _, _ := strings.Cut(rest, ",")
	return strings.Trim(value, `"}`)
}

// trades lets the partner quote and accept as much as brings so many euros.
func (b *bank) trades(amount string) string {
	b.t.Helper()
	quote := b.call(b.program(), http.MethodPost, "/v3/fx/quote",
		fmt.Sprintf(`{"customerIdType": "CustomerUID", "customerUID": "%s",
		"sellCurrency": "USD", "buyCurrency": "EUR", "transferAmount": %s,
		"productType": "SPOT", "tenor": "SPOT"}`, b.partner.UID, amount))
	trade := b.call(b.program(), http.MethodPut, "/v2/fx/accept",
		`{"quoteUUID": "`+member(quote.body, "quoteUUID")+`"}`)
	number := member(trade.body, "forexContractNo")
	if number == "" {
		b.t.Fatalf("%s %s", quote.body, trade.body)
	}
	return number
}

func TestACreditAbroadIsPaidByATrade(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.Directory()
	b.Exec(`UPDATE accounts SET enable_international_wires = true, enable_swift = true
		WHERE tenant = ? AND uid = ?`, b.Tenant, b.purse.UID)
	number := b.trades("100")
	contract := `"fxContractNumber": "` + number + `"`
	for body, codes := range map[string][]string{
		abroad(b, "100.01", contract):                  {"CREDIT_AMOUNT_NOFXMATCH"},
		abroad(b, "100", `"fxContractNumber": "9999"`): {"ADDITIONALINFO_FXCONTRACT_NOTFOUND"},
		abroad(b, "100", ""):                           {"ADDITIONALINFO_FXCONTRACT_REQUIRED"},
		strings.Replace(abroad(b, "100", contract), `"swiftCode": "MUSTDEFF"`, `"name": "M"`,
			1): {"RECEIVERBANK_SWIFT_REQUIRED"},
		strings.Replace(abroad(b, "100", contract), "MUSTDEFF", "MUST",
			1): {"RECEIVERBANK_SWIFT_INVALID"},
		strings.Replace(abroad(b, "100", contract), "MUSTDEFF", "NONEDEFF",
			1): {"RECEIVERBANK_SWIFT_NOTFOUND"},
		strings.Replace(abroad(b, "100", contract), "GOBEUS33", "?",
			1): {"INTERMEDIARYBANK_SWIFT_INVALID"},
		strings.Replace(abroad(b, "100", contract), "Machines", "",
			1): {"CREDIT_NOTES_REQUIRED"},
		strings.Replace(abroad(b, "100", contract), "DE89", "DE88",
			1): {"BENEFICIARY_ACCTNUM_PATTERN"},
	} {
		said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", body)
		if said.status != http.StatusBadRequest || strings.Count(said.body, `"code"`) != len(codes) ||
			!strings.Contains(said.body, `"code":"`+codes[0]+`"`) {
			t.Errorf("%s: %d %s", body, said.status, said.body)
		}
	}
	said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", abroad(b, "100", contract))
	if said.status != http.StatusOK {
		t.Fatal(said.body)
	}
	uid := member(said.body, "paymentUID")
	again := b.call(b.program(), http.MethodPost, "/v4/payments/credit", abroad(b, "100", contract))
	if again.status != http.StatusBadRequest || !strings.Contains(again.body,
		`"ADDITIONALINFO_FXCONTRACT_DUPLICATE"`) {
		t.Errorf("the trade pays twice: %d %s", again.status, again.body)
	}
	b.call(b.program(), http.MethodDelete, "/v2/fx/"+number+"/cancel", "").refused(t, "cancel",
		http.StatusBadRequest, "FX001", "a payment uses the trade")
	got := b.get(b.program(), "/v3/payments/"+uid)
	for _, text := range []string{
		`"deliveryMethod":"SWIFT"`, `"senderCurrency":"USD"`,
		`"receiverCurrency":"EUR"`, `"receiverAmount":100.00`,
		`"forexContract":"` + number + `"`, `"receiverBankIdType":"SWIFT"`, `"receiverBankId":"MUSTDEFF"`,
		`"receiverBankCountry":"Germany"`,
		`"intermediaryReceiver":true`, `"intermediaryReceiverId":"GOBEUS33"`, `"paymentDate":"2026-11-20"`,
	} {
		if !strings.Contains(got.body, text) {
			t.Errorf("%s is missing in %s", text, got.body)
		}
	}
	// euros are dearer than dollars
	if paid := member(got.body, "senderAmount"); !strings.HasPrefix(paid, "11") {
		t.Errorf("senderAmount %s", paid)
	}
	for filter, found := range map[string]bool{
		`{"forexContractNo": "` + number + `"}`: true, `{"forexContractNo": "9999"}`: false,
		`{"deliveryMethod": "swift"}`:      true,
		`{"wireType": "OUTGOING_PAYMENT"}`: true,
		`{"currency": "USD"}`:              true, // the sender's
		`{"currency": "EUR"}`:              false,
	} {
		said := b.call(b.program(), http.MethodPost, "/v3/payments/search",
			`{"page": 1, "limit": 10, `+filter[1:])
		if said.status != http.StatusOK || strings.Contains(said.body, `"paymentUID":`+uid) != found {
			t.Errorf("%s: %d %s", filter, said.status, said.body)
		}
	}
}

// A wire names the banks that it goes over, and its answers show them.
func TestAWireNamesItsBanks(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.Directory()
	b.Exec(`UPDATE accounts SET enable_international_wires = true WHERE tenant = ? AND uid = ?`,
		b.Tenant, b.purse.UID)
	const wire = `{"externalReferenceId": "INV-8", "paymentAmount": 12.50, "paymentCurrency": "USD",
		"speed": "Express",
		"paymentNotes": "Machines", "sender": {"accountUID": "%s"%s},
		"receiver": {"accountNumber": "DE89370400440532013000",
		"name": "Juergen Mueller", "accountCurrency": "USD",
		"address": {"addressLine1": "Mainzer Landstr. 1", "city": "Frankfurt", "countryCode": "DE"},
		"bank": {"bankIdType": "SWIFT", "swiftCode": "MUSTDEFF", "accountType": "Others",
		"accountNumber": "77001122"}, "intermediaryBank": {"bankIdType": %s, "name": "Go Between"}}}`
	send := func(correspondent, between string) said {
		return b.call(b.program(), http.MethodPost, "/v4/payments/credit",
			fmt.Sprintf(wire, b.purse.UID, correspondent, between))
	}
	const overGateway = `, "correspondentBankId": "026099503"`
	for _, c := range []struct{ correspondent, between, code string }{
		{"", `"SWIFT", "swiftCode": "GOBEUS33"`, "SENDER_CORRESPONDENTBANKID_REQUIRED"},
		{
			`, "correspondentBankId": "021000021"`, `"SWIFT", "swiftCode": "GOBEUS33"`,
			"SENDER_CORRESPONDENTBANKID_NOTFOUND",
		},
		{
			`, "correspondentBankId": "02609950"`, `"SWIFT", "swiftCode": "GOBEUS33"`,
			"SENDER_CORRESPONDENTBANKID_EXACT",
		},
		{overGateway, `"NID"`, "INTERMEDIARYBANK_BANKID_REQUIRED"},
		{
			overGateway, `"NID", "bankId": "026099503", "accountType": "IBAN", "accountNumber": "1"`,
			"INTERMEDIARYBANK_ACCOUNTNUMBER_INVALID",
		},
	} {
		if got := send(c.correspondent, c.between); got.status != http.StatusBadRequest ||
			!strings.Contains(got.body, c.code) {
			t.Errorf("%s %s: %d %s", c.correspondent, c.between, got.status, got.body)
		}
	}
	made := send(overGateway, `"NID", "bankId": "611590103"`)
	got := b.call(b.program(), http.MethodGet, "/v3/payments/"+member(made.body, "paymentUID"), "")
	for name, want := range map[string]string{
		"intermediarySender": "true", "intermediarySenderId": "026099503", "intermediarySenderIdType": "NID",
		"intermediarySenderName": "Gateway Bank", "intermediaryReceiver": "true",
		"intermediaryReceiverId": "611590103", "intermediaryReceiverIdType": "NID",
		"intermediaryReceiverName": "Go Between", "receiverBankIdType": "SWIFT", "receiverBankId": "MUSTDEFF",
		"receiverBankCountry": "Germany",
	} {
		if value := member(got.body, name); value != want {
			t.Errorf("%s is %q, want %q: %s", name, value, want, made.body)
		}
	}
	if strings.Contains(got.body, "77001122") {
		t.Error(got.body)
	}
}
