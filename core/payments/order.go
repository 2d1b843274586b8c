package payments

import (
	"cmp"
	"strings"
	"time"

	"bankgraph/core/banks"
	"bankgraph/core/check"
	"bankgraph/core/contacts"
	"bankgraph/core/fault"
	"bankgraph/core/fx"
	"bankgraph/core/ident"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
)

// Order is what a request says about a credit to somebody at another bank (rest/CONTRACT.md, credit
// requests).
type Order struct {
	Sender Party `json:"sender"`
	// the routing number of the bank to which a wire goes first; "" for the payee's bank, or the intermediary
	Correspondent string   `json:"correspondentBankId,omitempty"`
	Receiver      Receiver `json:"receiver"`
	Amount        string   `json:"paymentAmount"` // decimal, in Currency
	Currency      string   `json:"paymentCurrency"`
	// of settlement; midnight UTC; zero for the first possible one
	Date                time.Time `json:"paymentDate,omitzero"`
	Speed               string    `json:"speed"`
	ExternalReferenceID string    `json:"externalReferenceId"`
	Notes               string    `json:"paymentNotes,omitempty"`
	Channel             string    `json:"channel,omitempty"` // "" for API
	CostCenter          string    `json:"costCenter,omitempty"`
	RequestMethod       string    `json:"requestMethod,omitempty"`
	OperationNote       string    `json:"operationNote,omitempty"`
	Remittance          string    `json:"paymentRemittanceNotes,omitempty"`
	// of instant credits: how the payee gets a remittance that is elsewhere, EMAL or URID; it picks RTP
	RemittanceMethod string `json:"remittanceMethod,omitempty"`
	Reference        string `json:"referenceForBeneficiary,omitempty"`
	Charges          string `json:"detailsOfCharges,omitempty"` // OUR, BEN, SHA
	// the trade that buys the amount of an international payment in another currency than the account's
	Contract       fx.TradeUID `json:"fxContractNumber,omitempty"`
	OriginatorInfo string      `json:"originatorToBeneficiary,omitempty"`
	BankInfo       string      `json:"senderToReceiverNotes,omitempty"`
	// the remittance of a wire by another name
	Addenda string `json:"unstructuredAddendaInfo,omitempty"`
	// LocalInstrument says how an instant network is to treat the payment, and so picks the network that
	// knows it. It is not sent with wires.
	LocalInstrument string `json:"localInstruments,omitempty"`
	// EntryType is Debit if the payee asks for the money. Such an order is the other way round: Sender, whose
	// account is here, is credited, and Receiver pays.
	EntryType rails.EntryType `json:"entryType,omitempty"`
	// of a request for payment, which is a debit of the speed Instant
	Ask       Ask           `json:"ask,omitzero"`
	Fee       *CustomFee    `json:"fee,omitempty"`             // nil for what the fee tier says
	Repeat    *Repetition   `json:"recurrence,omitempty"`      // nil for a single payment
	SECCode   rails.SECCode `json:"secCode,omitempty"`         // of ACH alone
	CompanyID string        `json:"achCompanyID,omitempty"`    // of ACH; where given that of the account
	Benefit   *Benefit      `json:"benefitReceiver,omitempty"` // of an enrolment, whose class is ENR
	// of an entry to an account abroad, whose class is IAT: what it is for, and the id of the bank there
	Purpose      string `json:"transactionTypeCode,omitempty"`
	ReceiverBank string `json:"receiverIdentificationNumber,omitempty"`
	// what is said about the payer beside its account: it is checked but not used, as messages say what the
	// bank knows
	SenderEntity  string         `json:"entityType,omitempty"` // Consumer, Corporate, Processing Org
	SenderAddress postal.Address `json:"senderAddress"`
	SenderEmail   string         `json:"email,omitempty"`
	SenderPhone   string         `json:"phone,omitempty"`
	// Strict requires all that the current published form does (rest/CONTRACT.md, credit requests).
	Strict bool `json:"strict,omitempty"`
	// Repairable lets a credit that would be refused wait for the bank's people to repair it, unless nobody
	// can (rest/CONTRACT.md, repair).
	Repairable bool   `json:"repairable,omitempty"`
	asked      []byte // of a repairable order: what was asked for, unchanged
	unfit      error  // of a repairable order: the faults of its form that can be repaired
	// if its network is closed on its date, it settles on the next day on which the network is open; for
	// payments of series
	moves bool
	// the one network that it may go over, since another bank has asked for it there; "" for any
	over rails.Rail
}

// Receiver is the payee: a contact of the customer that pays, or somebody described in full.
type Receiver struct {
	Contact  contacts.UID   `json:"contact,omitempty"`
	Number   string         `json:"accountNumber,omitempty"`
	Type     string         `json:"accountType,omitempty"`
	SubType  string         `json:"subAccountType,omitempty"`
	Currency string         `json:"accountCurrency,omitempty"`
	Name     string         `json:"name,omitempty"`
	Phone    string         `json:"phone,omitempty"`
	Email    string         `json:"email,omitempty"`
	Address  postal.Address `json:"address"`
	Bank     ReceiverBank   `json:"bank"`
	// the bank that a wire goes over, if it goes over one
	Between ReceiverBank `json:"intermediaryBank,omitzero"`
}

// ReceiverBank is the payee's bank. Wires alone pay banks outside the United States.
type ReceiverBank struct {
	IDType  string         `json:"bankIdType,omitempty"` // NID or SWIFT
	ID      string         `json:"bankId,omitempty"`     // an ABA routing number
	BIC     string         `json:"swiftCode,omitempty"`
	Name    string         `json:"name,omitempty"`
	Country string         `json:"countryCode,omitempty"`
	Address postal.Address `json:"address"`
	// of wires: the account that it has with the bank before it, and its kind, IBAN or Others
	AccountType string `json:"accountType,omitempty"`
	Account     string `json:"accountNumber,omitempty"`
}

// Speed is how fast a payment is to be, which picks the network (rest/CONTRACT.md, speeds).
type Speed string

const (
	Economy     Speed = "Economy"      // ACH, which settles on the next banking day
	EconomyPlus Speed = "Economy Plus" // ACH on the same day
	Instant     Speed = "Instant"      // an instant network, which the smart routing picks
	Express     Speed = "Express"      // a wire
	// international payments over SWIFT, which settle on the spot date, on the same day and on the next one
	Spot    Speed = "SPOT"
	SameDay Speed = "ON"
	NextDay Speed = "TN"
)

// Speeds lists the speeds that the bank offers.
var Speeds = []Speed{Economy, EconomyPlus, Instant, Express, Spot, SameDay, NextDay}

// networks lists for each speed the networks that can take the payment, the preferred one first.
var networks = map[Speed][]rails.Rail{
	Economy: {rails.ACH}, EconomyPlus: {rails.ACH}, Instant: {rails.FedNow, rails.RTP}, Express: {rails.Fedwire},
	Spot: {rails.SWIFT}, SameDay: {rails.SWIFT}, NextDay: {rails.SWIFT},
}

// asks reports whether a debit of the speed asks the debtor to pay, and takes nothing by itself.
func (s Speed) asks() bool { return s == Instant || s == Express }

// wires reports whether credits of the speed are wires, which may go over other banks.
func (s Speed) wires() bool { return s == Express || s.International() }

// overACH reports whether payments of the speed are entries of ACH.
func (s Speed) overACH() bool { return s == Economy || s == EconomyPlus }

// ParseSpeed reads a speed without regard to letter case.
func ParseSpeed(field, text string) (Speed, error) {
	if speed, ok := ident.Word(text, Speeds...); ok {
		return speed, nil
	}
	return "", fault.Field("payment", field, fault.Malformed,
		"must be one of the speeds Economy, Economy Plus, Express, Instant, SPOT, ON, TN")
}

// the most that the messages of every network carry
const (
	longestReference   = 50
	longestNotes       = 215
	longestRemittance  = 140
	longestToReceiver  = 140
	longestBeneficiary = 16
	longestAddenda     = 80 // of ACH
)

// longestToBank is the published length of what the other bank is told, by the direction of the payment.
var longestToBank = map[rails.EntryType]int{rails.Credit: 105, rails.Debit: 210}

// wire reports whether the order is a wire, which may go over other banks.
func (o *Order) wire() bool { return o.entryType() == rails.Credit && Speed(o.Speed).wires() }

// entryType returns who starts the payment: the payer, unless the order says otherwise.
func (o *Order) entryType() rails.EntryType { return cmp.Or(o.EntryType, rails.Credit) }

// check validates the form of an order. What accounts and banks it names is checked where it is carried out.
func (o *Order) check() error {
	c := check.Of("payment")
	c.Required("externalReferenceId", o.ExternalReferenceID)
	c.AtMost("externalReferenceId", o.ExternalReferenceID, longestReference)
	if o.Strict && !o.Repairable && strings.ContainsAny(o.ExternalReferenceID, "!<>/") {
		c.Fail("externalReferenceId", fault.Malformed, "must not contain ! < > /")
	}
	if !o.enrols() {
		CheckAmount(c, o.Amount)
	}
	c.Required("paymentCurrency", o.Currency)
	o.Currency = string(c.Currency("paymentCurrency", o.Currency))
	c.Required("speed", o.Speed)
	if o.Speed != "" {
		o.Speed = string(check.Parsed(c, "speed", o.Speed, ParseSpeed))
		if speed := Speed(o.Speed); speed != "" && o.EntryType == rails.Debit && !collecting[speed] {
			c.Fail("speed", fault.Forbidden, "debits of this speed are not offered")
			o.Speed = "" // which asks for nothing more
		}
	}
	o.checkSender(c.In("sender"))
	if o.enrols() {
		o.checkEnrolment(c)
	} else {
		o.Receiver.check(c.In("receiver"), o)
	}
	o.checkEntry(c)
	o.checkAbroad(c)
	o.checkExchange(c)
	if o.EntryType == rails.Debit {
		o.Ask.check(c.In("additionalInfo"), Speed(o.Speed))
	}
	o.checkTexts(c)
	o.Fee.check(c.In("fee"))
	asks := o.EntryType == rails.Debit && Speed(o.Speed).asks()
	if o.Fee != nil && asks {
		c.Fail("fee", fault.Forbidden, "a request for payment costs nothing")
	}
	longest := int32(mostPayments)
	if o.Strict {
		longest = mostPaymentsStrict
	}
	if o.Repeat != nil && asks {
		c.Fail("recurrence", fault.Forbidden, "a request for payment is not repeated")
	}
	o.Repeat.check(c.In("recurrence"), o.Date, longest)
	return c.Err()
}

// checkSender checks what is said of the payer. In the strict form, an account that is named by its number is
// described in full.
func (o *Order) checkSender(c *check.Fields) {
	o.Sender.check(c, false)
	if !o.wire() {
		o.Correspondent = ""
	}
	o.Sender.BankIDType = check.OneOf(c, "bankIdType", o.Sender.BankIDType, "NID", "BIC", "SWIFT")
	c.Routing("correspondentBankId", o.Correspondent)
	o.SenderEntity = check.OneOf(c, "entityType", o.SenderEntity, "Consumer", "Corporate", "Processing Org")
	c.AtMost("phone", o.SenderPhone, 35)
	if o.SenderEmail != "" {
		c.Email("email", o.SenderEmail)
	}
	full := o.Strict && o.Sender.UID == 0 && o.Sender.Number != ""
	var required []string
	if o.SenderAddress != (postal.Address{}) || full && !o.Repairable {
		required = []string{"addressLine1", "city", "countryCode"}
	}
	o.SenderAddress = c.Address("address", o.SenderAddress, required...)
	if full {
		c.Required("accountType", o.Sender.Type)
		c.Required("accountName", o.Sender.Name)
		c.Required("entityType", o.SenderEntity)
		c.Required("routingNumber", o.Sender.RoutingNumber)
	}
}

// classes are the entry classes of credits and debits that are sent one by one.
var classes = map[rails.EntryType][]rails.SECCode{
	rails.Credit: {rails.PPD, rails.CCD, rails.CTX, rails.ENR, rails.IAT},
	rails.Debit:  {rails.PPD, rails.CCD, rails.CTX, rails.WEB, rails.TEL, rails.IAT},
}

// checkEntry checks what only ACH asks for (rest/CONTRACT.md, payments over ACH).
func (o *Order) checkEntry(c *check.Fields) {
	info := c.In("additionalInfo")
	if o.Benefit != nil && !o.enrols() {
		info.Fail("benefitReceiver", fault.Forbidden, "belongs to enrolments, whose secCode is ENR")
	}
	if o.Speed == "" {
		return
	}
	if !Speed(o.Speed).overACH() {
		if o.SECCode != "" {
			info.Fail("secCode", fault.Forbidden, "belongs to the speeds Economy and Economy Plus")
		}
		return
	}
	info.Required("secCode", string(o.SECCode))
	o.SECCode = check.OneOf(info, "secCode", string(o.SECCode), classes[o.entryType()]...)
	c.In("sender").AtMost("achCompanyID", o.CompanyID, 10)
	if o.Strict && o.Sender.UID == 0 && o.Sender.Number != "" {
		c.In("sender").Required("achCompanyID", o.CompanyID)
	}
	info.AtMost("paymentRemittanceNotes", o.Remittance, longestAddenda)
	if o.Receiver.Contact == 0 && o.Receiver.Number != "" && !o.enrols() {
		to := c.In("receiver")
		to.Required("accountType", o.Receiver.Type)
		if o.Receiver.Type != general {
			to.Required("subAccountType", o.Receiver.SubType)
		}
		if !o.overACHAbroad() {
			to.AtMost("accountNumber", o.Receiver.Number, mostNumber)
		}
	}
}

func (o *Order) checkTexts(c *check.Fields) {
	for _, text := range []*string{
		&o.Notes, &o.Remittance, &o.Reference, &o.OriginatorInfo,
		&o.BankInfo, &o.Addenda,
	} {
		if strings.TrimSpace(*text) == "" {
			*text = "" // a blank text says nothing, and no network has one
		}
	}
	c.AtMost("paymentNotes", o.Notes, longestNotes)
	if Speed(o.Speed).International() {
		c.Required("paymentNotes", o.Notes)
	}
	info := c.In("additionalInfo")
	info.AtMost("channel", o.Channel, 50)
	info.AtMost("costCenter", o.CostCenter, 25)
	info.AtMost("requestMethod", o.RequestMethod, 45)
	info.AtMost("operationNote", o.OperationNote, 200)
	info.AtMost("paymentRemittanceNotes", o.Remittance, longestRemittance)
	const addenda = "unstructuredAddendaInfo.addendaInformation"
	info.AtMost(addenda, o.Addenda, longestRemittance)
	switch {
	case o.Addenda == "":
	case Speed(o.Speed) == Instant || Speed(o.Speed).overACH():
		info.Fail(addenda, fault.Forbidden, "belongs to wires: the speeds Express, SPOT, ON and TN")
	case o.Remittance != "" && o.Remittance != o.Addenda:
		info.Fail(addenda, fault.NoMatch,
			"must be paymentRemittanceNotes where both are given: the receiver is told one text")
	}
	info.AtMost("referenceForBeneficiary", o.Reference, longestBeneficiary)
	info.AtMost("originatorToBeneficiary", o.OriginatorInfo, longestToReceiver)
	info.AtMost("senderToReceiverNotes", o.BankInfo, longestToBank[o.entryType()])
	o.Charges = check.OneOf(info, "detailsOfCharges", o.Charges, "OUR", "BEN", "SHA")
	o.checkInstrument(info)
	o.checkElsewhere(c)
}

// check checks the payee. If a contact is named, nothing else counts.
func (r *Receiver) check(c *check.Fields, o *Order) {
	if r.Contact != 0 {
		if o.overACHAbroad() {
			r.Bank.checkGateway(c.In("bank"), true)
		}
		return
	}
	switch {
	case *r == Receiver{}:
		c.Fail("accountUID", fault.Required, "is required, or an accountNumber instead")
		return
	case r.Number == "":
		c.Fail("accountNumber", fault.Required, "is required where no contact is named")
		return
	}
	abroad := Speed(o.Speed).International()
	if o.Speed == "" || Speed(o.Speed) == Express && o.wire() { // without a speed only the BIC tells
		abroad = abroad || r.Bank.byBIC()
	}
	if !abroad && !o.overACHAbroad() { // the form of one abroad is that of its country
		c.AccountNumberElsewhere("accountNumber", r.Number)
	}
	c.Required("name", r.Name)
	c.AtMost("name", r.Name, 140)
	r.Type = check.OneOf(c, "accountType", r.Type, types...)
	r.SubType = string(check.OneOf(c, "subAccountType", r.SubType, subTypes...))
	r.Currency = string(c.Currency("accountCurrency", r.Currency))
	if o.Strict {
		c.Required("accountCurrency", r.Currency)
	}
	if r.Currency != "" && o.Currency != "" && r.Currency != o.Currency && !o.overACHAbroad() {
		c.Fail("accountCurrency", fault.NoMatch, "must be the payment's currency "+o.Currency)
	}
	if r.Email != "" {
		c.Email("email", r.Email)
	}
	c.AtMost("phone", r.Phone, 35)
	var required []string
	if Speed(o.Speed) == Express {
		required = []string{"addressLine1", "city", "countryCode"}
	}
	if o.overACHAbroad() {
		r.Bank.checkGateway(c.In("bank"), false)
		r.checkAccountAbroad(c)
	} else {
		r.Address = c.Address("address", r.Address, required...)
		r.Bank.check(c.In("bank"), abroad)
	}
	if r.Between != (ReceiverBank{}) {
		if o.Speed != "" && !o.wire() {
			c.Fail("intermediaryBank", fault.Forbidden, "belongs to wires: the speeds Express, SPOT, ON and TN")
			return
		}
		r.Between.check(c.In("intermediaryBank"), Speed(o.Speed).International() || r.Between.byBIC())
	}
	r.Bank.checkAccount(c.In("bank"), o.wire())
	r.Between.checkAccount(c.In("intermediaryBank"), o.wire())
	if abroad {
		country := ""
		if r.Bank.BIC != "" && !c.In("bank").Failed("swiftCode") {
			country = r.Bank.BIC[4:6]
		}
		r.Number = c.AccountNumberAt(country, "accountNumber", r.Number)
	}
}

// checkExchange checks what only international payments ask for (rest/CONTRACT.md, international payments).
func (o *Order) checkExchange(c *check.Fields) {
	info := c.In("additionalInfo")
	switch abroad := o.Speed == "" || Speed(o.Speed).International(); {
	case !abroad && o.Contract != 0:
		info.Fail("fxContractNumber", fault.Forbidden, "belongs to the speeds SPOT, ON and TN")
	case o.Speed == "" || !abroad:
	case o.Date.IsZero() && o.Contract == 0:
		info.Fail("fxContractNumber", fault.Required, "is required without a paymentDate")
	case o.Repeat != nil:
		c.Fail("recurrence", fault.Forbidden, "does not belong to the speeds SPOT, ON and TN")
	}
}

// refs returns the refs under which the directory has the bank.
func (b *ReceiverBank) refs() []banks.Ref {
	if b.BIC != "" {
		return headAndBranch(b.BIC)
	}
	return []banks.Ref{banks.Routing(b.ID)}
}

// byBIC reports whether a bank is named by its BIC.
func (b *ReceiverBank) byBIC() bool { return b.IDType == "SWIFT" || b.BIC != "" }

// checkAccount checks the account that a bank has with the one before it. Only wires tell it.
func (b *ReceiverBank) checkAccount(c *check.Fields, wire bool) {
	if !wire {
		b.AccountType, b.Account = "", ""
	}
	switch b.AccountType = check.OneOf(c, "accountType", b.AccountType, "IBAN", "Others"); b.AccountType {
	case "IBAN":
		c.Required("accountNumber", b.Account)
		b.Account = c.IBAN("accountNumber", b.Account)
	case "Others":
		c.Required("accountNumber", b.Account)
	}
	c.AtMost("accountNumber", b.Account, 34)
	c.AccountNumberElsewhere("accountNumber", b.Account)
}

// checkAbroad checks a bank that is named by its BIC.
func (b *ReceiverBank) checkAbroad(c *check.Fields) {
	b.BIC = c.BIC("swiftCode", b.BIC) // first: others read the country in it
	if b.IDType == "SWIFT" && b.ID != "" {
		c.Fail("bankId", fault.Forbidden, "must be absent beside SWIFT: a bank abroad is named by "+
			"its swiftCode")
		return
	}
	if b.IDType == "NID" || b.ID != "" {
		c.Fail("bankIdType", fault.Malformed,
			"must be SWIFT, without a bankId: a bank abroad is named by its swiftCode")
		return
	}
	c.Required("swiftCode", b.BIC)
	b.Country = c.Country("countryCode", b.Country)
	if b.Country != "" && b.BIC != "" && !c.Failed("swiftCode") && b.Country != b.BIC[4:6] {
		c.Fail("countryCode", fault.NoMatch, "must be the country of the swiftCode, "+b.BIC[4:6])
	}
	c.AtMost("name", b.Name, 140)
	b.Address = c.Address("address", b.Address)
}

// besideNID is said of a swiftCode beside the bankIdType NID.
const besideNID = "must be absent beside NID: the bank is named by its bankId"

func (b *ReceiverBank) check(c *check.Fields, abroad bool) {
	b.IDType = check.OneOf(c, "bankIdType", b.IDType, "NID", "SWIFT")
	if abroad {
		b.checkAbroad(c)
		return
	}
	if b.IDType == "NID" && b.BIC != "" {
		c.Fail("swiftCode", fault.Forbidden, besideNID)
		return
	}
	if b.byBIC() {
		c.Fail("bankIdType", fault.Malformed,
			"must be NID, without a swiftCode: these speeds pay banks in the United States")
		return
	}
	c.Required("bankId", b.ID)
	c.Routing("bankId", b.ID)
	b.Country = c.Country("countryCode", b.Country)
	if b.Country != "" && b.Country != "US" {
		c.Fail("countryCode", fault.NoMatch, "must be US, where these speeds pay")
	}
	c.AtMost("name", b.Name, 255)
}
