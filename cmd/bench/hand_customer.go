package main

import (
	"cmp"
	"fmt"
	"strings"

	"bankgraph/core/check"
)

// newCustomer is the body of workloads g, g2 and g3 as the second generation documents it, without attributes
// and the limits of approvers.
type newCustomer struct {
	ReferenceID    string      `json:"externalReferenceId"`
	LegalName      string      `json:"legalName"`
	ShortName      string      `json:"shortName"`
	CustomerID     string      `json:"customerId"`
	Type           string      `json:"customerType"`
	TaxID          string      `json:"taxId"`
	LEI            string      `json:"lei"`
	SWIFTCode      string      `json:"swiftCode"`
	Language       string      `json:"language"`
	EmailAddress   string      `json:"emailAddress"`
	PhoneNumber    string      `json:"phoneNumber"`
	FaxNumber      string      `json:"faxNumber"`
	Website        string      `json:"webSite"`
	LogoURL        string      `json:"logoUrl"`
	LinkedinURL    string      `json:"linkedinUrl"`
	TwitterURL     string      `json:"twitterUrl"`
	LegalAddress   restAddress `json:"legalAddress"`
	MailSameAs     bool        `json:"mailAddressSameAsLegal"`
	MailingAddress restAddress `json:"mailingAddress"`
	Relationship   string      `json:"relationshipType"`
	Partner        string      `json:"partnerOrgShortName"`
	CostCenter     string      `json:"costCenter"`
	Manager        string      `json:"relationshipManager"`
	Officer        string      `json:"originatingOfficer"`
	Parent         string      `json:"parentEntityShortName"`
	Profile        restProfile `json:"additionalProfileDetails"`
	Note           string      `json:"note"`
	Access         restAccess  `json:"legalEntityAccessSettings"`
	Limits         []ceiling   `json:"limits"`

	bank, currency string // the bank's short name, and the currency of its limits
	owner          int64
	parent         *int64
}

// ceiling is the ceiling of one limit.
type ceiling struct {
	Code  string `json:"code"`
	Value string `json:"value"`
}

// restAccess are the access settings of a customer's users.
type restAccess struct {
	AllowOnlineAccess         bool `json:"allowOnlineAccess"`
	UserPINForNewEntry        bool `json:"userPinForNewEntry"`
	UserDualApproval          bool `json:"userDualApproval"`
	UserPINForApproval        bool `json:"userPinForApproval"`
	NotificationsDualApproval bool `json:"notificationsDualApproval"`
	CustomerPINForNewEntry    bool `json:"customerPinForNewEntry"`
	CustomerDualApproval      bool `json:"customerDualApproval"`
	CustomerPINForApproval    bool `json:"customerPinForApproval"`
	BenePINForNewEntry        bool `json:"benePinForNewEntry"`
	BeneDualApproval          bool `json:"beneDualApproval"`
	BenePINForApproval        bool `json:"benePinForApproval"`
	PaymentPINForNewEntry     bool `json:"paymentPinForNewEntry"`
	PaymentDualApproval       bool `json:"paymentDualApproval"`
	PaymentPINForApproval     bool `json:"paymentPinForApproval"`
	FeeTierForApproval        bool `json:"feeTierForApproval"`
}

// check checks the fields with the bank's own checks, such as those of tax ids and e-mail addresses.
func (c *newCustomer) check() error {
	f := check.Of("customer")
	for _, one := range [][2]string{
		{"legalName", c.LegalName},
		{"shortName", c.ShortName},
		{"customerType", c.Type},
		{"taxId", c.TaxID},
		{"language", c.Language},
		{"costCenter", c.CostCenter},
		{"relationshipManager", c.Manager},
		{"originatingOfficer", c.Officer},
		{"legalAddress.addressLine1", c.LegalAddress.Line1},
		{"legalAddress.city", c.LegalAddress.City},
		{"legalAddress.postalCode", c.LegalAddress.PostalCode},
	} {
		f.Required(one[0], one[1])
	}
	for _, column := range c.columns() {
		if text, ok := column.value.(string); ok {
			f.AtMost(column.recorded, text, 255)
		}
	}
	f.TaxID("taxId", c.TaxID, 10)
	f.LEI("lei", c.LEI)
	f.Email("emailAddress", c.EmailAddress)
	c.SWIFTCode = f.BIC("swiftCode", c.SWIFTCode)
	for _, url := range []string{c.Website, c.LogoURL, c.LinkedinURL, c.TwitterURL} {
		f.URL("url", url)
	}
	c.PhoneNumber = cmp.Or(check.Of("customer").Phone("phoneNumber", c.PhoneNumber, "US"), c.PhoneNumber)
	c.FaxNumber = cmp.Or(check.Of("customer").Phone("faxNumber", c.FaxNumber, "US"), c.FaxNumber)
	if c.MailSameAs {
		c.MailingAddress = c.LegalAddress
	}
	for _, address := range []*restAddress{&c.LegalAddress, &c.MailingAddress} {
		address.CountryCode = f.Country("countryCode", address.CountryCode)
		country, _ := check.CountryOf(address.CountryCode)
		address.Country = country.Name
	}
	return f.Err()
}

// column is a column of a new customer, with its name in the record.
type column struct {
	name, recorded string
	value          any
}

// columns returns all columns that the body fills.
func (c *newCustomer) columns() []column {
	legal, mailing, p, s := &c.LegalAddress, &c.MailingAddress, &c.Profile, &c.Access
	return []column{
		{"external_reference_id", "externalReferenceId", c.ReferenceID},
		{"legal_name", "legalName", c.LegalName},
		{"short_name", "shortName", c.ShortName},
		{"customer_id", "customerId", c.CustomerID},
		{"type", "type", c.Type},
		{"status", "status", "Active"},
		{"lei", "lei", c.LEI},
		{"swift_code", "swiftCode", c.SWIFTCode},
		{"language", "language", c.Language},
		{"email_address", "emailAddress", c.EmailAddress},
		{"phone_number", "phoneNumber", c.PhoneNumber},
		{"fax_number", "faxNumber", c.FaxNumber},
		{"website", "website", c.Website},
		{"logo_url", "logoUrl", c.LogoURL},
		{"linkedin_url", "linkedinUrl", c.LinkedinURL},
		{"twitter_url", "twitterUrl", c.TwitterURL},
		{"legal_line1", "legalAddress.line1", legal.Line1},
		{"legal_line2", "legalAddress.line2", legal.Line2},
		{"legal_city", "legalAddress.city", legal.City},
		{"legal_state", "legalAddress.state", legal.State},
		{"legal_postal_code", "legalAddress.postalCode", legal.PostalCode},
		{"legal_country_code", "legalAddress.countryCode", legal.CountryCode},
		{"legal_country", "legalAddress.country", legal.Country},
		{"mail_address_same_as_legal", "mailAddressSameAsLegal", c.MailSameAs},
		{"mailing_line1", "mailingAddress.line1", mailing.Line1},
		{"mailing_line2", "mailingAddress.line2", mailing.Line2},
		{"mailing_city", "mailingAddress.city", mailing.City},
		{"mailing_state", "mailingAddress.state", mailing.State},
		{"mailing_postal_code", "mailingAddress.postalCode", mailing.PostalCode},
		{"mailing_country_code", "mailingAddress.countryCode", mailing.CountryCode},
		{"mailing_country", "mailingAddress.country", mailing.Country},
		{"relationship_type", "relationshipType", c.Relationship},
		{"partner_org_short_name", "partnerOrgShortName", c.Partner},
		{"processing_org_short_name", "processingOrgShortName", c.bank},
		{"parent_entity_short_name", "parentEntityShortName", c.Parent},
		{"cost_center", "costCenter", c.CostCenter},
		{"relationship_manager", "relationshipManager", c.Manager},
		{"originating_officer", "originatingOfficer", c.Officer},
		{"note", "note", c.Note},
		{"profile_sso", "profile.sso", p.SSO},
		{"profile_billing_customer", "profile.billingCustomer", p.BillingCustomer},
		{"profile_restricted_access", "profile.restrictedAccess", p.RestrictedAccess},
		{"profile_ach_positive_pay", "profile.achPositivePay", p.ACHPositivePay},
		{"profile_ach_whitelist", "profile.achWhitelist", p.ACHWhitelist},
		{"profile_payment_file_authentication", "profile.paymentFileAuthentication", p.PaymentFileAuthentication},
		{"profile_details_of_charge", "profile.detailsOfCharge", p.DetailsOfCharge},
		{"profile_fx_pricing_tier", "profile.fxPricingTier", p.FXPricingTier},
		{"profile_credit_value_adjustment", "profile.creditValueAdjustment", p.CreditValueAdjustment},
		{"access_allow_online_access", "access.allowOnlineAccess", s.AllowOnlineAccess},
		{"access_user_pin_for_new_entry", "access.userPinForNewEntry", s.UserPINForNewEntry},
		{"access_user_dual_approval", "access.userDualApproval", s.UserDualApproval},
		{"access_user_pin_for_approval", "access.userPinForApproval", s.UserPINForApproval},
		{"access_notifications_dual_approval", "access.notificationsDualApproval", s.NotificationsDualApproval},
		{"access_customer_pin_for_new_entry", "access.customerPinForNewEntry", s.CustomerPINForNewEntry},
		{"access_customer_dual_approval", "access.customerDualApproval", s.CustomerDualApproval},
		{"access_customer_pin_for_approval", "access.customerPinForApproval", s.CustomerPINForApproval},
		{"access_bene_pin_for_new_entry", "access.benePinForNewEntry", s.BenePINForNewEntry},
		{"access_bene_dual_approval", "access.beneDualApproval", s.BeneDualApproval},
		{"access_bene_pin_for_approval", "access.benePinForApproval", s.BenePINForApproval},
		{"access_payment_pin_for_new_entry", "access.paymentPinForNewEntry", s.PaymentPINForNewEntry},
		{"access_payment_dual_approval", "access.paymentDualApproval", s.PaymentDualApproval},
		{"access_payment_pin_for_approval", "access.paymentPinForApproval", s.PaymentPINForApproval},
		{"access_fee_tier_for_approval", "access.feeTierForApproval", s.FeeTierForApproval},
	}
}

// insertCustomer is built once, from the columns.
var insertCustomer = func() string {
	names, values := "tenant, uid, owner, parent, tax_id_sealed, tax_id_hash, tax_id_last4, "+
		"created_at, updated_at", "$1, $2, $3, $4, $5, $6, $7, $8, $8"
	var all, places strings.Builder
	for i, column := range new(newCustomer).columns() {
		fmt.Fprintf(&all, ", %s", column.name)
		fmt.Fprintf(&places, ", $%d", 9+i)
	}
	return "INSERT INTO customers (" + names + all.String() + ") VALUES (" + values + places.String() + ")"
}()
