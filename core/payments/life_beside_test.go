package payments_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/files"
	"bankgraph/core/fx"
	"bankgraph/core/given"
	"bankgraph/core/holds"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/verifications"
	"bankgraph/core/virtualaccounts"
	"bankgraph/core/waterfalls"
)

// What is done in a world beside single payments of dollars.

func (w *world) holdsMoney(a *accounts.Account, _ context.Context) deed {
	if len(w.holds) > 0 && w.one(2) {
		uid := pick(w, w.holds...)
		return deed{
			fmt.Sprint("release hold ", uid),
			func(x changes.RequestOptions) error { return only(w.Holds.Release(w.Staff(), uid, x)) },
		}
	}
	end := w.Clock.Now().Add(time.Duration(1+w.dice.IntN(72)) * time.Hour)
	d := holds.Draft{Account: a.UID, Amount: w.sum(), ExpiresAt: &end}
	return deed{fmt.Sprint("hold ", d.Amount, " of ", a.UID), func(x changes.RequestOptions) error {
		placed, err := w.Holds.Place(w.Staff(), d, x)
		if err == nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.holds = append(w.holds, placed.Result.UID)
		}
		return err
	}}
}

func (w *world) changesAccount(a *accounts.Account, _ context.Context) deed {
	what := pick(w, "suspend", "suspend", "renumber", "renumber", "suspend the customer of", "close")
	w.asleep = w.asleep || strings.HasPrefix(what, "suspend")
	number := given.Of(fmt.Sprint("71", 100000000+w.n, a.UID.String()[6:]))
	return deed{fmt.Sprint(what, " ", a.UID), func(x changes.RequestOptions) error {
		switch what {
		case "suspend":
			return only(w.Accounts.Suspend(w.Staff(), a.Customer, a.UID, x))
		case "renumber":
			return only(w.Accounts.Change(w.Staff(), a.Customer, a.UID, accounts.Draft{Number: number}, x))
		case "close":
			return only(w.Accounts.Close(w.Staff(), a.Customer, a.UID, x))
		}
		return only(w.Customers.Suspend(w.Staff(), a.Customer, x))
	}}
}

// wakes ends suspensions, so that something goes on.
func (w *world) wakes() deed {
	w.asleep = false
	return deed{"activate all", func(x changes.RequestOptions) error {
		for _, c := range w.customers {
			_, _ = w.Customers.Activate(w.Staff(), c.UID, changes.RequestOptions{})
		}
		for _, a := range w.accounts {
			_, _ = w.Accounts.Activate(w.Staff(), a.Customer, a.UID, changes.RequestOptions{})
		}
		return nil
	}}
}

func (w *world) changesCustomer(a *accounts.Account, _ context.Context) deed {
	d := customers.Draft{Access: customers.AccessDraft{PaymentDualApproval: given.Of(w.one(2))}}
	return deed{
		fmt.Sprint("change approvals of customer ", a.Customer),
		func(x changes.RequestOptions) error { return only(w.Customers.Change(w.Staff(), a.Customer, d, x)) },
	}
}

// changesContact moves a contact to another account, sometimes one of this bank.
func (w *world) changesContact(_ *accounts.Account, _ context.Context) deed {
	to, number, bank := pick(w, w.contacts...), fmt.Sprint("55", w.n), pick(w, theirs, "021000021")
	if w.one(8) {
		number, bank = coretest.AccountNumber(pick(w, w.accounts...).UID), ours
	}
	d := contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of(number), NationalCode: given.Of(bank)}}
	return deed{
		fmt.Sprint("move contact ", to.UID, " to ", number, " at ", bank),
		func(x changes.RequestOptions) error { return only(w.Contacts.Change(w.Staff(), 0, to.UID, d, x)) },
	}
}

func (w *world) changesVirtual(_ *accounts.Account, _ context.Context) deed {
	v, closes := pick(w, w.virtual...), w.one(4)
	name := fmt.Sprint("change virtual account ", v.UID, ", closes: ", closes)
	return deed{name, func(x changes.RequestOptions) error {
		if closes {
			return only(w.VirtualAccounts.Close(w.Staff(), v.Customer, v.UID, x))
		}
		return only(w.VirtualAccounts.Change(w.Staff(), v.Customer, v.UID, virtualaccounts.Draft{}, x))
	}}
}

// makesRule lets debits and requests of a company or a bank be paid.
func (w *world) makesRule(a *accounts.Account, _ context.Context) deed {
	d := positivepay.Draft{
		Account: a.UID, Type: pick(w, positivepay.ACH, positivepay.Instant, positivepay.Fedwire),
		Amount: given.Of("30.00"), AmountType: positivepay.Maximum, Frequency: positivepay.OnGoing,
		BeneficiaryName: given.Of("Harbor"), BeneficiaryBankID: given.Of(theirs),
		BeneficiaryAccountNumber: given.Of("5550007777"), EffectiveDate: w.today(),
	}
	if d.Type == positivepay.ACH {
		d.ACHCompanyID, d.SECCode = given.Of("9100011223"), given.Of("All")
	}
	return deed{
		fmt.Sprint("rule for ", a.UID, " ", d.Type),
		func(x changes.RequestOptions) error { return only(w.PositivePay.Create(w.Staff(), d, x)) },
	}
}

// exchanges buys money with dollars and sends it, with a trade that is covered, cancelled, or neither.
func (w *world) exchanges(a *accounts.Account, who context.Context) deed {
	buy := pick[money.Currency](w, "EUR", "EUR", "JPY", "KWD")
	d := fx.Draft{
		Sell: "USD", Buy: string(buy), Transfer: in(int64(1_00+w.dice.IntN(4_000)), buy), Product: "SPOT",
		Tenor: pick(w, "SPOT", "ON", "TN"),
	}
	return w.trades(a, who, d, pick(w, "cover", "cancel", "cover later", "", "", ""))
}

// isForeign is something of an account in another currency.
func (w *world) isForeign(_ *accounts.Account, who context.Context) deed {
	from, to := pick(w, w.foreign...), pick(w, w.foreign...)
	amount := in(1+w.dice.Int64N(30_000), from.Currency)
	switch w.dice.IntN(5) {
	case 0:
		d := payments.Draft{
			Sender: payments.Party{UID: from.UID}, Receiver: payments.Party{UID: to.UID}, Amount: amount,
		}
		return deed{
			fmt.Sprint("transfer ", from.UID, " to ", to.UID, " ", amount),
			func(x changes.RequestOptions) error { return only(w.Payments.Transfer(who, d, x)) },
		}
	case 1:
		d := holds.Draft{Account: from.UID, Amount: amount}
		return deed{
			fmt.Sprint("hold ", amount, " of ", from.UID),
			func(x changes.RequestOptions) error { return only(w.Holds.Place(w.Staff(), d, x)) },
		}
	case 2:
		d := fx.Draft{
			Sell: string(from.Currency), Buy: pick(w, "JPY", "KWD", "EUR", "GBP"), Funding: amount, Product: "SPOT",
			Tenor: pick(w, "SPOT", "ON", "TN"),
		}
		return w.trades(from, who, d, "")
	}
	o := w.toGermany(amount, 0)
	o.Sender.UID, o.Currency, o.Speed = from.UID, string(from.Currency), pick(w, "SPOT", "ON", "TN")
	o.Receiver.Number = "440055551"
	if w.one(3) {
		o.Fee = &payments.CustomFee{Amount: in(7, from.Currency), Currency: string(from.Currency)}
	}
	return deed{
		fmt.Sprint("send abroad ", from.UID, " ", o.Amount, " ", o.Currency),
		func(x changes.RequestOptions) error { return only(w.Payments.Send(who, o, x)) },
	}
}

// trades makes a trade, and sends abroad what it buys.
func (w *world) trades(a *accounts.Account, who context.Context, d fx.Draft, then string) deed {
	d.IDType, d.UID = "CustomerUID", a.Customer
	accept := fx.Acceptance{AutoCover: then == "cover later"}
	if accept.AutoCover {
		accept.Delay = new(int32(60))
	}
	return deed{
		fmt.Sprint("trade of ", a.UID, " ", d.Transfer, d.Funding, d.Sell, " for ", d.Buy, ", ", then),
		func(x changes.RequestOptions) error {
			part := func(of string) changes.RequestOptions {
				return changes.RequestOptions{IdempotencyKey: x.IdempotencyKey + of}
			}
			quote, err := w.FX.Quote(w.Staff(), d, x)
			if err != nil {
				return err
			}
			made, err := w.FX.Accept(w.Staff(), quote.Result.UID, accept, part("accept"))
			if err != nil {
				return err
			}
			if then == "cover" {
				_, _ = w.FX.Cover(w.Staff(), made.Result.UID, part("cover"))
			}
			o := w.toGermany(made.Result.BuyAmount().String(), made.Result.UID)
			o.Sender.UID, o.Currency, o.Speed = a.UID, d.Buy, d.Tenor
			if d.Buy != "EUR" {
				o.Receiver.Number = "440055551"
			}
			_, err = w.Payments.Send(who, o, part("send"))
			if then == "cancel" && err == nil {
				_, _ = w.FX.Cancel(w.Staff(), made.Result.UID, part("cancel"))
			}
			return err
		},
	}
}

func (w *world) runsWaterfall(_ *accounts.Account, _ context.Context) deed {
	side := func(a *accounts.Account) payments.Party {
		return payments.Party{
			Number: coretest.AccountNumber(a.UID), RoutingNumber: a.BankID, Type: string(a.Type),
			SubType: string(a.SubType),
		}
	}
	d := waterfalls.Draft{ExternalReferenceID: fmt.Sprint("WF-", w.n)}
	for i := range int32(1 + w.dice.IntN(4)) {
		from, to := pick(w, w.accounts...), pick(w, w.accounts...)
		if from != to {
			d.Payments = append(d.Payments, waterfalls.Transfer{
				Index: i + 1, Amount: w.sum(), Debtor: side(from), Creditor: side(to),
			})
		}
	}
	return deed{
		"waterfall",
		func(x changes.RequestOptions) error { return only(w.Waterfalls.Run(w.Staff(), d, x)) },
	}
}

// uploads pays by a file.
func (w *world) uploads(a *accounts.Account, who context.Context) deed {
	var text strings.Builder
	text.WriteString("externalReferenceId,paymentAmount,speed,secCode,senderAccountNumber,receiverName," +
		"receiverAccountNumber,receiverSubAccountType,receiverBankId,paymentNotes,receiverAccountType\n")
	for i := range 1 + w.dice.IntN(5) {
		fmt.Fprintf(&text, "F%d-%d,%s,%s,%s,Ada %s,440055551,Checking,%s,Rent,Deposit\n", w.n, i, w.sum(),
			pick(w, "Instant,", "Economy,CCD", "Economy Plus,PPD"), coretest.AccountNumber(a.UID),
			pick(w, "Byron", "King"), theirs)
	}
	return deed{"file of " + a.UID.String(), func(x changes.RequestOptions) error {
		return only(w.Files.Upload(who, files.Upload{
			Customer: a.Customer, Type: files.CSV, Open: files.OpenText("p.csv", strings.NewReader(text.String())),
		}, x))
	}}
}

// verifies pays a contact two small amounts, or says what they were.
func (w *world) verifies(a *accounts.Account, _ context.Context) deed {
	uids := asked[verifications.UID](w, `SELECT uid FROM contact_verifications WHERE tenant = ?0
		ORDER BY uid DESC LIMIT 3`)
	if len(uids) == 0 || w.one(3) {
		d := verifications.Draft{Contact: w.contact(a), Account: a.UID, Method: verifications.SmallDeposits}
		return deed{
			fmt.Sprint("verify ", d.Contact),
			func(x changes.RequestOptions) error { return only(w.Verifications.Start(w.Staff(), d, x)) },
		}
	}
	uid, cancels := pick(w, uids...), w.one(2)
	return deed{fmt.Sprint("verification ", uid, ", cancels: ", cancels), func(x changes.RequestOptions) error {
		if cancels {
			return only(w.Verifications.Cancel(w.Staff(), uid, x))
		}
		said := verifications.Amounts{Amounts: []string{"0.07", "0.21"}}
		return only(w.Verifications.Confirm(w.Staff(), uid, said, x))
	}}
}

func (w *world) sweeps(a *accounts.Account, _ context.Context) deed {
	contact := w.contact(a)
	name := accounts.SweepName{Account: a.UID, Direction: pick(w, accounts.Out, accounts.In)}
	d := accounts.SweepDraft{
		BalanceType: new(accounts.Target), TargetBalance: given.Of(pick(w, "100", "400.50")),
		Frequency: new(accounts.Daily),
	}
	if name.Direction == accounts.Out {
		d.ToContact, d.ToMethod = &contact, new(accounts.ACHCredit)
	} else {
		d.FromContact, d.FromMethod = &contact, new(pick(w, accounts.ACHDebit, accounts.InstantRFP))
	}
	return deed{fmt.Sprint("sweep ", name), func(x changes.RequestOptions) error {
		return only(w.Accounts.SetSweep(w.Staff(), 0, name, d, x))
	}}
}
