package rest

import (
	"bankgraph/core/contacts"
	"bankgraph/core/money"
	"bankgraph/core/postal"
)

// contactG1 is a contact of the first generation (contract, section 2.5).
type contactG1 struct {
	ExternalReferenceID  string                    `json:"externalReferenceId"`
	ContactUID           string                    `json:"contactUID"`
	TemplateName         string                    `json:"templateName"`
	Name                 string                    `json:"name"`
	Address              postal.Address            `json:"address"`
	EmailAddress         string                    `json:"emailAddress"`
	PhoneNumber          string                    `json:"phoneNumber"`
	ContactBank          contacts.Bank             `json:"contactBank"`
	IntermediaryBank     contacts.IntermediaryBank `json:"intermediaryBank"`
	OtherInfo            otherInfoG1               `json:"otherInfo"`
	RegulartoryReporting []contacts.Reporting      `json:"regulartoryReporting"`
}

type otherInfoG1 struct {
	BeneficiaryNotes  string `json:"beneficiaryNotes"`
	OtherBeneBankInfo string `json:"otherBeneBankInfo"`
}

func contactG1Of(k *contacts.Contact) any {
	return contactG1{
		ExternalReferenceID: k.ExternalReferenceID, ContactUID: k.UID.String(), TemplateName: k.TemplateName, Name: k.Name,
		Address: k.Address, EmailAddress: k.EmailAddress, PhoneNumber: k.PhoneNumber, ContactBank: k.Bank,
		IntermediaryBank: k.Intermediary, RegulartoryReporting: listed(k.RegulatoryReporting),
		OtherInfo: otherInfoG1{BeneficiaryNotes: k.BeneficiaryNotes, OtherBeneBankInfo: k.OtherBankInfo},
	}
}

// contactV2 is a contact of the second generation: other names for the e-mail address and the notes, and the
// kind of the account (contract, contacts 3.1 and 4.2).
type contactV2 struct {
	ContactUID           string                    `json:"contactUID"`
	TemplateName         string                    `json:"templateName"`
	Name                 string                    `json:"name"`
	Email                string                    `json:"email"`
	PhoneNumber          string                    `json:"phoneNumber"`
	Address              postal.Address            `json:"address"`
	ContactBank          contactBankV2             `json:"contactBank"`
	IntermediaryBank     contacts.IntermediaryBank `json:"intermediaryBank"`
	OtherInfo            otherInfoV2               `json:"otherInfo"`
	RegulartoryReporting []contacts.Reporting      `json:"regulartoryReporting"`
}

type contactBankV2 struct {
	Country        string         `json:"country"`
	AccountNo      string         `json:"accountNo"`
	AccountCcy     money.Currency `json:"accountCcy"`
	Name           string         `json:"name"`
	Address        postal.Address `json:"address"`
	NationalCode   string         `json:"nationalCode"`
	SWIFTCode      string         `json:"swiftCode"`
	AccountType    string         `json:"accountType"`
	AccountSubType string         `json:"accountSubType"`
}

type otherInfoV2 struct {
	BeneNotes         string `json:"beneNotes"`
	OtherBeneBankInfo string `json:"otherBeneBankInfo"`
}

func contactV2Of(k *contacts.Contact) any {
	return contactV2{
		ContactUID: k.UID.String(), TemplateName: k.TemplateName, Name: k.Name, Email: k.EmailAddress,
		PhoneNumber: k.PhoneNumber, Address: k.Address, IntermediaryBank: k.Intermediary,
		ContactBank: contactBankV2{
			Country: k.Bank.Country, AccountNo: k.Bank.AccountNumber.Masked(), AccountCcy: k.Bank.AccountCurrency,
			Name: k.Bank.Name, Address: k.Bank.Address, NationalCode: k.Bank.NationalCode, SWIFTCode: k.Bank.SWIFTCode,
			AccountType: k.Bank.AccountType, AccountSubType: k.Bank.AccountSubType,
		},
		OtherInfo:            otherInfoV2{BeneNotes: k.BeneficiaryNotes, OtherBeneBankInfo: k.OtherBankInfo},
		RegulartoryReporting: listed(k.RegulatoryReporting),
	}
}
