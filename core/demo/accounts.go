package demo

import (
	"fmt"

	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/seal"
)

// Accounts and contacts share a sequence. Each customer has a hundred of its numbers: the first ten for
// accounts, the others for contacts. The bank's own are its house accounts.
const (
	firstUID   = 100_000_000
	block      = 100
	contactsAt = 10
)

// Account returns the UID of the n-th customer's k-th account, k from 0.
func Account(n int64, k int) accounts.UID { return accounts.UID(firstUID + n*block + int64(k)) }

// AccountNumber returns the account's number in the clear; those of demo accounts are no secret.
func AccountNumber(n int64, k int) string { return "40" + scatter(n*contactsAt+int64(k), 10) }

// share picks one of several values, each given with its chance in percent.
func share(d *dice, shares [][2]int) int {
	at := d.below(100)
	for _, s := range shares {
		if at -= s[1]; at < 0 {
			return s[0]
		}
	}
	return shares[0][0]
}

// accountsOf returns how many accounts a customer has: the first 5, the others 1 to 6, about 5 on average.
func accountsOf(n int64) int {
	switch n {
	case 0:
		return 0
	case 1, 2, 4:
		return 5
	}
	return share(roll(topicAccount, n<<8|0xff), [][2]int{{6, 45}, {5, 30}, {4, 12}, {3, 7}, {2, 4}, {1, 2}})
}

// product is an account that a bank sells. Customers' accounts are drawn from lists of products.
type product struct {
	name    string
	subType accounts.SubType
}

var (
	firstProducts = []product{
		{"Operating Checking", accounts.Checking},
		{"Reserve Savings", accounts.Savings},
		{"Treasury Money Market", accounts.MoneyMarket},
		{"Customer Funds FBO", accounts.Pseudo},
		{"Working Capital Line", accounts.LineOfCredit},
	}
	companyProducts = []product{
		{"Payroll Checking", accounts.Checking},
		{"Vendor Payments Checking", accounts.Checking},
		{"Reserve Savings", accounts.Savings},
		{"Treasury Money Market", accounts.MoneyMarket},
		{"Customer Funds FBO", accounts.Pseudo},
		{"Working Capital Line", accounts.LineOfCredit},
		{"Twelve Month CD", accounts.CD},
		{"Business Credit Card", accounts.CreditCard},
	}
	personProducts = []product{
		{"Everyday Savings", accounts.Savings},
		{"Joint Checking", accounts.Checking},
		{"Health Savings", accounts.HealthSavings},
		{"Rainy Day Money Market", accounts.MoneyMarket},
		{"Home Equity Line", accounts.Heloc},
		{"Cash Back Credit Card", accounts.CreditCard},
		{"Eighteen Month CD", accounts.CD},
	}
)

func productOf(d *dice, n int64, k int) product {
	switch {
	case n == 1:
		return firstProducts[k]
	case k == 0 && person(n):
		return product{"Everyday Checking", accounts.Checking}
	case k == 0:
		return firstProducts[0]
	case person(n):
		return pick(d, personProducts)
	}
	return pick(d, companyProducts)
}

// opened is an account with what the ledger needs.
type opened struct {
	*accounts.Account
	opening   int64 // minor units
	overdraft int64
	journal   int64 // the number of its opening journal
}

// account is the n-th customer's k-th account.
func (b *bank) account(n int64, k int) *opened {
	d := roll(topicAccount, n<<8|int64(k))
	p := productOf(d, n, k)
	uid := Account(n, k)
	at := seal.Place{Tenant: int64(b.tenant), Column: accounts.NumberColumn, Row: int64(uid)}
	created := b.ago(d, 30, 2000)
	a := &accounts.Account{
		Tenant: b.tenant, UID: uid, Customer: Customer(n), ExternalReferenceID: fmt.Sprintf("ACC-%d", uid),
		Name: p.name, Number: b.keys.Seal(AccountNumber(n, k), at), Type: accounts.Deposit, SubType: p.subType,
		SystemOfRecord: accounts.InternalCore, BalanceType: "DDA", Currency: "USD", CountryCode: "US",
		Country: "United States", BankID: homeRouting, BankName: b.name, BankIDType: accounts.NID,
		MasterGL: masterGL[p.subType], CostCenter: fmt.Sprintf("CC%03d", 100+d.below(40)), Status: accounts.Active,
		SECCodes: []string{}, AdditionalAttributes: []customers.Attribute{}, CreatedAt: created,
		UpdatedAt: created.AddDate(0, 0, d.below(30)), Version: 1,
	}
	if p.subType == accounts.CreditCard || p.subType == accounts.Heloc || p.subType == accounts.LineOfCredit {
		a.Type = accounts.Loan
	}
	if !person(n) && n > 2 && k >= 3 && a.Type == accounts.Deposit && d.chance(8) {
		a.Currency = pick(d, currencies[1:])
	}
	if p.subType == accounts.Pseudo { // in front of the customer's first account
		a.FBONumber = b.keys.Seal(AccountNumber(n, 0),
			seal.Place{Tenant: at.Tenant, Column: accounts.FBONumberColumn, Row: at.Row})
	}
	b.placeAccount(a, d, n, k)
	setStatus(a, d, n, k)
	if a.Status != accounts.Closed && a.Type == accounts.Deposit {
		setFeatures(a, d, n, k)
	} else if a.Type == accounts.Loan {
		a.Reason = "Payments to this account are booked by the loan desk"
	}
	opening, overdraft := content(a, d, n)
	return &opened{Account: a, opening: opening, overdraft: overdraft, journal: journalID(n, k)}
}

// currencies of the demo bank's accounts.
var currencies = []money.Currency{"USD", "EUR", "GBP", "CAD"}

var masterGL = map[accounts.SubType]string{
	accounts.Checking: "201000", accounts.Savings: "202000", accounts.HealthSavings: "203000",
	accounts.CD:          "204000",
	accounts.MoneyMarket: "205000", accounts.Pseudo: "206000", accounts.CreditCard: "131000",
	accounts.Heloc:        "132000",
	accounts.LineOfCredit: "133000",
}

// placeAccount says who keeps the account: mostly this bank.
func (b *bank) placeAccount(a *accounts.Account, d *dice, n int64, k int) {
	if n <= 2 || k == 0 || a.SubType == accounts.Pseudo || a.Currency != "USD" {
		return
	}
	switch at := d.below(100); {
	case at < 8:
		a.SystemOfRecord, a.BalanceType = accounts.OtherCore, "Available"
	case at < 14:
		other := d.below(len(usBanks))
		a.SystemOfRecord, a.BalanceType = accounts.External, "Available"
		a.BankID, a.BankName = usRouting(other), usBanks[other]
		a.ExternalProvider, a.ExternalID = "linkhub", "lh-"+d.digits(12)
		a.ExternalToken = b.keys.Seal("access-sandbox-"+d.digits(24),
			seal.Place{Tenant: int64(b.tenant), Column: accounts.ExternalTokenColumn, Row: int64(a.UID)})
	}
}

// setStatus sets the status. Accounts of a customer that is not active have the customer's status; a few
// others are inactive or closed. The second customer's third account is inactive, the fourth customer's is
// closed.
func setStatus(a *accounts.Account, d *dice, n int64, k int) {
	at := d.below(100)
	switch {
	case status(n) == customers.Suspended:
		a.Status, a.Reason = accounts.Suspended, "The customer is suspended"
	case status(n) == customers.StatusNew:
		a.Status = accounts.StatusNew
	case status(n) == customers.Pending:
		a.Status = accounts.Pending
	case n == 2 && k == 2, n > 4 && k > 1 && at < 4:
		a.Status, a.Reason = accounts.Inactive, "No movement for twelve months"
	case n == 4 && k == 2, n > 4 && k > 1 && at < 8:
		a.Status, a.Reason = accounts.Closed, "Closed at the customer's wish"
	}
}

func cents(dollars int64) *int64 {
	minor := dollars * 100
	return &minor
}

// setFeatures sets the features of an account, within the rules (rest/CONTRACT.md, account rules).
func setFeatures(a *accounts.Account, d *dice, n int64, k int) {
	company := !person(n)
	a.EnableWires = company || d.chance(60)
	a.EnableDomesticWires = a.EnableWires
	a.EnableInternationalWires = a.EnableWires &&
		(n == 1 && k == 0 || a.Currency != "USD" || company && d.chance(40))
	a.EnableSWIFT = a.EnableInternationalWires
	if a.EnableDomesticWires && a.SubType != accounts.Pseudo && (n == 1 && k == 0 || company && d.chance(45)) {
		a.EnableCallbacks, a.CallbackLimit = true, cents(d.in(2, 50)*5000)
	}
	if a.Currency == "USD" {
		pays := k == 0 && Customer(n) == PartnersFirst // as the first customer does
		a.EnableRTP = n == 1 && k == 0 || d.chance(55)
		a.RTPSend = a.EnableRTP && (n == 1 || d.chance(80))
		a.RTPRFPSend = a.RTPSend && company && d.chance(50)
		a.EnableFedNow = n == 1 && k < 2 || pays || d.chance(45)
		a.FedNowSend = a.EnableFedNow && (n == 1 || pays || d.chance(75))
		a.FedNowRFPSend = a.FedNowSend && company && d.chance(40)
		a.RFPReceive = a.EnableRTP || a.EnableFedNow
		a.RFPSend = a.RTPRFPSend || a.FedNowRFPSend
	}
	a.AccountAnalysis = company && d.chance(50)
	a.FeeAccount, a.ReturnAccount = k == 0, k == 0
	a.EnablePositivePay = company && a.SubType == accounts.Checking && d.chance(50) || n == 1 && k == 0
	if company && a.Currency == "USD" && (k == 0 || d.chance(70)) {
		setACH(a, d, n, k)
	}
}

// setACH sets the ACH features: an originator is either underwritten or prefunded, and its first account is
// the offset account.
func setACH(a *accounts.Account, d *dice, n int64, k int) {
	a.EnableACH, a.ACHCompanyID, a.SECCodes = true, achCompanyID(n), []string{"CCD", "PPD", "ENR", "IAT"}
	if d.chance(50) {
		a.SECCodes = append(a.SECCodes, "CTX", "WEB")
	}
	a.EnableOffset, a.DefaultOffset = k == 0, k == 0
	switch {
	case n == 1 && k == 0 || d.chance(60):
		a.Underwritten = true
		a.DebitExposureLimit, a.CreditExposureLimit = cents(d.in(1, 20)*50_000), cents(d.in(2, 40)*50_000)
	case d.chance(60):
		a.ACHPrefund, a.DebitExposureLimit = true, cents(d.in(1, 10)*25_000)
	}
}

// content returns the opening balance and the overdraft in minor units. The balance of a loan is negative.
func content(a *accounts.Account, d *dice, n int64) (opening, overdraft int64) {
	switch {
	case a.SystemOfRecord != accounts.InternalCore, a.Status == accounts.Closed, a.Status == accounts.StatusNew,
		a.Status == accounts.Pending:
		return 0, 0
	case a.Type == accounts.Loan:
		line := d.in(5, 40) * 100_000
		if !person(n) {
			line *= 20
		}
		return -line * d.in(0, 90) / 100, line
	}
	most := int64(4_000_000)
	if !person(n) {
		most = 250_000_000
	}
	// Rolled twice, so that small amounts are more common than large ones.
	opening = d.in(0, d.in(most/100, most))
	switch at := d.below(100); {
	case n <= 4:
		opening += 1_234_56
	case at < 3: // nothing left
		opening = 0
	case at < 13 && a.SubType == accounts.Checking:
		overdraft = 100_000
		if at < 6 { // and drawn on
			opening = -d.in(1_00, overdraft)
		}
	}
	return opening, overdraft
}
