// Package rails names the payment networks, and the words that go with them.
package rails

import "bankgraph/core/ident"

// Rail is a payment network, by the name that the limit check uses (rest/CONTRACT.md, limit check).
type Rail string

const (
	ACH     Rail = "ACH"
	Fedwire Rail = "FEDWIRE"
	FedNow  Rail = "FEDNOW"
	RTP     Rail = "RTP"
	SWIFT   Rail = "SWIFT"
	Book    Rail = "BOOK" // none: from one account in the bank's books to another
)

// All lists the rails that the limit check knows.
var All = []Rail{ACH, Fedwire, FedNow, RTP}

// Networks lists all rails but the bank's own books.
var Networks = []Rail{ACH, Fedwire, FedNow, RTP, SWIFT}

// ParseNetwork reads one of Networks in any letter case.
func ParseNetwork(text string) (Rail, bool) { return ident.Word(text, Networks...) }

// ParseRail reads one of All in any letter case.
func ParseRail(text string) (Rail, bool) {
	return ident.Word(text, All...)
}

// EntryType is the direction of an ACH entry.
type EntryType string

const (
	Credit EntryType = "CREDIT"
	Debit  EntryType = "DEBIT"
)

// ParseEntryType reads CREDIT or DEBIT in any letter case: texts write both Credit and CREDIT
// (rest/CONTRACT.md, entryType).
func ParseEntryType(text string) (EntryType, bool) {
	return ident.Word(text, Credit, Debit)
}

// AccountType is what an account is, in ACH.
type AccountType string

const (
	Checking AccountType = "CHECKING"
	Savings  AccountType = "SAVINGS"
	GL       AccountType = "GL"
	Loan     AccountType = "LOAN" // can only be debited to reverse a credit
)

// SECCode is a standard entry class of ACH, three upper-case letters.
type SECCode string

// The classes that have limits of their own.
const (
	POP SECCode = "POP" // point of purchase
	CCD SECCode = "CCD" // corporate credit or debit
	PPD SECCode = "PPD" // prearranged payment and deposit
	WEB SECCode = "WEB" // internet-initiated entry
	CTX SECCode = "CTX" // corporate trade exchange
)

// The classes that have none.
const (
	TEL SECCode = "TEL" // debits that were authorised by telephone
	ENR SECCode = "ENR" // enrolments for benefits of the federal government; no money
	IAT SECCode = "IAT" // entries that come from abroad, or go there
)

// SECCodes lists the classes that the limit check accepts (rest/CONTRACT.md, limit check).
var SECCodes = []SECCode{POP, CCD, PPD, WEB, CTX}

// ParseSECCode reads one of SECCodes in any letter case.
func ParseSECCode(text string) (SECCode, bool) {
	return ident.Word(text, SECCodes...)
}
