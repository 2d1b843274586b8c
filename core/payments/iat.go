package payments

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"bankgraph/core/banks"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
)

// An entry of ACH of class IAT goes to an account abroad (rest/CONTRACT.md, entries to accounts abroad):
// first to a bank in the United States, its gateway, which passes it on to the bank that has the account.

// AbroadColumn names the column for which what only entries of IAT say is sealed (seal.Place): names,
// addresses, and ids of banks.
const AbroadColumn = "payment_details.abroad"

// overACHAbroad reports whether the order is an entry to an account abroad.
func (o *Order) overACHAbroad() bool {
	return Speed(o.Speed).overACH() && strings.EqualFold(string(o.SECCode), string(rails.IAT))
}

// longestAgent is how long the id of a bank abroad may be.
const longestAgent = 34

// checkAbroad checks what only entries to accounts abroad say. Its class has been checked.
func (o *Order) checkAbroad(c *check.Fields) {
	info := c.In("additionalInfo")
	if !o.overACHAbroad() {
		if o.Purpose != "" {
			info.Fail("transactionTypeCode", fault.Forbidden, "belongs to entries of IAT")
		}
		return
	}
	if Speed(o.Speed) == EconomyPlus {
		info.Fail("secCode", fault.Forbidden, "IAT is not sent on the same day: its speed is Economy")
	}
	info.Required("transactionTypeCode", o.Purpose)
	o.Purpose = check.OneOf(info, "transactionTypeCode", o.Purpose, nacha.Purposes...)
	if o.Receiver.Contact == 0 { // the bank of a contact has a BIC
		info.Required("receiverIdentificationNumber", o.ReceiverBank)
	}
	info.AtMost("receiverIdentificationNumber", o.ReceiverBank, longestAgent)
	if _, country := agentAbroad(o.ReceiverBank); country != "" && o.Receiver.Bank.Country != "" &&
		country != o.Receiver.Bank.Country && o.Receiver.Contact == 0 {
		info.Fail("receiverIdentificationNumber", fault.NoMatch,
			"must be of the country of the other bank, "+o.Receiver.Bank.Country)
	}
}

// agentAbroad returns what the id of a bank is, and the country that it names; "" if it names none.
func agentAbroad(id string) (kind nacha.AgentKind, country string) {
	c := check.Of("payment")
	if c.IBAN("id", id); id != "" && c.Err() == nil {
		return nacha.IBAN, ident.Upper(id[:2])
	}
	c = check.Of("payment")
	// Letters alone begin the BIC of a bank: ids of clearing systems that begin so go on with digits.
	if code := c.BIC("id", id); id != "" && c.Err() == nil && strings.Trim(code[:6], letters) == "" {
		return nacha.BIC, code[4:6]
	}
	return nacha.National, ""
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// checkGateway checks the bank of a payee abroad who is paid by an entry of IAT: by its routing number the
// gateway, by its name and country the bank that has the account. A contact says the latter.
func (b *ReceiverBank) checkGateway(c *check.Fields, contact bool) {
	b.IDType = check.OneOf(c, "bankIdType", b.IDType, "NID", "SWIFT")
	if b.IDType == "NID" && b.BIC != "" {
		c.Fail("swiftCode", fault.Forbidden, besideNID)
		return
	}
	if b.byBIC() {
		c.Fail("bankIdType", fault.Malformed,
			"must be NID, without a swiftCode: an entry of IAT goes to a gateway in the United States")
		return
	}
	c.Required("bankId", b.ID)
	c.Routing("bankId", b.ID)
	if contact {
		return
	}
	c.Required("name", b.Name)
	c.AtMost("name", b.Name, 140)
	b.Address = c.Address("address", b.Address)
	b.Country = c.Country("countryCode", b.Country)
	switch there := b.Address.CountryCode; {
	case b.Country != "" && there != "" && b.Country != there:
		c.Fail("countryCode", fault.NoMatch, "must be that of the bank's address, "+there)
	default:
		b.Country = cmp.Or(b.Country, there)
		c.Required("countryCode", b.Country)
	}
	if b.Country == "US" {
		c.Fail("countryCode", fault.NoMatch, "must be another country than US: IAT is of accounts abroad")
	}
}

// checkAccountAbroad checks what is said of the payee of an entry of IAT who is described in full. Its bank
// has been checked.
func (r *Receiver) checkAccountAbroad(c *check.Fields) {
	r.Address = c.Address("address", r.Address, "addressLine1", "city", "countryCode")
	if !c.In("bank").Failed("countryCode") {
		r.Number = c.AccountNumberAt(r.Bank.Country, "accountNumber", r.Number)
	}
}

// receiverAbroad returns the payee of an entry of IAT who is a contact. Its gateway is that of the order.
func (f *facts) receiverAbroad(k *contact, to Receiver, o *Order) (Receiver, error) {
	if to.Number == "" || k.BIC == "" {
		return Receiver{}, ErrNoAccountAbroad
	}
	if k.BIC[4:6] == "US" {
		return Receiver{}, fault.Field("payment", "receiver.accountUID", fault.NoMatch,
			"must have an account abroad, to which IAT goes")
	}
	if k.Address.Line1 == "" || k.Address.City == "" || k.Address.CountryCode == "" {
		return Receiver{}, fault.Field("payment", "receiver.accountUID", fault.Required,
			"must have an address: street, city and country, which IAT says")
	}
	there := k.BIC[4:6]
	if _, country := agentAbroad(o.ReceiverBank); country != "" && country != there {
		return Receiver{}, fault.Field("payment", "additionalInfo.receiverIdentificationNumber", fault.NoMatch,
			"must be of the country of the contact's bank, "+there)
	}
	to.Bank = ReceiverBank{
		ID: o.Receiver.Bank.ID, Name: cmp.Or(k.BankName, f.nameOf(k.BIC), k.BIC),
		Country: there,
	}
	return to, nil
}

// nameOf returns the name by which the directory knows the bank of a contact; "" if it does not.
func (f *facts) nameOf(bic string) string {
	if bank, err := banks.First(f.banks, headAndBranch(bic)...); err == nil && bank != nil {
		return bank.Name
	}
	return ""
}

// currencyAbroad returns the currency in which the payee of an entry of IAT receives it.
func (r *Receiver) currencyAbroad() money.Currency {
	return cmp.Or(money.Currency(r.Currency), usDollar)
}

// goAbroad adds to the details of a payment what only an entry of IAT says. Names, addresses and ids are
// sealed. bic is that of the contact's bank, or "".
func (d *Details) goAbroad(
	keys *seal.Keys, p *Payment, o *Order, from *party, to *Receiver, bic string,
) error {
	if a := from.Address; a.Line1 == "" || a.City == "" || a.CountryCode == "" {
		return fault.Field("payment", "sender.address", fault.Required,
			"the customer's record needs an address, with street, city and country, which IAT says")
	}
	bank := cmp.Or(o.ReceiverBank, bic)
	kind, _ := agentAbroad(bank)
	d.BankCountry = to.Bank.Country
	d.abroad = &nacha.International{
		Purpose: o.Purpose, Originator: side(p.OwnerName(), from.Address), Receiver: side("", to.Address),
		From: nacha.Agent{
			Name: cmp.Or(from.BankName, from.BankID), Kind: nacha.National, ID: from.BankID, Country: "US",
		},
		To: nacha.Agent{Name: d.BankName, Kind: kind, ID: bank, Country: to.Bank.Country},
	}
	if p.entry.Currency == usDollar {
		d.abroad.ForeignAmount = p.Minor
	}
	text, err := json.Marshal(d.abroad)
	if err != nil {
		return fmt.Errorf("write what an entry of IAT says: %w", err)
	}
	d.AbroadSealed = keys.Encrypt(string(text), d.placeOf(AbroadColumn))
	return nil
}

// openAbroad opens what only an entry of IAT says; other details have none.
func (d *Details) openAbroad(keys *seal.Keys) error {
	var err error
	d.abroad, err = OpenAbroad(keys, d.AbroadSealed, d.placeOf(AbroadColumn))
	return err
}

// OpenAbroad opens what only an entry of IAT says, which was sealed in a place; nil if nothing was.
func OpenAbroad(keys *seal.Keys, sealed []byte, at seal.Place) (said *nacha.International, err error) {
	if sealed == nil {
		return nil, nil //nolint:nilnil // other entries have none
	}
	text, err := keys.Open(seal.Value{Sealed: sealed}, at)
	if err == nil {
		err = json.Unmarshal([]byte(text), &said)
	}
	if err != nil {
		return nil, fmt.Errorf("open what an entry of IAT says: %w", err)
	}
	return said, nil
}

// longestPart is how long city and state are together, or country and postal code, with the sign between them
// and the one at the end.
const longestPart = 35

// side returns who is at one end of an entry of IAT. The signs * and \ part its address.
func side(name string, a postal.Address) nacha.Side {
	plain := func(text string, most int) string {
		return strings.TrimSpace(cut(strings.NewReplacer("*", " ", `\`, " ").Replace(text), most))
	}
	state, code := plain(a.State, 10), plain(a.PostalCode, 15)
	street := a.Line1
	if a.Line2 != "" {
		street += ", " + a.Line2
	}
	return nacha.Side{
		Name: name, Street: street, City: plain(a.City, longestPart-len("*")-len(state)-len(`\`)), State: state,
		Country: a.CountryCode, PostalCode: code,
	}
}

// abroad returns what the batch of an entry says of the way of its money; nothing for other classes than IAT.
func (e *Entry) abroad(country string) nacha.Abroad {
	if e.Class != rails.IAT {
		return nacha.Abroad{}
	}
	return WayAbroad(country, e.Currency)
}

// WayAbroad returns what a batch of IAT says of the way of its money, to a country, where it is received in a
// currency.
func WayAbroad(country string, in money.Currency) nacha.Abroad {
	a := nacha.Abroad{Exchange: nacha.FixedToFixed, Country: country, From: usDollar, To: in}
	if a.From != a.To {
		a.Exchange = nacha.FixedToVariable
	}
	return a
}

// abroad is what an entry of IAT that came in says, as it is kept for its return.
type abroad struct {
	Way   nacha.Abroad
	Entry *nacha.International
}

// keepAbroad keeps what only an entry of IAT says.
func (e *arrivedEntry) keepAbroad(keys *seal.Keys) {
	text, _ := json.Marshal(abroad{e.way, e.abroad}) // which cannot fail
	e.Abroad = keys.Encrypt(string(text), e.placeOf(ReceivedAbroadColumn))
}

// saidAbroad opens what only an entry of IAT that came in says; of others it is empty.
func (e *Received) saidAbroad(keys *seal.Keys) (said abroad, err error) {
	if e.Abroad == nil {
		return said, nil
	}
	text, err := keys.Open(seal.Value{Sealed: e.Abroad}, e.placeOf(ReceivedAbroadColumn))
	if err == nil {
		err = json.Unmarshal([]byte(text), &said)
	}
	if err != nil {
		return said, fmt.Errorf("open what entry %s says: %w", e.Trace, err)
	}
	return said, nil
}

// fromAbroad says who is on the other side of an entry of IAT that came in, and at which bank.
func (d *Details) fromAbroad(said *nacha.International) {
	d.BankName, d.BankCountry = cmp.Or(said.From.Name, d.BankName), said.From.Country
	at := said.Originator
	country, _ := check.CountryOf(at.Country)
	d.Address = postal.Address{
		Line1: at.Street, City: at.City, State: at.State, PostalCode: at.PostalCode, CountryCode: at.Country,
		Country: country.Name,
	}
}
