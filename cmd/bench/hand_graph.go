package main

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// wholeCustomer is the answer of workload a.
type wholeCustomer struct {
	UID                   int64               `json:"uid,string"`
	LegalName             string              `json:"legalName"`
	ShortName             string              `json:"shortName"`
	Type                  string              `json:"type"`
	Status                string              `json:"status"`
	TaxID                 *masked             `json:"taxId"`
	ACHCompanyID          *string             `json:"achCompanyId"`
	CustomerID            *string             `json:"customerId"`
	LEI                   *string             `json:"lei"`
	SWIFTCode             *string             `json:"swiftCode"`
	Language              *string             `json:"language"`
	EmailAddress          *string             `json:"emailAddress"`
	PhoneNumber           *string             `json:"phoneNumber"`
	FaxNumber             *string             `json:"faxNumber"`
	Website               *string             `json:"website"`
	MailSameAsLegal       bool                `json:"mailAddressSameAsLegal"`
	RelationshipType      string              `json:"relationshipType"`
	PartnerOrgShortName   *string             `json:"partnerOrgShortName"`
	ParentEntityShortName *string             `json:"parentEntityShortName"`
	CostCenter            *string             `json:"costCenter"`
	RelationshipManager   *string             `json:"relationshipManager"`
	OriginatingOfficer    *string             `json:"originatingOfficer"`
	Accounts              list[wholeAccount]  `json:"accounts"`
	Contacts              list[contactRow]    `json:"contacts"`
	Signatories           list[*signatoryRow] `json:"signatories"`
	Limits                []limitRow          `json:"limits"`
}

type accountRow struct {
	UID      int64   `json:"uid,string"`
	Number   *masked `json:"number"`
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	SubType  string  `json:"subType"`
	Status   string  `json:"status"`
	Currency string  `json:"currency"`
}

type wholeAccount struct {
	accountRow
	Balances *balances `json:"balances"`
}

type balances struct {
	Ledger    string `json:"ledger"`
	Held      string `json:"held"`
	Available string `json:"available"`
}

// balancesOf returns nil for accounts that another core keeps.
func balancesOf(ledger, held *int64, currency string) *balances {
	if ledger == nil || held == nil {
		return nil
	}
	return &balances{decimal(*ledger, currency), decimal(*held, currency), decimal(*ledger-*held, currency)}
}

type contactRow struct {
	UID          int64       `json:"uid,string"`
	Name         string      `json:"name"`
	TemplateName *string     `json:"templateName"`
	EmailAddress *string     `json:"emailAddress"`
	PhoneNumber  *string     `json:"phoneNumber"`
	Address      addressRow  `json:"address"`
	Bank         contactBank `json:"bank"`
}

type addressRow struct {
	Line1       *string `json:"line1"`
	City        *string `json:"city"`
	State       *string `json:"state"`
	PostalCode  *string `json:"postalCode"`
	CountryCode *string `json:"countryCode"`
}

type contactBank struct {
	Name            *string `json:"name"`
	NationalCode    *string `json:"nationalCode"`
	SWIFTCode       *string `json:"swiftCode"`
	AccountCurrency *string `json:"accountCurrency"`
	AccountNumber   *masked `json:"accountNumber"`
}

type signatoryRow struct {
	UID           int64   `json:"uid,string"`
	FullName      string  `json:"fullName"`
	Title         *string `json:"title"`
	EmailAddress  *string `json:"emailAddress"`
	PhoneNumber   *string `json:"phoneNumber"`
	ApprovalLimit *string `json:"approvalLimit"`
	Status        string  `json:"status"`
}

type limitRow struct {
	Code      string `json:"code"`
	Name      string `json:"name"`
	Period    string `json:"period"`
	Currency  string `json:"currency"`
	Current   string `json:"current"`
	Used      string `json:"used"`
	Remaining string `json:"remaining"`
}

const (
	selectCustomer = `
SELECT uid, legal_name, short_name, type, status, tax_id_last4, ach_company_id, customer_id, lei, swift_code,
  language, email_address, phone_number, fax_number, website, mail_address_same_as_legal, relationship_type,
  partner_org_short_name, parent_entity_short_name, cost_center, relationship_manager, originating_officer
FROM customers WHERE tenant = $1 AND uid = $2 AND ($3 = 0 OR owner = $3)`

	selectAccounts = `
SELECT a.uid, a.number_last4, a.name, a.type, a.sub_type, a.status, a.currency, b.ledger, b.held
FROM accounts AS a
LEFT JOIN balances AS b ON b.tenant = a.tenant AND b.account = a.uid AND a.system_of_record = 'Internal Core'
WHERE a.tenant = $1 AND a.customer = $2 AND a.deleted_at IS NULL
ORDER BY a.uid LIMIT 20`

	selectContacts = `
SELECT uid, name, template_name, email_address, phone_number,
  address_line1, address_city, address_state, address_postal_code, address_country_code,
  bank_name, bank_national_code, bank_swift_code, bank_account_currency, bank_account_number_last4
FROM contacts WHERE tenant = $1 AND customer = $2 ORDER BY uid LIMIT 10`

	selectSignatories = `
SELECT uid, full_name, title, email_address, phone_number, approval_limit, currency, status
FROM signatories WHERE tenant = $1 AND customer = $2 AND status <> 'Deleted' ORDER BY uid LIMIT 20`

	// The used amounts are summed once for all limits.
	selectWireLimits = `
SELECT l.code, l.ceiling, l.currency, u.day, u.week, u.month
FROM limits AS l
CROSS JOIN (
  SELECT coalesce(sum(amount) FILTER (WHERE day = $3), 0)::bigint AS day,
    coalesce(sum(amount) FILTER (WHERE day >= $4 AND day < $4::date + 7), 0)::bigint AS week,
    coalesce(sum(amount) FILTER (WHERE day >= $5 AND day < $6), 0)::bigint AS month
  FROM limit_usage
  WHERE tenant = $1 AND customer = $2 AND rail = 'FEDWIRE' AND day >= least($4, $5)::date
  AND day < greatest($4::date + 7, $6)::date
) AS u
WHERE l.tenant = $1 AND l.customer = $2
AND l.code = ANY('{FEDWIRE_PAYMENT_LIMIT_PER_TRANSACTION,FEDWIRE_PAYMENT_LIMIT_PER_DAY,
  FEDWIRE_PAYMENT_LIMIT_PER_WEEK,FEDWIRE_PAYMENT_LIMIT_PER_MONTH}')`
)

// wireLimits are the limits of the rail, in the order of the answer.
var wireLimits = []struct{ code, name, period string }{
	{"FEDWIRE_PAYMENT_LIMIT_PER_TRANSACTION", "Wire payment limit per transaction", "TRANSACTION"},
	{"FEDWIRE_PAYMENT_LIMIT_PER_DAY", "Wire payment limit per day", "DAY"},
	{"FEDWIRE_PAYMENT_LIMIT_PER_WEEK", "Wire payment limit per week", "WEEK"},
	{"FEDWIRE_PAYMENT_LIMIT_PER_MONTH", "Wire payment limit per month", "MONTH"},
}

// customer360 is workload a: five statements in one round trip.
func (h hand) customer360(w http.ResponseWriter, r *http.Request) {
	uid, err := strconv.ParseInt(r.PathValue("uid"), 10, 64)
	if err != nil {
		http.Error(w, "uid must be digits", http.StatusBadRequest)
		return
	}
	caller := callerOf(r)
	var customer *wholeCustomer
	accounts, contacts, signatories, limits := []wholeAccount{}, []contactRow{}, []*signatoryRow{}, []limitRow{}
	var batch pgx.Batch
	batch.Queue(selectCustomer, caller.Tenant, uid, caller.ScopeCustomer()).
		QueryRow(func(row pgx.Row) (err error) {
			customer, err = scanCustomer(row)
			return err
		})
	batch.Queue(selectAccounts, caller.Tenant, uid).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var a wholeAccount
			var last4 string
			var ledger, held *int64
			if err := rows.Scan(&a.UID, &last4, &a.Name, &a.Type, &a.SubType, &a.Status, &a.Currency, &ledger,
				&held); err != nil {
				return err
			}
			a.Number, a.Type, a.SubType, a.Status = mask(last4), words[a.Type], words[a.SubType], words[a.Status]
			a.Balances = balancesOf(ledger, held, a.Currency)
			accounts = append(accounts, a)
		}
		return rows.Err()
	})
	batch.Queue(selectContacts, caller.Tenant, uid).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var k contactRow
			var template, email, phone, line1, city, state, postal, country, bank, national, swift,
				currency, last4 string
			if err := rows.Scan(&k.UID, &k.Name, &template, &email, &phone, &line1, &city, &state, &postal, &country,
				&bank, &national, &swift, &currency, &last4); err != nil {
				return err
			}
			k.TemplateName, k.EmailAddress, k.PhoneNumber = null(&template), null(&email), null(&phone)
			k.Address = addressRow{null(&line1), null(&city), null(&state), null(&postal), null(&country)}
			k.Bank = contactBank{null(&bank), null(&national), null(&swift), null(&currency), mask(last4)}
			contacts = append(contacts, k)
		}
		return rows.Err()
	})
	batch.Queue(selectSignatories, caller.Tenant, uid).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			g, err := scanSignatory(rows)
			if err != nil {
				return err
			}
			signatories = append(signatories, g)
		}
		return rows.Err()
	})
	today := day(caller)
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	first := today.AddDate(0, 0, 1-today.Day())
	batch.Queue(selectWireLimits, caller.Tenant, uid, today, monday, first, first.AddDate(0, 1, 0)).
		Query(func(rows pgx.Rows) (err error) {
			limits, err = scanWireLimits(rows)
			return err
		})
	if err := h.read(r.Context(), &batch); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		fail(w, err)
		return
	}
	if customer != nil {
		customer.Accounts.Nodes, customer.Contacts.Nodes, customer.Signatories.Nodes, customer.Limits = accounts,
			contacts, signatories, limits
	}
	answer(w, reply[any]{map[string]*wholeCustomer{"customer": customer}})
}

func scanCustomer(row pgx.Row) (*wholeCustomer, error) {
	c := new(wholeCustomer)
	var taxID, ach, id, lei, swift, language, email, phone, fax, website, partner, parent, cost,
		manager, officer string
	err := row.Scan(&c.UID, &c.LegalName, &c.ShortName, &c.Type, &c.Status, &taxID, &ach, &id, &lei, &swift,
		&language,
		&email, &phone, &fax, &website, &c.MailSameAsLegal, &c.RelationshipType, &partner, &parent,
		&cost, &manager, &officer)
	if err != nil {
		return nil, err
	}
	c.Type, c.Status, c.RelationshipType, c.TaxID = words[c.Type], words[c.Status], words[c.RelationshipType],
		mask(taxID)
	c.ACHCompanyID, c.CustomerID, c.LEI, c.SWIFTCode, c.Language = null(&ach), null(&id), null(&lei),
		null(&swift), null(&language)
	c.EmailAddress, c.PhoneNumber, c.FaxNumber, c.Website = null(&email), null(&phone), null(&fax),
		null(&website)
	c.PartnerOrgShortName, c.ParentEntityShortName, c.CostCenter = null(&partner), null(&parent), null(&cost)
	c.RelationshipManager, c.OriginatingOfficer = null(&manager), null(&officer)
	return c, nil
}

// scanSignatory reads the columns of selectSignatories, after further columns before them.
func scanSignatory(row pgx.Row, before ...any) (*signatoryRow, error) {
	g := new(signatoryRow)
	var title, email, phone, currency string
	var limit *int64
	if err := row.Scan(append(before, &g.UID, &g.FullName, &title, &email, &phone, &limit, &currency,
		&g.Status)...); err != nil {
		return nil, err
	}
	g.Title, g.EmailAddress, g.PhoneNumber, g.Status = null(&title), null(&email), null(&phone), words[g.Status]
	if limit != nil {
		amount := decimal(*limit, currency)
		g.ApprovalLimit = &amount
	}
	return g, nil
}

func scanWireLimits(rows pgx.Rows) ([]limitRow, error) {
	found := map[string]limitRow{}
	for rows.Next() {
		var l limitRow
		var ceiling, day, week, month int64
		if err := rows.Scan(&l.Code, &ceiling, &l.Currency, &day, &week, &month); err != nil {
			return nil, err
		}
		used := int64(0)
		switch {
		case strings.HasSuffix(l.Code, "_DAY"):
			used = day
		case strings.HasSuffix(l.Code, "_WEEK"):
			used = week
		case strings.HasSuffix(l.Code, "_MONTH"):
			used = month
		}
		l.Current, l.Used, l.Remaining = decimal(ceiling, l.Currency), decimal(used, l.Currency),
			decimal(ceiling-used, l.Currency)
		found[l.Code] = l
	}
	limits := []limitRow{}
	for _, known := range wireLimits {
		if l, ok := found[known.code]; ok {
			l.Name, l.Period = known.name, known.period
			limits = append(limits, l)
		}
	}
	return limits, rows.Err()
}

// namedCustomer is a row of the answer of workload b.
type namedCustomer struct {
	fewOfCustomer
	Accounts    list[*accountRow]   `json:"accounts"`
	Signatories list[*signatoryRow] `json:"signatories"`
}

type fewOfCustomer struct {
	UID       int64  `json:"uid,string"`
	LegalName string `json:"legalName"`
	ShortName string `json:"shortName"`
	Type      string `json:"type"`
	Status    string `json:"status"`
}

const (
	selectByName = `
SELECT uid, legal_name, short_name, type, status FROM customers
WHERE tenant = $1 AND ($2 = 0 OR owner = $2) AND lower(legal_name) COLLATE "C" >= $3
  AND lower(legal_name) COLLATE "C" < $4
ORDER BY lower(legal_name) COLLATE "C", uid LIMIT 50`

	selectFiveAccounts = `
SELECT p.customer, a.* FROM unnest($2::bigint[]) AS p(customer) CROSS JOIN LATERAL (
  SELECT uid, number_last4, name, type, sub_type, status, currency FROM accounts
  WHERE tenant = $1 AND customer = p.customer AND deleted_at IS NULL ORDER BY uid LIMIT 5) AS a`

	selectFiveSignatories = `
SELECT p.customer, g.* FROM unnest($2::bigint[]) AS p(customer) CROSS JOIN LATERAL (
  SELECT uid, full_name, title, email_address, phone_number, approval_limit, currency, status FROM signatories
  WHERE tenant = $1 AND customer = p.customer AND status <> 'Deleted' ORDER BY uid LIMIT 5) AS g`
)

// customersByName is workload b: first the customers, then in a second round trip what belongs to them.
func (h hand) customersByName(w http.ResponseWriter, r *http.Request) {
	caller := callerOf(r)
	prefix := strings.ToLower(r.URL.Query().Get("prefix"))
	rows, err := h.pool.Query(r.Context(), selectByName, caller.Tenant, caller.ScopeCustomer(), prefix,
		prefix+"\U0010FFFF")
	if err != nil {
		fail(w, err)
		return
	}
	found, uids, place := []*namedCustomer{}, []int64{}, map[int64]*namedCustomer{}
	for rows.Next() {
		c := &namedCustomer{}
		if err := rows.Scan(&c.UID, &c.LegalName, &c.ShortName, &c.Type, &c.Status); err != nil {
			rows.Close()
			fail(w, err)
			return
		}
		c.Type, c.Status = words[c.Type], words[c.Status]
		c.Accounts.Nodes, c.Signatories.Nodes = []*accountRow{}, []*signatoryRow{}
		found, uids, place[c.UID] = append(found, c), append(uids, c.UID), c
	}
	if err := rows.Err(); err != nil {
		fail(w, err)
		return
	}
	var batch pgx.Batch
	batch.Queue(selectFiveAccounts, caller.Tenant, uids).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var of int64
			var last4 string
			a := &accountRow{}
			if err := rows.Scan(&of, &a.UID, &last4, &a.Name, &a.Type, &a.SubType, &a.Status,
				&a.Currency); err != nil {
				return err
			}
			a.Number, a.Type, a.SubType, a.Status = mask(last4), words[a.Type], words[a.SubType], words[a.Status]
			place[of].Accounts.Nodes = append(place[of].Accounts.Nodes, a)
		}
		return rows.Err()
	})
	batch.Queue(selectFiveSignatories, caller.Tenant, uids).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var of int64
			g, err := scanSignatory(rows, &of)
			if err != nil {
				return err
			}
			place[of].Signatories.Nodes = append(place[of].Signatories.Nodes, g)
		}
		return rows.Err()
	})
	if err := h.read(r.Context(), &batch); err != nil {
		fail(w, err)
		return
	}
	answer(w, reply[any]{map[string]list[*namedCustomer]{"customers": {found}}})
}

// numberedAccount is the answer of workload c.
type numberedAccount struct {
	wholeAccount
	Customer *fewOfCustomer `json:"customer"`
}

const selectByNumber = `
SELECT a.uid, a.number_last4, a.name, a.type, a.sub_type, a.status, a.currency, b.ledger, b.held,
  c.uid, c.legal_name, c.short_name, c.type, c.status
FROM accounts AS a
JOIN customers AS c ON c.tenant = a.tenant AND c.uid = a.customer
LEFT JOIN balances AS b ON b.tenant = a.tenant AND b.account = a.uid AND a.system_of_record = 'Internal Core'
WHERE a.tenant = $1 AND a.number_hash = $2 AND a.deleted_at IS NULL AND ($3 = 0 OR c.owner = $3)`

// accountByNumber is workload c: one statement.
func (h hand) accountByNumber(w http.ResponseWriter, r *http.Request) {
	caller := callerOf(r)
	hash := h.keys.Hash(int64(caller.Tenant), "accounts.number", r.PathValue("number"))
	a := &numberedAccount{Customer: &fewOfCustomer{}}
	var last4 string
	var ledger, held *int64
	err := h.pool.QueryRow(r.Context(), selectByNumber, caller.Tenant, hash, caller.ScopeCustomer()).Scan(
		&a.UID, &last4, &a.Name, &a.Type, &a.SubType, &a.Status, &a.Currency, &ledger, &held,
		&a.Customer.UID, &a.Customer.LegalName, &a.Customer.ShortName, &a.Customer.Type, &a.Customer.Status)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		a = nil
	case err != nil:
		fail(w, err)
		return
	default:
		a.Number, a.Type, a.SubType, a.Status = mask(last4), words[a.Type], words[a.SubType], words[a.Status]
		a.Balances = balancesOf(ledger, held, a.Currency)
		a.Customer.Type, a.Customer.Status = words[a.Customer.Type], words[a.Customer.Status]
	}
	answer(w, reply[any]{map[string]*numberedAccount{"account": a}})
}
