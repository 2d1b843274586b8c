package main

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// envelope is the envelope of the first and second generation.
type envelope struct {
	Status     string  `json:"status"`
	Code       *string `json:"code"`
	Message    *string `json:"message"`
	Pagination *pages  `json:"pagination,omitempty"`
	Data       any     `json:"data"`
}

type pages struct {
	TotalRecords    int64 `json:"totalRecords"`
	ReturnedRecords int   `json:"returnedRecords"`
	PageReturned    int   `json:"pageReturned"`
	PageSize        int   `json:"pageSize"`
}

func answerREST(w http.ResponseWriter, data any, p *pages) {
	text, err := json.Marshal(envelope{Status: "Success", Pagination: p, Data: data})
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text)
}

// restCustomer is a row of the answer of workloads d and d2.
type restCustomer struct {
	LegalName              string      `json:"legalName"`
	ShortName              string      `json:"shortName"`
	UID                    int64       `json:"customerUID"`
	Type                   string      `json:"customerType"`
	TaxID                  string      `json:"taxId"`
	CustomerID             string      `json:"customerId"`
	Status                 string      `json:"status"`
	LEI                    string      `json:"lei"`
	SWIFTCode              string      `json:"swiftcode"`
	Language               string      `json:"language"`
	EmailAddress           string      `json:"emailAddress"`
	FaxNumber              string      `json:"faxNumber"`
	Website                string      `json:"website"`
	LogoURL                string      `json:"logoUrl"`
	TwitterURL             string      `json:"twitterUrl"`
	LegalAddress           restAddress `json:"legalAddress"`
	MailSameAsLegal        bool        `json:"mailAddressSameAsLegal"`
	MailingAddress         restAddress `json:"mailingAddress"`
	RelationshipType       string      `json:"relationshipType"`
	PartnerOrgShortName    string      `json:"partnerOrgShortName"`
	ProcessingOrgShortName string      `json:"processingOrgShortName"`
	CostCenter             string      `json:"costCenter"`
	RelationshipManager    string      `json:"relationshipManager"`
	OriginatingOfficer     string      `json:"originatingOfficer"`
	ParentShortName        string      `json:"parentEntityShortName"`
	Profile                restProfile `json:"additionalProfileDetails"`
	Note                   string      `json:"note"`
}

type restAddress struct {
	Line1       string `json:"addressLine1"`
	Line2       string `json:"addressLine2"`
	City        string `json:"city"`
	State       string `json:"state"`
	PostalCode  string `json:"postalCode"`
	CountryCode string `json:"countryCode"`
	Country     string `json:"country"`
}

type restProfile struct {
	SSO                       bool   `json:"sso"`
	BillingCustomer           bool   `json:"billingCustomer"`
	RestrictedAccess          bool   `json:"restrictedAccess"`
	ACHPositivePay            bool   `json:"achPositivePay"`
	ACHWhitelist              bool   `json:"achWhitelist"`
	PaymentFileAuthentication bool   `json:"paymentFileAuthentication"`
	DetailsOfCharge           string `json:"detailsOfCharge,omitempty"`
	FXPricingTier             string `json:"fxPricingTier"`
	CreditValueAdjustment     string `json:"creditValueAdjustment"`
}

const (
	restCustomerColumns = `
SELECT legal_name, short_name, uid, type, tax_id_last4, customer_id, status, lei, swift_code, language,
  email_address, fax_number, website, logo_url, twitter_url,
  legal_line1, legal_line2, legal_city, legal_state, legal_postal_code, legal_country_code, legal_country,
  mail_address_same_as_legal,
  mailing_line1, mailing_line2, mailing_city, mailing_state, mailing_postal_code, mailing_country_code,
  mailing_country, lower(relationship_type), partner_org_short_name, processing_org_short_name, cost_center,
  relationship_manager, originating_officer, parent_entity_short_name,
  profile_sso, profile_billing_customer, profile_restricted_access, profile_ach_positive_pay,
  profile_ach_whitelist, profile_payment_file_authentication, profile_details_of_charge,
  profile_fx_pricing_tier, profile_credit_value_adjustment, note
FROM customers WHERE tenant = $1 AND ($2 = 0 OR owner = $2)`

	selectPage  = restCustomerColumns + ` ORDER BY uid LIMIT $3 OFFSET $4`
	countOfPage = `SELECT coalesce(sum(customers), 0)::bigint FROM customer_counts
		WHERE tenant = $1 AND ($2 = 0 OR owner = $2)`

	found        = ` AND name_words(tenant, legal_name) @@ name_search($1, $3)`
	selectFound  = restCustomerColumns + found + ` ORDER BY uid LIMIT $4 OFFSET $5`
	countOfFound = `SELECT count(*) FROM customers WHERE tenant = $1 AND ($2 = 0 OR owner = $2)` + found
)

// restCustomers is workloads d and d2: a page and the count of the whole list, in one round trip.
func (h hand) restCustomers(w http.ResponseWriter, r *http.Request) {
	caller, query := callerOf(r), r.URL.Query()
	page, err := strconv.Atoi(query.Get("page"))
	size, err2 := strconv.Atoi(query.Get("limit"))
	if err != nil || err2 != nil || page < 1 || size < 1 || size > 1000 {
		http.Error(w, "page and limit must be numbers", http.StatusBadRequest)
		return
	}
	selecting, counting := selectPage, countOfPage
	values := []any{caller.Tenant, caller.ScopeCustomer()}
	if name := query.Get("legalName"); name != "" {
		selecting, counting = selectFound, countOfFound
		values = append(values, name)
	}
	customers, total := []restCustomer{}, int64(0)
	var batch pgx.Batch
	batch.Queue(selecting, append(values[:len(values):len(values)], size, (page-1)*size)...).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				customers = append(customers, restCustomer{})
				if err := scanRESTCustomer(rows, &customers[len(customers)-1]); err != nil {
					return err
				}
			}
			return rows.Err()
		})
	batch.Queue(counting, values...).QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	if err := h.read(r.Context(), &batch); err != nil {
		fail(w, err)
		return
	}
	answerREST(w, customers, &pages{total, len(customers), page, size})
}

func scanRESTCustomer(row pgx.Row, c *restCustomer) error {
	legal, mailing, profile := &c.LegalAddress, &c.MailingAddress, &c.Profile
	err := row.Scan(&c.LegalName, &c.ShortName, &c.UID, &c.Type, &c.TaxID, &c.CustomerID, &c.Status, &c.LEI,
		&c.SWIFTCode,
		&c.Language, &c.EmailAddress, &c.FaxNumber, &c.Website, &c.LogoURL, &c.TwitterURL,
		&legal.Line1, &legal.Line2, &legal.City, &legal.State, &legal.PostalCode, &legal.CountryCode,
		&legal.Country,
		&c.MailSameAsLegal,
		&mailing.Line1, &mailing.Line2, &mailing.City, &mailing.State, &mailing.PostalCode,
		&mailing.CountryCode, &mailing.Country,
		&c.RelationshipType, &c.PartnerOrgShortName, &c.ProcessingOrgShortName, &c.CostCenter,
		&c.RelationshipManager,
		&c.OriginatingOfficer, &c.ParentShortName,
		&profile.SSO, &profile.BillingCustomer, &profile.RestrictedAccess, &profile.ACHPositivePay,
		&profile.ACHWhitelist,
		&profile.PaymentFileAuthentication, &profile.DetailsOfCharge, &profile.FXPricingTier,
		&profile.CreditValueAdjustment, &c.Note)
	if c.TaxID != "" {
		c.TaxID = "****" + c.TaxID
	}
	return err
}

// restAccount is the answer of workload e.
type restAccount struct {
	ExternalReferenceID string `json:"externalReferenceId"`
	UID                 int64  `json:"accountUID,string"`
	Name                string `json:"name"`
	Number              string `json:"accountNumber"`
	FBONumber           string `json:"fboAccountNumber"`
	Type                string `json:"type"`
	SubType             string `json:"subType"`
	SystemOfRecord      string `json:"systemOfRecord"`
	BalanceType         string `json:"balanceType"`
	// only if one account is read by its UID
	LedgerBalance          *string             `json:"ledgerBalance,omitempty"`
	AvailableBalance       *string             `json:"availableBalance,omitempty"`
	AvailableBalanceStatus *string             `json:"availableBalanceStatus,omitempty"`
	AmountPrecision        string              `json:"amountPrecision"`
	Currency               string              `json:"currency"`
	Country                string              `json:"country"`
	BankID                 string              `json:"bankId"`
	BankName               string              `json:"bankName"`
	BankIDType             string              `json:"bankIdType"`
	EnableWires            bool                `json:"enableWires"`
	EnableOffset           bool                `json:"enableOffset"`
	DefaultOffset          bool                `json:"defaultOffset"`
	FeeAccount             bool                `json:"feeAccount"`
	ReturnAccount          bool                `json:"returnAccount"`
	Status                 string              `json:"status"`
	ExternalAccount        restExternalAccount `json:"externalAccount"`
}

type restExternalAccount struct {
	Provider string `json:"externalProvider"`
	ID       string `json:"externalId"`
	Token    string `json:"externalAuthToken"`
}

const (
	// A customer that the caller may not see is treated as absent.
	selectScope = `SELECT true FROM customers WHERE tenant = $1 AND uid = $2 AND ($3 = 0 OR owner = $3)`

	selectAccountOf = `
SELECT external_reference_id, uid, name, number_last4, fbo_number_last4, upper(type), sub_type,
  system_of_record, balance_type, currency, country, bank_id, bank_name, bank_id_type, enable_wires,
  enable_offset, default_offset, fee_account, return_account, status, external_provider, external_id,
  external_token_last4
FROM accounts WHERE tenant = $1 AND number_hash = $2 AND customer = $3 AND deleted_at IS NULL`
)

// Words of the first generation that differ from the tables' words.
var (
	subTypeWords = map[string]string{"Savings": "Saving", "Pseudo": "Psuedo", "Health Savings Account": "HSA"}
	bankIDWords  = map[string]string{"NID": "By ABA", "BIC": "By Address"}
)

// restAccountByNumber is workload e: the check of the customer and the account, in one round trip.
func (h hand) restAccountByNumber(w http.ResponseWriter, r *http.Request) {
	uid, err := strconv.ParseInt(r.PathValue("uid"), 10, 64)
	if err != nil {
		http.Error(w, "uid must be digits", http.StatusBadRequest)
		return
	}
	caller := callerOf(r)
	hash := h.keys.Hash(int64(caller.Tenant), "accounts.number", r.URL.Query().Get("accountNumber"))
	var mine, there bool
	var a restAccount
	var batch pgx.Batch
	batch.Queue(selectScope, caller.Tenant, uid, caller.ScopeCustomer()).Query(func(rows pgx.Rows) error {
		mine = rows.Next()
		rows.Close()
		return rows.Err()
	})
	batch.Queue(selectAccountOf, caller.Tenant, hash, uid).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			there = true
			if err := rows.Scan(&a.ExternalReferenceID, &a.UID, &a.Name, &a.Number, &a.FBONumber,
				&a.Type, &a.SubType, &a.SystemOfRecord,
				&a.BalanceType, &a.Currency, &a.Country, &a.BankID, &a.BankName, &a.BankIDType,
				&a.EnableWires, &a.EnableOffset,
				&a.DefaultOffset, &a.FeeAccount, &a.ReturnAccount, &a.Status,
				&a.ExternalAccount.Provider, &a.ExternalAccount.ID, &a.ExternalAccount.Token); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if err := h.read(r.Context(), &batch); err != nil {
		fail(w, err)
		return
	}
	if !mine || !there {
		http.Error(w, "no such account of this customer", http.StatusBadRequest)
		return
	}
	for _, secret := range []*string{&a.Number, &a.FBONumber, &a.ExternalAccount.Token} {
		if *secret != "" {
			*secret = "****" + *secret
		}
	}
	if word, ok := subTypeWords[a.SubType]; ok {
		a.SubType = word
	}
	a.BankIDType, a.AmountPrecision = bankIDWords[a.BankIDType], strconv.Itoa(digits(a.Currency))
	answerREST(w, a, nil)
}
