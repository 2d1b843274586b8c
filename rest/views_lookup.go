package rest

import (
	"strings"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/money"
)

// profileList is the answer of the customer lookup (rest/CONTRACT.md, lookup).
type profileList struct {
	Profiles []profile `json:"profiles"`
}

// profile is a customer and the account by which it was found. Its account numbers are masked too.
type profile struct {
	// DDA: found by an account number
	LookupType                      string                  `json:"lookupType"`
	LookupID                        string                  `json:"lookupId"`
	LegalEntityID                   string                  `json:"legalEntityId"`
	LegalEntityStatus               customers.Status        `json:"legalEntityStatus"`
	FullName                        string                  `json:"fullName"`
	ProcessingOrgID                 string                  `json:"processingOrgId"`
	ProcessingOrg                   string                  `json:"processingOrg"`
	ShortName                       string                  `json:"shortName"`
	CompanyID                       string                  `json:"companyId"`
	CustomerType                    string                  `json:"customerType"`
	CustomerID                      string                  `json:"customerId"`
	CostCenter                      string                  `json:"costCenter"`
	AddressLine1                    string                  `json:"addressLine1"`
	AddressLine2                    string                  `json:"addressLine2"`
	City                            string                  `json:"city"`
	State                           string                  `json:"state"`
	Zip                             string                  `json:"zip"`
	CountryISOCode                  string                  `json:"countryISOCode"`
	PartnerOrg                      string                  `json:"partnerOrg"`
	TransactionAccountID            string                  `json:"transactionAccountId"`
	TransactionAccountNumber        string                  `json:"transactionAccountNumber"`
	TransactionAccountRoutingNumber string                  `json:"transactionAccountRoutingNumber"`
	TransactionAccountName          string                  `json:"transactionAccountName"`
	TransactionAccountType          string                  `json:"transactionAccountType"`
	TransactionAccountSubType       accounts.SubType        `json:"transactionAccountSubType"`
	BankAccountStatus               accounts.Status         `json:"bankAccountStatus"`
	Status                          string                  `json:"status"`
	ErrorDescription                string                  `json:"errorDescription"`
	TransactionAccountCostcenter    string                  `json:"transactionAccountCostcenter"`
	BankAccountAlias                string                  `json:"bankAccountAlias"`
	LegalEntityAlias                string                  `json:"legalEntityAlias"`
	EmailAddress                    string                  `json:"emailAddress"`
	Country                         string                  `json:"country"`
	SystemOfRecords                 accounts.SystemOfRecord `json:"systemOfRecords"`
	Currency                        money.Currency          `json:"currency"`
	DetailsOfCharges                string                  `json:"detailsOfCharges,omitzero"`
	AccountAnalysis                 bool                    `json:"accountAnalysis"`
	EnableWires                     bool                    `json:"enableWires"`
	EnableSwift                     bool                    `json:"enableSwift"`
	EnableRTP                       bool                    `json:"enableRTP"`
	EnableFednow                    bool                    `json:"enableFednow"`
	EnableWirePayment               bool                    `json:"enableWirePayment"`
	EnableACH                       bool                    `json:"enableACH"`
	Prefunded                       bool                    `json:"prefunded"`
	AdditionalAttributes            []profileAttribute      `json:"additionalAttributes"`
	AccountFeatures                 profileFeatures         `json:"accountFeatures"`
}

type profileAttribute struct {
	ID            string `json:"id"`
	Level         string `json:"level"`
	AttributeName string `json:"attributeName"`
	Value         string `json:"value"`
	EntityType    string `json:"entityType"`
}

type profileFeatures struct {
	SweepOut             *profileSweepOut `json:"sweepOut,omitzero"`
	SweepIn              *profileSweepIn  `json:"sweepIn,omitzero"`
	RFPSend              bool             `json:"rfpSend"`
	RFPReceive           bool             `json:"rfpReceive"`
	RTPReceiveOnly       bool             `json:"rtpReceiveOnly"`
	RTPSendAndReceive    bool             `json:"rtpSendAndReceive"`
	RTPRFPSend           bool             `json:"rtpRfpSend"`
	RTPRFPReceive        bool             `json:"rtpRfpReceive"`
	FednowReceiveOnly    bool             `json:"fednowReceiveOnly"`
	FednowSendAndReceive bool             `json:"fednowSendAndReceive"`
	FednowRFPSend        bool             `json:"fednowRfpSend"`
	FednowRFPReceive     bool             `json:"fednowRfpReceive"`
}

func profilesOf(found *accounts.Profile) profileList {
	if found == nil {
		return profileList{Profiles: []profile{}}
	}
	return profileList{Profiles: []profile{profileOf(found)}}
}

func profileOf(found *accounts.Profile) profile {
	a, c := found.Account, found.Customer
	view := profile{
		LookupType: "DDA", LookupID: a.Number.Masked(), LegalEntityID: c.UID.String(), LegalEntityStatus: c.Status,
		FullName: c.LegalName, ProcessingOrg: c.ProcessingOrgShortName, ShortName: c.ShortName,
		CompanyID: c.ACHCompanyID, CustomerType: strings.ToUpper(string(c.Type)), CustomerID: c.CustomerID,
		CostCenter: c.CostCenter, AddressLine1: c.LegalAddress.Line1, AddressLine2: c.LegalAddress.Line2,
		City: c.LegalAddress.City, State: c.LegalAddress.State, Zip: c.LegalAddress.PostalCode,
		CountryISOCode: c.LegalAddress.CountryCode, PartnerOrg: c.PartnerOrgShortName,
		TransactionAccountID: a.UID.String(), TransactionAccountNumber: a.Number.Masked(),
		TransactionAccountRoutingNumber: a.BankID, TransactionAccountName: a.Name,
		TransactionAccountType: typeWord(a.Type), TransactionAccountSubType: a.SubType,
		BankAccountStatus: a.Status, Status: "SUCCESS", TransactionAccountCostcenter: a.CostCenter,
		EmailAddress: c.EmailAddress, Country: c.LegalAddress.Country, SystemOfRecords: a.SystemOfRecord,
		Currency: a.Currency, DetailsOfCharges: c.Profile.DetailsOfCharge, AccountAnalysis: a.AccountAnalysis,
		EnableWires: a.EnableWires, EnableSwift: a.EnableSWIFT, EnableRTP: a.EnableRTP,
		EnableFednow: a.EnableFedNow, EnableWirePayment: a.EnableWires, EnableACH: a.EnableACH,
		Prefunded: a.ACHPrefund, AdditionalAttributes: profileAttributesOf(c, a),
		AccountFeatures: profileFeaturesOf(found),
	}
	if found.Institution != 0 {
		view.ProcessingOrgID = found.Institution.String()
	}
	return view
}

// profileAttributesOf returns the custom attributes of both levels. The id of an attribute is its name, which
// is unique in its level.
func profileAttributesOf(c *customers.Customer, a *accounts.Account) []profileAttribute {
	views := []profileAttribute{}
	for _, x := range c.AdditionalAttributes {
		views = append(views,
			profileAttribute{
				ID: x.Name, Level: "Customer", AttributeName: x.Name, Value: x.Value, EntityType: string(c.Type),
			})
	}
	for _, x := range a.AdditionalAttributes {
		views = append(views,
			profileAttribute{
				ID: x.Name, Level: "Account", AttributeName: x.Name, Value: x.Value, EntityType: string(a.Type),
			})
	}
	return views
}

// profileSweepOut says where the account's surplus goes.
type profileSweepOut struct {
	ToAccount string `json:"toAccount"` // masked
	profileSweep
}

// profileSweepIn says where missing money comes from.
type profileSweepIn struct {
	FromAccount string `json:"fromAccount"` // masked
	profileSweep
}

type profileSweep struct {
	TargetAmount  string                 `json:"targetAmount"`
	Frequency     accounts.FrequencyType `json:"frequency"`
	DayOfWeek     accounts.Weekday       `json:"dayOfWeek,omitzero"`
	Speed         string                 `json:"speed"`
	NextSweepDate string                 `json:"nextSweepDate"`
}

// Words from the payments texts for the ways in which a sweep moves money.
var (
	inSpeeds = map[accounts.InMethod]string{
		accounts.ACHDebit: "Economy", accounts.WireDrawdown: "Express", accounts.InstantRFP: "Instant",
	}
	outSpeeds = map[accounts.OutMethod]string{
		accounts.ACHCredit: "Economy", accounts.WirePayment: "Express", accounts.InstantPayment: "Instant",
	}
)

// profileSweepsOf returns the sweeps of an account. For a range, the target is the high mark when money goes
// out and the low mark when money comes in.
func profileSweepsOf(found *accounts.Profile) (out *profileSweepOut, in *profileSweepIn) {
	view := func(w *accounts.Sweep, mark *money.Amount, speed string) profileSweep {
		if w.BalanceType != accounts.Range {
			mark = w.TargetBalance()
		}
		return profileSweep{
			mark.String(), w.Frequency, w.DayOfWeek, speed,
			w.NextSweepDate().Format(time.DateOnly),
		}
	}
	for _, w := range found.Sweeps {
		if w.ToContact != nil {
			out = &profileSweepOut{
				found.Contacts[*w.ToContact].Bank.AccountNumber.Masked(),
				view(w, w.ToAmount(), outSpeeds[w.ToMethod]),
			}
		}
		if w.FromContact != nil {
			in = &profileSweepIn{
				found.Contacts[*w.FromContact].Bank.AccountNumber.Masked(),
				view(w, w.FromAmount(), inSpeeds[w.FromMethod]),
			}
		}
	}
	return out, in
}

// profileFeaturesOf returns the features as v3 shows them.
func profileFeaturesOf(found *accounts.Profile) profileFeatures {
	a := found.Account
	v3 := featuresV3Of(a)
	out, in := profileSweepsOf(found)
	return profileFeatures{
		SweepOut: out, SweepIn: in, RFPSend: a.RFPSend, RFPReceive: a.RFPReceive,
		RTPReceiveOnly: v3.RTPFeature.RTPReceiveOnly, RTPSendAndReceive: v3.RTPFeature.RTPSendOrReceive,
		RTPRFPSend: v3.RTPFeature.RTPRFPSend, RTPRFPReceive: v3.RTPFeature.RTPRFPReceive,
		FednowReceiveOnly:    v3.FedNowFeature.FedNowReceiveOnly,
		FednowSendAndReceive: v3.FedNowFeature.FedNowSendOrReceive, FednowRFPSend: v3.FedNowFeature.FedNowRFPSend,
		FednowRFPReceive: v3.FedNowFeature.FedNowRFPReceive,
	}
}
