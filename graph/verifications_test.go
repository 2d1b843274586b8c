package graph_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/rails"
	"bankgraph/core/verifications"
)

func init() {
	view := []access.Permission{access.ViewContacts}
	declare("ContactVerification", node{
		needs: access.ViewContacts, rows: verificationRows,
		id: func(c customers.UID, n int) string { return "cvf_" + verificationOf(c, 2*each+n).String() },
	})
	needs["Contact.verifications"], required["Contact.verifications"] = view, "(first: 2)"
	needs["Contact.verification"], needs["ContactVerification.contact"] = view, view
	needs["ContactVerification.account"] = []access.Permission{access.ViewAccounts}
	const shown = `contactVerification { id uid method state triesLeft failureCode failureReason noticeCode
		notice startedBy version customer { uid } contact { uid } account { uid } }`
	mutations["startContactVerification"] = tried{access.ManageContacts, func(c customers.UID) string {
		return fmt.Sprintf(`contact: "%s", account: "%s", method: SMALL_DEPOSITS`, contactOf(activeOf(c), 2),
			accountOf(activeOf(c), 0))
	}, shown}
	mutations["confirmContactVerification"] = tried{access.ManageContacts, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s", amounts: ["0.11", "0.12"]`, verificationOf(activeOf(c), 2*each+1))
	}, "matched " + shown}
	mutations["cancelContactVerification"] = tried{access.ManageContacts, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s"`, verificationOf(activeOf(c), 2*each))
	}, shown}
}

func verificationOf(c customers.UID, n int) verifications.UID {
	return verifications.UID(int(c-theBank)*100 + n + 985_000_000)
}

// verificationRows are three verifications of each contact of each customer, of which the newest waits for
// amounts.
func verificationRows(b *bank, of []customers.UID) any {
	var all []verifications.Verification
	for _, c := range of {
		for n := range 3 * each {
			v := verifications.Verification{UID: verificationOf(c, n), Customer: c}
			b.fill(&v, int64(v.UID))
			at := now.Add(time.Duration(n+1) * time.Hour)
			v.Tenant, v.Contact, v.Account, v.Version = b.tenant, contactOf(c, n%each), accountOf(c, n%each), 2
			v.Method, v.State, v.Tries, v.First, v.Second = verifications.SmallDeposits, verifications.Failed, 1,
				paymentOf(c, 4), paymentOf(c, 5)
			v.ExpiresAt, v.DueAt, v.VerifiedAt, v.NoticeCode, v.MakerReach = &at, nil, &at, "C01", access.OfPartner
			v.RightAccount, v.Prenote = rails.Savings, 0
			if n >= 2*each {
				v.State, v.DueAt = verifications.AwaitingAmounts, &at
			}
			all = append(all, v)
		}
	}
	return &all
}

// A portal verifies a contact: it starts, guesses wrong, is told, and is right; the payments alone show the
// amounts.
func TestAContactIsVerifiedOverGraphQL(t *testing.T) {
	t.Parallel()
	p, contact := newSender(t)
	ctx := p.Partner(p.payer)
	asks := func(want, document string, values ...any) {
		t.Helper()
		if data, errors := p.asks(t, ctx, fmt.Sprintf(document, values...)); data != want || errors != nil {
			t.Fatalf("%s %v\nwant %s", data, errors, want)
		}
	}
	data, errors := p.asks(t, ctx,
		fmt.Sprintf(`mutation { startContactVerification(input: {contact: "%s", account: "%s",
		method: SMALL_DEPOSITS}) {
		contactVerification { uid state triesLeft startedBy contact { uid } account { uid } } replayed } }`,
			contact, p.from.UID))
	var started struct {
		StartContactVerification struct{ ContactVerification struct{ UID string } }
	}
	if err := json.Unmarshal([]byte(data), &started); err != nil || errors != nil {
		t.Fatal(data, errors, err)
	}
	uid := started.StartContactVerification.ContactVerification.UID
	if want := fmt.Sprintf(`{"uid":%q,"state":"AWAITING_AMOUNTS","triesLeft":3,"startedBy":"partner",`+
		`"contact":{"uid":%q},"account":{"uid":"%s"}}`,
		uid, contact, p.from.UID); !strings.Contains(data, want) {
		t.Fatalf("%s\nwant %s", data, want)
	}
	for range 6 {
		p.Clock.Advance(12 * time.Hour)
		if _, err := p.Work(access.Operator(t.Context(), p.Tenant, p.Code, coretest.Zone())); err != nil {
			t.Fatal(err)
		}
	}
	var amounts []string
	if err := p.DB.NewRaw(`SELECT (amount / 100.0)::numeric(3, 2)::text FROM payments
		WHERE tenant = ? AND external_reference_id LIKE 'VERIFY-%'
		ORDER BY uid`, p.Tenant).Scan(t.Context(), &amounts); err != nil || len(amounts) != 2 {
		t.Fatal(amounts, err)
	}
	wrong := "0.50"
	if slices.Contains(amounts, wrong) {
		wrong = "0.51"
	}
	const confirm = `mutation { confirmContactVerification(input: {uid: %q, amounts: [%q, %q]}) { matched
		contactVerification { state triesLeft } replayed } }`
	asks(`{"confirmContactVerification":{"matched":false,"contactVerification":{"state":"AWAITING_AMOUNTS",`+
		`"triesLeft":2},"replayed":false}}`,
		confirm, uid, wrong, amounts[0])
	asks(`{"confirmContactVerification":{"matched":true,"contactVerification":{"state":"VERIFIED",`+
		`"triesLeft":2},"replayed":false}}`,
		confirm, uid, amounts[1], amounts[0])
	const shows = `{ node(id: "con_%s") { ... on Contact { verification { state }
		verifications { totalCount nodes { uid state } } } } }`
	asks(
		fmt.Sprintf(`{"node":{"verification":{"state":"VERIFIED"},`+
			`"verifications":{"totalCount":1,"nodes":[{"uid":%q,"state":"VERIFIED"}]}}}`, uid),
		shows, contact)
	asks(`{"changeContact":{"contact":{"verification":{"state":"SUPERSEDED"}}}}`,
		`mutation { changeContact(input: {uid: %q, bank: {accountNumber: "4417000001"}}) {
			contact { verification { state } } } }`, contact)
	if _, errors := p.asks(t, p.Partner(p.paid),
		fmt.Sprintf(`mutation { cancelContactVerification(input: {uid: %q}) { replayed } }`,
			uid)); len(errors) != 1 ||
		!strings.HasPrefix(errors[0], "NOT_FOUND CUST002") {
		t.Errorf("another partner: %q", errors)
	}
}
