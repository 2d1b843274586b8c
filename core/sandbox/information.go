package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/seal"
)

// Uninformed are the cents of a payment about which another bank never answers (rest/CONTRACT.md, sandbox
// networks).
const Uninformed = 35

// informed is how long other banks take to answer what they are asked.
const informed = 5 * time.Second

// informs is what another bank answers to being asked about a payment: a line for each thing that was missing
// or wrong.
func informs(m *iso20022.InformationRequest) []reply {
	if m.OriginalAmount.Minor%100 == Uninformed {
		return nil
	}
	var text []string
	for _, of := range []struct {
		what  string
		lacks []iso20022.Lack
	}{{"supplied", m.Missing}, {"corrected", m.Incorrect}} {
		for _, lack := range of.lacks {
			if len(text) < iso20022.MostInformation {
				text = append(text, lack.Code+": "+of.what+" by the sandbox")
			}
		}
	}
	return []reply{{after: informed, write: func(over rails.Rail, number int64, at time.Time) iso20022.Message {
		return &iso20022.Information{
			Group: group(over, m.Receiver, m.Sender, number, at), CaseID: m.CaseID, Creator: m.Creator,
			Original: m.Original, OriginalAmount: m.OriginalAmount, OriginalDate: m.OriginalDate,
			Debtor: iso20022.Party{Name: "Customer of " + m.Receiver}, Text: text, Sender: m.Receiver,
			Receiver: m.Sender,
		}
	}}}
}

// Inquiry is what a request says about another bank that asks for information on a payment.
type Inquiry struct {
	Payment payments.UID `json:"-"`                        // the target of the change
	Code    string       `json:"code,omitempty"`           // of what is missing or wrong; MS01 if absent
	Info    string       `json:"additionalInfo,omitempty"` // required with NARR
	Party   string       `json:"initiatingPartyName,omitempty"`
}

// ErrNoInquiry is returned for a payment about which no other bank asks.
var ErrNoInquiry = fault.New(fault.State, "sandbox.not_asked_about",
	"another bank asks about payments that went over FedNow or RTP, or came from there")

// PlayInformationRequest lets the bank on the other side of a payment ask what of it is missing or wrong.
func (s *Service) PlayInformationRequest(
	ctx context.Context, of payments.UID, draft Inquiry, options changes.RequestOptions,
) (changes.Outcome[Played], error) {
	caller, err := s.ask.Require(ctx, of.String())
	if err == nil {
		err = draft.check()
	}
	if err != nil {
		return changes.Outcome[Played]{}, err
	}
	return s.ask.Do(ctx, caller, changes.Target{UID: of.String()}, draft, options)
}

func (d *Inquiry) check() error {
	c := check.Of(play)
	codes := append([]string{}, payments.MissingCodes...)
	for _, over := range []rails.Rail{rails.RTP, rails.FedNow} {
		codes = append(codes, payments.IncorrectCodes[over]...)
	}
	d.Code = cmp.Or(check.OneOf(c, "code", d.Code, codes...), payments.MissingCodes[0])
	d.Party = cmp.Or(d.Party, playedName)
	if d.Code == "NARR" {
		c.Required("additionalInfo", d.Info)
	}
	c.AtMost("additionalInfo", d.Info, iso20022.LackText)
	c.AtMost("initiatingPartyName", d.Party, 100)
	ascii(c, "additionalInfo", d.Info)
	ascii(c, "initiatingPartyName", d.Party)
	return c.Err()
}

// askTx writes that the other bank asks about a payment.
func (s *Service) askTx(ctx context.Context, tx *changes.Tx, at changes.Target, d Inquiry) (Played, error) {
	of, err := exchangedTx(ctx, tx, at, "pacs.008", "pain.013")
	if err == nil && (of.ID == 0 || of.Rail != rails.FedNow && of.Rail != rails.RTP) {
		err = ErrNoInquiry
	}
	if err != nil {
		return Played{}, err
	}
	read, err := s.readMessage(tx.Caller.Tenant, of)
	if err != nil {
		return Played{}, err
	}
	about, amount, day, banks := iso20022.Original{}, money.Amount{}, time.Time{}, [2]string{}
	switch t := read.(type) {
	case *iso20022.CreditTransfer:
		about = iso20022.Original{
			InstructionID: t.InstructionID, EndToEndID: t.EndToEndID, TransactionID: t.TransactionID, UETR: t.UETR,
		}
		amount, day, banks = t.Amount, t.SettlementDate, [2]string{t.Sender, t.Receiver}
	case *iso20022.PaymentRequest:
		about = iso20022.Original{InstructionID: t.InstructionID, EndToEndID: t.EndToEndID, UETR: t.UETR}
		amount, day, banks = t.Amount, t.ExecutionDate, [2]string{t.CreditorAgent, t.DebtorAgent}
	}
	other, own := banks[1], banks[0]
	if of.In {
		other, own = own, other
	}
	return s.beginTx(ctx, tx, of.Rail, of.Customer, func(g iso20022.Group, _ int64) iso20022.Message {
		m := &iso20022.InformationRequest{
			Group: g, CaseID: g.ID, Creator: d.Party, Original: original(read, about), OriginalAmount: amount,
			OriginalDate: day, Sender: other, Receiver: own,
		}
		lack := []iso20022.Lack{{Code: d.Code, Text: d.Info}}
		if d.Code == "NARR" || d.Code == payments.MissingCodes[0] {
			m.Missing = lack
		} else {
			m.Incorrect = lack
		}
		return m
	}, other, own)
}

// readMessage opens and reads a message of the bank.
func (s *Service) readMessage(tenant access.Tenant, of *exchanged) (iso20022.Message, error) {
	body, err := s.keys.Open(seal.Value{Sealed: of.Body},
		seal.Place{Tenant: int64(tenant), Column: payments.BodyColumn, Row: of.ID})
	if err != nil {
		return nil, fmt.Errorf("open the message of payment %s: %w", of.Payment, err)
	}
	read, err := iso20022.Read(bytes.NewReader([]byte(body)), payments.Profiles[of.Rail])
	if err != nil {
		return nil, fmt.Errorf("read the message of payment %s: %w", of.Payment, err)
	}
	return read, nil
}
