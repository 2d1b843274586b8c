package rest

import (
	"strings"

	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/core/limits"
	"bankgraph/core/postal"
)

// customerG1Of returns c itself: core's JSON names are those of the first generation (rest/CONTRACT.md,
// customer answers).
func customerG1Of(c *customers.Customer) any { return c }

// customerItemV2 is a row of the v2 search (rest/CONTRACT.md, customer answers).
type customerItemV2 struct {
	LegalName                string         `json:"legalName"`
	ShortName                string         `json:"shortName"`
	CustomerUID              customers.UID  `json:"customerUID"`
	CustomerType             customers.Type `json:"customerType"`
	TaxID                    string         `json:"taxId"`
	CustomerID               string         `json:"customerId"`
	Status                   string         `json:"status"`
	LEI                      string         `json:"lei"`
	SWIFTCode                string         `json:"swiftcode"`
	Language                 string         `json:"language"`
	EmailAddress             string         `json:"emailAddress"`
	FaxNumber                string         `json:"faxNumber"`
	Website                  string         `json:"website"`
	LogoURL                  string         `json:"logoUrl"`
	TwitterURL               string         `json:"twitterUrl"`
	LegalAddress             postal.Address `json:"legalAddress"`
	MailAddressSameAsLegal   bool           `json:"mailAddressSameAsLegal"`
	MailingAddress           postal.Address `json:"mailingAddress"`
	RelationshipType         string         `json:"relationshipType"`
	PartnerOrgShortName      string         `json:"partnerOrgShortName"`
	ProcessingOrgShortName   string         `json:"processingOrgShortName"`
	CostCenter               string         `json:"costCenter"`
	RelationshipManager      string         `json:"relationshipManager"`
	OriginatingOfficer       string         `json:"originatingOfficer"`
	ParentEntityShortName    string         `json:"parentEntityShortName"`
	AdditionalProfileDetails profileV2      `json:"additionalProfileDetails"`
	Note                     string         `json:"note"`
}

func customerItemV2Of(c *customers.Customer) any { return customerItemV2From(c) }

func customerItemV2From(c *customers.Customer) customerItemV2 {
	return customerItemV2{
		LegalName: c.LegalName, ShortName: c.ShortName, CustomerUID: c.UID, CustomerType: c.Type,
		TaxID: c.TaxID.Masked(), CustomerID: c.CustomerID, Status: string(c.Status), LEI: c.LEI,
		SWIFTCode: c.SWIFTCode, Language: c.Language, EmailAddress: c.EmailAddress, FaxNumber: c.FaxNumber,
		Website: c.Website, LogoURL: c.LogoURL, TwitterURL: c.TwitterURL, LegalAddress: c.LegalAddress,
		MailAddressSameAsLegal: c.MailAddressSameAsLegal, MailingAddress: c.MailingAddress,
		RelationshipType:    strings.ToLower(string(c.RelationshipType)), // customer, bank, thirdparty, self
		PartnerOrgShortName: c.PartnerOrgShortName, ProcessingOrgShortName: c.ProcessingOrgShortName,
		CostCenter: c.CostCenter, RelationshipManager: c.RelationshipManager,
		OriginatingOfficer:    c.OriginatingOfficer,
		ParentEntityShortName: c.ParentEntityShortName, AdditionalProfileDetails: profileV2Of(c.Profile),
		Note: c.Note,
	}
}

// profileV2 is additionalProfileDetails of the second generation (rest/CONTRACT.md, profile details).
type profileV2 struct {
	SSO                       bool   `json:"sso"`
	BillingCustomer           bool   `json:"billingCustomer"`
	RestrictedAccess          bool   `json:"restrictedAccess"`
	ACHPositivePay            bool   `json:"achPositivePay"`
	ACHWhitelist              bool   `json:"achWhitelist"`
	PaymentFileAuthentication bool   `json:"paymentFileAuthentication"`
	DetailsOfCharge           string `json:"detailsOfCharge,omitzero"`
	FXPricingTier             string `json:"fxPricingTier"`
	CreditValueAdjustment     string `json:"creditValueAdjustment"`
}

func profileV2Of(p customers.Profile) profileV2 {
	return profileV2{
		SSO: p.SSO, BillingCustomer: p.BillingCustomer, RestrictedAccess: p.RestrictedAccess,
		ACHPositivePay: p.ACHPositivePay, ACHWhitelist: p.ACHWhitelist,
		PaymentFileAuthentication: p.PaymentFileAuthentication, DetailsOfCharge: p.DetailsOfCharge,
		FXPricingTier: p.FXPricingTier, CreditValueAdjustment: p.CreditValueAdjustment,
	}
}

// customerV2 is the answer of the v2 get: a row of the search with everything that the search leaves out
// (rest/CONTRACT.md, customer answers).
type customerV2 struct {
	customerItemV2
	LinkedinURL                    string                   `json:"linkedinUrl"`
	PhoneNumber                    string                   `json:"phoneNumber"`
	LegalEntityOriginatingOfficer  string                   `json:"legalEntityOriginatingOfficer"`
	LegalEntityRelationshipManager string                   `json:"legalEntityRelationshipManager"`
	LegalEntityAccessSettings      customers.AccessSettings `json:"legalEntityAccessSettings"`
	FeeTier                        []*fees.Tier             `json:"feeTier"`
	LegalEntityLimits              []limitV2                `json:"legalEntityLimits"`
	AdditionalAttributes           []customers.Attribute    `json:"additionalAttributes"`
}

func customerV2Of(
	c *customers.Customer, officers []*customers.Officer, tiers []*fees.Tier, held []*limits.Limit,
) customerV2 {
	return customerV2{
		customerItemV2: customerItemV2From(c), LinkedinURL: c.LinkedinURL, PhoneNumber: c.PhoneNumber,
		LegalEntityOriginatingOfficer:  customers.NameOf(officers, c.OriginatingOfficer),
		LegalEntityRelationshipManager: customers.NameOf(officers, c.RelationshipManager),
		LegalEntityAccessSettings:      c.Access,
		FeeTier:                        listed(tiers),
		LegalEntityLimits:              each(held, limitV2Of),
		AdditionalAttributes:           listed(c.AdditionalAttributes),
	}
}

// customerChangedV2 is the answer of the v2 update. In answers to changes, customerUID is text.
type customerChangedV2 struct {
	customerV2
	CustomerUID customers.UID `json:"customerUID,string"`
}

func customerChangedV2Of(c customerV2) customerChangedV2 { return customerChangedV2{c, c.CustomerUID} }

// listed returns an empty list for nil, so that it is written as [] and not as null.
func listed[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// limitV2 is an item of legalEntityLimits.
type limitV2 struct {
	Key             string `json:"key"` // the limit code
	Value           string `json:"value"`
	ApplicationName string `json:"applicationName"`
}

func limitV2Of(l *limits.Limit) limitV2 {
	return limitV2{Key: l.Code, Value: l.Value(), ApplicationName: l.Application}
}
