package core_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/core/fx"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/probes"
	"bankgraph/core/virtualaccounts"
	"bankgraph/db"
)

// wholly are the searches by a whole value that is shown masked or may be nobody's. Each sends all that it
// reads, and names how many values it tries out.
var wholly = map[string]struct {
	values int
	ask    func(ctx context.Context, b *coretest.Bank, of *customers.Customer, value string) error
}{
	"customers by tax id": {1, func(
		ctx context.Context, b *coretest.Bank, _ *customers.Customer, value string,
	) error {
		by := customers.Search{TaxID: value}
		return sent(ctx, b, func(batch *db.Batch) {
			b.Customers.List(ctx, batch, by, db.Columns{}, page.First(5))
			b.Customers.Count(ctx, batch, by)
		})
	}},
	"how many customers by tax id": {1, func(
		ctx context.Context, b *coretest.Bank, _ *customers.Customer, value string,
	) error {
		return sent(ctx, b, func(batch *db.Batch) { b.Customers.Count(ctx, batch, customers.Search{TaxID: value}) })
	}},
	"two customers by tax id": {2, func(
		ctx context.Context, b *coretest.Bank, _ *customers.Customer, value string,
	) error {
		return sent(ctx, b, func(batch *db.Batch) {
			b.Customers.Count(ctx, batch, customers.Search{TaxID: value})
			b.Customers.Count(ctx, batch, customers.Search{TaxID: value + "1"})
		})
	}},
	"contacts by number": {1, func(
		ctx context.Context, b *coretest.Bank, of *customers.Customer, value string,
	) error {
		return sent(ctx, b, func(batch *db.Batch) {
			b.Contacts.OfCustomers(ctx, batch, []customers.UID{of.UID}, contacts.Search{AccountNumber: value},
				db.Columns{}, page.First(5))
		})
	}},
	"accounts by number": {1, func(
		ctx context.Context, b *coretest.Bank, of *customers.Customer, value string,
	) error {
		return sent(ctx, b, func(batch *db.Batch) {
			b.Accounts.CountOfCustomers(ctx, batch, []customers.UID{of.UID}, accounts.Search{Number: value}, 0)
		})
	}},
	"an account by number": {1, func(
		ctx context.Context, b *coretest.Bank, _ *customers.Customer, value string,
	) error {
		return sent(ctx, b, func(batch *db.Batch) {
			b.Accounts.FindWith(ctx, batch, accounts.By{Number: value}, db.Columns{}, db.Columns{})
		})
	}},
	"lookup": {1, func(
		ctx context.Context, b *coretest.Bank, _ *customers.Customer, value string,
	) error {
		_, err := b.Accounts.Lookup(ctx, value, "")
		return err
	}},
	"payments by the sender's number": {1, func(
		ctx context.Context, b *coretest.Bank, _ *customers.Customer, value string,
	) error {
		_, err := b.Payments.Page(ctx, payments.Search{SenderNumber: value}, page.First(5))
		return err
	}},
	"payments by both numbers": {2, func(
		ctx context.Context, b *coretest.Bank, _ *customers.Customer, value string,
	) error {
		_, err := b.Payments.Page(ctx, payments.Search{SenderNumber: value, ReceiverNumber: value + "1"},
			page.First(5))
		return err
	}},
	"payments by the ultimate receiver's number": {1, func(
		ctx context.Context, b *coretest.Bank, _ *customers.Customer, value string,
	) error {
		_, err := b.Payments.Page(ctx, payments.Search{UltimateReceiverNumber: value}, page.First(5))
		return err
	}},
	"rules by number": {1, func(
		ctx context.Context, b *coretest.Bank, _ *customers.Customer, value string,
	) error {
		return sent(ctx, b, func(batch *db.Batch) {
			b.PositivePay.CountUpTo(ctx, batch, positivepay.Search{AccountNumber: value}, 0)
		})
	}},
	"rules by the beneficiary's number": {1, func(
		ctx context.Context, b *coretest.Bank, _ *customers.Customer, value string,
	) error {
		return sent(ctx, b, func(batch *db.Batch) {
			b.PositivePay.CountUpTo(ctx, batch, positivepay.Search{BeneficiaryAccountNumber: value}, 0)
		})
	}},
	"exceptions by number": {1, func(
		ctx context.Context, b *coretest.Bank, _ *customers.Customer, value string,
	) error {
		_, err := b.PositivePay.Exceptions(ctx, positivepay.ExceptionSearch{AccountNumber: value}, page.First(5))
		return err
	}},
	"virtual accounts by the master account's number": {1, func(
		ctx context.Context, b *coretest.Bank, of *customers.Customer, value string,
	) error {
		_, err := b.VirtualAccounts.Page(ctx, virtualaccounts.Search{Customer: of.UID, MasterNumber: value},
			page.First(5))
		return err
	}},
	"a virtual account by number": {1, func(
		ctx context.Context, b *coretest.Bank, of *customers.Customer, value string,
	) error {
		_, err := b.VirtualAccounts.Find(ctx, of.UID, virtualaccounts.Number(value))
		return but(err, virtualaccounts.ErrNotFound)
	}},
	"postings by number": {1, func(
		ctx context.Context, b *coretest.Bank, _ *customers.Customer, value string,
	) error {
		by := virtualaccounts.PostingSearch{Number: virtualaccounts.Number(value)}
		_, err := b.VirtualAccounts.PostingsPage(ctx, by, page.First(5))
		return err
	}},
	"a fee for the account with a number": {1, func(
		ctx context.Context, b *coretest.Bank, of *customers.Customer, value string,
	) error {
		_, err := b.Fees.Add(ctx, of.UID, fees.Draft{
			Application: given.Of("Payments"), Product: given.Of("ACH"), FeeName: given.Of("ACH"),
			FeeTier: given.Of("Standard"), AccountNumber: given.Of(value),
		}, changes.RequestOptions{})
		return unless(err)
	}},
	"a virtual account of the account with a number": {1, func(
		ctx context.Context, b *coretest.Bank, of *customers.Customer, value string,
	) error {
		_, err := b.VirtualAccounts.Open(ctx, of.UID, virtualaccounts.Draft{
			MasterNumber: given.Of(value), Name: given.Of("Rents"), ProductCode: given.Of("RENT"),
			Purpose: given.Of("Rent"),
		}, changes.RequestOptions{})
		return unless(err)
	}},
	"a rule for the account with a number": {1, func(
		ctx context.Context, b *coretest.Bank, _ *customers.Customer, value string,
	) error {
		_, err := b.PositivePay.Create(ctx, positivepay.Draft{
			Type: positivepay.ACH, AccountNumber: given.Of(value), ACHCompanyID: given.Of("9100011223"),
			BeneficiaryName: given.Of("Lakefront Util"), Amount: given.Of("50.00"),
			AmountType: positivepay.Maximum, Frequency: positivepay.OnGoing,
			SECCode: given.Of("ALL"), EffectiveDate: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
		}, changes.RequestOptions{})
		return unless(err)
	}},
	"a quote for the account with a number": {1, func(
		ctx context.Context, b *coretest.Bank, _ *customers.Customer, value string,
	) error {
		_, err := b.FX.Quote(ctx, fx.Draft{
			IDType: "DDA", Account: value, Sell: "USD", Buy: "EUR", Funding: "100", Product: "SPOT", Tenor: "SPOT",
		}, changes.RequestOptions{})
		return unless(err)
	}},
	"a transfer from the account with a number": {1, func(
		ctx context.Context, b *coretest.Bank, of *customers.Customer, value string,
	) error {
		_, err := b.Payments.Transfer(ctx, payments.Draft{
			Sender: payments.Party{Number: value}, Receiver: payments.Party{UID: b.Account(of).UID}, Amount: "1",
		}, changes.RequestOptions{})
		return unless(err)
	}},
	"a transfer to the account with a number": {1, func(
		ctx context.Context, b *coretest.Bank, of *customers.Customer, value string,
	) error {
		preview, err := b.Payments.PreviewTransfer(ctx, payments.Draft{
			Sender: payments.Party{UID: b.Account(of).UID}, Receiver: payments.Party{Number: value}, Amount: "1",
		})
		if err != nil || len(preview.Faults) != 1 {
			return fmt.Errorf("preview: %d faults, %w", len(preview.Faults), err)
		}
		return unless(preview.Faults[0])
	}},
	"a payment from an account, if it has the number": {1, func(
		ctx context.Context, b *coretest.Bank, of *customers.Customer, value string,
	) error {
		_, err := b.Payments.Send(ctx, payments.Order{
			Sender:   payments.Party{UID: b.Account(of).UID, Number: value},
			Receiver: payments.Receiver{Contact: b.Contact(of).UID}, Amount: "1", Currency: "USD", Speed: "Instant",
			ExternalReferenceID: "INV-7",
		}, changes.RequestOptions{})
		return unless(err)
	}},
	"a payment to a contact, if it has the number": {1, func(
		ctx context.Context, b *coretest.Bank, of *customers.Customer, value string,
	) error {
		_, err := b.Payments.Send(ctx, payments.Order{
			Sender:   payments.Party{UID: b.Account(of, coretest.Sends).UID},
			Receiver: payments.Receiver{Contact: b.Contact(of).UID, Number: value}, Amount: "1", Currency: "USD",
			Speed: "Instant", ExternalReferenceID: "INV-7",
		}, changes.RequestOptions{})
		return unless(err)
	}},
}

// sent sends what is queued in one batch.
func sent(ctx context.Context, b *coretest.Bank, queue func(*db.Batch)) error {
	batch := b.Batch()
	queue(batch)
	return batch.Send(ctx)
}

// but returns an error that is not the expected one.
func but(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// unless returns an error that says that too many values were tried out.
func unless(err error) error {
	if errors.Is(err, probes.ErrMany) {
		return err
	}
	return nil
}

// Such values are shown masked: what is hidden of them could otherwise be found by trying.
func TestEverySearchByAWholeValueCountsAsTriedOut(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	of := b.Customer(coretest.OwnedBy(partner))
	for name, search := range wholly {
		for who, ctx := range map[string]context.Context{
			"a partner": b.PartnersPerson(partner), "the bank": b.Someone("reader of " + name),
		} {
			caller, err := access.Require(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Probes.Add(caller, 600-search.values); err != nil {
				t.Fatal(err)
			}
			if err := search.ask(ctx, b, of, "99000017"); err != nil {
				t.Errorf("%s, %s: up to 600: %v", name, who, err)
			}
			if err := search.ask(ctx, b, of, "99000029"); !errors.Is(err, probes.ErrMany) {
				t.Errorf("%s, %s: after 600: %v", name, who, err)
			}
		}
	}
}

func TestASearchThatFindsCountsAsNothingTriedOut(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	of := b.Customer()
	a, k := b.Account(of), b.Contact(of)
	number := coretest.AccountNumber(a.UID)
	ctx := b.Someone("reader")
	caller, err := access.Require(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"customers by tax id": coretest.TaxID(of.UID), "how many customers by tax id": coretest.TaxID(of.UID),
		"contacts by number": coretest.ContactNumber(k.UID), "accounts by number": number,
		"an account by number": number, "lookup": number,
	} {
		for range 2 {
			if err := wholly[name].ask(ctx, b, of, value); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if err := b.Probes.Add(caller, 600); err != nil {
		t.Fatal(err)
	}
	for name := range wholly {
		if err := wholly[name].ask(ctx, b, of, number+strconv.Itoa(1)); !errors.Is(err, probes.ErrMany) {
			t.Errorf("%s after 600: %v", name, err)
		}
	}
}
