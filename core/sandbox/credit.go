package sandbox

import (
	"cmp"
	"strings"
	"time"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
)

// CreditEntry is what a request says about a credit beside, if it comes over ACH.
type CreditEntry struct {
	CompanyID    string    `json:"achCompanyID,omitempty"`
	CompanyName  string    `json:"companyName,omitempty"`
	SECCode      string    `json:"secCode,omitempty"`
	IndividualID string    `json:"transactionIdNumber,omitempty"`
	Description  string    `json:"description,omitempty"` // of the batch
	Date         time.Time `json:"paymentDate,omitzero"`  // on which it settles; midnight UTC
}

// playedCredits are the classes of credits that a play takes.
var playedCredits = []string{
	string(rails.PPD), string(rails.CCD), string(rails.CTX), string(rails.WEB), string(nacha.CIE),
	string(rails.IAT),
}

// mostAddenda is how long a note is in an entry of ACH.
const mostAddenda = 80

// checkEntry checks what a request says about a credit over ACH. What it says in the words of other networks
// counts where those of ACH are absent.
func (d *Credit) checkEntry(c *check.Fields) {
	e := &d.CreditEntry
	e.CompanyID, e.Description = cmp.Or(e.CompanyID, playedCompany), cmp.Or(e.Description, "PAYROLL")
	e.CompanyName = cmp.Or(e.CompanyName, first(d.SenderName, mostCompany), playedCompanyName)
	e.IndividualID = cmp.Or(e.IndividualID, first(d.Reference, mostIndividualID))
	c.ACHCompanyID("achCompanyID", e.CompanyID)
	e.SECCode = check.OneOf(c, "secCode", ident.Upper(cmp.Or(e.SECCode, string(rails.PPD))), playedCredits...)
	c.AtMost("paymentNotes", d.Notes, mostAddenda)
	asEntry(c, e.CompanyName, e.Description, e.IndividualID)
}

// noEntry refuses what only a credit over ACH says.
func (d *Credit) noEntry(c *check.Fields) {
	e := &d.CreditEntry
	for _, text := range []struct {
		field string
		given bool
	}{
		{"achCompanyID", e.CompanyID != ""},
		{"companyName", e.CompanyName != ""},
		{"secCode", e.SECCode != ""},
		{"transactionIdNumber", e.IndividualID != ""},
		{"description", e.Description != ""},
		{"paymentDate", !e.Date.IsZero()},
	} {
		if text.given {
			c.Fail(text.field, fault.Forbidden, "is for deliveryMethod ACH")
		}
	}
}

// How long the texts of an entry are.
const (
	mostCompany      = 16
	mostDescription  = 10
	mostIndividualID = 15
)

// asEntry demands what ACH carries.
func asEntry(c *check.Fields, companyName, description, individualID string) {
	for _, text := range []struct {
		field, is string
		most      int
	}{
		{"companyName", companyName, mostCompany},
		{"description", description, mostDescription},
		{"transactionIdNumber", individualID, mostIndividualID},
	} {
		c.AtMost(text.field, text.is, text.most)
		ascii(c, text.field, text.is)
	}
}

// first returns the beginning of a text of ASCII.
func first(text string, most int) string { return strings.TrimSpace(text[:min(most, len(text))]) }

// entry is the credit as ACH has it.
func (d *Credit) entry() *entry {
	return &entry{
		direction: rails.Credit, class: rails.SECCode(d.SECCode), companyID: d.CompanyID,
		companyName: d.CompanyName,
		description: d.Description, bank: d.SenderBank, individualID: d.IndividualID,
		remittance: d.Notes, date: d.Date,
	}
}
