package payments

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Shown is a payment with what the records of its parties say (rest/CONTRACT.md, payment answers).
type Shown struct {
	Payment `bun:",extend"`

	// Payer owns the payment: of one that came in, it is the customer that is credited.
	Payer Holder `bun:"embed:payer_" json:"-"`
	Payee Holder `bun:"embed:payee_" json:"-"`
	Bank  Bank   `bun:"embed:bank_" json:"-"`
	To    To     `bun:"embed:to_" json:"-"`
	// Ultimate is the virtual account that it names; its fields are empty for other payments.
	Ultimate Ultimate `bun:"embed:ultimate_" json:"-"`
	// Series is the series that it belongs to. Its UID is 0 for a single payment, and for callers who do not
	// see the payer.
	Series Series `bun:"embed:series_" json:"-"`
	// BulkFile is the number of the file that it came with; 0 for other payments, and for callers who do not
	// see the payer.
	BulkFile int64 `bun:"bulk_file,scanonly" json:"-"`
	// Undone says that the payment stands as before a return or a recall of it, which its network has refused.
	Undone bool `bun:"undone,scanonly" json:"-"`
}

// Failure returns what went wrong; "" if nothing did, and for callers who do not see the payer.
func (p *Shown) Failure() string {
	if p.State.Failed() || p.Undone {
		return p.Reason
	}
	return ""
}

// Ultimate is what a payment shows of the virtual account that it names.
type Ultimate struct {
	Name  string `bun:"name,scanonly"`
	Last4 string `bun:"last4,scanonly"` // of its number
}

// Masked returns the number of the virtual account as callers read it.
func (u *Ultimate) Masked() string { return seal.Value{Last4: u.Last4}.Masked() }

// Series is what a payment shows of the series that it belongs to.
type Series struct {
	UID       RecurrenceUID    `bun:"uid,scanonly"`
	Frequency Frequency        `bun:"frequency,scanonly"`
	Until     PayUntil         `bun:"pay_until,scanonly"`
	Minor     int64            `bun:"amount,scanonly"`
	Currency  money.Currency   `bun:"currency,scanonly"`
	Start     *time.Time       `bun:"start_date,scanonly"`
	End       *time.Time       `bun:"end_date,scanonly"`
	Number    int32            `bun:"number_of_payments,scanonly"`
	Status    RecurrenceStatus `bun:"status,scanonly"`
	Next      *time.Time       `bun:"next_date,scanonly"`
	Last      UID              `bun:"last_payment,scanonly"`
}

// Amount returns what the payments to come are of.
func (s *Series) Amount() money.Amount { return money.Of(s.Minor, s.Currency) }

// To is what a payment over a network says of the side at the other bank: the payee, or the payer of one that
// came in.
type To struct {
	Email       string `bun:"email_address,scanonly"`
	Phone       string `bun:"phone_number,scanonly"`
	Line1       string `bun:"address_line1,scanonly"`
	Line2       string `bun:"address_line2,scanonly"`
	City        string `bun:"address_city,scanonly"`
	State       string `bun:"address_state,scanonly"`
	PostalCode  string `bun:"address_postal_code,scanonly"`
	CountryCode string `bun:"address_country_code,scanonly"`
	Originator  string `bun:"originator_information,scanonly"` // information from the payer
	// of the bank abroad, where an entry of ACH goes to one or comes from one; else ''
	BankCountry string `bun:"bank_country,scanonly"`
	// of a remittance that is elsewhere: how who is paid gets it, and where
	RemittanceMethod  string `bun:"remittance_method,scanonly"`
	RemittanceAddress string `bun:"remittance_address,scanonly"`
	// the banks that a wire goes over, each by its routing number or BIC; empty for none
	CorrespondentID   string `bun:"correspondent_id,scanonly"`
	CorrespondentName string `bun:"correspondent_name,scanonly"`
	IntermediaryID    string `bun:"intermediary_id,scanonly"`
	IntermediaryName  string `bun:"intermediary_name,scanonly"`
	// that it names; empty for callers who do not see the payer
	CostCenter string `bun:"cost_center,scanonly"`
	// the id of the message that carried a payment over Fedwire: its IMAD. It is empty for others, before it
	// is sent, and for callers who do not see the payer.
	IMAD string `bun:"imad,scanonly"`
	// of an enrolment what it asks for, its numbers masked; nil for others, and for callers who do not see
	// the payer
	BenefitShown json.RawMessage `bun:"benefit,scanonly"`
}

// Benefit returns the benefit that an enrolment asks for, its numbers masked; nil for other payments.
func (t *To) Benefit() *Benefit { return readBenefit(t.BenefitShown) }

// Holder is what the record of the customer says about the payer or the payee. All but the country of the
// account is empty for callers who do not see that customer: of a payment they see names and accounts.
type Holder struct {
	UID            customers.UID  `bun:"uid,scanonly"` // 0 if the caller does not see the customer
	ShortName      string         `bun:"short_name,scanonly"`
	Type           customers.Type `bun:"type,scanonly"`
	CostCenter     string         `bun:"cost_center,scanonly"`
	Email          string         `bun:"email_address,scanonly"`
	Phone          string         `bun:"phone_number,scanonly"`
	Line1          string         `bun:"line1,scanonly"`
	Line2          string         `bun:"line2,scanonly"`
	City           string         `bun:"city,scanonly"`
	State          string         `bun:"state,scanonly"`
	PostalCode     string         `bun:"postal_code,scanonly"`
	CountryCode    string         `bun:"country_code,scanonly"`
	Country        string         `bun:"country,scanonly"`
	AccountCountry string         `bun:"account_country,scanonly"` // of the bank that has the account
}

// Bank is the bank itself.
type Bank struct {
	UID  customers.UID `bun:"uid,scanonly"`
	Name string        `bun:"name,scanonly"`
}

// CreatedBy returns the login of who asked for the payment, or else the API key. It is empty for callers who
// do not see the customer that pays and, outside the bank, where it was one of the bank's own.
func (p *Shown) CreatedBy() string { return cmp.Or(p.MakerLogin, p.MakerClient) }

// ofPayer are the columns that are the payer's alone: what it pays for the payment, from where, and what went
// wrong.
var ofPayer = db.ColumnsOf[Payment](
	"FeeMinor", "FeeName", "FeeTier", "CustomFeeMinor", "CustomFeeName", "Channel", "Reason", "Recurrence",
)

// payerSeen joins the payment's owner, if the caller sees that customer.
func payerSeen(reach access.Reach) string {
	return "LEFT JOIN customers AS payer ON payer.tenant = pay.tenant AND payer.uid = pay.customer AND " +
		reach.ScopeOfCustomers("payer")
}

// hidden empties the columns of ofPayer for callers who do not see the payer.
func hidden(from map[string]string) map[string]string {
	from = maps.Clone(from)
	for column, empty := range map[string]string{
		"fee": "0", "fee_name": "''", "fee_tier": "''", "custom_fee": "0", "custom_fee_name": "''", "channel": "''",
		"reason": "''", "recurrence": "0",
	} {
		from[column] = "CASE WHEN payer.uid IS NULL THEN " + empty + " ELSE pay." + column + " END"
	}
	from["recurrence"] = "coalesce(" + from["recurrence"] + ", 0)"
	return from
}

// inSteps empties who made a step, and why, for callers who do not see the payer, and who made it for those
// who may not know (access.Reach.OfPeople).
func inSteps(reach access.Reach) map[string]string {
	from := map[string]string{"reason": "CASE WHEN payer.uid IS NULL THEN '' ELSE ps.reason END"}
	for _, column := range []string{"client", "login_id"} {
		from[column] = ofPeople(reach, "ps."+column, "ps.reach", "ps.at")
	}
	return from
}

func ofPeople(reach access.Reach, column, whose, at string) string {
	return "CASE WHEN payer.uid IS NULL THEN '' ELSE " + reach.OfPeople(column, whose, "pay.customer", at) +
		" END"
}

var inRecords = func() map[string]string {
	from := maps.Clone(inAccounts)
	from["bank_uid"], from["bank_name"] = "coalesce(bank.uid, 0)", "coalesce(bank.legal_name, '')"
	from["payer_account_country"] = "coalesce(sa.country, '')"
	from["payee_account_country"] = "coalesce(ra.country, '')"
	from["bulk_file"] = "CASE WHEN pay.channel = '" + OfFiles +
		"' AND payer.uid IS NOT NULL THEN coalesce((SELECT bl.file " +
		"FROM bulk_file_lines AS bl WHERE bl.tenant = $1 AND bl.payment = pay.uid), 0) ELSE 0 END"
	from["undone"] = "CASE WHEN pay.state IN ('SETTLED', 'RECALLED') AND pay.reason <> '' THEN EXISTS (" +
		"SELECT FROM payment_steps AS was WHERE was.tenant = $1 AND was.payment = pay.uid " +
		"AND was.number = pay.version - 1 AND was.state IN ('RETURNING', 'RECALLING')) ELSE false END"
	from["ultimate_name"], from["ultimate_last4"] = "coalesce(ultimate.name, '')",
		"coalesce(ultimate.number_last4, '')"
	for _, column := range []string{
		"email_address", "phone_number", "address_line1", "address_line2", "address_city", "address_state",
		"address_postal_code", "address_country_code", "originator_information", "intermediary_id",
		"intermediary_name", "correspondent_id", "correspondent_name", "bank_country", "remittance_method",
		"remittance_address",
	} {
		from["to_"+column] = "coalesce(pd." + column + ", '')"
	}
	from["to_cost_center"] = "CASE WHEN payer.uid IS NOT NULL THEN coalesce(pd.cost_center, '') ELSE '' END"
	from["to_benefit"] = "CASE WHEN payer.uid IS NOT NULL THEN pd.benefit END"
	from["to_imad"] = "CASE WHEN pay.rail = 'FEDWIRE' AND payer.uid IS NOT NULL THEN coalesce((SELECT " +
		"nm.message_id FROM network_messages AS nm WHERE nm.tenant = $1 AND nm.payment = pay.uid AND " +
		"nm.direction = pay.direction ORDER BY nm.id LIMIT 1), '') ELSE '' END"
	for column, absent := range map[string]string{
		"uid": "0", "frequency": "''", "pay_until": "''", "amount": "0", "currency": "''", "start_date": "",
		"end_date": "", "number_of_payments": "0", "status": "''", "next_date": "", "last_payment": "0",
	} {
		from["series_"+column] = "series." + column
		if absent != "" {
			from["series_"+column] = "coalesce(series." + column + ", " + absent + ")"
		}
	}
	for _, alias := range []string{"payer", "payee"} {
		from[alias+"_uid"] = "coalesce(" + alias + ".uid, 0)"
		for _, column := range []string{"short_name", "type", "cost_center", "email_address", "phone_number"} {
			from[alias+"_"+column] = "coalesce(" + alias + "." + column + ", '')"
		}
		for _, column := range []string{
			"line1", "line2", "city", "state", "postal_code", "country_code", "country",
		} {
			from[alias+"_"+column] = "coalesce(" + alias + ".legal_" + column + ", '')"
		}
	}
	return from
}()

// showing starts a query of payments with the records of their parties, which are read within the caller's
// reach.
func showing(reach access.Reach) *bun.SelectQuery {
	from := hidden(inRecords)
	for _, column := range []string{"maker_client", "maker_login"} {
		from[column] = ofPeople(reach, "pay."+column, "asked.reach", "asked.at")
	}
	q := db.Select[Shown](db.Columns{}, from)
	for _, side := range sides {
		q = q.Join(side.join)
	}
	return q.Where("pay.tenant = $1").
		Join(payerSeen(reach)).
		Join("LEFT JOIN payment_steps AS asked ON asked.tenant = pay.tenant AND asked.payment = pay.uid" +
			" AND asked.number = 1").
		Join("LEFT JOIN customers AS payee ON payee.tenant = pay.tenant AND payee.uid = " +
			"pay.receiver_customer AND " +
			reach.ScopeOfCustomers("payee")).
		Join("LEFT JOIN recurrences AS series ON series.tenant = pay.tenant AND series.uid = pay.recurrence" +
			" AND series.customer = payer.uid").
		Join("LEFT JOIN virtual_accounts AS ultimate ON ultimate.tenant = pay.tenant AND ultimate.uid = " +
			"pay.virtual_account AND ultimate.customer = payer.uid").
		Join("LEFT JOIN customers AS bank ON bank.tenant = pay.tenant AND bank.relationship_type = 'Self'")
}

var shown db.QueryCache[Shown]

// Show reads one payment.
func (s *Service) Show(ctx context.Context, uid UID) (*Shown, error) {
	found, err := s.Page(ctx, Search{UID: uid, None: uid == 0}, page.First(1))
	if err != nil {
		return nil, err
	}
	if len(found.Items) == 0 {
		return nil, ErrNotFound
	}
	return found.Items[0], nil
}

// Page reads a page of what a search finds, newest first, and how many it finds, in one round trip.
func (s *Service) Page(ctx context.Context, by Search, w page.Window) (page.Counted[*Shown], error) {
	var found page.Counted[*Shown]
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return found, err
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), w.Limit(), w.Offset}
	all := by.list(s, caller, &p)
	where := all.Page(by.page(all, caller.Reach), "$3::bigint", "$4::bigint")
	text := shown.Get(queryKey{reach: caller.Reach, where: where.Key()}, func() string {
		return where.On(showing(caller.Reach)).OrderExpr("pay.uid DESC").String()
	})
	b := s.db.Batch()
	list, count := db.Queue(b, text, p...), s.CountUpTo(ctx, b, by, 0)
	if err := b.Send(ctx); err != nil {
		return found, err
	}
	n, err := count.One()
	if err != nil {
		return found, err
	}
	found.Items, found.Total = page.Cut(list.Items, w).Items, n.N
	return found, list.Err
}
