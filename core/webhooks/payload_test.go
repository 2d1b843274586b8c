package webhooks_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fx"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/sandbox"
)

var update = flag.Bool("update", false, "write the golden files anew")

// changing is what differs from run to run.
var changing = regexp.MustCompile(`"(networkRefId|messageId|iMad)": "[^"]+"`)

// golden compares what was posted with a file of testdata.
func (h *house) golden(name string, got posted, uid payments.UID) {
	h.Helper()
	var text bytes.Buffer
	h.must(json.Indent(&text, []byte(got.body), "", "  "))
	said := bytes.ReplaceAll(text.Bytes(), []byte(uid.String()), []byte("4711"))
	said = append(changing.ReplaceAll(said, []byte(`"$1": "…"`)), '\n')
	said = bytes.ReplaceAll(said, []byte(h.Code), []byte("BANK"))
	file := filepath.Join("testdata", name+".json")
	if *update {
		h.must(os.WriteFile(file, said, 0o600))
	}
	want, err := os.ReadFile(file)
	h.must(err)
	if !bytes.Equal(said, want) {
		h.Errorf("%s says\n%s\nwant\n%s", name, said, want)
	}
}

// Each network, and each class of states, as who pays reads it; of a transfer, as both sides do.
func TestBodiesAreThePublishedOnes(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		pay func(h *house) payments.UID
		as  func(h *house) *customers.Customer
	}{
		"book_out": {func(h *house) payments.UID { return h.transfer("30.25", 0) }, payer},
		"book_in": {
			func(h *house) payments.UID { return h.transfer("30.25", 0) },
			func(h *house) *customers.Customer {
				return h.payee
			},
		},
		"book_scheduled": {func(h *house) payments.UID { return h.transfer("30.25", 3) }, payer},
		"book_cancelled": {func(h *house) payments.UID {
			uid := h.transfer("30.25", 3)
			_, err := h.Payments.Cancel(h.Staff(), uid, changes.RequestOptions{Reason: "no longer needed"})
			h.must(err)
			return uid
		}, payer},
		"book_invalid": {func(h *house) payments.UID {
			uid := h.transfer("30.25", 3)
			h.Exec(`UPDATE accounts SET status = 'Suspended' WHERE tenant = ? AND customer = ?`, h.Tenant, h.payee.UID)
			h.Clock.Advance(4 * 24 * time.Hour)
			_, err := h.Payments.CarryOutDue(h.operator)
			h.must(err)
			return uid
		}, payer},
		"fednow_queued":   {over(payments.Instant, "30.25", 0), payer},
		"fednow_settled":  {over(payments.Instant, "30.25", 1), payer},
		"fednow_rejected": {over(payments.Instant, "30.01", 1), payer},
		"fednow_returned": {over(payments.Instant, "30.11", 2), payer},
		"fednow_in":       {func(h *house) payments.UID { return h.credited("30.25") }, payer},
		"fednow_return_refused": {func(h *house) payments.UID { // by the network: it is PROCESSED again
			uid := h.credited("30.34")
			_, err := h.Payments.Return(h.Staff(), uid, payments.Return{Code: "CUST"}, changes.RequestOptions{})
			h.must(err)
			h.exchange()
			h.exchange()
			return uid
		}, payer},
		"fednow_cost_center": {func(h *house) payments.UID { // of the payment, not of the customer
			uid := h.send("30.25", payments.Instant)
			h.Exec(`UPDATE payment_details SET cost_center = 'CC9' WHERE tenant = ?`, h.Tenant)
			return uid
		}, payer},
		"ach_queued":   {over("Economy", "30.25", 0), payer},
		"ach_same_day": {over("Economy Plus", "30.25", 0), payer},
		"ach_returned": {func(h *house) payments.UID {
			uid := h.send("30.13", payments.Economy)
			for _, day := range []int{18, 19, 20} {
				h.Clock.Advance(time.Date(2026, 11, day, 20, 0, 0, 0, time.UTC).Sub(h.Clock.Now()))
				h.exchange()
			}
			return uid
		}, payer},
		"ach_notice": {func(h *house) payments.UID { // a banking day after it settled
			uid := h.send("30.25", payments.Economy)
			for _, day := range []int{18, 19, 20} {
				h.Clock.Advance(time.Date(2026, 11, day, 20, 0, 0, 0, time.UTC).Sub(h.Clock.Now()))
				h.exchange()
			}
			return uid
		}, payer},
		"fedwire_settled": {over(payments.Express, "30.25", 1), payer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t)
			h.hook(one.as(h))
			uid := one.pay(h)
			got := h.post()
			if len(got) == 0 {
				t.Fatal("nothing is told")
			}
			h.golden(name, got[len(got)-1], uid)
		})
	}
}

func payer(h *house) *customers.Customer { return h.payer }

// over pays another bank, and lets the networks do their part some times, a minute apart.
func over(speed payments.Speed, amount string, times int) func(*house) payments.UID {
	return func(h *house) payments.UID {
		uid := h.send(amount, speed)
		for range times {
			h.exchange()
			h.Clock.Advance(time.Minute)
		}
		return uid
	}
}

// A debit that a rule allows names the rule whole: whose account, which payee, and whether it still is in
// force; and of its entry the transaction code.
func TestABodyOfACHNamesTheRuleAndTheEntry(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.Directory()
	h.hook(h.payer)
	account := h.Account(h.payer, coretest.Sends, coretest.Holding(100_00, 0),
		func(a *accounts.Account) { a.EnablePositivePay = true })
	rule := h.PositivePayRule(account,
		func(r *positivepay.Rule) { r.BeneficiaryName, r.BeneficiaryBankID = "", "" })
	_, err := h.Sandbox.PlayDebit(h.Staff(), sandbox.Debit{
		Account: account.UID, Amount: "9", CompanyID: rule.ACHCompanyID,
	}, changes.RequestOptions{})
	h.must(err)
	h.exchange()
	posts := func() (text string) {
		got := h.post()
		if len(got) == 0 {
			t.Fatal("nothing is told")
		}
		return got[len(got)-1].body
	}
	said := posts()
	for _, part := range []string{
		`"achTransactionCode":"27"`, `"customerName":"`, `"customerAccountNumber":"****`, `"status":"Active"`,
		`"beneAccountNumber":"****`,
	} {
		if !strings.Contains(said, part) {
			t.Errorf("no %s in %s", part, said)
		}
	}
}

// Each field of a body is one of the published ones.
func TestNoBodySaysWhatIsNotPublished(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/published.txt")
	if err != nil {
		t.Fatal(err)
	}
	published := map[string]bool{}
	for _, name := range bytes.Fields(text) {
		published[string(name)] = true
	}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var look func(file, within string, value any)
	look = func(file, within string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, of := range value {
				if !published[within+name] {
					t.Errorf("%s: %s is not published", file, within+name)
				}
				look(file, within+name+".", of)
			}
		case []any:
			for _, of := range value {
				look(file, within[:len(within)-1]+"[].", of)
			}
		}
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(body, &value); err != nil {
			t.Fatal(err)
		}
		look(file, "", value)
	}
}

// A payment of a series says so to who pays, and to nobody else.
func TestABodyNamesTheSeriesToWhoPays(t *testing.T) {
	t.Parallel()
	for _, paid := range []bool{false, true} {
		h := build(t)
		reader := h.payer
		if paid {
			reader = h.payee
		}
		h.hook(reader)
		number := int32(3)
		done, err := h.Payments.Transfer(h.Staff(), payments.Draft{
			Sender:   payments.Party{UID: h.Account(h.payer, coretest.Holding(1000_00, 0)).UID},
			Receiver: payments.Party{UID: h.Account(h.payee).UID}, Amount: "5",
			Repeat: &payments.Repetition{Frequency: "Monthly", Until: "NumberOfPayments", Number: &number},
		}, changes.RequestOptions{})
		h.must(err)
		got := h.post()
		if len(got) == 0 {
			t.Fatal("nothing is told")
		}
		want := fmt.Sprintf(`"recurrence":{"recurrenceId":%s,"frequency":"Monthly","payUntil":"NumberOfPayments",`+
			`"numberOfPayments":3,"lastPaymentRefId":%s,"nextPaymentDate":"2026-12-18"}`,
			done.Result.Recurrence, done.Result.UID)
		body := got[len(got)-1].body
		if strings.Contains(body, want) == paid || paid && strings.Contains(body, "recurrence") {
			t.Errorf("paid %v: %s", paid, body)
		}
	}
}

// A payment that names a virtual account, and an international one, say so to whose payment it is.
func TestABodyNamesTheVirtualAccountTheTradeAndTheBanksOfAWire(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.Directory()
	h.hook(h.payer)
	on := h.Account(h.payer, coretest.Sends)
	_, err := h.Sandbox.PlayCredit(h.Staff(), sandbox.Credit{
		Account: on.UID, Amount: "9", Rail: string(rails.FedNow),
		Virtual: coretest.VirtualNumber(h.VirtualAccount(on).UID),
	}, changes.RequestOptions{})
	h.must(err)
	h.exchange()
	got := h.post()
	if want := `"ultimateReceiverName":"Tenant 1","ultimateReceiverAccountNumber":"****0001"`; len(got) == 0 ||
		!strings.Contains(got[len(got)-1].body, want) {
		t.Errorf("%v, want %s", got, want)
	}
	abroad := h.send("30.25", payments.Instant)
	h.Exec(`UPDATE payment_details SET intermediary_id = 'GOBEUS33', intermediary_name = 'Between',
		correspondent_id = '026099503', correspondent_name = 'Gateway' WHERE tenant = ? AND payment = ?`,
		h.Tenant, abroad)
	quote, err := h.FX.Quote(h.Staff(), fx.Draft{
		IDType: "CustomerUID", UID: h.payer.UID, Sell: "USD", Buy: "EUR", Funding: "1000", Product: "SPOT",
		Tenor: "SPOT",
	}, changes.RequestOptions{})
	h.must(err)
	trade, err := h.FX.Accept(h.Staff(), quote.Result.UID, fx.Acceptance{}, changes.RequestOptions{})
	h.must(err)
	h.Exec(`UPDATE payments SET trade = ?, sold = amount, sold_currency = 'USD' WHERE tenant = ? AND uid = ?`,
		trade.Result.UID, h.Tenant, abroad)
	got = h.post()
	want := `"intermediarySenderBankIdType":"NID","intermediarySenderBankId":"026099503",` +
		`"intermediarySenderBankName":"Gateway","intermediaryReceiverBankIdType":"SWIFT",` +
		`"intermediaryReceiverBankId":"GOBEUS33","intermediaryReceiverBankName":"Between",` +
		`"forexContract":"` + trade.Result.UID.String() + `"`
	if len(got) == 0 || !strings.Contains(got[len(got)-1].body, want) {
		t.Errorf("%v, want %s", got, want)
	}
}

// What ACH knows an entry by is its trace number, be it ours or that of another bank.
func TestABodyOfACHNamesTheTraceNumber(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.Directory()
	h.hook(h.payer)
	_, err := h.Sandbox.PlayDebit(h.Staff(), sandbox.Debit{
		Account: h.Account(h.payer, coretest.Sends).UID,
		Amount:  "9",
	}, changes.RequestOptions{})
	h.must(err)
	h.exchange()
	var of struct {
		NetworkRefID string
		ACHDetails   struct{ ACHTraceID string }
	}
	got := h.post()
	if len(got) == 0 {
		t.Fatal("nothing is told")
	}
	h.must(json.Unmarshal([]byte(got[len(got)-1].body), &of))
	if of.NetworkRefID == "" || of.NetworkRefID != of.ACHDetails.ACHTraceID || len(of.NetworkRefID) > 35 {
		t.Errorf("%+v of %s", of, got[len(got)-1].body)
	}
}
