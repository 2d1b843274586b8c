package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/sandbox"
	"bankgraph/core/seal"
)

func init() {
	mutations["requestInformation"] = tried{
		access.InitiatePayments, func(c customers.UID) string {
			return fmt.Sprintf(`uid: "%s",
			missingInformation: [{code: "NARR", additionalInfo: "Which invoice?"}],
			incorrectInformation: [{code: "IN06"}], initiatingPartyName: "Ada Byron"`, overNetwork(c, cameIn))
		},
		`payment { uid version informationRequests { direction initiatingPartyName
		missingInformation { code additionalInfo } incorrectInformation { code } answer } }`,
	}
	mutations["playInformationRequest"] = tried{access.InitiatePayments, func(c customers.UID) string {
		return fmt.Sprintf(`payment: "%s", code: "NARR", additionalInfo: "Whose account is it?",
			initiatingPartyName: "Ada Byron"`,
			overNetwork(c, cameIn))
	}, `messageId rail`}
}

// insertInformation makes an answered request for information, and a notice of change, about each payment of
// some customers.
func (b *bank) insertInformation(t testing.TB, first, last customers.UID) {
	t.Helper()
	b.write(t, func(ctx context.Context, tx bun.Tx) error {
		var about []*struct {
			ID      payments.MessageID `bun:"id"`
			Payment payments.UID       `bun:"payment"`
		}
		err := tx.NewRaw(`SELECT m.id, m.payment FROM network_messages AS m
			JOIN payments AS p ON p.tenant = m.tenant AND p.uid = m.payment
			WHERE m.tenant = ?0 AND p.tenant = ?0 AND m.direction = 'OUT' AND p.customer BETWEEN ?1 AND ?2`,
			b.tenant, first, last).
			Scan(ctx, &about)
		if err != nil || len(about) == 0 {
			return err
		}
		var rows []*payments.InformationRequest
		var notices []*payments.Notice
		for _, m := range about {
			notices = append(notices, &payments.Notice{
				Tenant: b.tenant, ID: m.ID, Payment: m.Payment, Number: 2, Code: "C07", Contact: 1,
				At: time.Date(2026, 11, 3, 3, 4, int(m.Payment%60), 0, time.UTC),
				Data: keyset.Encrypt(fmt.Sprintf("061000052%-17s32", m.Payment), seal.Place{
					Tenant: int64(b.tenant), Column: payments.NoticeColumn, Row: int64(m.ID),
				}),
			})
			words := func(column string, of any) []byte {
				text, err := json.Marshal(of)
				if err != nil {
					t.Fatal(err)
				}
				return keyset.Encrypt(string(text), seal.Place{Tenant: int64(b.tenant), Column: column, Row: int64(m.ID)})
			}
			item := func(what string) []*payments.InformationItem {
				return []*payments.InformationItem{{Code: "NARR", Info: fmt.Sprintf("%s %s %s", b.mark, what, m.Payment)}}
			}
			at := time.Date(2026, 11, 2, 3, 4, int(m.Payment%60), 0, time.UTC)
			rows = append(rows, &payments.InformationRequest{
				Tenant: b.tenant, ID: m.ID, Payment: m.Payment, Rail: rails.RTP, Direction: payments.Out,
				Bank:      fmt.Sprintf("%s bank %s", b.mark, m.Payment),
				MessageID: fmt.Sprintf("%s asks %s", b.mark, m.Payment), Codes: "NARR", At: at, Answer: m.ID,
				AnsweredAt: &at,
				Asked: words(payments.AskedColumn, payments.InformationDraft{
					Missing: item("missing"), Incorrect: item("wrong"), Party: fmt.Sprintf("%s asker %s", b.mark, m.Payment),
				}),
				Answered: words(payments.AnsweredColumn, []string{fmt.Sprintf("%s answer %s", b.mark, m.Payment)}),
			})
		}
		_, err = tx.NewInsert().Model(&rows).Exec(ctx)
		if err == nil {
			_, err = tx.NewInsert().Model(&notices).Exec(ctx)
		}
		return err
	})
}

// Whoever may ask about payments may ask a hundred times about each. A page of payments with all of that is
// priced as what it reads, not as what is usual.
func TestManyRequestsForInformationArePricedAsSuch(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	for fields, refused := range map[string]bool{
		"(first: 100) { nodes { informationRequests { missingInformation { code } incorrectInformation { " +
			"code } answer } } }": false,
		"(first: 20) { nodes { informationRequests(last: 20) { missingInformation { code } } } }":  false,
		"(first: 190) { nodes { informationRequests(last: 10) { missingInformation { code } } } }": true,
		"(first: 190) { nodes { informationRequests(last: 10) { initiatingPartyName answer } } }":  true,
	} {
		_, errors := p.asks(t, p.Staff(), "{ payments"+fields+" }")
		if (len(errors) > 0) != refused || refused && !strings.Contains(errors[0], "PRICE_LIMIT") {
			t.Errorf("%s: %v", fields, errors)
		}
	}
}

// A portal asks about a payment that came in, and shows what the other bank answers and asks.
func TestInformationIsRequestedAnsweredAndShown(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	staff := p.Staff()
	_, err := p.Sandbox.PlayCredit(staff, sandbox.Credit{
		Account: p.from.UID, Amount: "30", Rail: "RTP", SenderBank: listedBank.number,
	}, changes.RequestOptions{})
	work := func() {
		t.Helper()
		operator := access.Operator(t.Context(), p.Tenant, "test", coretest.Zone())
		for _, do := range []func(context.Context) (int, error){p.Payments.HandOver, p.Payments.Receive} {
			if _, failed := do(operator); failed != nil {
				t.Fatal(failed)
			}
		}
	}
	work()
	var uid payments.UID
	if err == nil {
		err = p.DB.NewRaw(`SELECT max(uid) FROM payments WHERE tenant = ?`, p.Tenant).Scan(t.Context(), &uid)
	}
	if err != nil {
		t.Fatal(err)
	}
	ask := func(input string) (string, []string) {
		return p.asks(t, staff,
			fmt.Sprintf(`mutation { requestInformation(input: {uid: "%s", %s}) { payment { uid version } replayed } }`,
				uid, input))
	}
	data, errors := ask(`missingInformation: [{code: "NARR", additionalInfo: "Which invoice?"}],
		initiatingPartyName: "Ada Byron"`)
	if errors != nil || !strings.Contains(data, `"version":1},"replayed":false`) {
		t.Fatal(data, errors)
	}
	if data, errors := p.asks(t, staff,
		fmt.Sprintf(`mutation { playInformationRequest(input: {payment: "%s", code: "IN06"}) { rail } }`,
			uid)); errors != nil {
		t.Fatal(data, errors)
	}
	work()
	p.Clock.Advance(5 * time.Second)
	work()
	data, errors = p.asks(t, staff,
		fmt.Sprintf(`{ payment(uid: "%s") { informationRequests { direction initiatingPartyName
		missingInformation { code additionalInfo } incorrectInformation { code additionalInfo } answer } } }`, uid))
	want := `{"payment":{"informationRequests":[{"direction":"OUT","initiatingPartyName":"Ada Byron",` +
		`"missingInformation":[{"code":"NARR","additionalInfo":"Which invoice?"}],` +
		`"incorrectInformation":[],"answer":["Debtor: Customer of ` +
		listedBank.number +
		`","NARR: supplied by the sandbox"]},{"direction":"IN",` +
		`"initiatingPartyName":"Customer of another bank","missingInformation":[],` +
		`"incorrectInformation":[{"code":"IN06","additionalInfo":null}],"answer":[]}]}}`
	if data != want || errors != nil {
		t.Errorf("%s\nwant %s\n%v", data, want, errors)
	}
	for part, want := range map[string]string{
		`(last: 1) { direction messageId }`: `{"payment":{"informationRequests":[` +
			`{"direction":"IN",`,
		`(last: 1) { codes: incorrectInformation { code } }`: `{"payment":{"informationRequests":[` +
			`{"codes":[{"code":"IN06"}]}]}}`,
		`(last: 0) { direction }`:   "INVALID VALIDATION_ERROR last",
		`(last: 201) { direction }`: "INVALID VALIDATION_ERROR last",
	} {
		data, errors := p.asks(t, staff, fmt.Sprintf(`{ payment(uid: "%s") { informationRequests%s } }`, uid, part))
		if said := data + strings.Join(errors, ""); !strings.Contains(said, want) {
			t.Errorf("%s: %s, want %s", part, said, want)
		}
	}
	for input, want := range map[string]string{
		`initiatingPartyName: "Ada Byron"`: "INVALID VALIDATION_ERROR missingInformation",
		`incorrectInformation: [{code: "IN02"}], initiatingPartyName: "Ada Byron"`: "INVALID " +
			"RFI_INCORRECTINFOCODE_MISMATCH incorrectInformation[0].code",
	} {
		if data, errors := ask(input); len(errors) != 1 || errors[0] != want {
			t.Errorf("%s\n%s %v, want %s", input, data, errors, want)
		}
	}
}
