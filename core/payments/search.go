package payments

import (
	"slices"
	"strings"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/check"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fx"
	"bankgraph/core/money"
	"bankgraph/core/probes"
	"bankgraph/core/rails"
	"bankgraph/core/virtualaccounts"
	"bankgraph/db"
)

// Search narrows a list of payments. All fields that are not empty must match.
type Search struct {
	UID                 UID
	Customer            customers.UID // the payer, or whom another bank credits
	Direction           Direction     // "" for both
	SenderAccount       accounts.UID
	ReceiverAccount     accounts.UID
	Account             accounts.UID  // either
	SenderNumber        string        // account number, exact
	ReceiverNumber      string        // here or at another bank
	Contact             contacts.UID  // that was named
	Trade               fx.TradeUID   // by which the payment was exchanged, for callers who see the payer
	Recurrence          RecurrenceUID // the series that it belongs to, for callers who see the payer
	SenderName          string        // part of it, without regard to letter case
	ReceiverName        string
	ExternalReferenceID string // exact
	Notes               string // part of it, without regard to letter case
	States              []State
	EntryTypes          []rails.EntryType
	Rails               []rails.Rail
	Speeds              []Speed
	Currency            string
	SenderCurrency      string    // of what is debited
	Amount, Least, Most *int64    // minor units
	From, To            time.Time // payment dates, both included; midnight UTC
	// the amount, and bounds of it, as decimal text in whatever currency each payment is
	Decimal, LeastDecimal, MostDecimal string
	None                               bool // finds nothing: for a condition that no payment can meet yet
	// of the virtual account: part of it, without regard to letter case
	UltimateReceiverName   string
	UltimateReceiverNumber string // its number, exact
	MostRecent             bool   // only the newest that is found; of Page alone

	BulkFile int64 // the number of the file that it came with, for callers who see the payer

	own string // the condition that the caller sees the payer, where only such payments are found
}

// within restricts a search for something that is the payer's alone, such as a series: it finds only payments
// whose payer the caller sees.
func (by Search) within(reach access.Reach) Search {
	if by.Recurrence != 0 || by.Trade != 0 || by.BulkFile != 0 {
		by.own = reach.Scope("pay.customer")
	}
	return by
}

// ParseDecimal reads the text of an amount whose currency is not known.
func ParseDecimal(field, text string) (string, error) {
	c := check.Of("payment")
	c.Decimal(field, text, 15, money.FinestDigits)
	return text, c.Err()
}

// minorUnits is how many minor units make one whole unit of a payment's currency.
var minorUnits = func() string {
	text := "CASE"
	for digits, units := range []string{"1", "10", "100", "1000", "10000"} {
		if codes := money.WithDigits(digits); digits != 2 && len(codes) > 0 {
			text += " WHEN pay.currency IN ('" + strings.Join(codes, "', '") + "') THEN " + units
		}
	}
	return text + " ELSE 100 END"
}()

// list returns the list of the payments that the caller may see and the search finds, newest first.
func (by Search) list(s *Service, caller access.Caller, p *db.Params) access.List {
	l := access.List{
		Table: "payments", Alias: "pay", Key: "uid", Newest: true, Seen: seen(caller.Reach),
		Of: []string{ // the index of the receivers leaves out who pays themselves
			"pay.customer = seen.uid",
			"pay.receiver_customer = seen.uid AND pay.receiver_customer <> pay.customer",
		},
		Where: by.within(caller.Reach).where(s, caller.Tenant, p),
	}
	if caller.Reach != access.OfBank {
		l.Named = by.named(s, caller, p)
	}
	return l
}

// page returns the conditions of a page of the list. $3 is its length, and $4 how many rows come before it.
func (by Search) page(l access.List, reach access.Reach) db.Conditions {
	if by.MostRecent {
		l.Most = "1"
		return db.Conditions{l.First(reach)}
	}
	l.Most = "$3::bigint + $4::bigint"
	return l.Conditions(reach)
}

// named returns whose payments are searched for. The payments of a customer that the caller does not see are
// found through their other side.
func (by Search) named(s *Service, caller access.Caller, p *db.Params) *access.Named {
	if by.UID != 0 {
		return &access.Named{}
	}
	if by.Customer != 0 {
		own := caller.Reach.Scope(p.Add(by.Customer) + "::bigint")
		return &access.Named{Own: own, Others: "NOT " + own}
	}
	var which string
	sides := []string{""}
	switch {
	case by.SenderAccount != 0:
		which = "named.uid = " + p.Add(by.SenderAccount)
	case by.ReceiverAccount != 0:
		which = "named.uid = " + p.Add(by.ReceiverAccount)
	case by.SenderNumber != "":
		which = s.numbered("named", caller.Tenant, by.SenderNumber, p)
	case by.Account != 0:
		at := p.Add(by.Account)
		which, sides = "named.uid = "+at, []string{"pay.sender_account = " + at, "pay.receiver_account = " + at}
	default:
		return nil
	}
	account := "EXISTS (SELECT FROM accounts AS named WHERE named.tenant = $1 AND " + which
	reach := caller.Reach.Scope("named.customer")
	own := account + " AND " + reach + ")"
	if by.SenderNumber != "" { // it may be at another bank, of which the caller's customers have the payments
		own = "(" + own + " OR NOT " + account + "))"
	}
	return &access.Named{Own: own, Others: account + " AND NOT " + reach + ")", By: sides}
}

// numbered returns the condition that an account has a number.
func (s *Service) numbered(alias string, tenant access.Tenant, clear string, p *db.Params) string {
	hashes := p.Add(s.sought(tenant, clear))
	return alias + ".tenant = $1 AND " + alias + ".number_hash = ANY(" + hashes + ")"
}

// sought returns a whole number as a value of a query.
func (s *Service) sought(tenant access.Tenant, clear string) *probes.Search {
	return s.probes.Search(s.keys.Hashes(int64(tenant), accounts.NumberColumn, clear))
}

// where returns the conditions that narrow a query; p collects their values.
func (by Search) where(s *Service, tenant access.Tenant, p *db.Params) db.Conditions {
	return slices.Concat(by.ofParties(s, tenant, p), by.ofOrigin(p), by.ofTexts(p), by.ofWords(p),
		by.ofAmounts(p), by.ofVirtualAccounts(s, tenant, p), by.ofDates(p))
}

// ofParties returns the conditions on who pays whom.
func (by Search) ofParties(s *Service, tenant access.Tenant, p *db.Params) (all db.Conditions) {
	for _, exact := range []struct {
		column string
		value  int64
	}{
		{"pay.uid", int64(by.UID)},
		{"pay.customer", int64(by.Customer)},
		{"pay.sender_account", int64(by.SenderAccount)},
		{"pay.receiver_account", int64(by.ReceiverAccount)},
	} {
		if exact.value != 0 {
			all = append(all, exact.column+" = "+p.Add(exact.value))
		}
	}
	if by.Account != 0 {
		at := p.Add(by.Account)
		all = append(all, "(pay.sender_account = "+at+" OR pay.receiver_account = "+at+")")
	}
	for _, side := range []struct {
		column, number string
	}{{"sender_account", by.SenderNumber}, {"receiver_account", by.ReceiverNumber}} {
		if side.number != "" {
			all = append(all, s.sideNumbered(side.column, tenant, side.number, p))
		}
	}
	return all
}

// ofOrigin returns the conditions on what payments come of.
func (by Search) ofOrigin(p *db.Params) (all db.Conditions) {
	if by.Recurrence != 0 {
		all = append(all, "pay.recurrence = "+p.Add(by.Recurrence))
	}
	if by.Trade != 0 {
		all = append(all, "pay.trade = "+p.Add(by.Trade))
	}
	if by.BulkFile != 0 {
		first := min(by.BulkFile, noFile) << LineBits
		all = append(all,
			"pay.uid IN (SELECT bl.payment FROM bulk_file_lines AS bl WHERE bl.tenant = $1 AND bl.id >= "+
				p.Add(first)+" AND bl.id < "+p.Add(first+1<<LineBits)+" AND bl.payment IS NOT NULL)")
	}
	if by.own != "" {
		all = append(all, by.own)
	}
	if by.Contact != 0 {
		all = append(all, "pay.uid IN (SELECT payment FROM payment_details WHERE tenant = $1 AND contact = "+
			p.Add(by.Contact)+")")
	}
	return all
}

// ofTexts returns the conditions on names, notes and codes.
func (by Search) ofTexts(p *db.Params) (all db.Conditions) {
	for _, part := range []struct{ column, value string }{
		{"pay.sender_name", by.SenderName}, {"pay.receiver_name", by.ReceiverName}, {"pay.notes", by.Notes},
	} {
		if part.value != "" {
			all = append(all, "strpos(lower("+part.column+"), lower("+p.Add(part.value)+"::text)) > 0")
		}
	}
	for _, exact := range []struct{ column, value string }{
		{"pay.external_reference_id", by.ExternalReferenceID},
		{"pay.currency", by.Currency},
		{"coalesce(nullif(pay.sold_currency, ''), pay.currency)", by.SenderCurrency},
	} {
		if exact.value != "" {
			all = append(all, exact.column+" = "+p.Add(exact.value))
		}
	}
	return all
}

// ofWords returns the conditions on what is one of a few words each.
func (by Search) ofWords(p *db.Params) (all db.Conditions) {
	for _, list := range []struct {
		column string
		words  []string
	}{
		{"pay.state", db.Texts(by.States)},
		{"pay.entry_type", db.Texts(by.EntryTypes)},
		{"pay.rail", db.Texts(by.Rails)},
		{"pay.speed", db.Texts(by.Speeds)},
	} {
		if list.words != nil {
			all = append(all, list.column+" = ANY("+p.Add(list.words)+"::text[])")
		}
	}
	if len(by.States) > 0 && !slices.ContainsFunc(by.States, common) {
		all = append(all, uncommon)
	}
	return all
}

// ofAmounts returns the conditions on amounts, in minor units or in units of the payment's currency.
func (by Search) ofAmounts(p *db.Params) (all db.Conditions) {
	for _, bound := range []struct {
		compare string
		value   *int64
	}{{" = ", by.Amount}, {" >= ", by.Least}, {" <= ", by.Most}} {
		if bound.value != nil {
			all = append(all, "pay.amount"+bound.compare+p.Add(*bound.value)+"::bigint")
		}
	}
	for _, bound := range []struct{ compare, value string }{
		{" = ", by.Decimal}, {" >= ", by.LeastDecimal}, {" <= ", by.MostDecimal},
	} {
		if bound.value != "" {
			all = append(all, "pay.amount"+bound.compare+p.Add(bound.value)+"::text::numeric * "+minorUnits)
		}
	}
	return all
}

// ofVirtualAccounts returns the conditions on the virtual accounts that payments are for.
func (by Search) ofVirtualAccounts(s *Service, tenant access.Tenant, p *db.Params) (all db.Conditions) {
	if by.UltimateReceiverName != "" {
		all = append(all, forVirtual("strpos(lower(va.name), lower("+p.Add(by.UltimateReceiverName)+"::text)) > 0"))
	}
	if by.UltimateReceiverNumber != "" {
		hashes := p.Add(s.sought(tenant, by.UltimateReceiverNumber).As(s.keys.Hashes(int64(tenant),
			virtualaccounts.NumberColumn, by.UltimateReceiverNumber)))
		all = append(all, forVirtual("va.number_hash = ANY("+hashes+")"))
	}
	return all
}

// ofDates returns the conditions on the direction and the date of payments; none matches where None is set.
func (by Search) ofDates(p *db.Params) (all db.Conditions) {
	if by.Direction != "" {
		all = append(all, "pay.direction = "+p.Add(by.Direction)+"::text")
	}
	if by.None {
		all = append(all, "false")
	}
	if !by.From.IsZero() {
		all = append(all, "pay.payment_date >= "+p.Add(by.From)+"::date")
	}
	if !by.To.IsZero() {
		all = append(all, "pay.payment_date <= "+p.Add(by.To)+"::date")
	}
	return all
}

// common reports whether most payments are in a state, or pass through it.
func common(s State) bool { return s == Queued || s == Sent || s == Settled }

// uncommon is the condition that a payment is in another state. There is an index of those.
const uncommon = "pay.state NOT IN ('QUEUED', 'SENT', 'SETTLED')"

// ParseNumber reads the whole number of an account here or at another bank.
func ParseNumber(field, text string) (string, error) {
	c := check.Of("payment")
	if strings.Contains(text, "**") {
		c.AccountNumber(field, text) // tells that it is masked
	}
	c.AccountNumberElsewhere(field, text)
	return text, c.Err()
}

// LineBits is how many bits of the number of a file's line are the line's own: those before are the file's.
const LineBits = 24

// noFile is a number that no file has.
const noFile int64 = 1<<(62-LineBits) - 1

// OfFiles is the channel of payments that came with a file.
const OfFiles = "FILE"

// forVirtual returns the condition that a payment is for one of the virtual accounts that meet a condition.
// It is a list of payments, which are few: otherwise all are looked at, until enough are found.
func forVirtual(which string) string {
	return "pay.uid IN (SELECT f.uid FROM payments AS f WHERE f.tenant = $1 AND f.virtual_account IN " +
		"(SELECT va.uid FROM virtual_accounts AS va WHERE va.tenant = $1 AND " + which + "))"
}

// sideNumbered returns the condition that one side of a payment has an account number, here or at another
// bank. It is one list of payments, so that both indexes are used.
func (s *Service) sideNumbered(column string, tenant access.Tenant, clear string, p *db.Params) string {
	here := s.numbered("a", tenant, clear, p)
	there := p.Add(s.sought(tenant, clear).As(s.keys.Hashes(int64(tenant), NumberColumn, clear)))
	return "pay.uid IN (SELECT r.uid FROM payments AS r WHERE r.tenant = $1 AND r." + column + " IN " +
		"(SELECT a.uid FROM accounts AS a WHERE " + here + ") UNION ALL " +
		"SELECT d.payment FROM payment_details AS d JOIN payments AS o ON o.tenant = d.tenant AND o.uid " +
		"= d.payment " +
		"WHERE d.tenant = $1 AND o.tenant = $1 AND o." + column + " IS NULL AND d.number_hash = ANY(" + there + "))"
}
