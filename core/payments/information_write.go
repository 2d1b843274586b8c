package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/db"
)

// InformationObject is the kind of object that requests for information are in the record.
const InformationObject = "informationRequest"

// SavedInformation is the answer to a request for information.
type SavedInformation struct {
	Payment   UID        `json:"paymentId"`
	MessageID string     `json:"messageId"`
	Rail      rails.Rail `json:"deliveryMethod"`
	At        time.Time  `json:"timestamp"`
}

// RequestInformation asks the bank on the other side of a payment over an instant network for what is
// missing, or says what is wrong. That bank may answer or not: its answer is on record with the request.
func (s *Service) RequestInformation(
	ctx context.Context, uid UID, draft InformationDraft, options changes.RequestOptions,
) (out changes.Outcome[SavedInformation], err error) {
	caller, err := s.inform.Require(ctx, uid.String())
	if err == nil {
		err = draft.check()
	}
	if err != nil {
		return out, err
	}
	out, err = s.inform.Do(ctx, caller, changes.Target{UID: uid.String()}, draft, options)
	out.Version = 0 // the payment is what it was
	return out, err
}

// check checks the form of a request. Which codes there are depends on the network of the payment, too.
func (d *InformationDraft) check() error {
	c := check.Of("rfi")
	if len(d.Missing)+len(d.Incorrect) == 0 {
		c.Fail("missingInformation", fault.Required, "is required, or incorrectInformation instead")
	}
	checkItems(c, "missingInformation", d.Missing, MissingCodes)
	checkItems(c, "incorrectInformation", d.Incorrect, knownCodes())
	c.Required("initiatingPartyName", d.Party)
	c.AtMost("initiatingPartyName", d.Party, 100)
	asASCII(c, "initiatingPartyName", d.Party)
	return c.Err()
}

// knownCodes returns the codes of what is wrong, whatever the network.
func knownCodes() []string {
	all := slices.Concat(IncorrectCodes[rails.RTP], IncorrectCodes[rails.FedNow])
	slices.Sort(all)
	return slices.Compact(all)
}

func checkItems(c *check.Fields, list string, all []*InformationItem, codes []string) {
	for i, item := range all {
		if item == nil {
			c.Fail(fmt.Sprintf("%s[%d]", list, i), fault.Required, "must not be null")
			continue
		}
		in := c.Item(list, i)
		item.Code = strings.TrimSpace(item.Code)
		in.Required("code", item.Code)
		in.AtMost("code", item.Code, 50)
		item.Code = check.OneOf(in, "code", item.Code, codes...)
		if item.Code == narrative && strings.TrimSpace(item.Info) == "" {
			in.Fail("additionalInfo", fault.Required, "is required with NARR")
		}
		in.AtMost("additionalInfo", item.Info, 500)
		asASCII(in, "additionalInfo", item.Info)
	}
	if c.Err() == nil && len(lacks(all)) > iso20022.MostLacks {
		c.Fail(list, fault.Max, fmt.Sprintf(
			"must have at most %d entries: each %d characters of an additionalInfo count as one",
			iso20022.MostLacks, iso20022.LackText))
	}
}

// fits returns faults for the codes that the network of a payment does not have.
func (d *InformationDraft) fits(over rails.Rail) error {
	var wrong fault.Faults
	for i, item := range d.Incorrect {
		if !slices.Contains(IncorrectCodes[over], item.Code) {
			wrong = append(wrong, ErrOtherRail.Saying("is no code of "+string(over)).
				On(fmt.Sprintf("incorrectInformation[%d].code", i)))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return wrong
}

// requestInformationTx writes a request for information, and its message.
func (s *Service) requestInformationTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, d InformationDraft,
) (SavedInformation, error) {
	p, err := s.lockTx(ctx, tx, at)
	if errors.Is(err, ErrNotFound) {
		err = ErrNoPayment
	}
	if err == nil {
		err = tx.CheckVersion(p.Version)
	}
	if err == nil {
		err = p.mayAsk()
	}
	if err == nil {
		err = d.fits(p.Rail)
	}
	if err != nil {
		return SavedInformation{}, err
	}
	about, sent, err := s.askedTx(ctx, tx.Tx, p)
	switch {
	case err != nil:
		return SavedInformation{}, err
	case sent >= MostInformationRequests:
		return SavedInformation{}, ErrManyRequests
	}
	rows, err := s.composeTx(ctx, tx.Tx, p, about.Sender, tx.Now, func(g iso20022.Group) iso20022.Message {
		q := *about
		q.Group, q.CaseID, q.Creator, q.Missing, q.Incorrect =
			g, g.ID, d.Party, lacks(d.Missing), lacks(d.Incorrect)
		return &q
	})
	if err != nil {
		return SavedInformation{}, carriedInformation(p, err)
	}
	rows[0].Code = d.codes()
	r := &InformationRequest{
		Tenant: p.Tenant, ID: rows[0].ID, Payment: p.UID, Rail: p.Rail, Direction: Out, Bank: about.Receiver,
		MessageID: rows[0].MessageID, Codes: d.codes(), At: tx.Now, Answered: []byte{},
	}
	if r.Asked, err = r.sealed(s.keys, AskedColumn, d); err != nil {
		return SavedInformation{}, err
	}
	if err := db.InsertAtCommit(ctx, rows); err != nil {
		return SavedInformation{}, err
	}
	if err := db.InsertAtCommit(ctx, []*InformationRequest{r}); err != nil {
		return SavedInformation{}, err
	}
	done := SavedInformation{Payment: p.UID, MessageID: r.MessageID, Rail: r.Rail, At: r.At}
	return done, tx.Record(ctx, changes.Change{
		Object: InformationObject, UID: messageName(r.MessageID), Customer: int64(p.Customer), Version: 1, After: r,
	})
}

// messageName is the name, in the record, of an object that is a message.
type messageName string

func (n messageName) String() string { return string(n) }

// askedTx returns a request for information about a payment that says nothing yet but what it is about, from
// this bank to the other one, and how many have been sent. A request for payment has no transfer of its own.
func (s *Service) askedTx(
	ctx context.Context, tx bun.Tx, p *Payment,
) (about *iso20022.InformationRequest, sent int64, err error) {
	if p.Asked() {
		m, err := s.readTx(ctx, tx, p, requestKind, In)
		if err != nil {
			return nil, 0, err
		}
		r, is := m.(*iso20022.PaymentRequest)
		if !is {
			return nil, 0, fmt.Errorf("payment %s has no request", p.UID)
		}
		about = &iso20022.InformationRequest{
			Original: originalOf(r), OriginalAmount: r.Amount, OriginalDate: r.ExecutionDate, Sender: r.DebtorAgent,
			Receiver: r.CreditorAgent,
		}
	} else {
		t, err := s.creditTx(ctx, tx, p)
		if err != nil {
			return nil, 0, err
		}
		about = &iso20022.InformationRequest{
			Original: original(t), OriginalAmount: t.Amount, OriginalDate: t.SettlementDate, Sender: t.Sender,
			Receiver: t.Receiver,
		}
		if p.Incoming() {
			about.Sender, about.Receiver = t.Receiver, t.Sender
		}
	}
	n, err := tx.NewSelect().Model((*InformationRequest)(nil)).Where("ir.tenant = ?", p.Tenant).
		Where("ir.payment = ?", p.UID).Where("ir.direction = ?", Out).Count(ctx)
	return about, n, err
}

// carriedInformation returns a fault if the network would refuse what a request says.
func carriedInformation(p *Payment, err error) error {
	var wrong *iso20022.FieldError
	if !errors.As(err, &wrong) {
		return err
	}
	field := "initiatingPartyName"
	for element, name := range map[string]string{
		"MssngInf": "missingInformation", "IncrrctInf": "incorrectInformation",
	} {
		if strings.Contains(wrong.Path, "/"+element) {
			field = name
		}
	}
	return fault.Field("rfi", field, fault.Malformed, "cannot be sent over "+string(p.Rail)+": "+wrong.Reason)
}
