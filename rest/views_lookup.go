package rest

import (
	"strings"

	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/money"
)

// profileList is the answer of the customer lookup (contract, lookup 5).
type profileList struct {
	Profiles []profile `json:"profiles"`
}

// profile is a customer and the account that it was found by. Account numbers are masked here too.
type profile struct {
	LookupType                      string                  `json:"lookupType"` // DDA: found by an account number
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
	DetailsOfCharges                string                  `json:"detailsOfCharges"`
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
	SweepOut             *struct{} `json:"sweepOut"` // null: the account is not swept
	SweepIn              *struct{} `json:"sweepIn"`
	RFPSend              bool      `json:"rfpSend"`
	RFPReceive           bool      `json:"rfpReceive"`
	RTPReceiveOnly       bool      `json:"rtpReceiveOnly"`
	RTPSendAndReceive    bool      `json:"rtpSendAndReceive"`
	RTPRFPSend           bool      `json:"rtpRfpSend"`
	RTPRFPReceive        bool      `json:"rtpRfpReceive"`
	FednowReceiveOnly    bool      `json:"fednowReceiveOnly"`
	FednowSendAndReceive bool      `json:"fednowSendAndReceive"`
	FednowRFPSend        bool      `json:"fednowRfpSend"`
	FednowRFPReceive     bool      `json:"fednowRfpReceive"`
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
		FullName: c.LegalName, ProcessingOrg: c.ProcessingOrgShortName, ShortName: c.ShortName, CompanyID: c.ACHCompanyID,
		CustomerType: strings.ToUpper(string(c.Type)), CustomerID: c.CustomerID, CostCenter: c.CostCenter,
		AddressLine1: c.LegalAddress.Line1, AddressLine2: c.LegalAddress.Line2, City: c.LegalAddress.City,
		State: c.LegalAddress.State, Zip: c.LegalAddress.PostalCode, CountryISOCode: c.LegalAddress.CountryCode,
		PartnerOrg: c.PartnerOrgShortName, TransactionAccountID: a.UID.String(), TransactionAccountNumber: a.Number.Masked(),
		TransactionAccountRoutingNumber: a.BankID, TransactionAccountName: a.Name, TransactionAccountType: typeWord(a.Type),
		TransactionAccountSubType: a.SubType, BankAccountStatus: a.Status, Status: "SUCCESS",
		TransactionAccountCostcenter: a.CostCenter, EmailAddress: c.EmailAddress, Country: c.LegalAddress.Country,
		SystemOfRecords: a.SystemOfRecord, Currency: a.Currency, DetailsOfCharges: c.Profile.DetailsOfCharge,
		AccountAnalysis: a.AccountAnalysis, EnableWires: a.EnableWires, EnableSwift: a.EnableSWIFT, EnableRTP: a.EnableRTP,
		EnableFednow: a.EnableFedNow, EnableWirePayment: a.EnableWires, EnableACH: a.EnableACH, Prefunded: a.ACHPrefund,
		AdditionalAttributes: profileAttributesOf(c, a), AccountFeatures: profileFeaturesOf(a),
	}
	if found.Institution != 0 {
		view.ProcessingOrgID = found.Institution.String()
	}
	return view
}

// profileAttributesOf are the custom attributes of both levels. A name is unique in its level, so it is the id.
func profileAttributesOf(c *customers.Customer, a *accounts.Account) []profileAttribute {
	views := []profileAttribute{}
	for _, x := range c.AdditionalAttributes {
		views = append(views, profileAttribute{ID: x.Name, Level: "Customer", AttributeName: x.Name, Value: x.Value, EntityType: string(c.Type)})
	}
	for _, x := range a.AdditionalAttributes {
		views = append(views, profileAttribute{ID: x.Name, Level: "Account", AttributeName: x.Name, Value: x.Value, EntityType: string(a.Type)})
	}
	return views
}

// profileFeaturesOf says what v3 says of the same account.
func profileFeaturesOf(a *accounts.Account) profileFeatures {
	v3 := featuresV3Of(a)
	return profileFeatures{
		RFPSend: a.RFPSend, RFPReceive: a.RFPReceive,
		RTPReceiveOnly: v3.RTPFeature.RTPReceiveOnly, RTPSendAndReceive: v3.RTPFeature.RTPSendOrReceive,
		RTPRFPSend: v3.RTPFeature.RTPRFPSend, RTPRFPReceive: v3.RTPFeature.RTPRFPReceive,
		FednowReceiveOnly: v3.FedNowFeature.FedNowReceiveOnly, FednowSendAndReceive: v3.FedNowFeature.FedNowSendOrReceive,
		FednowRFPSend: v3.FedNowFeature.FedNowRFPSend, FednowRFPReceive: v3.FedNowFeature.FedNowRFPReceive,
	}
}
