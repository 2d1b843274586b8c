package payments

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
)

// Benefit is what an enrolment says: an agency of the federal government is asked to pay somebody's benefit
// into an account of this bank (rest/CONTRACT.md, enrolments for benefits). An enrolment is an entry of ACH
// of class ENR, which moves no money.
type Benefit struct {
	Type                 BenefitType `json:"federalBenefitType"`
	AccountNumber        string      `json:"accountNumber"`        // that the benefit is to be paid into
	SocialSecurityNumber string      `json:"socialSecurityNumber"` // nine digits
	// whether somebody else receives the benefit on behalf of the person
	RepresentativePayee bool   `json:"representativePayee"`
	FirstName           string `json:"firstName"`      // at most 7 characters, as the entry has no room for more
	LastName            string `json:"lastName"`       // at most 15
	SubAccountType      string `json:"subAccountType"` // Checking or Savings
}

// BenefitType is a federal benefit (rest/CONTRACT.md, enrolments for benefits).
type BenefitType string

// The federal benefits.
const (
	SocialSecurity                      BenefitType = "Social Security"
	SupplementalSocialSecurity          BenefitType = "Supplemental Social Security"
	VeteransCompensationAndPension      BenefitType = "Veterans Compensation and Pension"
	VeteransEducationMBIB               BenefitType = "Veterans Education MBIB"
	VeteransEducationAndSelectedReserve BenefitType = "Veterans Education And Selected Reserve"
	VeteransLifeInsurance               BenefitType = "Veterans Life Insurance"

	VeteransVocationalRehabilitation BenefitType = "Veterans Vocational Rehabilitation and Employment Benefits"

	CivilServiceRetirementAndAnnuity BenefitType = "Civil Service Retirement And Annuity"
	CivilServiceSurvivorAndAnnuity   BenefitType = "Civil Service Survivor And Annuity"
	RailroadRetirementAnnuity        BenefitType = "Railroad Retirement Annuity"
	RailroadUnemploymentAndSickness  BenefitType = "Railroad Unemployment And Sickness"
	DependentsEducationAssistance    BenefitType = "Dependents Education Assistance Program"
	ReserveEducationAssistance       BenefitType = "Reserve Education Assistance Program"
	Post911GIBill                    BenefitType = "Post 911 GI Bill"
)

// BenefitTypes lists the federal benefits.
var BenefitTypes = []BenefitType{
	SocialSecurity, SupplementalSocialSecurity, VeteransCompensationAndPension, VeteransEducationMBIB,
	VeteransEducationAndSelectedReserve, VeteransLifeInsurance, VeteransVocationalRehabilitation,
	CivilServiceRetirementAndAnnuity, CivilServiceSurvivorAndAnnuity, RailroadRetirementAnnuity,
	RailroadUnemploymentAndSickness, DependentsEducationAssistance, ReserveEducationAssistance, Post911GIBill,
}

// agencies are the routing numbers of agencies that are known without being told.
var agencies = map[BenefitType]string{
	SocialSecurity: "655060042", SupplementalSocialSecurity: "655060042", // Social Security Administration
}

// BenefitColumn names the column for which account numbers and social security numbers of enrolments are
// sealed (seal.Place).
const BenefitColumn = "payment_details.benefit"

// Enrols reports whether the payment is an enrolment for a benefit.
func (p *Payment) Enrols() bool {
	return p.Rail == rails.ACH && p.Direction == Out && p.EntryType == rails.Credit && p.Minor == 0
}

// holds reports whether money is held for the payment until it is sent. The money of a debit comes when it
// settles, and an enrolment has none.
func (p *Payment) holds() bool { return !p.Collects() && !p.Enrols() }

// enrols reports whether the order is an enrolment.
func (o *Order) enrols() bool {
	return o.entryType() == rails.Credit && strings.EqualFold(string(o.SECCode), string(rails.ENR))
}

// checkEnrolment checks what only enrolments say, and what they leave out.
func (o *Order) checkEnrolment(c *check.Fields) {
	c.Required("paymentAmount", o.Amount)
	if strings.Trim(o.Amount, "0.") != "" {
		c.Fail("paymentAmount", fault.Max, "must be 0: an enrolment moves no money")
	}
	if Speed(o.Speed) == EconomyPlus {
		c.Fail("speed", fault.Forbidden, "an enrolment has the speed Economy")
	}
	if o.Fee != nil {
		c.Fail("fee", fault.Forbidden, "an enrolment costs nothing")
	}
	if o.Repeat != nil {
		c.Fail("recurrence", fault.Forbidden, "an enrolment is not repeated")
	}
	info := c.In("additionalInfo")
	if o.Remittance != "" {
		info.Fail("paymentRemittanceNotes", fault.Forbidden, "an enrolment carries no remittance")
	}
	if o.Benefit == nil {
		info.Fail("benefitReceiver", fault.Required, "is required with secCode ENR")
		return
	}
	o.Benefit.check(info.In("benefitReceiver"))
	o.checkAgency(c.In("receiver"))
}

func (b *Benefit) check(c *check.Fields) {
	c.Required("federalBenefitType", string(b.Type))
	b.Type = check.OneOf(c, "federalBenefitType", string(b.Type), BenefitTypes...)
	c.Required("accountNumber", b.AccountNumber)
	c.Alphanumeric("accountNumber", b.AccountNumber)
	c.AtMost("accountNumber", b.AccountNumber, mostNumber)
	c.Required("socialSecurityNumber", b.SocialSecurityNumber)
	c.Digits("socialSecurityNumber", b.SocialSecurityNumber)
	c.AtMost("socialSecurityNumber", b.SocialSecurityNumber, digitsOfSSN)
	c.AtLeast("socialSecurityNumber", b.SocialSecurityNumber, digitsOfSSN)
	c.NotAllZeros("socialSecurityNumber", b.SocialSecurityNumber)
	c.Required("firstName", b.FirstName)
	c.Name("firstName", b.FirstName)
	c.AtMost("firstName", b.FirstName, 7)
	c.Required("lastName", b.LastName)
	c.Name("lastName", b.LastName)
	c.AtMost("lastName", b.LastName, 15)
	c.Required("subAccountType", b.SubAccountType)
	b.SubAccountType = check.OneOf(c, "subAccountType", b.SubAccountType, "Checking", "Savings")
}

const digitsOfSSN = 9

// checkAgency checks the receiver of an enrolment, the agency: a contact, or its bank, with an account or
// without. If there is none, it is the agency that pays the benefit.
func (o *Order) checkAgency(c *check.Fields) {
	r := &o.Receiver
	if *r == (Receiver{}) {
		if r.Bank.ID = agencies[o.Benefit.Type]; r.Bank.ID == "" && o.Benefit.Type != "" {
			c.In("bank").Fail("bankId", fault.Required,
				"is required: the routing number of the agency that pays the benefit")
		}
		return
	}
	if r.Contact == 0 {
		r.Bank.check(c.In("bank"), false)
		c.AtMost("name", r.Name, 140)
		c.AccountNumberElsewhere("accountNumber", r.Number)
		c.AtMost("accountNumber", r.Number, mostNumber)
	}
}

// masked returns the benefit as callers read it: without the numbers.
func (b *Benefit) masked() *Benefit {
	shown := *b
	shown.AccountNumber = seal.Mask(b.AccountNumber).Masked()
	shown.SocialSecurityNumber = seal.Mask(b.SocialSecurityNumber).Masked()
	return &shown
}

// enrol adds an enrolment to the details of its payment. The numbers are sealed.
func (d *Details) enrol(keys *seal.Keys, b *Benefit) {
	d.benefit = b
	d.BenefitSealed = keys.Encrypt(string(b.text()), d.placeOf(BenefitColumn))
	d.BenefitShown = b.masked().text()
}

func (b *Benefit) text() json.RawMessage {
	text, _ := json.Marshal(b) // which cannot fail
	return text
}

// readBenefit returns the benefit that a text says; nil for none.
func readBenefit(text json.RawMessage) *Benefit {
	b := new(Benefit)
	if json.Unmarshal(text, b) != nil {
		return nil
	}
	return b
}

// Benefit returns the benefit that an enrolment asks for, its numbers masked; nil for other payments.
func (d *Details) Benefit() *Benefit { return readBenefit(d.BenefitShown) }

// openBenefit opens the numbers of an enrolment; other details have none.
func (d *Details) openBenefit(keys *seal.Keys) error {
	if d.BenefitSealed == nil {
		return nil
	}
	whole, err := keys.Open(seal.Value{Sealed: d.BenefitSealed}, d.placeOf(BenefitColumn))
	if err != nil {
		return fmt.Errorf("open the numbers of an enrolment: %w", err)
	}
	d.benefit = readBenefit(json.RawMessage(whole))
	return nil
}

// enrolment makes of the entry of a payment that of an enrolment at a bank, whose addenda has what the agency
// needs, such as 22*12200004*3*987654321*777777777*DOE*JOHN*0\.
func enrolment(e nacha.Entry, b *Benefit, bank string) nacha.Entry {
	credit := map[string]string{"Checking": "22", "Savings": "32"}[b.SubAccountType]
	represented := "0"
	if b.RepresentativePayee {
		represented = "1"
	}
	e.Kind, e.Number = nacha.Prenote, cmp.Or(e.Number, "0") // not every agency has an account
	e.Remittance = strings.ToUpper(strings.Join([]string{
		credit, bank[:8], bank[8:], b.AccountNumber, b.SocialSecurityNumber, b.LastName, b.FirstName, represented,
	}, "*")) + `\`
	return e
}
