package coretest

import (
	"context"
	"strings"
	"sync"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/banks"
	"bankgraph/core/ledger"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/db"
)

// directory lists the banks that payments reach: all rails, RTP alone, ACH alone; the test bank itself; an
// agency of the government; and one abroad.
const directory = `countryCode,nationalIdType,nationalId,bic,name,ach,fedwireTransfer,rtpServices,` +
	`rtpStatus,fedNowServices,fedNowStatus
US,ABA,611090001,,Test Bank,true,true,CRDT,Active,CRDT,Active
US,ABA,611590103,,Old Mill Bank,true,true,CRDT,Active,CRDT,Active
US,ABA,021000021,,Real Time Bank,true,false,CRDT,Active,,
US,ABA,011000015,,Paper Bank,true,false,,,,
US,ABA,026099503,GATEUS33,Gateway Bank,true,true,,,,
US,ABA,655060042,,Social Security Administration,true,false,,,,
DE,BLZ,50070010,MUSTDEFF,Musterbank,false,false,,,,
`

// directories are filled once in each database, by its address.
var directories sync.Map

// Directory fills the directory of banks of the database, over a connection of its own: a test may break the
// bank's.
func (b *Bank) Directory() {
	b.t.Helper()
	once, _ := directories.LoadOrStore(b.opened.url, new(sync.Once))
	once.(*sync.Once).Do(func() {
		d, err := db.Open(b.opened.url, db.Options{Connections: 1})
		b.must(err)
		defer func() { _ = d.Close() }()
		_, err = banks.New(d, b.Now).Import(access.Operator(context.Background(), 0, "", Zone()), banks.Import{
			Format: banks.CSVFile, Source: "test", File: "test", From: strings.NewReader(directory),
		})
		b.must(err)
	})
}

// Sends lets an account send payments of every speed within the country.
func Sends(a *accounts.Account) {
	a.EnableFedNow, a.FedNowSend, a.EnableRTP, a.RTPSend = true, true, true, true
	a.EnableWires, a.EnableDomesticWires = true, true
	a.EnableACH, a.ACHCompanyID = true, "1234567890"
	a.FedNowRFPSend, a.RTPRFPSend, a.RFPReceive = true, true, true
}

// Payment creates a settled payment between two accounts of the bank's own books, without booking it in them.
// Makers count payments from 1.
func (b *Bank) Payment(from, to *accounts.Account, edits ...func(*payments.Payment)) *payments.Payment {
	b.t.Helper()
	b.remember(func(o *Bank) { o.payment(from, to, edits...) })
	return b.payment(from, to, edits...)
}

func (b *Bank) payment(from, to *accounts.Account, edits ...func(*payments.Payment)) *payments.Payment {
	b.t.Helper()
	b.numbers.payments++
	p := &payments.Payment{
		Tenant: b.Tenant, UID: payments.UID(b.numbers.payments), Customer: from.Customer, Direction: payments.Out,
		Rail: rails.Book, EntryType: rails.Credit, State: payments.Settled, Minor: 30_25, Currency: from.Currency,
		Date: ledger.Day(b.Now().In(Zone())), ExternalReferenceID: "INV-7", Notes: "Rent", Channel: "API",
		SenderAccount: from.UID, SenderName: "Payer", ReceiverAccount: to.UID, ReceiverCustomer: to.Customer,
		ReceiverName: "Payee", MakerClient: "partner", CreatedAt: b.Now(), UpdatedAt: b.Now(), Version: 1,
	}
	change(p, edits)
	step := &payments.Step{
		Tenant: p.Tenant, Payment: p.UID, Number: p.Version, State: p.State, At: p.CreatedAt, Client: p.MakerClient,
		Reach: access.OfPartner,
	}
	b.insert(p, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(step).Exec(ctx)
		return err
	})
	return p
}
