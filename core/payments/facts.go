package payments

import (
	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/banks"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/core/fx"
	"bankgraph/core/ledger"
	"bankgraph/core/limits"
	"bankgraph/core/money"
	"bankgraph/core/postal"
	"bankgraph/core/screening"
	"bankgraph/core/virtualaccounts"
	"bankgraph/db"
)

// facts are what payments are decided by. They are read once for all payments of a transaction, with the
// accounts locked in the books, and kept up to date with the payments decided so far.
type facts struct {
	tenant          access.Tenant
	numbers         map[string]accounts.UID // by hash
	parties         map[accounts.UID]*party
	ours            map[string]string // banks of accounts of ours that are named as others', by hash
	banksOfOurs     map[string]bool   // of banks that payments name, those at which accounts of ours are
	tried           map[tried]bool    // whether who named the number had named too many before
	whenItGoes      bool              // whether an account is one of ours is asked when the payment goes
	asked           bool              // the payments were asked for before: no number is tried out by them
	charges         map[accounts.UID][]*fees.Charge
	known           map[contacts.UID]*contact // by UID
	banks           *db.Many[banks.Ref, banks.Bank]
	limits          *limits.Counter
	paid            map[UID]*demand        // requests of other banks, by the payments that are to pay them
	houses          map[house]accounts.UID // the bank's own accounts
	books           *ledger.Books
	uids            []UID                 // for new payments
	recurrences     []RecurrenceUID       // for new series
	series          map[customers.UID]int // that go on, by customer, where another one begins
	trades          map[fx.TradeUID]*fx.Trade
	used            map[fx.TradeUID]bool // trades that payments use
	bank            bankApproval         // the bank's own settings, which count for every customer
	virtual         map[virtualaccounts.UID]*virtualaccounts.Creditable
	virtualNumbers  map[string]virtualaccounts.UID // by hash
	virtualPostings []virtualPosting               // of what was booked so far
	by              access.Caller                  // who makes these changes
	// of people whose roles bound what they pay in a day or a month
	own            *ownUse
	aside          map[customers.UID]int // payments that wait for repair, where that was looked at
	screen         *screening.Screen     // what names are compared with; nil where they are not
	stopped        map[UID]bool          // on their way back because compliance rejected them
	promised       map[UID]bool          // on their way back because the other bank asked for them
	reopened       []UID                 // those of them that people look at again
	screenings     []screening.Found     // of payments that people look at
	inScreening    map[customers.UID]int // how many they look at, by customer, where that was counted
	countScreening func(customers.UID) (int, error)
	room           func() error // of what is only looked at: returns ErrOpen if nothing more may wait for people
}

type bankApproval struct {
	approval
	Currency money.Currency `bun:"currency"` // the bank's
	BIC      string         `bun:"bic"`      // the bank's, by which SWIFT knows it; empty for none
	Sandbox  bool           `bun:"sandbox"`  // it is connected to simulated networks
}

// contact is what payments need to know of a contact.
type contact struct {
	UID      contacts.UID    `bun:"uid"`
	Customer customers.UID   `bun:"customer"`
	Version  int32           `bun:"version"`
	Status   contacts.Status `bun:"status"`
	Sealed   []byte          `bun:"sealed"` // the account number
	Type     string          `bun:"type"`
	SubType  string          `bun:"sub_type"`
	Currency string          `bun:"currency"`
	Name     string          `bun:"name"`
	Phone    string          `bun:"phone"`
	Email    string          `bun:"email"`
	Address  postal.Address  `bun:"embed:address_"`
	BIC      string          `bun:"bic"` // of the bank
	// of the bank in between
	BetweenBIC     string `bun:"between_bic"`
	BetweenRouting string `bun:"between_routing"` // its national code, if that is a routing number
	BetweenName    string `bun:"between_name"`
	Routing        string `bun:"routing"` // national code of the bank
	Country        string `bun:"country"` // of the bank: its name
	BankName       string `bun:"bank_name"`
}

// party is an account, with what matters of its customer.
type party struct {
	Account        accounts.UID            `bun:"uid"`
	Status         accounts.Status         `bun:"status"`
	Currency       money.Currency          `bun:"currency"`
	Type           accounts.Type           `bun:"type"`
	SubType        accounts.SubType        `bun:"sub_type"`
	BankID         string                  `bun:"bank_id"`
	BankName       string                  `bun:"bank_name"`
	SystemOfRecord accounts.SystemOfRecord `bun:"system_of_record"`
	Customer       customers.UID           `bun:"customer"`
	Name           string                  `bun:"legal_name"`
	CustomerStatus customers.Status        `bun:"customer_status"`
	Owner          customers.UID           `bun:"owner"`
	PartnerStatus  customers.Status        `bun:"partner_status"` // '' for a partner itself, and without one
	Sealed         []byte                  `bun:"sealed"`         // the account's number
	Address        postal.Address          `bun:"embed:address_"` // of the customer
	CompanyID      string                  `bun:"company_id"`     // in ACH
	Classes        []string                `bun:"classes,array"`  // that it may send
	Switches
	approval
	bic string // of the bank itself
}

// Switches are the features of an account that let payments out (rest/CONTRACT.md, speeds), and let them in
// (rest/CONTRACT.md, incoming credits).
type Switches struct {
	FedNow      bool `bun:"fednow"`
	ACH         bool `bun:"ach"`
	RTP         bool `bun:"rtp"`
	Wires       bool `bun:"wires"` // domestic
	WiresAbroad bool `bun:"wires_abroad"`
	FedNowIn    bool `bun:"fednow_in"`
	RTPIn       bool `bun:"rtp_in"`
	WiresIn     bool `bun:"wires_in"`
	FedNowAsks  bool `bun:"fednow_asks"` // it may ask for payments
	RTPAsks     bool `bun:"rtp_asks"`
	RFPIn       bool `bun:"rfp_in"`       // it may be asked for payments, except by wire
	PositivePay bool `bun:"positive_pay"` // debits of other banks are paid that its rules allow
	// minor units: a wire above it is confirmed by a person; nil for none
	CallbackLimit *int64 `bun:"callback_limit"`
}

// approval is what settings say about the approval of payments. Amounts are in hundredths of the bank's
// currency.
type approval struct {
	Dual   bool            `bun:"dual"`   // it takes a second person
	People int32           `bun:"people"` // 2: it takes two
	First  customers.Cents `bun:"first"`  // up to this amount one is enough all the same; 0: never
	Second customers.Cents `bun:"second"` // above it the bank's own people decide; 0: never
}
