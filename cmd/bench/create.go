package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// newcomer is the part of a new customer's data that varies, besides the short name, which is new in each
// request.
func newcomer(r *rand.Rand) string { return fmt.Sprintf("%06d", r.IntN(1_000_000)) }

// born numbers short names and keys. It begins with the time, since the data folder may contain those of
// earlier runs.
var born atomic.Int64

func init() { born.Store(time.Now().UnixMicro()) }

// newcomers is the cost center that distinguishes these customers from those of the demo bank.
const newcomers = "BENCH"

// create asks for a new customer over REST, where limits need a second request (an update, or PATCH
// …/limits).
func (b *bank) create(row string, once bool) []byte {
	number := born.Add(1)
	key := ""
	if once {
		key = fmt.Sprintf("Idempotency-Key: bench-%d\r\n", number)
	}
	return b.post("/v2/customers", newcomerBody(row, number, ""), key)
}

// newcomerBody is the REST body of a new customer, with more appended.
func newcomerBody(row string, number int64, more string) string {
	return fmt.Sprintf(
		`{"legalName":"Newcomer %[1]s LLC","shortName":"new%[2]d","customerType":"Corporate","taxId":"12-3%[1]s",`+
			`"language":"English","emailAddress":"office@new%[1]s.example","phoneNumber":"614 555 0123",`+
			`"legalAddress":{"addressLine1":"1 Lake Rd","addressLine2":"Suite %[1]s","city":"Erie",`+
			`"state":"PA","postalCode":"16501","countryCode":"US"},`+
			`"mailAddressSameAsLegal":true,"costCenter":"%[3]s","relationshipManager":"maria.alvarez",`+
			`"originatingOfficer":"linda.chen"%[4]s}`, row, number, newcomers, more)
}

// limited are the limits of a new customer over GraphQL.
const limited = `[{"code":"ACH_PAYMENT_LIMIT_PER_TRANSACTION","value":"25000.00"},` +
	`{"code":"ACH_PAYMENT_LIMIT_PER_DAY","value":"100000.00"}]`

// createLimited asks for a new customer with limits over GraphQL.
func (b *bank) createLimited(row string) []byte {
	body := fmt.Sprintf(
		`{"query":"mutation($it: CreateCustomerInput!) `+
			`{ createCustomer(input: $it) { customer { uid shortName status } approval { uid } } }",`+
			`"variables":{"it":{"legalName":"Newcomer %[1]s LLC","shortName":"new%[2]d","type":"CORPORATE",`+
			`"taxId":"12-3%[1]s","language":"English",`+
			`"emailAddress":"office@new%[1]s.example","phoneNumber":"614 555 0123",`+
			`"legalAddress":{"line1":"1 Lake Rd","line2":"Suite %[1]s","city":"Erie","state":"PA",`+
			`"postalCode":"16501","countryCode":"US"},`+
			`"mailAddressSameAsLegal":true,"costCenter":"%[3]s","relationshipManager":"maria.alvarez",`+
			`"originatingOfficer":"linda.chen","limits":%[4]s}}}`,
		row, born.Add(1), newcomers, limited)
	return b.post("/graphql", body, "")
}

// createLimitedByHand asks the handwritten server for the same, with REST's names.
func (b *bank) createLimitedByHand(row string) []byte {
	return b.post("/customers-with-limits", newcomerBody(row, born.Add(1), `,"limits":`+limited), "")
}

func (b *bank) post(path, body, headers string) []byte {
	return fmt.Appendf(nil,
		"POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
			"Accept: application/json\r\n%sContent-Length: %d\r\n\r\n%s", path, b.writer, headers, len(body), body)
}

// numbers match numbers that are new in each request; they count as equal.
var numbers = regexp.MustCompile(`[0-9]{6,}|"paymentUID": *"[0-9]+"`)

// blurred replaces them in an answer.
func blurred(answer []byte) []byte { return numbers.ReplaceAll(answer, []byte("N")) }

// written finds what a request wrote: the name of the new thing in its answer, and what was written for it.
type written struct {
	name *regexp.Regexp
	rows string
}

// created is what a new customer leaves behind, without what is different for every customer. The counters
// must be right.
var created = &written{
	name: regexp.MustCompile(`"shortName": *"([a-z0-9]+)"`),
	rows: `
SELECT jsonb_build_object(
  'customer', to_jsonb(c) - '{uid,short_name,tax_id_sealed,created_at,updated_at}'::text[],
  'entries', (SELECT jsonb_agg(to_jsonb(e) - '{id,at,tx,uid,customer,after,request}'::text[] ||
  	jsonb_build_object(
      'after', e.after::jsonb - '{uid,shortName}'::text[], 'its', e.customer = c.uid, 'request',
      length(e.request)))
    FROM audit_entries AS e WHERE e.tenant = c.tenant AND e.object IN ('customer', 'limits')
  AND e.uid = c.uid::text), 'events', (SELECT jsonb_agg(to_jsonb(v) - '{id,at,tx,entry,uid,customer}'::text[]
  	|| jsonb_build_object('its', v.customer = c.uid))
    FROM events AS v WHERE v.tenant = c.tenant AND v.object IN ('customer', 'limits')
  AND v.uid = c.uid::text), 'limits', (SELECT jsonb_agg(to_jsonb(l) - '{customer,updated_at}'::text[]
  	ORDER BY l.code) FROM limits AS l WHERE l.tenant = c.tenant AND l.customer = c.uid),
  'uncounted', (SELECT count(*) FROM customers WHERE tenant = c.tenant) - (SELECT sum(customers)
  	FROM customer_counts WHERE tenant = c.tenant)
)::text FROM customers AS c WHERE c.short_name = $1`,
}

// sameRows compares what two servers wrote for the same row of a workload.
func (w *written) sameRows(ctx context.Context, b *bank, ours, hand []byte) error {
	conn, err := pgx.Connect(ctx, b.owner)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var rows [2][]byte
	for i, answer := range [][]byte{ours, hand} {
		name := w.name.FindSubmatch(answer)
		if name == nil {
			return fmt.Errorf("an answer without a name: %.300s", answer)
		}
		if err := conn.QueryRow(ctx, w.rows, string(name[1])).Scan(&rows[i]); err != nil {
			return err
		}
	}
	if !bytes.Equal(rows[0], rows[1]) {
		return fmt.Errorf("what was written differs:\n%s", difference(rows[0], rows[1]))
	}
	return nil
}
