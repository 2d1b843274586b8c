// Package customers keeps the legal entities of a bank: its customers, its partners, and the bank itself.
package customers

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/postal"
	"bankgraph/core/seal"
)

// UID is a customer's number, assigned by the bank; partners know it as customerUID.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// MaxUID is the largest number that payments can carry: 11 digits.
const MaxUID = 99_999_999_999

// ParseUID reads a customer's number from decimal digits. Its faults name the field.
func ParseUID(field, text string) (UID, error) {
	if text == "" || len(text) > 18 || strings.Trim(text, "0123456789") != "" {
		return 0, fault.Field("customer", field, fault.Number, "must be the digits of a customer UID")
	}
	if strings.Trim(text, "0") == "" {
		return 0, fault.Field("customer", field, fault.AllZero, "must not be all zeros")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fault.Field("customer", field, fault.Number, "must be the digits of a customer UID")
	}
	return UID(n), nil
}

// Type is the kind of legal entity, in the published words.
type Type string

const (
	Consumer             Type = "Consumer"
	Corporate            Type = "Corporate"
	DownstreamPartner    Type = "Downstream Partner"
	ProcessingOrg        Type = "Processing Org"
	FinancialInstitution Type = "Financial Institution"
)

// Types lists all types.
var Types = []Type{Consumer, Corporate, DownstreamPartner, ProcessingOrg, FinancialInstitution}

// ParseType reads a type without regard to letter case; the search filter writes underscores for
// spaces (rest/CONTRACT.md, customer rules).
func ParseType(field, text string) (Type, error) {
	if t, ok := ident.Word(strings.ReplaceAll(text, "_", " "), Types...); ok {
		return t, nil
	}
	return "", fault.Field("customer", field, fault.Malformed,
		"must be one of Consumer, Corporate, Downstream Partner, Processing Org, Financial Institution, with "+
			"spaces or underscores")
}

// ParseTaxID reads a tax id that is searched for. The masked form that answers show finds nobody, and is
// refused.
func ParseTaxID(field, text string) (string, error) {
	if seal.LooksMasked(text) {
		return "", fault.Field("customer", field, fault.Malformed, "must be the whole tax id, not masked")
	}
	return text, nil
}

// Status is the state of a customer.
type Status string

const (
	Active    Status = "Active"
	Suspended Status = "Suspended"
	StatusNew Status = "New"
	Pending   Status = "Pending"
)

// Statuses lists all statuses.
var Statuses = []Status{Active, Suspended, StatusNew, Pending}

// ParseStatus reads a status without regard to letter case.
func ParseStatus(field, text string) (Status, error) {
	if s, ok := ident.Word(text, Statuses...); ok {
		return s, nil
	}
	return "", fault.Field("customer", field, fault.Malformed, "must be one of Active, Suspended, New, Pending")
}

// Relationship is a customer's relationship to the bank.
type Relationship string

const (
	RelationCustomer   Relationship = "Customer"
	RelationBank       Relationship = "Bank"
	RelationThirdParty Relationship = "ThirdParty"
	RelationSelf       Relationship = "Self" // the bank's own entity
)

// ParseRelationship reads a relationship without regard to letter case, in which the generations differ.
func ParseRelationship(field, text string) (Relationship, error) {
	if r, ok := ident.Word(text, RelationCustomer, RelationBank, RelationThirdParty, RelationSelf); ok {
		return r, nil
	}
	return "", fault.Field("customer", field, fault.Malformed, "must be one of customer, bank, thirdparty, self")
}

// Customer is one legal entity (rest/CONTRACT.md, customer answers). The json names are those of the
// unversioned interface.
type Customer struct {
	bun.BaseModel `bun:"table:customers,alias:c" json:"-"`

	Tenant access.Tenant `bun:"tenant,pk" json:"-"`
	UID    UID           `bun:"uid,pk" json:"customerUID"`
	// the partner that the customer belongs to; a partner's own UID; 0 for the bank's own customers
	Owner UID `bun:"owner" json:"-"`
	// when it last came to another partner, or to the bank; nil if it never has
	MovedAt                *time.Time     `bun:"moved_at" json:"-"`
	ExternalReferenceID    string         `bun:"external_reference_id" json:"externalReferenceId"`
	LegalName              string         `bun:"legal_name" json:"legalName"`
	ShortName              string         `bun:"short_name" json:"shortName"`
	Type                   Type           `bun:"type" json:"customerType"`
	TaxID                  seal.Value     `bun:"embed:tax_id_" json:"taxId"`
	ACHCompanyID           string         `bun:"ach_company_id" json:"achCompanyID"`
	CustomerID             string         `bun:"customer_id" json:"customerId"`
	Status                 Status         `bun:"status" json:"status"`
	LEI                    string         `bun:"lei" json:"lei"`
	SWIFTCode              string         `bun:"swift_code" json:"swiftcode"`
	Language               string         `bun:"language" json:"language"`
	EmailAddress           string         `bun:"email_address" json:"emailAddress"`
	PhoneNumber            string         `bun:"phone_number" json:"phoneNumber"`
	FaxNumber              string         `bun:"fax_number" json:"faxNumber"`
	Website                string         `bun:"website" json:"website"`
	LogoURL                string         `bun:"logo_url" json:"logoUrl"`
	LinkedinURL            string         `bun:"linkedin_url" json:"linkedinUrl"`
	TwitterURL             string         `bun:"twitter_url" json:"twitterUrl"`
	LegalAddress           postal.Address `bun:"embed:legal_" json:"legalAddress"`
	MailAddressSameAsLegal bool           `bun:"mail_address_same_as_legal" json:"mailAddressSameAsLegal"`
	MailingAddress         postal.Address `bun:"embed:mailing_" json:"mailingAddress"`
	RelationshipType       Relationship   `bun:"relationship_type" json:"relationshipType"`
	PartnerOrgShortName    string         `bun:"partner_org_short_name" json:"partnerOrgShortName"`
	ProcessingOrgShortName string         `bun:"processing_org_short_name" json:"processingOrgShortName"`
	Parent                 *UID           `bun:"parent" json:"-"`
	ParentEntityShortName  string         `bun:"parent_entity_short_name" json:"parentEntityShortName"`
	CostCenter             string         `bun:"cost_center" json:"costCenter"`
	// a user's login id
	RelationshipManager string `bun:"relationship_manager" json:"relationshipManager"`
	// a user's login id
	OriginatingOfficer   string         `bun:"originating_officer" json:"originatingOfficer"`
	Profile              Profile        `bun:"embed:profile_" json:"-"`
	SECCodes             []string       `bun:"sec_codes,array" json:"secCodes"`
	Note                 string         `bun:"note" json:"note"`
	Access               AccessSettings `bun:"embed:access_" json:"legalEntityAccessSettings"`
	AdditionalAttributes []Attribute    `bun:"additional_attributes,type:jsonb" json:"-"`
	CreatedAt            time.Time      `bun:"created_at" json:"-"`
	UpdatedAt            time.Time      `bun:"updated_at" json:"-"`
	Version              int32          `bun:"version" json:"-"`
}

// Recorded leaves out of the audit record when the customer moved, which the entry of the move says itself.
func (c *Customer) Recorded() map[string]audit.Field { return map[string]audit.Field{"MovedAt": {}} }

// MarshalJSON shows the profile as an array of one, under its misspelt name (rest/CONTRACT.md, profile
// details).
func (c Customer) MarshalJSON() ([]byte, error) {
	type plain Customer
	return json.Marshal(struct {
		plain
		Profile []Profile `json:"addtionalProfileDetails"`
	}{plain(c), []Profile{c.Profile}})
}

// ShownTaxID returns the masked tax id; nil if none is known.
func (c *Customer) ShownTaxID() *seal.Value { return c.TaxID.Shown() }

// Profile is what the bank has arranged with a customer (rest/CONTRACT.md, profile details).
type Profile struct {
	CreditClient              bool   `bun:"credit_client" json:"creditclient"`
	AccountAnalysis           bool   `bun:"account_analysis" json:"accountanalysis"`
	SSO                       bool   `bun:"sso" json:"sso"` // single sign-on
	BillingCustomer           bool   `bun:"billing_customer" json:"billingcustomer"`
	RestrictedAccess          bool   `bun:"restricted_access" json:"restrictedaccess"`
	ACHPositivePay            bool   `bun:"ach_positive_pay" json:"achPositivePay"`
	ACHWhitelist              bool   `bun:"ach_whitelist" json:"achWhitelist"`
	ACHNonPrefund             bool   `bun:"ach_non_prefund" json:"achNonPrefund"`
	ACHNonPrefundLimit        string `bun:"ach_non_prefund_limit" json:"achNonPrefundLimit"`
	PaymentFileAuthentication bool   `bun:"payment_file_authentication" json:"paymentFileAuthentication"`
	FXPricingTier             string `bun:"fx_pricing_tier" json:"fxPricingTier"`
	CreditValueAdjustment     string `bun:"credit_value_adjustment" json:"crediValueAdjustment"`
	// OUR, BEN or SHA: who pays a payment's charges
	DetailsOfCharge string `bun:"details_of_charge" json:"detailsofCharge,omitzero"`
}

// AccessSettings say what a customer's people need a PIN or a second person for (rest/CONTRACT.md, access
// settings). Amounts are in the bank's currency.
type AccessSettings struct {
	AllowOnlineAccess         bool  `bun:"allow_online_access" json:"allowOnlineAccess"`
	UserPINForNewEntry        bool  `bun:"user_pin_for_new_entry" json:"userPinForNewEntry"`
	UserDualApproval          bool  `bun:"user_dual_approval" json:"userDualApproval"`
	UserPINForApproval        bool  `bun:"user_pin_for_approval" json:"userPinForApproval"`
	NotificationsDualApproval bool  `bun:"notifications_dual_approval" json:"notificationsDualApproval"`
	CustomerPINForNewEntry    bool  `bun:"customer_pin_for_new_entry" json:"customerPinForNewEntry"`
	CustomerDualApproval      bool  `bun:"customer_dual_approval" json:"customerDualApproval"`
	CustomerPINForApproval    bool  `bun:"customer_pin_for_approval" json:"customerPinForApproval"`
	BenePINForNewEntry        bool  `bun:"bene_pin_for_new_entry" json:"benePinForNewEntry"`
	BeneDualApproval          bool  `bun:"bene_dual_approval" json:"beneDualApproval"`
	BenePINForApproval        bool  `bun:"bene_pin_for_approval" json:"benePinForApproval"`
	PaymentPINForNewEntry     bool  `bun:"payment_pin_for_new_entry" json:"paymentPinForNewEntry"`
	PaymentDualApproval       bool  `bun:"payment_dual_approval" json:"paymentDualApproval"`
	PaymentPINForApproval     bool  `bun:"payment_pin_for_approval" json:"paymentPinForApproval"`
	FeeTierForApproval        bool  `bun:"fee_tier_for_approval" json:"feeTierForApproval"`
	FirstApproverLimit        Cents `bun:"first_approver_limit" json:"paymentLimitforFirstApprover"`
	SecondApproverLimit       Cents `bun:"second_approver_limit" json:"paymentLimitforSecondApprover"`
	NumberOfApprovers         int32 `bun:"number_of_approvers" json:"paymentNumberOfApprovers"`
}

// DualForCustomers reports whether changes of a customer, its accounts, limits and signatories need a second
// person.
func (a AccessSettings) DualForCustomers() bool { return a.CustomerDualApproval }

// DualForPayments reports whether payments need a second person, and so what allows some in advance.
func (a AccessSettings) DualForPayments() bool { return a.PaymentDualApproval }

// DualForContacts reports whether new and changed contacts need a second person.
func (a AccessSettings) DualForContacts() bool { return a.BeneDualApproval }

// DualForUsers reports whether new and changed users and roles need a second person.
func (a AccessSettings) DualForUsers() bool { return a.UserDualApproval }

// laxer reports whether a would need fewer approvers than was for anything, or only from a larger amount on.
func (a AccessSettings) laxer(was AccessSettings) bool {
	return was.CustomerDualApproval && !a.CustomerDualApproval ||
		was.BeneDualApproval && !a.BeneDualApproval ||
		was.UserDualApproval && !a.UserDualApproval || was.FeeTierForApproval && !a.FeeTierForApproval ||
		was.PaymentDualApproval && !a.PaymentDualApproval ||
		was.NotificationsDualApproval && !a.NotificationsDualApproval ||
		a.NumberOfApprovers < was.NumberOfApprovers || looser(a.FirstApproverLimit, was.FirstApproverLimit) ||
		looser(a.SecondApproverLimit, was.SecondApproverLimit)
}

// leavesOut reports whether payments on which the bank's own people decided are decided without them.
func (a AccessSettings) leavesOut(was AccessSettings) bool {
	return was.PaymentDualApproval && was.SecondApproverLimit > 0 &&
		(!a.PaymentDualApproval || looser(a.SecondApproverLimit, was.SecondApproverLimit))
}

// looser reports whether the amount up to which an approver is enough was raised, or the bound removed (0).
func looser(now, was Cents) bool { return was > 0 && (now > was || now == 0) }

// DualForFees reports whether changes of fee tiers need a second person.
func (a AccessSettings) DualForFees() bool { return a.FeeTierForApproval }

// Cents are hundredths of the bank's currency, 0 to 999999999.99 (rest/CONTRACT.md, sizes).
type Cents int64

// Amount returns the decimal form.
func (c Cents) Amount() money.Amount { return money.Of(int64(c), money.Hundredths) }

// MarshalJSON writes a number with two decimals.
func (c Cents) MarshalJSON() ([]byte, error) { return c.Amount().MarshalJSON() }

// Attribute is one custom attribute of a customer or account.
type Attribute struct {
	Name  string `json:"attributeName"`
	Value string `json:"value"`
}

// ErrNotFound is returned for a customer that is absent or another bank's, ErrOutOfScope for one of the
// caller's bank that the caller may not see. Most operations answer both alike.
var (
	ErrNotFound   = fault.New(fault.NotFound, "customer.not_found", "no such customer")
	ErrOutOfScope = fault.New(fault.Denied, "customer.out_of_scope", "the customer is not the caller's")
)
