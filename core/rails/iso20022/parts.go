package iso20022

import (
	"slices"
	"strings"
	"time"

	"bankgraph/core/postal"
)

// Party is who pays or is paid. Of its address the first line is the street, and the country its code.
type Party struct {
	Name        string // at most 140 characters
	Account     string // its number, at most 34
	IBAN        string // instead of Account
	AccountType string // such as CACC or SVGS
	Address     postal.Address
}

// Agent is a bank.
type Agent struct {
	Routing string // nine digits; of another clearing system if System says so
	System  string // clearing system, USABA if empty
	BIC     string
	Name    string
}

// AgentAccount is an account that a bank has with another bank.
type AgentAccount struct {
	Number string // at most 34 characters
	IBAN   string // instead of Number
}

// Original names the message that another one is about, and the payment in it.
type Original struct {
	MessageID string
	Type      string // such as TypeCreditTransfer
	CreatedAt time.Time

	// Fedwire's Status has of these only the UETR, PaymentAnswer and PaymentRequest no transaction id.
	InstructionID, EndToEndID, TransactionID, UETR string
}

// Reason says why something was rejected, returned or recalled.
type Reason struct {
	Code        string   // of ISO 20022, four characters such as AC04; of the network, if Proprietary
	Proprietary bool     // such as E433 of Fedwire
	Text        []string // at most two of at most 105 characters
}

// party is a party with its account, without its agent.
func (c *codec) party(name string, p *Party) {
	c.in(name, func() { c.nameAndAddress(p) })
	c.account(name+"Acct", p)
}

// ultimate is who is behind a party; only its name and address.
func (c *codec) ultimate(name string, p *Party) {
	if a := p.Address; c.profile.fedwire && !c.reading() && a != (postal.Address{}) &&
		(a.City == "" || a.CountryCode == "") {
		c.failAt(name, "needs city and country in its address")
	}
	c.maybe(name, *p != Party{}, func() { c.nameAndAddress(p) })
}

// nameAndAddress demands a name of what is written; others may leave it out.
func (c *codec) nameAndAddress(p *Party) {
	c.leaf("Nm", &p.Name, text140, !c.reading())
	a := &p.Address
	there := a.Line1+a.Line2+a.City+a.State+a.PostalCode+a.CountryCode != ""
	c.maybe("PstlAdr", there, func() { c.address(a) })
}

func (c *codec) address(a *postal.Address) {
	var house string
	var lines []string
	if !c.reading() && a.Line2 != "" {
		lines = []string{a.Line2}
	}
	c.option("StrtNm", &a.Line1, text70)
	c.option("BldgNb", &house, text16)
	c.option("PstCd", &a.PostalCode, text16)
	c.option("TwnNm", &a.City, text35)
	c.option("CtrySubDvsn", &a.State, text35)
	c.option("Ctry", &a.CountryCode, country)
	line := text70
	if !c.reading() {
		line = text35
	}
	c.list("AdrLine", &lines, line, 3)
	if c.reading() {
		if house != "" {
			a.Line1 = strings.TrimSpace(house + " " + a.Line1)
		}
		if a.Line1 == "" && len(lines) > 0 {
			a.Line1, lines = lines[0], lines[1:]
		}
		a.Line2 = strings.Join(lines, ", ")
	}
}

func (c *codec) account(name string, p *Party) {
	c.accountOf(name, &p.Account, &p.IBAN, &p.AccountType)
}

// agentAccount is an account of a bank, where the network has a place for it.
func (c *codec) agentAccount(name string, a *AgentAccount) {
	if c.profile.fedwire || c.profile.swift {
		c.accountOf(name, &a.Number, &a.IBAN, new(string))
	}
}

func (c *codec) accountOf(name string, number, international, kind *string) {
	if *number != "" && *international != "" {
		c.failAt(name, "has an account number and an IBAN")
	}
	c.maybe(name, *number+*international != "", func() {
		c.in("Id", func() {
			c.option("IBAN", international, iban)
			c.maybe("Othr", *number != "", func() { c.text("Id", number, account34) })
		})
		c.maybe("Tp", *kind != "", func() { c.option("Cd", kind, code4) })
	})
}

// agent is a bank with all that is known of it.
func (c *codec) agent(name string, a *Agent) {
	if !c.reading() && a.Routing+a.BIC == "" {
		c.failAt(name, "has neither a routing number nor a BIC")
	}
	c.in(name, func() { c.bank(a) })
}

func (c *codec) bank(a *Agent) {
	c.in("FinInstnId", func() {
		c.option("BICFI", &a.BIC, bic)
		c.maybe("ClrSysMmbId", a.Routing != "", func() { c.member(a) })
		c.option("Nm", &a.Name, text140)
	})
}

func (c *codec) member(a *Agent) {
	system := a.System
	if system == "" {
		system = usaba
	}
	c.in("ClrSysId", func() { c.text("Cd", &system, kind{most: 5}) })
	of := id35
	if system == usaba {
		of = routing
	}
	c.text("MmbId", &a.Routing, of)
	if c.reading() && system != usaba {
		a.System = system
	}
}

// usaba is the clearing system of routing numbers.
const usaba = "USABA"

// routed is a participant by its routing number alone, on SWIFT by its BIC.
func (c *codec) routed(name string, number *string) {
	c.in(name, func() {
		c.in("FinInstnId", func() {
			if c.profile.swift {
				c.text("BICFI", number, bic)
				return
			}
			c.in("ClrSysMmbId", func() {
				c.in("ClrSysId", func() { c.fixed("Cd", usaba) })
				c.text("MmbId", number, routing)
			})
		})
	})
}

// group has the ID and the time that every message begins with.
func (c *codec) group(name string, of kind) {
	c.sameID(name, of)
	c.instant("CreDtTm", &c.message.Head().CreatedAt)
}

// sameID is the ID of the message, which its header has as well.
func (c *codec) sameID(name string, of kind) {
	id := c.message.Head().ID
	c.text(name, &id, of)
	if id != c.message.Head().ID {
		c.failAt(name, "must be the BizMsgIdr of the header")
	}
}

// original names the message; its ID is of one kind where it must be the network's.
func (c *codec) original(o *Original, of kind) {
	c.text("OrgnlMsgId", &o.MessageID, of)
	c.text("OrgnlMsgNmId", &o.Type, definition)
	c.instant("OrgnlCreDtTm", &o.CreatedAt)
}

// ids name the payment in the message.
func (c *codec) ids(o *Original) {
	c.option("OrgnlInstrId", &o.InstructionID, id35)
	c.option("OrgnlEndToEndId", &o.EndToEndID, id35)
	c.option("OrgnlTxId", &o.TransactionID, id35)
	c.uetr("OrgnlUETR", &o.UETR)
}

func (c *codec) uetr(name string, value *string) { c.leaf(name, value, uuid4, c.profile.uetr) }

// reason has a code of ISO 20022, or of the network where it may.
func (c *codec) reason(r *Reason, lines int) {
	c.in("Rsn", func() {
		var cd, own string
		if r.Proprietary {
			own = r.Code
		} else {
			cd = r.Code
		}
		c.option("Cd", &cd, code4)
		c.option("Prtry", &own, id35)
		if c.reading() {
			r.Code, r.Proprietary = cd+own, own != ""
		}
		if (cd == "") == (own == "") {
			c.fail("must have one code")
		}
	})
	c.list("AddtlInf", &r.Text, text105, lines)
}

// reasons are any number of them.
func (c *codec) reasons(name string, reasons *[]Reason) {
	c.each(name, len(*reasons), func() { *reasons = append(*reasons, Reason{}) }, func(i int) {
		c.reason(&(*reasons)[i], 2)
	})
}

// isoReason is a reason in whose place Fedwire takes no code of its own.
func (c *codec) isoReason(r *Reason) {
	if r.Proprietary && c.profile.fedwire && !c.reading() {
		c.failAt("Rsn", "must be a code of ISO 20022")
	}
	c.reason(r, 2)
}

// kindOfPayment is how the network carries a payment, and what it is for.
func (c *codec) kindOfPayment(instrument, category *string, allowed ...string) {
	local := *instrument
	if !c.reading() && local == "" && len(allowed) > 0 {
		local = allowed[0]
	}
	if !c.reading() && local != "" && !slices.Contains(allowed, local) {
		c.failAt("LclInstrm", "must be "+strings.Join(allowed, " or "))
	}
	c.maybe("SvcLvl", c.profile.level != "", func() {
		level := c.profile.level
		c.option("Cd", &level, code4)
	})
	c.maybe("LclInstrm", len(allowed) > 0, func() { c.text("Prtry", &local, id35) })
	c.maybe("CtgyPurp", *category != "", func() {
		c.option("Cd", ifReading(c, category), code4)
		c.option("Prtry", category, id35)
	})
	if c.reading() {
		*instrument = local
	}
}

// ifReading returns the value while reading, and nothing to write otherwise.
func ifReading(c *codec, value *string) *string {
	if c.reading() {
		return value
	}
	return new(string)
}
