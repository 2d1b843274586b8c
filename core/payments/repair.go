package payments

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/banks"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/fx"
	"bankgraph/core/ident"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// A repairable order that cannot be carried out is set aside: it becomes a payment in the state Repair, with
// the reasons, and nothing is held or counted for it. The bank's people change what is wrong, and it goes on
// as a new payment does, or they cancel it. The payer, the amount and the reference stay as they were asked
// for.

// Repairs is what a request says about repairing a payment (rest/CONTRACT.md, repair). What is absent stays
// as it was asked for.
type Repairs struct {
	Receiver  *Receiver     `json:"receiver,omitempty"` // all of it
	Speed     string        `json:"speed,omitempty"`
	Date      time.Time     `json:"paymentDate,omitzero"`
	Contract  fx.TradeUID   `json:"fxContractNumber,omitempty"`
	SECCode   rails.SECCode `json:"secCode,omitempty"`
	CompanyID string        `json:"achCompanyID,omitempty"`
	Notes     string        `json:"paymentNotes,omitempty"`
	// in place of what the payee was to be told, which may be longer than another network carries
	Remittance string `json:"paymentRemittanceNotes,omitempty"`
	Charges    string `json:"detailsOfCharges,omitempty"`

	Correspondent string `json:"correspondentBankId,omitempty"`
	Purpose       string `json:"transactionTypeCode,omitempty"`
	ReceiverBank  string `json:"receiverIdentificationNumber,omitempty"`
}

// apply applies the repairs to an order. What belongs to another network than that of the speed is left out,
// unless a repair gives it.
func (r Repairs) apply(o *Order) {
	asked, _ := ident.Word(o.Speed, Speeds...)
	if o.Speed = cmp.Or(r.Speed, string(asked)); o.Speed != string(asked) {
		o.LocalInstrument, o.RemittanceMethod = "", ""
		if !o.wire() {
			o.Receiver.Between = ReceiverBank{}
			o.Remittance, o.Addenda = cmp.Or(o.Remittance, o.Addenda), "" // of wires another name for the same
		}
	}
	if !Speed(o.Speed).overACH() {
		o.SECCode = ""
	}
	if !Speed(o.Speed).International() {
		o.Contract = 0
	}
	if r.Receiver != nil {
		o.Receiver = *r.Receiver
		if o.Receiver.Contact == 0 { // the fifth generation asks for it
			o.Receiver.Currency = cmp.Or(o.Receiver.Currency, o.Currency)
		}
	}
	if !r.Date.IsZero() {
		o.Date = r.Date
	}
	o.Contract = cmp.Or(r.Contract, o.Contract)
	o.SECCode, o.CompanyID = cmp.Or(r.SECCode, o.SECCode), cmp.Or(r.CompanyID, o.CompanyID)
	o.Correspondent = cmp.Or(r.Correspondent, o.Correspondent)
	o.Purpose, o.ReceiverBank = cmp.Or(r.Purpose, o.Purpose), cmp.Or(r.ReceiverBank, o.ReceiverBank)
	if !o.overACHAbroad() && r.Purpose == "" {
		o.Purpose = ""
	}
	o.Notes, o.Charges = cmp.Or(r.Notes, o.Notes), cmp.Or(r.Charges, o.Charges)
	if r.Remittance != "" {
		o.Remittance, o.Addenda = r.Remittance, ""
	}
}

// repairable are the fields of an order that Repairs can change. All that begins with receiver is one of
// them.
var repairable = []string{
	"paymentDate", "paymentNotes", "sender.achCompanyID",
	"sender.correspondentBankId", "additionalInfo.secCode",
	"additionalInfo.detailsOfCharges",
	"additionalInfo.fxContractNumber", "additionalInfo.transactionTypeCode",
	"additionalInfo.receiverIdentificationNumber",
}

// final reports whether a fault of an order's form is one that Repairs cannot mend.
func final(f *fault.Fault) bool {
	name, _, _ := strings.Cut(f.Field, ".")
	return f.Problem == fault.Max || name != "receiver" && !slices.Contains(repairable, f.Field)
}

// mostAsked bounds a repairable order, which is kept as it was asked for; in bytes.
const mostAsked = 16 << 10

// admit checks the form of an order. Of a repairable order it keeps the faults that can be repaired; if there
// is one that cannot, it returns them all.
func (o *Order) admit() error {
	if !o.Repairable {
		return o.called(o.check())
	}
	var err error
	if o.asked, err = json.Marshal(o); err != nil {
		return fmt.Errorf("write an order that may wait for repair: %w", err)
	}
	if len(o.asked) > mostAsked {
		return fault.Field("payment", "receiver", fault.Max,
			fmt.Sprintf("the request must have at most %d bytes", mostAsked))
	}
	err = o.called(o.check())
	var faults fault.Faults
	// An enrolment moves no money, which no other network carries, and no repair changes its amount.
	if errors.As(err, &faults) && !slices.ContainsFunc(faults, final) &&
		(!o.enrols() || Speed(o.Speed).overACH()) {
		o.unfit, err = err, nil
	}
	return err
}

// aside is the order of a payment that waits for repair, as it was asked for.
type aside struct {
	bun.BaseModel `bun:"table:payment_repairs,alias:pr"`

	Tenant  access.Tenant `bun:"tenant,pk"`
	Payment UID           `bun:"payment,pk"`
	Draft   []byte        `bun:"draft_sealed,type:bytea"`
	// of the contact that the order names, as it was then; 0 for none
	ContactVersion int32 `bun:"contact_version"`
}

// RepairColumn names the column for which the orders of payments that wait for repair are sealed
// (seal.Place).
const RepairColumn = "payment_repairs.draft"

func (a *aside) place() seal.Place {
	return seal.Place{Tenant: int64(a.Tenant), Column: RepairColumn, Row: int64(a.Payment)}
}

// mostAside bounds the payments of a customer that wait for repair at a time, so that people can still find
// their way among them.
const mostAside = 500

// setAsideTx is setAside, but refuses the order if mostAside payments of the customer wait already, or for
// its series, which no repair changes.
func (s *Service) setAsideTx(
	ctx context.Context, f *facts, tx *changes.Tx, p *Payment, why error,
) (*Step, error) {
	if f, is := fault.Of(why); is && strings.HasPrefix(f.Field, "recurrence.") {
		return nil, why
	}
	there, known := f.aside[p.Customer]
	if !known {
		if err := tx.NewRaw(`SELECT count(*) FROM payments WHERE tenant = ? AND customer = ? AND state = 'REPAIR'`,
			p.Tenant, p.Customer).Scan(ctx, &there); err != nil {
			return nil, err
		}
	}
	if f.aside[p.Customer] = there; there >= mostAside {
		return nil, why
	}
	f.aside[p.Customer]++
	return s.setAside(ctx, f, tx, p, why)
}

// setAside makes a payment that cannot be carried out wait for repair. It undoes what was decided of the
// payment so far.
func (s *Service) setAside(
	ctx context.Context, f *facts, tx *changes.Tx, p *Payment, why error,
) (*Step, error) {
	o := p.order
	if len(f.uids) > 0 && f.uids[0] == p.UID {
		f.uids = f.uids[1:]
	}
	p.Rail, p.Date = o.networks()[0], o.Date
	if p.Date.IsZero() {
		p.Date = calendar.Today(tx.Now)
	}
	p.Exchange, p.Recurrence, p.SendAt, p.SettlesAt = Exchange{}, 0, nil, nil
	p.CustomFeeMinor, p.CustomFeeName = 0, ""
	p.entry, p.series, p.order = nil, nil, nil
	p.free()
	p.ReceiverName, p.Notes = cmp.Or(p.ReceiverName, storable(o.Receiver.Name)), storable(o.Notes)
	p.details = f.described(s, p, o)
	p.aside = &aside{Tenant: p.Tenant, Payment: p.UID}
	if k := f.known[o.Receiver.Contact]; k != nil {
		p.aside.ContactVersion = k.Version
	}
	p.aside.Draft = s.keys.Encrypt(string(o.asked), p.aside.place())
	step := p.enter(Repair, tx.Caller, tx.Now, reasons(fault.Called(why, calledInOrders)))
	return step, tx.Record(ctx, changes.Change{
		UID: p.UID, Customer: int64(p.Customer), Version: p.Version, After: p,
	})
}

// described returns what an order says of the payee, as far as it can be stored.
func (f *facts) described(s *Service, p *Payment, o *Order) *Details {
	to := o.Receiver
	if k := f.known[to.Contact]; k != nil && k.Customer == p.Customer {
		p.ReceiverName = k.Name
		to = Receiver{Contact: k.UID, Type: k.Type, SubType: k.SubType}
		to.Bank.ID, to.Bank.Name = k.Routing, k.BankName
	} else {
		to.Contact = 0
	}
	for _, text := range []*string{
		&to.Number, &to.Type, &to.SubType, &to.Name, &to.Phone, &to.Email, &to.Bank.ID, &to.Bank.BIC, &to.Bank.Name,
		&to.Bank.Account, &to.Between.ID, &to.Between.BIC, &to.Between.Name, &to.Between.Account,
		&to.Address.Line1, &to.Address.Line2, &to.Address.City,
		&to.Address.State, &to.Address.PostalCode, &to.Address.CountryCode, &to.Address.Country,
	} {
		*text = storable(*text)
	}
	return f.detail(s, p, o, &to, way{last: new(banks.Bank), correspondent: storable(o.Correspondent)})
}

// storable returns the text if it can be stored, and "" otherwise.
func storable(text string) string {
	if len(text) > longestNotes || !check.IsPlain(text) {
		return ""
	}
	return text
}

// reasons writes each fault on a line of its own.
func reasons(why error) string {
	var faults fault.Faults
	if !errors.As(why, &faults) {
		return why.Error()
	}
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Repair changes what is wrong with a payment that waits for repair, and carries it out as Send does. It is
// for the bank's own people. A repair that changes the payee, a bank on the way or the speed waits for a
// second person. Repair returns ErrNotInRepair for other payments, and the faults of Send if the payment
// still cannot be carried out: it then goes on waiting as it was.
func (s *Service) Repair(
	ctx context.Context, uid UID, repairs Repairs, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.repair.Require(ctx, uid.String())
	if err == nil && caller.Reach != access.OfBank {
		err = access.ErrDenied
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.repair.Do(ctx, caller, changes.Target{UID: uid.String()}, repairs, options)
}

func (s *Service) repairTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, repairs Repairs,
) (Saved, error) {
	was, err := s.lockTx(ctx, tx, at)
	if err == nil {
		_, err = repairing.Take(was.State)
	}
	if err == nil {
		err = tx.CheckVersion(was.Version)
	}
	if err != nil {
		return Saved{}, err
	}
	o, err := s.orderTx(ctx, tx.Tx, was)
	if err != nil {
		return Saved{}, err
	}
	if o.Fee != nil {
		reach, err := was.askedFromTx(ctx, tx.Tx)
		if err != nil {
			return Saved{}, err
		}
		o.Fee.Least = reach != access.OfBank
	}
	repairs.apply(o)
	if err := o.called(o.check()); err != nil {
		return Saved{}, err
	}
	w := wantedBy([]*Order{o}, tx.Now).madeBy(tx.Now, tx.Caller)
	w.created = 0
	f, err := s.gatherTx(ctx, tx.Tx, tx.Caller.Tenant, w)
	if err != nil {
		return Saved{}, err
	}
	if k := f.known[o.Receiver.Contact]; k != nil && k.Version != was.aside.ContactVersion {
		repairs.Receiver = &o.Receiver // it was changed since, and may have another account
	}
	f.uids = []UID{was.UID}
	p, err := f.drawOrder(s, tx.Caller, o, tx.Now)
	if err != nil {
		return Saved{}, fault.Called(err, calledInOrders)
	}
	p.MakerClient, p.MakerLogin = was.MakerClient, was.MakerLogin
	if p.series != nil {
		p.series.MakerClient, p.series.MakerLogin = was.MakerClient, was.MakerLogin
	}
	p.CreatedAt, p.Version = was.CreatedAt, was.Version
	p.altered = repairs.Receiver != nil || repairs.ReceiverBank != "" || repairs.Correspondent != "" ||
		Speed(o.Speed) != was.Speed
	step, err := begin(ctx, f, tx, was, p)
	if err != nil {
		return Saved{}, fault.Called(err, calledInOrders)
	}
	return saved(p), errors.Join(s.forgetTx(ctx, p), p.replaceTx(ctx, step), f.writeTx(ctx))
}

// askedFromTx returns the reach of who asked for the payment.
func (p *Payment) askedFromTx(ctx context.Context, tx bun.Tx) (access.Reach, error) {
	step := Step{Tenant: p.Tenant, Payment: p.UID, Number: 1}
	if err := tx.NewSelect().Model(&step).WherePK().Scan(ctx); err != nil {
		return "", fmt.Errorf("read who asked for payment %s: %w", p.UID, err)
	}
	return step.Reach, nil
}

// orderTx reads the order of a payment that waits for repair.
func (s *Service) orderTx(ctx context.Context, tx bun.Tx, p *Payment) (*Order, error) {
	row := aside{Tenant: p.Tenant, Payment: p.UID}
	if err := tx.NewSelect().Model(&row).WherePK().Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the order of payment %s: %w", p.UID, err)
	}
	text, err := s.keys.Open(seal.Value{Sealed: row.Draft}, row.place())
	if err != nil {
		return nil, fmt.Errorf("open the order of payment %s: %w", p.UID, err)
	}
	o := new(Order)
	if err := json.Unmarshal([]byte(text), o); err != nil {
		return nil, fmt.Errorf("read the order of payment %s: %w", p.UID, err)
	}
	o.Repairable = false
	o.Sender = Party{UID: p.Own()} // as it was found then: its number may be another's by now
	p.aside = &row
	return o, nil
}

// forgetTx deletes the order of a payment that no longer waits for repair, at the end of the transaction.
func (s *Service) forgetTx(ctx context.Context, p *Payment) error {
	return db.ExecAtCommit(ctx, `DELETE FROM payment_repairs WHERE tenant = $1 AND payment = $2`,
		p.Tenant, p.UID)
}

// replaceTx writes a repaired payment in place of what was known of it, at the end of the transaction.
func (p *Payment) replaceTx(ctx context.Context, step *Step) error {
	err := errors.Join(
		db.ExecAtCommit(ctx, `DELETE FROM payment_details WHERE tenant = $1 AND payment = $2`, p.Tenant, p.UID),
		db.ExecAtCommit(ctx, `UPDATE payments SET rail = $3, speed = $4, amount = $5, trade = nullif($6, 0),
			sold = $7, sold_currency = $8, notes = $9, receiver_name = $10, recurrence = nullif($11, 0),
			  custom_fee = $12,
			custom_fee_name = $13 WHERE tenant = $1 AND uid = $2`,
			p.Tenant, p.UID, p.Rail, p.Speed, p.Minor, p.Trade, p.SoldMinor, p.SoldCurrency, p.Notes,
			p.ReceiverName, p.Recurrence, p.CustomFeeMinor, p.CustomFeeName),
		writeTx(ctx, []*Payment{p}, nil))
	var rows rows
	rows.add(p, step)
	rows.payments = nil
	return errors.Join(err, rows.writeTx(ctx))
}
