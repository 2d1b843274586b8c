package customers

import (
	"strings"

	"bankgraph/core/check"
	"bankgraph/core/given"
)

// ProfileDraft is what a request says about a profile (rest/CONTRACT.md, profile details).
type ProfileDraft struct {
	CreditClient              given.Flag `json:"creditclient,omitzero"`
	AccountAnalysis           given.Flag `json:"accountanalysis,omitzero"`
	SSO                       given.Flag `json:"sso,omitzero"`
	BillingCustomer           given.Flag `json:"billingCustomer,omitzero"`
	RestrictedAccess          given.Flag `json:"restrictedAccess,omitzero"`
	ACHPositivePay            given.Flag `json:"achPositivePay,omitzero"`
	ACHWhitelist              given.Flag `json:"achWhitelist,omitzero"`
	ACHNonPrefund             given.Flag `json:"achNonPrefund,omitzero"`
	ACHNonPrefundLimit        given.Text `json:"achNonPrefundLimit,omitzero"` // decimal
	PaymentFileAuthentication given.Flag `json:"paymentFileAuthentication,omitzero"`
	FXPricingTier             given.Text `json:"fxPricingTier,omitzero"`
	CreditValueAdjustment     given.Text `json:"creditValueAdjustment,omitzero"` // decimal, 0.0001 to 1
	DetailsOfCharge           given.Text `json:"detailsOfCharge,omitzero"`       // OUR, BEN or SHA
}

func (d *ProfileDraft) check(c *check.Fields) {
	c.NotNegative("achNonPrefundLimit", d.ACHNonPrefundLimit.Value)
	c.Decimal("achNonPrefundLimit", d.ACHNonPrefundLimit.Value, 12, 2)
	c.AtMost("fxPricingTier", d.FXPricingTier.Value, 255)
	c.Between("creditValueAdjustment", d.CreditValueAdjustment.Value, "0.0001", "1")
	d.DetailsOfCharge.Value = check.OneOf(c, "detailsOfCharge", d.DetailsOfCharge.Value, "OUR", "BEN", "SHA")
}

func (d *ProfileDraft) to(p *Profile) {
	d.CreditClient.To(&p.CreditClient)
	d.AccountAnalysis.To(&p.AccountAnalysis)
	d.SSO.To(&p.SSO)
	d.BillingCustomer.To(&p.BillingCustomer)
	d.RestrictedAccess.To(&p.RestrictedAccess)
	d.ACHPositivePay.To(&p.ACHPositivePay)
	d.ACHWhitelist.To(&p.ACHWhitelist)
	d.ACHNonPrefund.To(&p.ACHNonPrefund)
	d.ACHNonPrefundLimit.To(&p.ACHNonPrefundLimit)
	d.PaymentFileAuthentication.To(&p.PaymentFileAuthentication)
	d.FXPricingTier.To(&p.FXPricingTier)
	d.CreditValueAdjustment.To(&p.CreditValueAdjustment)
	d.DetailsOfCharge.To(&p.DetailsOfCharge)
}

// AccessDraft is what a request says about access settings (rest/CONTRACT.md, access settings).
type AccessDraft struct {
	AllowOnlineAccess         given.Flag `json:"allowOnlineAccess,omitzero"`
	UserPINForNewEntry        given.Flag `json:"userPinForNewEntry,omitzero"`
	UserDualApproval          given.Flag `json:"userDualApproval,omitzero"`
	UserPINForApproval        given.Flag `json:"userPinForApproval,omitzero"`
	NotificationsDualApproval given.Flag `json:"notificationsDualApproval,omitzero"`
	CustomerPINForNewEntry    given.Flag `json:"customerPinForNewEntry,omitzero"`
	CustomerDualApproval      given.Flag `json:"customerDualApproval,omitzero"`
	CustomerPINForApproval    given.Flag `json:"customerPinForApproval,omitzero"`
	BenePINForNewEntry        given.Flag `json:"benePinForNewEntry,omitzero"`
	BeneDualApproval          given.Flag `json:"beneDualApproval,omitzero"`
	BenePINForApproval        given.Flag `json:"benePinForApproval,omitzero"`
	PaymentPINForNewEntry     given.Flag `json:"paymentPinForNewEntry,omitzero"`
	PaymentDualApproval       given.Flag `json:"paymentDualApproval,omitzero"`
	PaymentPINForApproval     given.Flag `json:"paymentPinForApproval,omitzero"`
	FeeTierForApproval        given.Flag `json:"feeTierForApproval,omitzero"`
	FirstApproverLimit        given.Text `json:"paymentLimitforFirstApprover,omitzero"` // decimal
	SecondApproverLimit       given.Text `json:"paymentLimitforSecondApprover,omitzero"`
	NumberOfApprovers         *int32     `json:"paymentNumberOfApprovers,omitzero"`
}

// mostCents is the largest amount that an approver's limit may have.
const mostCents = "999999999.99"

func (d *AccessDraft) check(c *check.Fields) {
	c.Between("paymentLimitforFirstApprover", d.FirstApproverLimit.Value, "0", mostCents)
	c.Decimal("paymentLimitforFirstApprover", d.FirstApproverLimit.Value, 9, 2)
	c.Between("paymentLimitforSecondApprover", d.SecondApproverLimit.Value, "0", mostCents)
	c.Decimal("paymentLimitforSecondApprover", d.SecondApproverLimit.Value, 9, 2)
	if d.NumberOfApprovers != nil {
		c.Range("paymentNumberOfApprovers", new(int(*d.NumberOfApprovers)), 0, 2)
	}
}

func (d *AccessDraft) to(a *AccessSettings) {
	d.AllowOnlineAccess.To(&a.AllowOnlineAccess)
	d.UserPINForNewEntry.To(&a.UserPINForNewEntry)
	d.UserDualApproval.To(&a.UserDualApproval)
	d.UserPINForApproval.To(&a.UserPINForApproval)
	d.NotificationsDualApproval.To(&a.NotificationsDualApproval)
	d.CustomerPINForNewEntry.To(&a.CustomerPINForNewEntry)
	d.CustomerDualApproval.To(&a.CustomerDualApproval)
	d.CustomerPINForApproval.To(&a.CustomerPINForApproval)
	d.BenePINForNewEntry.To(&a.BenePINForNewEntry)
	d.BeneDualApproval.To(&a.BeneDualApproval)
	d.BenePINForApproval.To(&a.BenePINForApproval)
	d.PaymentPINForNewEntry.To(&a.PaymentPINForNewEntry)
	d.PaymentDualApproval.To(&a.PaymentDualApproval)
	d.PaymentPINForApproval.To(&a.PaymentPINForApproval)
	d.FeeTierForApproval.To(&a.FeeTierForApproval)
	cents(d.FirstApproverLimit, &a.FirstApproverLimit)
	cents(d.SecondApproverLimit, &a.SecondApproverLimit)
	if d.NumberOfApprovers != nil {
		a.NumberOfApprovers = *d.NumberOfApprovers
	}
}

// margins are what the bank keeps of a rate of foreign exchange by the customer's pricing tier, in millionths
// (rest/CONTRACT.md, foreign exchange prices). Any other tier has the one of Standard.
var margins = map[string]int32{"standard": standardMargin, "preferred": 5_000, "premier": 2_500}

const standardMargin = 10_000

// FXMargin returns the margin of the customer's pricing tier.
func (p Profile) FXMargin() int32 {
	if margin, known := margins[strings.ToLower(strings.TrimSpace(p.FXPricingTier))]; known {
		return margin
	}
	return standardMargin
}
