package payments

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/db"
)

// Entry is what only a payment over ACH says (rest/CONTRACT.md, payments over ACH). The money of a credit is
// taken first; then the entry goes out in a file.
type Entry struct {
	bun.BaseModel `bun:"table:ach_entries,alias:ae" json:"-"`

	Tenant  access.Tenant `bun:"tenant,pk" json:"-"`
	Payment UID           `bun:"payment,pk" json:"-"`
	// whose share of a file it takes: a partner with all its customers, or another customer; 0 of one that came
	// in
	Party customers.UID `bun:"party" json:"-"`
	// routing number of the bank that sends it
	Origin      string            `bun:"origin" json:"-"`
	EntryType   rails.EntryType   `bun:"entry_type" json:"-"`            // that of its payment
	Class       rails.SECCode     `bun:"class" json:"secCode"`           // PPD, CCD …
	CompanyID   string            `bun:"company_id" json:"achCompanyID"` // of whose payment it is
	CompanyName string            `bun:"company_name" json:"-"`
	Description string            `bun:"description" json:"-"` // of the batch, at most ten characters
	Account     rails.AccountType `bun:"account" json:"-"`     // what is credited or debited
	// of an entry to an account abroad: what it is for, and the currency in which it is received; else ''
	Purpose   string         `bun:"purpose" json:"transactionTypeCode"`
	Currency  money.Currency `bun:"currency" json:"-"`
	SameDay   bool           `bun:"same_day" json:"-"`
	SettlesOn time.Time      `bun:"settles_on,type:date,nullzero" json:"-"` // set with TakenAt
	// when its money was taken, or nil
	TakenAt *time.Time `bun:"taken_at" json:"-"`
	File    MessageID  `bun:"file,nullzero" json:"-"`
	Trace   string     `bun:"trace" json:"traceNumber"` // its number in the file; '' before
}

// accountTypes are the account types of ACH, by the sub-types of accounts.
var accountTypes = map[string]rails.AccountType{
	general: rails.GL, string(accounts.Checking): rails.Checking, string(accounts.Savings): rails.Savings,
	string(accounts.CD): rails.Savings, string(accounts.HealthSavings): rails.Savings,
	string(accounts.MoneyMarket): rails.Savings, string(accounts.Pseudo): rails.Checking,
	string(accounts.LineOfCredit): rails.Loan,
	string(accounts.CreditCard):   rails.Loan, string(accounts.Heloc): rails.Loan,
}

// entryOf makes the entry of a payment. The company id is the account's, or else its customer's.
func entryOf(p *Payment, o *Order, from *party, to *Receiver) (*Entry, error) {
	class := o.SECCode
	switch {
	case from.CompanyID == "":
		return nil, ErrNoCompany
	case o.CompanyID != "" && o.CompanyID != from.CompanyID:
		return nil, fault.Field("payment", "sender.achCompanyID", fault.NoMatch,
			"must be the account's ACH company id "+from.CompanyID)
	case !slices.Contains(from.Classes, string(class)):
		return nil, ErrClass.Saying("the account may not send entries of class " + string(class)).
			With(string(class))
	}
	account := accountTypes[cmp.Or(to.SubType, to.Type)]
	if account == "" && class == rails.ENR {
		account = rails.Checking
	}
	if account == "" || len(to.Number) > mostNumber && class != rails.IAT {
		return nil, ErrNoAccount.Saying(
			"ACH needs the type of the other account, and at most 17 characters of its number")
	}
	e := &Entry{
		Tenant: p.Tenant, Payment: p.UID, Party: cmp.Or(from.Owner, from.Customer), Origin: from.BankID,
		EntryType: p.EntryType, Class: class, CompanyID: from.CompanyID, CompanyName: cut(p.OwnerName(), 16),
		Description: describe(p.Notes), Account: account, SameDay: p.Speed == EconomyPlus, SettlesOn: p.Date,
	}
	switch class {
	case rails.ENR:
		e.Description = nacha.AutoEnroll
	case rails.IAT:
		e.Purpose, e.Currency = o.Purpose, to.currencyAbroad()
	}
	return e, nil
}

// mostNumber is the length of the longest account number that ACH carries.
const mostNumber = 17

// describe makes the company entry description of a batch from a payment's notes. It avoids the descriptions
// that ACH reserves, as these give the batch another meaning.
func describe(notes string) string {
	text := strings.TrimSpace(cut(notes, 10))
	if text == "" || slices.Contains(reserved, strings.ToUpper(text)) {
		return "PAYMENT"
	}
	return text
}

var reserved = []string{nacha.Reversal, nacha.AutoEnroll, "RECLAIM", "NONSETTLED", "RETRY PYMT", "RETURN FEE"}

// batch returns the batch that the entry of a payment with these details belongs to.
func (e *Entry) batch(d *Details) nacha.Batch {
	return nacha.Batch{
		Class: e.Class, CompanyID: e.CompanyID, CompanyName: e.CompanyName, Description: e.Description,
		Effective: e.SettlesOn, SameDay: e.SameDay, Only: e.EntryType, Bank: e.Origin,
		Abroad: e.abroad(d.BankCountry),
	}
}

// line returns the entry as a file of ACH has it, with this account number.
func (e *Entry) line(p *Payment, d *Details, number string) nacha.Entry {
	line := nacha.Entry{
		Account: e.Account, Direction: e.EntryType, Amount: money.Of(p.Minor, p.Currency), Routing: d.BankID,
		Number: number, Name: p.otherName(), Data: single[e.Class], ID: endToEnd(d, p),
		Remittance:    cut(cmp.Or(d.Remittance, d.OriginatorInfo), longestAddenda),
		International: d.abroad,
	}
	if d.benefit != nil {
		return enrolment(line, d.benefit, e.Origin)
	}
	return line
}

// single is the payment type code of the classes that require one: the debtor agreed to one entry, not to a
// series.
var single = map[rails.SECCode]string{rails.WEB: "S", rails.TEL: "S"}

// header returns the header of a file of a bank's entries.
func header(origin, name string, now time.Time, numbered *numbers) nacha.Header {
	return nacha.Header{
		Origin: origin, OriginName: name, Destination: FedACH, DestinationName: "FEDERAL RESERVE BANK",
		CreatedAt: now, Modifier: modifiers[numbered.Files%len(modifiers)], FirstTrace: numbered.Trace + 1,
	}
}

// FedACH is the routing number of the Federal Reserve Bank that takes and sends files of ACH.
const FedACH = "061000146"

// modifiers are the file ID modifiers, which tell the files of one day apart.
const modifiers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// entered returns a fault if ACH would refuse what the payment's entry says. to is the account number of the
// other side.
func (p *Payment) entered(to string) error {
	err := nacha.Check(header(p.entry.Origin, "", p.CreatedAt, new(numbers)), p.entry.batch(p.details),
		p.entry.line(p, p.details, to))
	var wrong nacha.Fault
	if !errors.As(err, &wrong) {
		return err
	}
	field := cmp.Or(entryFields[wrong.Field], "payment")
	return fault.Field("payment", field, problemOf(wrong.Reason), "cannot be sent over ACH: "+wrong.Reason)
}

// entryFields are the fields of a request, by the names that ACH has for them.
var entryFields = map[string]string{
	"Amount": "paymentAmount", "Number": "receiver.accountNumber", "DFIAccountNumber": "receiver.accountNumber",
	"Routing": "receiver.bank.bankId", "Name": "receiver.name", "IndividualName": "receiver.name",
	"TransactionCode": "receiver.subAccountType", "CompanyID": "sender.achCompanyID",
	"CompanyIdentification": "sender.achCompanyID", "Description": "paymentNotes",
	"CompanyEntryDescription": "paymentNotes",
	"CompanyName":             "sender.accountUID", "Effective": "paymentDate", "Bank": "sender.accountUID",
	"PaymentRelatedInformation": "additionalInfo.paymentRemittanceNotes", "Class": "additionalInfo.secCode",
	"StandardEntryClassCode": "additionalInfo.secCode", "IdentificationNumber": "externalReferenceId",
	// of IAT
	"TransactionTypeCode": "additionalInfo.transactionTypeCode",
	"Agent":               "additionalInfo.receiverIdentificationNumber",
	"RDFIName":            "receiver.bank.name", "ISODestinationCountryCode": "receiver.bank.countryCode",
	"ISODestinationCurrencyCode": "receiver.accountCurrency", "Address": "receiver.address.city",
	"ReceiverStreetAddress":       "receiver.address.addressLine1",
	"ReceiverCityStateProvince":   "receiver.address.city",
	"ReceiverCountryPostalCode":   "receiver.address.postalCode",
	"OriginatorName":              "sender.accountUID",
	"OriginatorStreetAddress":     "sender.address",
	"OriginatorCityStateProvince": "sender.address",
	"OriginatorCountryPostalCode": "sender.address",
}

var entering db.QueryCache[Entry]

// EntriesOf reads the entries of payments over ACH, for callers who see the payer.
func (s *Service) EntriesOf(ctx context.Context, b *db.Batch, of []UID) *db.Many[UID, Entry] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[UID, Entry](err)
	}
	return s.entriesOf(b, caller, of)
}

func (s *Service) entriesOf(b *db.Batch, reader access.Caller, of []UID) *db.Many[UID, Entry] {
	text := entering.Get(reader.Reach, func() string {
		return db.Select[Entry](shownOfEntries, nil).
			Join("JOIN payments AS pay ON pay.tenant = ae.tenant AND pay.uid = ae.payment").
			Where("ae.tenant = $1").
			Where("pay.tenant = $1").Where(reader.Reach.Scope("pay.customer")).
			Where("ae.payment = ANY($3)").String()
	})
	return db.QueueMany(b, text, func(e *Entry) UID { return e.Payment }, reader.Tenant,
		reader.ScopeCustomer(), of)
}

var shownOfEntries = db.ColumnsOf[Entry](
	"Payment", "Class", "CompanyID", "CompanyName", "Description", "Account", "Purpose", "Currency", "Trace")
