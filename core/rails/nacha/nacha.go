// Package nacha writes and reads files of ACH in the format of Nacha, one entry at a time: memory does not
// grow with the file. Records are formed, parsed and checked by moov-io/ach; what only whole files have,
// such as totals, hashes and the order of trace numbers, is kept here.
//
// Amounts are whole cents of US dollars. Days are midnight UTC, and the time of a file is New York's. Texts
// lose their accents (package plain); names, ids and remittances are cut to the length of their fields, and
// everything else that is too long or has other letters is refused.
//
// Left out: ADV, the terminals of POS, MTE and SHR (which are read, and dropped), and contested
// dishonours and refused notices of change, which are read and not written.
package nacha

import (
	"fmt"
	"strings"
	"time"

	"bankgraph/core/money"
	"bankgraph/core/rails"
)

// Most is what an entry, a same-day entry, and the totals of a file can be, in cents.
const (
	MostCents        = 99_999_999_99
	MostSameDayCents = 1_000_000_00
	mostTotalCents   = 9_999_999_999_99
)

// Reversal is the description of a batch that takes entries back, AutoEnroll that of ENR, and
// AccountVerification that of small credits which verify accounts.
const (
	Reversal            = "REVERSAL"
	AutoEnroll          = "AUTOENROLL"
	AccountVerification = "ACCTVERIFY"
)

// Classes of entries, beside those of rails.
const (
	BOC rails.SECCode = "BOC" // a cheque, turned into a debit in the back office
	CIE rails.SECCode = "CIE" // a consumer pays a bill; credits only
	COR rails.SECCode = "COR" // notices of change; no money
)

// Header says where a file comes from and where it goes.
type Header struct {
	Origin, Destination         string // routing numbers; an origin can also be another id of ten digits
	OriginName, DestinationName string // at most 23 characters
	CreatedAt                   time.Time
	Modifier                    byte // tells files of a day apart, A to Z and 0 to 9; A if 0
	Reference                   string
	FirstTrace                  int // the number of the first entry, 1 if 0; not read
}

// Batch is what its entries have in common.
type Batch struct {
	Class       rails.SECCode
	CompanyID   string          // ten characters
	CompanyName string          // at most 16; IAT has none
	CompanyData string          // at most 20, for the company itself
	Description string          // at most 10, such as PAYROLL
	Effective   time.Time       // the day on which it shall settle; ENR and COR need none
	SameDay     bool            // Effective is the day of the file; read from the descriptive date
	Only        rails.EntryType // all entries have this direction; both if empty
	Bank        string          // who originates it: a routing number; eight digits of one, when read
	Abroad      Abroad          // of IAT, and of notices of change of such entries
	Offset      *Offset         // where the batch's other side is booked; nil if no entry is made for it
	Number      int             // in the file, from 1; given by the writer, and not checked when read
	Line        int             // of its header in the file that was read; 0 of one that is written
}

// Offset is the account of the originator with its own bank, on which the totals of a batch are booked.
type Offset struct {
	Account rails.AccountType
	Routing string
	Number  string
	Name    string
}

// Kind is what an entry is for.
type Kind string

const (
	Live       Kind = "LIVE"        // moves money
	Prenote    Kind = "PRENOTE"     // checks an account; amount 0. ENR has only these
	ZeroDollar Kind = "ZERO_DOLLAR" // carries a remittance; amount 0
)

// Entry moves money to or from an account of another bank, or says something of an entry that did.
type Entry struct {
	Account   rails.AccountType
	Direction rails.EntryType
	Kind      Kind         // Live, if empty
	Amount    money.Amount // of US dollars
	Routing   string       // of the bank that has the account, nine digits
	Number    string       // of the account, at most 17 characters, 35 in IAT
	Name      string       // of its holder; 22 characters are kept, 16 in CTX, 35 in IAT
	ID        string       // 15 characters are kept, 9 in POP, where it is the cheque's number
	Data      string       // two characters: S or R, for single or recurring, in WEB and TEL
	City      string       // of the terminal in POP, four characters
	State     string       // two
	// Remittance is kept up to 80 characters; in CTX and ENR up to 9,999 times that, in IAT twice.
	Remittance string
	// what only IAT says; a notice of change does not
	International *International
	// Trace has the first eight digits of the originating bank and seven of the entry. The writer gives it,
	// unless it is set.
	Trace string

	// At most one of these.
	Return    *Return
	Dishonour *Dishonour
	Contest   *Contest
	Change    *Change

	Line  int    // where it was read
	Wrong *Wrong // what Receive or ReadAll found to be wrong with it; nil if nothing
}

// Wrong is what keeps an entry from being taken. Its other fields say what could be read of it.
type Wrong struct {
	Fault

	Forward bool // the entry could be read, and says nothing of another one: it may go back
}

// Return sends an entry back.
type Return struct {
	Code          string // R01 to R85
	OriginalTrace string
	OriginalBank  string    // eight digits of the bank that received the entry
	DateOfDeath   time.Time // with R14 and R15
	Information   string    // at most 44 characters
}

// Dishonour refuses a return.
type Dishonour struct {
	Code          string // R61 to R70
	OriginalTrace string
	OriginalBank  string
	ReturnTrace   string
	ReturnSettled int // the day of the year on which the return settled
	ReturnCode    string
	Information   string // at most 21 characters
}

// Contest refuses a dishonour. It is not written.
type Contest struct {
	Code           string // R71 to R77
	OriginalTrace  string
	ReturnTrace    string
	DishonourTrace string
}

// Change is a notice of change: the receiving bank says what later entries should have.
type Change struct {
	Code          string // C01 to C13; C61 to C69 refuse a notice, and are not written
	OriginalTrace string
	OriginalBank  string
	Data          string // what is right, at most 29 characters, as the code says
	// what Data means; read only
	Account     string
	Routing     string
	Name        string
	ID          string
	AccountType rails.AccountType
	Direction   rails.EntryType
}

// Totals are the sums of a file.
type Totals struct {
	Batches, Entries, Addenda int
	Credits, Debits           money.Amount
}

// Reversed returns the entry that takes another one back, for a batch with the description Reversal and else
// the same words: it moves the same amount the other way, and has its own trace number.
func (e Entry) Reversed() Entry {
	if e.Direction == rails.Credit {
		e.Direction = rails.Debit
	} else {
		e.Direction = rails.Credit
	}
	e.Trace, e.Line = "", 0
	return e
}

// Fault is what is wrong with a record. It has no account number.
type Fault struct {
	Line   int    // from 1; where lines have several records, each counts as one
	Record string // such as entry, batch header
	Field  string // may be empty
	Reason string
}

func (f Fault) Error() string {
	return strings.TrimSpace(fmt.Sprintf("line %d: %s %s", f.Line, f.Record, f.Field)) + ": " + f.Reason
}

// Faults are all that were found in a file, in their order.
type Faults []Fault

func (f Faults) Error() string {
	if len(f) == 1 {
		return f[0].Error()
	}
	return fmt.Sprintf("%s, and %d more faults", f[0].Error(), len(f)-1)
}

var tens = map[rails.AccountType]int{rails.Checking: 2, rails.Savings: 3, rails.GL: 4, rails.Loan: 5}

// TransactionCode returns the code of an entry with money, such as 22 for a credit to a checking account; 0
// if there is none.
func TransactionCode(to rails.AccountType, way rails.EntryType) int {
	return Entry{Account: to, Direction: way}.code(false)
}

// code is the transaction code of an entry; 0 if there is none.
func (e Entry) code(reversal bool) int {
	account, known := tens[e.Account]
	unit, also := map[Kind]int{Live: 2, "": 2, Prenote: 3, ZeroDollar: 4}[e.Kind]
	if e.Return != nil || e.Dishonour != nil || e.Contest != nil || e.Change != nil {
		unit = 1
	}
	if !known || !also || e.Direction != rails.Credit && e.Direction != rails.Debit {
		return 0
	}
	if e.Direction == rails.Debit {
		unit += 5
	}
	if e.Account == rails.Loan && unit > 6 {
		if unit != 7 || !reversal {
			return 0
		}
		unit = 5
	}
	return 10*account + unit
}

// decode sets what a transaction code says.
func (e *Entry) decode(code int) bool {
	for account, ten := range tens {
		if code/10 == ten {
			e.Account = account
		}
	}
	unit := code % 10
	e.Direction = rails.Credit
	if unit > 4 {
		e.Direction, unit = rails.Debit, unit-5
		if e.Account == rails.Loan && unit == 0 {
			unit = 2
		}
	}
	e.Kind = map[int]Kind{1: Live, 2: Live, 3: Prenote, 4: ZeroDollar}[unit]
	return e.Account != "" && e.Kind != ""
}
