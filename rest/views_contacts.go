package rest

import (
	"bankgraph/core/contacts"
	"bankgraph/core/money"
	"bankgraph/core/postal"
)

// contactG1 is a contact of the first generation (rest/CONTRACT.md, contact answers).
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
		ExternalReferenceID: k.ExternalReferenceID, ContactUID: k.UID.String(), TemplateName: k.TemplateName,
		Name: k.Name, Address: k.Address, EmailAddress: k.EmailAddress, PhoneNumber: k.PhoneNumber,
		ContactBank: k.Bank, IntermediaryBank: k.Intermediary, RegulartoryReporting: listed(k.RegulatoryReporting),
		OtherInfo: otherInfoG1{BeneficiaryNotes: k.BeneficiaryNotes, OtherBeneBankInfo: k.OtherBankInfo},
	}
}

// contactV2 is a contact of the second generation. It has other names for the e-mail address and the notes,
// and also the kind of the account (rest/CONTRACT.md, contact answers).
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
	AccountType    string         `json:"accountType,omitzero"`
	AccountSubType string         `json:"accountSubType,omitzero"`
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

// contactDraftG1 reads the body of the first generation's create and update (rest/CONTRACT.md, contacts of
// the oldest form).
func contactDraftG1(body fields) contacts.Draft {
	draft := contactDraft(body)
	draft.Form = contacts.First
	return draft
}

// contactDraftV2 reads the body of the second generation, which uses the names of v1 and requires fewer
// fields.
func contactDraftV2(body fields) contacts.Draft {
	draft := contactDraft(body)
	draft.Form = contacts.Second
	return draft
}

// contactDraft reads the body of a v1 create and update (rest/CONTRACT.md, new contact; contact update). The
// first generation has other names for the e-mail address and the notes; each generation accepts both.
func contactDraft(body fields) contacts.Draft {
	bank, between, other := body.object("contactBank"), body.object("intermediaryBank"), body.object("otherInfo")
	return contacts.Draft{
		ExternalReferenceID: body.text("externalReferenceId"), TemplateName: body.text("templateName"),
		Name:    body.text("name"),
		Address: body.address("address"), EmailAddress: body.text("emailAddress", "email"),
		PhoneNumber: body.text("phoneNumber"),
		Bank: contacts.BankDraft{
			Country: bank.text("country"), AccountNumber: bank.text("accountNo"),
			AccountCurrency: bank.text("accountCcy"), AccountType: bank.text("accountType"),
			AccountSubType: bank.text("accountSubType"), Name: bank.text("name"), Address: bank.address("address"),
			NationalCode: bank.text("nationalCode"), SWIFTCode: bank.text("swiftCode"),
		},
		Intermediary: contacts.IntermediaryDraft{
			Country: between.text("country"), Name: between.text("name"), NationalCode: between.text("nationalCode"),
			SWIFTCode: between.text("swiftCode"), CoverMessageRequired: between.yesNo("coverMessageRequired"),
			Address: between.address("address"), AddressLine3: between.object("address").text("addressLine3"),
		},
		BeneficiaryNotes:    other.text("beneficiaryNotes", "beneNotes"),
		OtherBankInfo:       other.text("otherBeneBankInfo"),
		RegulatoryReporting: reportingDraft(body),
	}
}

func reportingDraft(body fields) []contacts.ReportingDraft {
	items, there := body.each("regulartoryReporting", "regulatoryReporting")
	if !there {
		return nil
	}
	return each(items, func(f fields) contacts.ReportingDraft {
		return contacts.ReportingDraft{Key: f.text("key").Value, Value: f.text("value").Value}
	})
}

// contactWordsV2 are the names of the later generations that differ from core's.
var contactWordsV2 = map[string]string{
	"emailAddress": "email", "otherInfo.beneficiaryNotes": "otherInfo.beneNotes",
}

// contactSaved answers a create and an update (rest/CONTRACT.md, contact answers).
type contactSaved struct {
	CustomerContactUID string `json:"customerContactUID"`
}

func contactSavedOf(k contacts.Saved) any { return contactSaved{k.UID.String()} }

type contactSavedG1 struct {
	CustomerContactUID  string `json:"customerContactUID"`
	ExternalReferenceID string `json:"externalReferenceId"`
}

func contactSavedG1Of(k contacts.Saved) any {
	return contactSavedG1{k.UID.String(), k.ExternalReferenceID}
}
