package rest

import (
	"strings"

	"bankgraph/core/customers"
	"bankgraph/core/given"
)

// customerDraftV2 reads the body of a create and of a partial update (rest/CONTRACT.md, new customer;
// customer update). It also accepts the names that answers use.
func customerDraftV2(body fields) customers.Draft {
	d := customerDraft(body)
	d.SWIFTCode, d.Website = body.text("swiftCode", "swiftcode"), body.text("webSite", "website")
	p := body.object("additionalProfileDetails")
	d.Profile = customers.ProfileDraft{
		SSO: p.flag("sso"), BillingCustomer: p.flag("billingCustomer"),
		RestrictedAccess: p.flag("restrictedAccess"), ACHPositivePay: p.flag("achPositivePay"),
		ACHWhitelist: p.flag("achWhitelist"), PaymentFileAuthentication: p.flag("paymentFileAuthentication"),
		DetailsOfCharge: p.text("detailsOfCharge"), FXPricingTier: p.text("fxPricingTier"),
		CreditValueAdjustment: p.number("creditValueAdjustment"),
	}
	return d
}

// newCustomerV2 reads the body of a create. Only creates take attributes (rest/CONTRACT.md, new customer).
func newCustomerV2(body fields) customers.Draft {
	d := customerDraftV2(body)
	d.AdditionalAttributes = attributes(body)
	return d
}

// customerChangeV2 reads the body of a partial update. Only updates take limits, grouped by application
// (rest/CONTRACT.md, customer update).
func customerChangeV2(body fields) customers.Draft {
	d := customerDraftV2(body)
	groups, _ := body.each("limits")
	for _, group := range groups {
		application := group.text("appName").Value
		items, _ := group.each("appLimits")
		for _, item := range items {
			d.Limits = append(d.Limits, customers.Ceiling{
				Code: item.text("key").Value, Value: item.number("value").Value, Application: application,
				At: strings.TrimSuffix(item.path, "."),
			})
		}
	}
	return d
}

// customerDraftG1 reads the bodies of the first generation (rest/CONTRACT.md, customers of the oldest form).
func customerDraftG1(body fields) customers.Draft {
	d := customerDraft(body)
	d.Oldest = true
	d.ACHCompanyID, d.SWIFTCode, d.Website = body.text("achCompanyID"), body.text("swiftcode"),
		body.text("website")
	d.SECCodes = body.texts("secCodes").Value
	sets, _ := body.each("addtionalProfileDetails", "additionalProfileDetails")
	if len(sets) > 1 {
		body.fail("addtionalProfileDetails", "must hold one set of details")
	}
	for _, p := range sets {
		d.Profile = customers.ProfileDraft{
			CreditClient:     p.flag("creditclient", "creditClient"),
			AccountAnalysis:  p.flag("accountanalysis", "accountAnalysis"),
			BillingCustomer:  p.flag("billingcustomer", "billingCustomer"),
			RestrictedAccess: p.flag("restrictedaccess", "restrictedAccess"),
			SSO:              p.flag("sso"),
			ACHPositivePay:   p.flag("achPositivePay"), ACHWhitelist: p.flag("achWhitelist"),
			ACHNonPrefund: p.flag("achNonPrefund"), ACHNonPrefundLimit: p.number("achNonPrefundLimit"),
			PaymentFileAuthentication: p.flag("paymentFileAuthentication"), FXPricingTier: p.text("fxPricingTier"),
			CreditValueAdjustment: p.number("crediValueAdjustment", "creditValueAdjustment"),
			DetailsOfCharge:       p.text("detailsofCharge", "detailsOfCharge"),
		}
	}
	return d
}

// customerDraft reads the fields with the same names in all generations. Only creates use the short name.
func customerDraft(body fields) customers.Draft {
	return customers.Draft{
		ExternalReferenceID: body.text("externalReferenceId"), LegalName: body.text("legalName"),
		ShortName: body.text("shortName"), CustomerID: body.number("customerId"),
		Type: wordIn(body, customers.ParseType, "customerType"), TaxID: body.text("taxId"), LEI: body.text("lei"),
		Language: body.text("language"), EmailAddress: body.text("emailAddress"),
		PhoneNumber: body.text("phoneNumber"), FaxNumber: body.text("faxNumber"), LogoURL: body.text("logoUrl"),
		LinkedinURL: body.text("linkedinUrl"), TwitterURL: body.text("twitterUrl"),
		LegalAddress:           addressDraft(body.object("legalAddress")),
		MailAddressSameAsLegal: body.flag("mailAddressSameAsLegal"),
		MailingAddress:         addressDraft(body.object("mailingAddress")),
		RelationshipType:       wordIn(body, customers.ParseRelationship, "relationshipType"),
		PartnerOrgShortName:    body.text("partnerOrgShortName"),
		ParentEntityShortName:  body.text("parentEntityShortName"), CostCenter: body.text("costCenter"),
		RelationshipManager: body.text("relationshipManager"), OriginatingOfficer: body.text("originatingOfficer"),
		Note: body.text("note"), Access: accessDraft(body.object("legalEntityAccessSettings")),
	}
}

func accessDraft(s fields) customers.AccessDraft {
	return customers.AccessDraft{
		AllowOnlineAccess: s.flag("allowOnlineAccess"), UserPINForNewEntry: s.flag("userPinForNewEntry"),
		UserDualApproval: s.flag("userDualApproval"), UserPINForApproval: s.flag("userPinForApproval"),
		NotificationsDualApproval: s.flag("notificationsDualApproval"),
		CustomerPINForNewEntry:    s.flag("customerPinForNewEntry"),
		CustomerDualApproval:      s.flag("customerDualApproval"),
		CustomerPINForApproval:    s.flag("customerPinForApproval"),
		BenePINForNewEntry:        s.flag("benePinForNewEntry"),
		BeneDualApproval:          s.flag("beneDualApproval"), BenePINForApproval: s.flag("benePinForApproval"),
		PaymentPINForNewEntry: s.flag("paymentPinForNewEntry"), PaymentDualApproval: s.flag("paymentDualApproval"),
		PaymentPINForApproval: s.flag("paymentPinForApproval"), FeeTierForApproval: s.flag("feeTierForApproval"),
		FirstApproverLimit:  s.number("paymentLimitforFirstApprover"),
		SecondApproverLimit: s.number("paymentLimitforSecondApprover"),
		NumberOfApprovers:   s.whole("paymentNumberOfApprovers"),
	}
}

// addressDraft reads an address (rest/CONTRACT.md, addresses).
func addressDraft(a fields) given.Address {
	return given.Address{
		Line1: a.text("addressLine1"), Line2: a.text("addressLine2"), City: a.text("city"), State: a.text("state"),
		PostalCode: a.text("postalCode"), CountryCode: a.text("countryCode"), Country: a.text("country"),
	}
}

// attributes reads the custom attributes; nil if not given.
func attributes(body fields) []customers.Attribute {
	items, there := body.each("additionalAttributes")
	if !there {
		return nil
	}
	return each(items, func(item fields) customers.Attribute {
		return customers.Attribute{Name: item.text("attributeName").Value, Value: item.text("value").Value}
	})
}

// customerSaved answers a create, and an update of the first generation (rest/CONTRACT.md, customer answers).
// The customerUID is text in every generation.
type customerSaved struct {
	CustomerUID          customers.UID    `json:"customerUID,string"`
	ShortName            string           `json:"shortName"`
	CustomerEntityStatus customers.Status `json:"customerEntityStatus"`
}

type customerSavedG1 struct {
	customerSaved
	ExternalReferenceID string `json:"externalReferenceId"`
}

func customerSavedOf(s customers.Saved) customerSaved {
	return customerSaved{s.UID, s.ShortName, s.Status}
}

func customerSavedG1Of(s customers.Saved) customerSavedG1 {
	return customerSavedG1{customerSavedOf(s), s.ExternalReferenceID}
}
