package rest

import (
	"strconv"
	"strings"

	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/money"
)

// Words of the older generations for sub-types (rest/CONTRACT.md, account words). Both misspell Pseudo.
var (
	subTypesG1 = map[accounts.SubType]string{
		accounts.Savings: "Saving", accounts.Pseudo: "Psuedo", accounts.HealthSavings: "HSA",
	}
	subTypesV2 = map[accounts.SubType]string{accounts.Pseudo: "Psuedo"}
)

func wordOf(words map[accounts.SubType]string, t accounts.SubType) string {
	if word, ok := words[t]; ok {
		return word
	}
	return string(t)
}

// typeWord is DEPOSIT or LOAN, as the first two generations answer.
func typeWord(t accounts.Type) string { return strings.ToUpper(string(t)) }

var (
	bankIDTypes   = map[accounts.BankIDType]string{accounts.NID: "By ABA", accounts.BIC: "By Address"}
	bankIDTypesV3 = map[accounts.BankIDType]string{accounts.NID: "NationalBankCode", accounts.BIC: "BIC"}
)

// accountG1 is an account of the first generation, in search and retrieval (rest/CONTRACT.md, account
// answers).
type accountG1 struct {
	ExternalReferenceID    string            `json:"externalReferenceId"`
	AccountUID             string            `json:"accountUID"`
	Name                   string            `json:"name"`
	AccountNumber          string            `json:"accountNumber"`
	FBOAccountNumber       string            `json:"fboAccountNumber"`
	Type                   string            `json:"type"`
	SubType                string            `json:"subType"`
	SystemOfRecord         string            `json:"systemOfRecord"`
	BalanceType            string            `json:"balanceType"`
	LedgerBalance          *string           `json:"ledgerBalance,omitzero"`
	AvailableBalance       *string           `json:"availableBalance,omitzero"`
	AvailableBalanceStatus *string           `json:"availableBalanceStatus,omitzero"`
	AmountPrecision        string            `json:"amountPrecision"`
	Currency               money.Currency    `json:"currency"`
	Country                string            `json:"country"`
	BankID                 string            `json:"bankId"`
	BankName               string            `json:"bankName"`
	BankIDType             string            `json:"bankIdType"`
	EnableWires            bool              `json:"enableWires"`
	EnableOffset           bool              `json:"enableOffset"`
	DefaultOffset          bool              `json:"defaultOffset"`
	FeeAccount             bool              `json:"feeAccount"`
	ReturnAccount          bool              `json:"returnAccount"`
	Status                 accounts.Status   `json:"status"`
	ExternalAccount        externalAccountG1 `json:"externalAccount"`
}

type externalAccountG1 struct {
	ExternalProvider  string `json:"externalProvider"`
	ExternalID        string `json:"externalId"`
	ExternalAuthToken string `json:"externalAuthToken"` // masked like every secret
}

func accountG1Of(a *accounts.Account) any {
	ledger, available, status := balanceTexts(a)
	return accountG1{
		ExternalReferenceID: a.ExternalReferenceID, AccountUID: a.UID.String(), Name: a.Name,
		AccountNumber: a.Number.Masked(), FBOAccountNumber: a.FBONumber.Masked(), Type: typeWord(a.Type),
		SubType: wordOf(subTypesG1, a.SubType), SystemOfRecord: string(a.SystemOfRecord),
		BalanceType: a.BalanceType, LedgerBalance: ledger, AvailableBalance: available,
		AvailableBalanceStatus: status, AmountPrecision: strconv.Itoa(a.Currency.Digits()), Currency: a.Currency,
		Country: a.Country, BankID: a.BankID, BankName: a.BankName, BankIDType: bankIDTypes[a.BankIDType],
		EnableWires: a.EnableWires, EnableOffset: a.EnableOffset, DefaultOffset: a.DefaultOffset,
		FeeAccount: a.FeeAccount, ReturnAccount: a.ReturnAccount, Status: a.Status,
		ExternalAccount: externalAccountG1{a.ExternalProvider, a.ExternalID, a.ExternalToken.Masked()},
	}
}

// balanceTexts are the balances in the form of the first two generations. They are nil if they were not read,
// or if another system keeps them.
func balanceTexts(a *accounts.Account) (ledger, available, status *string) {
	b := a.Balances()
	if b == nil {
		return nil, nil, nil
	}
	l, v, s := b.Ledger.String(), b.Available.String(), b.AvailableStatus()
	return &l, &v, &s
}

// accountItemV2 is a row of the v2 search (rest/CONTRACT.md, account answers).
type accountItemV2 struct {
	AccountUID          string          `json:"accountUID"`
	AccountName         string          `json:"accountName"`
	AccountNumber       string          `json:"accountNumber"`
	FBOAccountNumber    string          `json:"fboAccountNumber"`
	AccountType         string          `json:"accountType"`
	AccountSubType      string          `json:"accountSubType"`
	SystemOfRecords     string          `json:"systemOfRecords"`
	Currency            money.Currency  `json:"currency"`
	Country             string          `json:"country"`
	RoutingNumber       string          `json:"routingNumber"`
	BankIDType          string          `json:"bankIdType"`
	EnableWires         bool            `json:"enableWires"`
	EnableOffset        bool            `json:"enableOffset"`
	DefaultOffset       bool            `json:"defaultOffset"`
	FeeAccount          bool            `json:"feeAccount"`
	ReturnAccount       bool            `json:"returnAccount"`
	Status              accounts.Status `json:"status"`
	AccountAnalysis     bool            `json:"accountAnalysis"`
	CallbackLimit       *money.Amount   `json:"callbackLimit,omitzero"`
	CostCenter          string          `json:"costCenter"`
	CountryCode         string          `json:"countryCode"`
	CreditExposureLimit *money.Amount   `json:"creditExposureLimit,omitzero"`
	DebitExposureLimit  *money.Amount   `json:"debitExposureLimit,omitzero"`
	EnableCallbacks     bool            `json:"enableCallbacks"`
	IsUnderWritten      bool            `json:"isUnderWritten"`
	MasterGL            string          `json:"masterGl"`
	Reason              string          `json:"reason"`
	SECCodes            []string        `json:"secCodes"`
	ACHCompanyID        string          `json:"achCompanyId"`
}

func accountItemV2Of(a *accounts.Account) any {
	return accountItemV2{
		AccountUID: a.UID.String(), AccountName: a.Name, AccountNumber: a.Number.Masked(),
		FBOAccountNumber: a.FBONumber.Masked(), AccountType: typeWord(a.Type),
		AccountSubType: wordOf(subTypesV2, a.SubType), SystemOfRecords: string(a.SystemOfRecord),
		Currency: a.Currency, Country: a.Country, RoutingNumber: a.BankID, BankIDType: bankIDTypes[a.BankIDType],
		EnableWires: a.EnableWires, EnableOffset: a.EnableOffset, DefaultOffset: a.DefaultOffset,
		FeeAccount: a.FeeAccount, ReturnAccount: a.ReturnAccount, Status: a.Status,
		AccountAnalysis: a.AccountAnalysis, CallbackLimit: a.Limit(a.CallbackLimit), CostCenter: a.CostCenter,
		CountryCode: a.CountryCode, CreditExposureLimit: a.Limit(a.CreditExposureLimit),
		DebitExposureLimit: a.Limit(a.DebitExposureLimit), EnableCallbacks: a.EnableCallbacks,
		IsUnderWritten: a.Underwritten, MasterGL: a.MasterGL, Reason: a.Reason, SECCodes: listed(a.SECCodes),
		ACHCompanyID: a.ACHCompanyID,
	}
}

// accountV2 is the answer of the v2 get. It uses other names than the search, and its UID is a number
// (rest/CONTRACT.md, account answers).
type accountV2 struct {
	AccountUID             accounts.UID          `json:"accountUID"`
	Name                   string                `json:"name"`
	AccountNumber          string                `json:"accountNumber"`
	FBOAccountNumber       string                `json:"fboAccountNumber"`
	Type                   string                `json:"type"`
	SubType                string                `json:"subType"`
	SystemOfRecords        string                `json:"systemOfRecords"`
	BalanceType            string                `json:"balanceType"`
	LedgerBalance          *string               `json:"ledgerBalance,omitzero"`
	AvailableBalance       *string               `json:"availableBalance,omitzero"`
	AvailableBalanceStatus *string               `json:"availableBalanceStatus,omitzero"`
	AmountPrecision        int                   `json:"amountPrecision"`
	Currency               money.Currency        `json:"currency"`
	Country                string                `json:"country"`
	BankID                 string                `json:"bankId"`
	BankName               string                `json:"bankName"`
	BankIDType             string                `json:"bankIdType"`
	EnableWires            bool                  `json:"enableWires"`
	EnableOffset           bool                  `json:"enableOffset"`
	DefaultOffset          bool                  `json:"defaultOffset"`
	FeeAccount             bool                  `json:"feeAccount"`
	ReturnAccount          bool                  `json:"returnAccount"`
	Status                 accounts.Status       `json:"status"`
	CountryCode            string                `json:"countryCode"`
	MasterGL               string                `json:"masterGl"`
	AccountAnalysis        bool                  `json:"accountAnalysis"`
	ExternalAccount        string                `json:"externalAccount"`
	CostCenter             string                `json:"costCenter"`
	EnableCallbacks        bool                  `json:"enableCallbacks"`
	CallbackLimit          *money.Amount         `json:"callbackLimit,omitzero"`
	Reason                 string                `json:"reason"`
	IsUnderWritten         bool                  `json:"isUnderWritten"`
	DebitExposureLimit     *money.Amount         `json:"debitExposureLimit,omitzero"`
	CreditExposureLimit    *money.Amount         `json:"creditExposureLimit,omitzero"`
	IsACHPrefund           bool                  `json:"isAchPrefund"`
	SECCodes               []string              `json:"secCodes"`
	ACHCompanyID           string                `json:"achCompanyId"`
	AccountFeatures        rfpFeatures           `json:"accountFeatures"`
	AdditionalAttributes   []customers.Attribute `json:"additionalAttributes"`
}

// rfpFeatures say whether an account may receive and send requests for payment.
type rfpFeatures struct {
	RFPReceive bool `json:"rfpReceive"`
	RFPSend    bool `json:"rfpSend"`
}

func accountV2Of(a *accounts.Account) any {
	ledger, available, status := balanceTexts(a)
	return accountV2{
		AccountUID: a.UID, Name: a.Name, AccountNumber: a.Number.Masked(), FBOAccountNumber: a.FBONumber.Masked(),
		Type: typeWord(a.Type), SubType: wordOf(subTypesV2, a.SubType), SystemOfRecords: string(a.SystemOfRecord),
		BalanceType: a.BalanceType, LedgerBalance: ledger, AvailableBalance: available,
		AvailableBalanceStatus: status, AmountPrecision: a.Currency.Digits(), Currency: a.Currency,
		Country: a.Country, BankID: a.BankID, BankName: a.BankName, BankIDType: bankIDTypes[a.BankIDType],
		EnableWires: a.EnableWires, EnableOffset: a.EnableOffset, DefaultOffset: a.DefaultOffset,
		FeeAccount: a.FeeAccount, ReturnAccount: a.ReturnAccount, Status: a.Status, CountryCode: a.CountryCode,
		MasterGL: a.MasterGL, AccountAnalysis: a.AccountAnalysis, ExternalAccount: a.ExternalID,
		CostCenter: a.CostCenter, EnableCallbacks: a.EnableCallbacks, CallbackLimit: a.Limit(a.CallbackLimit),
		Reason: a.Reason, IsUnderWritten: a.Underwritten, DebitExposureLimit: a.Limit(a.DebitExposureLimit),
		CreditExposureLimit: a.Limit(a.CreditExposureLimit), IsACHPrefund: a.ACHPrefund,
		SECCodes: listed(a.SECCodes), ACHCompanyID: a.ACHCompanyID,
		AccountFeatures:      rfpFeatures{a.RFPReceive, a.RFPSend},
		AdditionalAttributes: listed(a.AdditionalAttributes),
	}
}

// orNull returns nil for absent text, where "string or null" is published (rest/CONTRACT.md, what answers
// leave out).
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// accountV3 is an account of the third generation, in search and retrieval (rest/CONTRACT.md, account
// answers). The published item has neither accountUID nor status, without which a search result would be
// useless.
type accountV3 struct {
	AccountUID             string                `json:"accountUID"`
	AccountName            string                `json:"accountName"`
	AccountNumber          string                `json:"accountNumber"`
	FBOAccountNumber       string                `json:"fboAccountNumber"`
	AccountType            accounts.Type         `json:"accountType"`
	AccountSubType         accounts.SubType      `json:"accountSubType"`
	Status                 accounts.Status       `json:"status"`
	SystemOfRecords        string                `json:"systemOfRecords"`
	RoutingNumber          string                `json:"routingNumber"`
	BankIDType             string                `json:"bankIdType"`
	Currency               money.Currency        `json:"currency"`
	CountryCode            string                `json:"countryCode"`
	CostCenter             string                `json:"costCenter"`
	MasterGL               string                `json:"masterGl"`
	Reason                 *string               `json:"reason"`
	ExternalAccount        *string               `json:"externalAccount"`
	BalanceType            *string               `json:"balanceType"`
	LedgerBalance          *money.Amount         `json:"ledgerBalance,omitzero"`
	AvailableBalance       *money.Amount         `json:"availableBalance,omitzero"`
	AvailableBalanceStatus *string               `json:"availableBalanceStatus,omitzero"`
	AmountPrecision        int                   `json:"amountPrecision"`
	AccountFeatures        featuresV3            `json:"accountFeatures"`
	AdditionalAttributes   []customers.Attribute `json:"additionalAttributes"`
}

type featuresV3 struct {
	rfpFeatures
	AccountAnalysis      bool     `json:"accountAnalysis"`
	FeeAccount           string   `json:"feeAccount"`    // "true" or "false": published as text
	ReturnAccount        string   `json:"returnAccount"` // "true" or "false" too
	EnableACHPositivePay bool     `json:"enableAchPositivePay"`
	FedWireFeature       wireV3   `json:"fedWireFeature"`
	FedNowFeature        fedNowV3 `json:"fedNowFeature"`
	RTPFeature           rtpV3    `json:"rtpFeature"`
	ACHFeature           achV3    `json:"achFeature"`
}

type wireV3 struct {
	EnableWire              bool          `json:"enableWire"`
	EnableDomesticWire      bool          `json:"enableDomesticWire"`
	EnableInternationalWire bool          `json:"enableInternationalWire"`
	EnableCallbacks         bool          `json:"enableCallbacks"`
	CallbackLimit           *money.Amount `json:"callbackLimit,omitzero"`
}

type fedNowV3 struct {
	EnableFedNow        bool `json:"enableFedNow"`
	FedNowReceiveOnly   bool `json:"fednowReceiveOnly"`
	FedNowSendOrReceive bool `json:"fednowSendOrReceive"`
	FedNowSend          bool `json:"fednowSend"`
	FedNowRFPSend       bool `json:"fednowRfpSend"`
	FedNowRFPReceive    bool `json:"fednowRfpReceive"`
}

type rtpV3 struct {
	EnableRTP        bool `json:"enableRtp"`
	RTPReceiveOnly   bool `json:"rtpReceiveOnly"`
	RTPSendOrReceive bool `json:"rtpSendOrReceive"`
	RTPSend          bool `json:"rtpSend"`
	RTPRFPSend       bool `json:"rtpRfpSend"`
	RTPRFPReceive    bool `json:"rtpRfpReceive"`
}

type achV3 struct {
	EnableACH           bool          `json:"enableACH"`
	EnableOffset        bool          `json:"enableOffset"`
	DefaultOffset       bool          `json:"defaultOffset"`
	EnableUnderWritten  bool          `json:"enableUnderWritten"`
	DebitExposureLimit  *money.Amount `json:"debitExposureLimit,omitzero"`
	CreditExposureLimit *money.Amount `json:"creditExposureLimit,omitzero"`
	EnableACHPrefund    bool          `json:"enableAchPrefund"`
	ACHCompanyID        *string       `json:"achCompanyId"`
	SECCodes            []string      `json:"secCodes"`
}

func accountV3Of(a *accounts.Account) any {
	view := accountV3{
		AccountUID: a.UID.String(), AccountName: a.Name, AccountNumber: a.Number.Masked(),
		FBOAccountNumber: a.FBONumber.Masked(), AccountType: a.Type, AccountSubType: a.SubType, Status: a.Status,
		SystemOfRecords: string(a.SystemOfRecord), RoutingNumber: a.BankID,
		BankIDType: bankIDTypesV3[a.BankIDType], Currency: a.Currency, CountryCode: a.CountryCode,
		CostCenter: a.CostCenter, MasterGL: a.MasterGL, Reason: orNull(a.Reason),
		ExternalAccount: orNull(a.ExternalID), BalanceType: orNull(a.BalanceType),
		AmountPrecision: a.Currency.Digits(), AccountFeatures: featuresV3Of(a),
		AdditionalAttributes: listed(a.AdditionalAttributes),
	}
	if b := a.Balances(); b != nil {
		status := b.AvailableStatus()
		view.LedgerBalance, view.AvailableBalance, view.AvailableBalanceStatus = &b.Ledger, &b.Available, &status
	}
	return view
}

// featuresV3Of shows an account's features. If a real-time network is on, receiving and receiving requests
// for payment are on too, and only then sending counts (rest/CONTRACT.md, account rules).
func featuresV3Of(a *accounts.Account) featuresV3 {
	fedNowSends, rtpSends := a.EnableFedNow && a.FedNowSend, a.EnableRTP && a.RTPSend
	return featuresV3{
		rfpFeatures: rfpFeatures{a.RFPReceive, a.RFPSend}, AccountAnalysis: a.AccountAnalysis,
		FeeAccount: strconv.FormatBool(a.FeeAccount), ReturnAccount: strconv.FormatBool(a.ReturnAccount),
		EnableACHPositivePay: a.EnablePositivePay,
		FedWireFeature: wireV3{
			EnableWire: a.EnableWires, EnableDomesticWire: a.EnableDomesticWires,
			EnableInternationalWire: a.EnableInternationalWires, EnableCallbacks: a.EnableCallbacks,
			CallbackLimit: a.Limit(a.CallbackLimit),
		},
		FedNowFeature: fedNowV3{
			EnableFedNow: a.EnableFedNow, FedNowReceiveOnly: a.EnableFedNow && !fedNowSends,
			FedNowSendOrReceive: fedNowSends, FedNowSend: fedNowSends,
			FedNowRFPSend: a.EnableFedNow && a.FedNowRFPSend, FedNowRFPReceive: a.EnableFedNow,
		},
		RTPFeature: rtpV3{
			EnableRTP: a.EnableRTP, RTPReceiveOnly: a.EnableRTP && !rtpSends, RTPSendOrReceive: rtpSends,
			RTPSend: rtpSends, RTPRFPSend: a.EnableRTP && a.RTPRFPSend, RTPRFPReceive: a.EnableRTP,
		},
		ACHFeature: achV3{
			EnableACH: a.EnableACH, EnableOffset: a.EnableOffset, DefaultOffset: a.DefaultOffset,
			EnableUnderWritten: a.Underwritten, DebitExposureLimit: a.Limit(a.DebitExposureLimit),
			CreditExposureLimit: a.Limit(a.CreditExposureLimit), EnableACHPrefund: a.ACHPrefund,
			ACHCompanyID: orNull(a.ACHCompanyID), SECCodes: listed(a.SECCodes),
		},
	}
}
