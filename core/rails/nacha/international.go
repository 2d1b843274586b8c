package nacha

import (
	"cmp"
	"slices"
	"strings"

	"bankgraph/core/money"
	"bankgraph/core/rails"
)

// Purposes lists what an entry of IAT can be for.
var Purposes = []string{
	"ANN", "BUS", "DEP", "LOA", "MIS", "MOR", "PEN", "REM", "RLS", "SAL", "TAX", // of credits and debits
	"ARC", "BOC", "IAT", "MTE", "POP", "POS", "RCK", "SHR", "TEL", "WEB", // what a debit began as
}

// What becomes of the amount of an entry of IAT on its way.
const (
	FixedToFixed    = "FF" // it is received as it is
	FixedToVariable = "FV" // it is exchanged
	VariableToFixed = "VF" // it is what the amount abroad is worth
)

// What the reference of an exchange is.
const (
	ExchangeRate   = 1
	ExchangeNumber = 2
	NoReference    = 3
)

// Abroad is what a batch of IAT says of the way of its money.
type Abroad struct {
	Exchange      string // FixedToFixed, FixedToVariable or VariableToFixed
	ReferenceKind int    // NoReference, if 0
	Reference     string // at most 15 characters
	Country       string // where the entries are received, such as DE
	From, To      money.Currency
}

// correcting is what the header of a batch of IAT begins with, if it has notices of change.
const correcting = "IATCOR"

// The most that an entry of IAT has of the addenda that are not of every one.
const (
	mostRemittances    = 2
	mostCorrespondents = 5
)

// mostForeign is the largest amount abroad, of 18 digits.
const mostForeign = 999_999_999_999_999_999

// International is what only an entry of IAT says: who pays whom, at which banks, and why. It is said in its
// addenda, of which seven are mandatory.
type International struct {
	Purpose        string  // one of Purposes
	ForeignAmount  int64   // in the smallest unit of the currency abroad; 0 if it is not known
	ForeignTrace   string  // the number that it has abroad, at most 22 characters
	Originator     Side    // who began it
	Receiver       Side    // the name that Entry has is not repeated
	From           Agent   // the originator's bank
	To             Agent   // the receiver's bank
	Correspondents []Agent // banks abroad between them, at most five
}

// Side is who is at one end of an entry of IAT. Of name and street 35 characters are kept.
type Side struct {
	Name       string // of the originator
	Street     string
	City       string
	State      string
	Country    string // such as DE
	PostalCode string
}

// Agent is a bank on the way of an entry of IAT.
type Agent struct {
	Name    string // 35 characters are kept
	Kind    AgentKind
	ID      string // at most 34 characters
	Country string // of the branch
}

// AgentKind says what a bank's id is.
type AgentKind string

// The kinds of ids.
const (
	National AgentKind = "01" // of the clearing system of a country, such as a routing number
	BIC      AgentKind = "02"
	IBAN     AgentKind = "03"
)

// international reports whether the batch has the records of IAT. Notices of change of IAT have another
// class.
func (b *Batch) international() bool {
	return b.Class == rails.IAT || b.Class == COR && b.Abroad != (Abroad{})
}

// checkAbroad says what is wrong with what a batch says of the way of its money.
func (b *Batch) checkAbroad() (field, reason string) {
	switch a := b.Abroad; {
	case !b.international():
		if a != (Abroad{}) {
			return "Abroad", "belongs to batches of IAT"
		}
	case b.SameDay:
		return "SameDay", "is not for IAT"
	case b.Offset != nil:
		return "Offset", "is not for IAT"
	case a.ReferenceKind < 0 || a.ReferenceKind > NoReference:
		return "ForeignExchangeReferenceIndicator", "is not known"
	case a.Reference != "" && (a.ReferenceKind == 0 || a.ReferenceKind == NoReference):
		return "ForeignExchangeReference", "needs its kind"
	default:
		return "ForeignExchangeReference", wrong(a.Reference, 15)
	}
	return "", ""
}

// checkInternational says which field is wrong of what only IAT says.
func (e *Entry) checkInternational(b *Batch) (field, reason string) {
	i := e.International
	switch {
	case b.Class != rails.IAT && (b.Class != COR || i != nil):
		if i != nil {
			return "International", "belongs to entries of IAT"
		}
		return "", ""
	case b.Class == COR:
		return "", ""
	case i == nil:
		return "International", "is what an entry of IAT needs"
	case !slices.Contains(Purposes, i.Purpose):
		return "TransactionTypeCode", "is not known"
	case i.ForeignAmount < 0 || i.ForeignAmount > mostForeign:
		return "ForeignPaymentAmount", "has more than 18 digits"
	case strings.Contains(i.Originator.City, "*"), strings.Contains(i.Receiver.City, "*"),
		strings.Contains(i.Originator.Country, "*"), strings.Contains(i.Receiver.Country, "*"):
		return "Address", "has the sign *, which parts it"
	case len(i.Correspondents) > mostCorrespondents:
		return "Correspondents", "are more than five"
	}
	for _, text := range []struct {
		field, value string
		most         int
	}{
		{"ForeignTraceNumber", i.ForeignTrace, 22},
		{"OriginatorCityStateProvince", parted(i.Originator.City, i.Originator.State), 35},
		{"OriginatorCountryPostalCode", parted(i.Originator.Country, i.Originator.PostalCode), 35},
		{"ReceiverCityStateProvince", parted(i.Receiver.City, i.Receiver.State), 35},
		{"ReceiverCountryPostalCode", parted(i.Receiver.Country, i.Receiver.PostalCode), 35},
	} {
		if reason := wrong(text.value, text.most); reason != "" {
			return text.field, reason
		}
	}
	for _, a := range append([]Agent{i.From, i.To}, i.Correspondents...) {
		if reason := cmp.Or(wrong(a.ID, 34), wrong(a.Country, 3)); reason != "" {
			return "Agent", reason
		}
	}
	return "", ""
}

// parted writes two parts of an address as one field: City*State\. The sign at the end is left out where
// there is no room for it.
func parted(first, second string) string {
	text := strings.TrimSpace(first)
	if second = strings.TrimSpace(second); second != "" {
		text += "*" + second
	}
	if len(text) == 35 {
		return text
	}
	return text + `\`
}

// parts reads what parted writes.
func parts(text string) (first, second string) {
	first, second, _ = strings.Cut(strings.TrimSuffix(text, `\`), "*")
	return strings.TrimSpace(first), strings.TrimSpace(second)
}
