package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/nacha"
	"bankgraph/db"
)

// Sequel is what comes of an entry of ACH beside that it settles.
type Sequel struct {
	Code string // of a return, or C01 for a notice of change
	// how many banking days after the settlement it comes; less than 0 for an hour after the file was taken
	Days  int
	Times int // in how many files; 0 is one
}

// Sequels lists the amounts of credits of which ACH says more than nothing, by their cents (rest/CONTRACT.md,
// sandbox networks).
var Sequels = map[int64]Sequel{
	1:  {Code: "R03", Days: 1},
	2:  {Code: "R02", Days: 1},
	3:  {Code: "R16", Days: 1},
	11: {Code: "R02", Days: 2},
	12: {Code: "R23", Days: 2},
	13: {Code: "R17", Days: -1},
	23: {Code: "R03", Days: 1, Times: 2},
	25: {Code: "C01", Days: 1},
}

// DebitSequels lists the amounts of debits of which ACH says more than nothing, by their cents.
var DebitSequels = map[int64]Sequel{
	1:  {Code: "R01", Days: 1},
	2:  {Code: "R02", Days: 1},
	3:  {Code: "R03", Days: 1},
	11: {Code: "R10", Days: 2},
	12: {Code: "R29", Days: 2},
	13: {Code: "R08", Days: -1},
	23: {Code: "R01", Days: 1, Times: 2},
	25: {Code: "C01", Days: 1},
}

// ReversalSequels lists the amounts of credits whose reversal comes back, by their cents.
var ReversalSequels = map[int64]Sequel{
	31: {Code: "R01", Days: 1},
	32: {Code: "R17", Days: -1},
}

// VerificationSequels lists the account numbers of which ACH says more than nothing when they are verified,
// by a prenote or a small deposit, whose amount nobody chooses (README.md, verifying contacts). All
// other accounts exist.
var VerificationSequels = map[string]Sequel{
	"9990000002": {Code: "R02", Days: 1},
	"9990000003": {Code: "R03", Days: 1},
	"9990000004": {Code: "R04", Days: 1},
	"9990000013": {Code: "R13", Days: -1},
	"9990000016": {Code: "R16", Days: 2},
	"9990000020": {Code: "R20", Days: 1},
	"9990000101": {Code: "C01", Days: 1},
}

// EnrolmentSequels lists the social security numbers whose enrolment for a benefit the agency sends back.
var EnrolmentSequels = map[string]Sequel{
	"900000040": {Code: "R40", Days: 1},
	"900000043": {Code: "R43", Days: 1},
	"900000044": {Code: "R44", Days: 1},
	"900000045": {Code: "R45", Days: 1},
	"900000047": {Code: "R47", Days: -1},
}

// socialSecurityNumber is where an enrolment says it: 22*12200004*3*987654321*777777777*DOE*JOHN*0\.
const socialSecurityNumber = 4

// mostCorrected is the room for what is right in a notice of change.
const mostCorrected = 29

// mostVerifying is the most of a small deposit, in cents.
const mostVerifying = 99

// sequel returns what comes of an entry.
func sequel(b nacha.Batch, e nacha.Entry) (of Sequel, is bool) {
	cents := e.Amount.Minor % 100
	switch {
	case b.Class == rails.ENR:
		if said := strings.Split(e.Remittance, "*"); len(said) > socialSecurityNumber {
			of, is = EnrolmentSequels[said[socialSecurityNumber]]
		}
	case e.Kind == nacha.Prenote,
		b.Description == nacha.AccountVerification && e.Direction == rails.Credit &&
			e.Amount.Minor <= mostVerifying:
		of, is = VerificationSequels[e.Number]
	case b.Description == nacha.Reversal:
		of, is = ReversalSequels[cents]
	case e.Direction == rails.Debit:
		of, is = DebitSequels[cents]
	default:
		of, is = Sequels[cents]
	}
	return of, is
}

// back is an entry that is answered, with the batch that it came in.
type back struct {
	batch nacha.Batch
	entry nacha.Entry
}

// takeFile takes a file of ACH of a bank, and decides what comes back of it and when: a file for each time.
func (s *Service) takeFile(
	ctx context.Context, tenant access.Tenant, now time.Time, id string, body []byte,
) error {
	due := map[time.Time][]back{}
	file, _, err := nacha.Read(bytes.NewReader(body), func(b nacha.Batch, e nacha.Entry) error {
		sequel, is := sequel(b, e)
		if !is || e.Return != nil || e.Change != nil {
			return nil
		}
		for again := range max(1, sequel.Times) {
			at := sequel.at(b, now).Add(time.Duration(again) * time.Minute)
			due[at] = append(due[at], back{b, answered(sequel, b, e)})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the sandbox cannot read file %s: %w", id, err)
	}
	return s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		like := message{Tenant: tenant, Rail: rails.ACH, Asked: id}
		var ids []int64
		if err := tx.NewRaw(`SELECT nextval('sandbox_messages_ids') FROM generate_series(1, ?)`, len(due)+1).
			Scan(ctx, &ids); err != nil {
			return err
		}
		mark := like
		mark.ID, mark.DueAt, mark.TakenAt, mark.Body = ids[0], now, &now, []byte{}
		rows := []*message{&mark}
		for i, at := range slices.SortedFunc(maps.Keys(due), time.Time.Compare) {
			row := like
			row.ID, row.Answer, row.DueAt = ids[i+1], int32(i+1), at
			var text bytes.Buffer
			if err := writeFile(&text, file, due[at], row.ID, at); err != nil {
				return fmt.Errorf("answer file %s: %w", id, err)
			}
			row.Body = s.keys.Encrypt(text.String(), row.place())
			rows = append(rows, &row)
		}
		return db.InsertAtCommit(ctx, rows)
	})
}

// at is when the answer to an entry comes, whose file is taken now.
func (q Sequel) at(b nacha.Batch, now time.Time) time.Time {
	if q.Days < 0 {
		return now.Add(time.Hour).Truncate(time.Minute)
	}
	settles := b.Effective
	if settles.IsZero() { // an enrolment, which is for no day
		settles = calendar.Next(calendar.Today(now), 1)
	}
	return calendar.SettlesAt(calendar.ACH, calendar.Next(settles, q.Days), now)
}

// answered is the entry by which the receiving bank answers another one.
func answered(q Sequel, b nacha.Batch, e nacha.Entry) nacha.Entry {
	original := e.Trace
	e.Trace, e.Remittance, e.Line = "", "", 0
	bank := e.Routing[:8]
	e.Routing = nacha.Routing(b.Bank)
	if q.Code[0] == 'C' {
		e.Amount.Minor, e.International = 0, nil
		right := "1" + e.Number
		e.Change = &nacha.Change{
			Code: q.Code, OriginalTrace: original, OriginalBank: bank, Data: right[:min(len(right), mostCorrected)],
		}
		return e
	}
	e.Return = &nacha.Return{Code: q.Code, OriginalTrace: original, OriginalBank: bank}
	return e
}

// writeFile writes a file of answers, in batches of the banks that answer.
func writeFile(to *bytes.Buffer, of nacha.Header, all []back, number int64, at time.Time) error {
	w, err := nacha.NewWriter(to, nacha.Header{
		Origin: payments.FedACH, OriginName: of.DestinationName, Destination: of.Origin,
		DestinationName: of.OriginName, CreatedAt: at, Reference: fmt.Sprintf("%08d", number%100_000_000),
	})
	if err != nil {
		return err
	}
	var open nacha.Batch
	for _, b := range all {
		batch := b.batch
		var original string // the bank that answers
		if r := b.entry.Return; r != nil {
			original = r.OriginalBank
		} else {
			batch.Class, original = nacha.COR, b.entry.Change.OriginalBank
		}
		batch.Bank, batch.Number, batch.SameDay, batch.Only = nacha.Routing(original), 0, false, b.entry.Direction
		batch.Effective = calendar.Today(at)
		if batch != open {
			if err := w.Batch(batch); err != nil {
				return err
			}
			open = batch
		}
		if _, err := w.Entry(b.entry); err != nil {
			return err
		}
	}
	_, err = w.Close()
	return err
}
