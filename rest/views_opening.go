package rest

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
)

// What the three generations say about an account that is to be opened or changed, and what they are
// answered.

// sharedDraft is what all generations say in the same words (rest/CONTRACT.md, account bodies).
func sharedDraft(body fields) accounts.Draft {
	return accounts.Draft{
		ExternalReferenceID: body.number("externalReferenceId"), Name: body.text("accountName"),
		Number: body.text("accountNumber"), FBONumber: body.text("fboAccountNumber"),
		Type:           wordIn(body, accounts.ParseType, "accountType"),
		SubType:        wordIn(body, accounts.ParseSubType, "accountSubType"),
		SystemOfRecord: wordIn(body, accounts.ParseSystemOfRecord, "systemOfRecords", "systemOfRecord"),
		Currency:       wordIn(body, currency, "currency"), CountryCode: body.text("countryCode"),
		BankID: body.text("routingNumber"), BankIDType: wordIn(body, accounts.ParseBankIDType, "bankIdType"),
		MasterGL: body.text("masterGl"), CostCenter: body.text("costCenter"), Note: body.text("reason"),
		ExternalAccount: externalIn(body), AdditionalAttributes: attributesIn(body),
	}
}

// externalIn reads what another provider knows the account by: an object, or the id alone as the later
// generations answer it.
func externalIn(body fields) accounts.ExternalDraft {
	if _, isText := body.members["externalAccount"].(string); isText {
		return accounts.ExternalDraft{ID: body.text("externalAccount")}
	}
	external := body.object("externalAccount")
	return accounts.ExternalDraft{
		Provider: external.text("externalProvider"), ID: external.text("externalId"),
		Token: external.text("externalAuthToken"),
	}
}

// attributesIn are the custom attributes; nil where none were given.
func attributesIn(body fields) []customers.Attribute {
	items, there := body.each("additionalAttributes")
	if !there {
		return nil
	}
	return each(items, func(item fields) customers.Attribute {
		return customers.Attribute{Name: item.text("attributeName").Value, Value: item.text("value").Value}
	})
}

// draftG1 reads the oldest form. It knows a country by its name too; accountId, which repeats the path, is
// not read.
func draftG1(body fields) accounts.Draft {
	d := sharedDraft(body)
	if country := body.text("country"); country.Given && !d.CountryCode.Given {
		d.CountryCode = country
		if known, ok := check.CountryOf(country.Value); ok {
			d.CountryCode.Value = known.Code
		}
	}
	d.Features, d.Older = switchesOf(body), true
	return d
}

// openingG1 demands the caller's reference, as the oldest form does. Wires are on unless it says otherwise.
func openingG1(body fields) accounts.Draft {
	body.required("externalReferenceId", fields.number)
	return wired(draftG1(body))
}

// draftV2 reads the second form.
func draftV2(body fields) accounts.Draft {
	d := sharedDraft(body)
	d.Features, d.Older = switchesOf(body), true
	features := body.object("accountFeatures")
	d.Features.RFPReceive, d.Features.RFPSend = features.flag("rfpReceive"), features.flag("rfpSend")
	return d
}

// openingV2 takes the United States for the country where none is given.
func openingV2(body fields) accounts.Draft {
	d := wired(draftV2(body))
	if d.CountryCode.Value == "" {
		d.CountryCode = given.Of("US")
	}
	return d
}

func wired(d accounts.Draft) accounts.Draft {
	if !d.Features.Wires.Given {
		d.Features.Wires = given.Of(true)
	}
	return d
}

// switchesOf reads the features that stand in the account itself in the first two forms, as Yes and No
// mostly.
func switchesOf(body fields) accounts.FeaturesDraft {
	return accounts.FeaturesDraft{
		Wires: body.yesNo("enableWire"), Offset: body.yesNo("enableOffset"),
		DefaultOffset: body.yesNo("defaultOffset"), FeeAccount: body.yesNo("feeAccount"),
		ReturnAccount: body.yesNo("returnAccount"), Underwritten: body.flag("isUnderWritten"),
		ACHPrefund: body.flag("isAchPrefund"), DebitExposureLimit: body.number("debitExposureLimit"),
		CreditExposureLimit: body.number("creditExposureLimit"), Callbacks: body.flag("enableCallbacks"),
		CallbackLimit: body.number("callbackLimit"), AccountAnalysis: body.flag("accountAnalysis"),
		SECCodes: body.texts("secCodes").Value, ACHCompanyID: body.text("achCompanyId"),
	}
}

// draftV3 reads the newest form, whose features stand in groups by network.
func draftV3(body fields) accounts.Draft {
	d := sharedDraft(body)
	if utf8.RuneCountInString(d.CostCenter.Value) > 25 {
		body.q.fail(fault.Field("account", "costCenter", fault.Max, "must have at most 25 characters"))
	}
	f := body.object("accountFeatures")
	wire, fedNow, rtp, ach := f.object("fedWireFeature"), f.object("fedNowFeature"), f.object("rtpFeature"),
		f.object("achFeature")
	d.Features = accounts.FeaturesDraft{
		AccountAnalysis: f.flag("accountAnalysis"), FeeAccount: f.yesNo("feeAccount"),
		ReturnAccount: f.yesNo("returnAccount"), PositivePay: f.flag("enableAchPositivePay", "isAchPositivePay"),
		Wires: wire.flag("enableWire"), DomesticWires: wire.flag("enableDomesticWire"),
		InternationalWires: wire.flag("enableInternationalWire"), Callbacks: wire.flag("enableCallbacks"),
		CallbackLimit: wire.number("callbackLimit"), FedNow: fedNow.flag("enableFedNow"),
		FedNowSend: sending(fedNow, "fednow"), FedNowRFPSend: fedNow.flag("fednowRfpSend"),
		RTP: rtp.flag("enableRtp"), RTPSend: sending(rtp, "rtp"), RTPRFPSend: rtp.flag("rtpRfpSend"),
		ACH: ach.flag("enableACH"), Offset: ach.flag("enableOffset"), DefaultOffset: ach.flag("defaultOffset"),
		Underwritten: ach.flag("enableUnderWritten"), ACHPrefund: ach.flag("enableAchPrefund"),
		DebitExposureLimit:  ach.number("debitExposureLimit"),
		CreditExposureLimit: ach.number("creditExposureLimit"), ACHCompanyID: ach.text("achCompanyId"),
		SECCodes: ach.texts("secCodes").Value,
	}
	return d
}

// sending is whether an account may send over a real-time network. Former words count where the present one
// is absent; those for receiving follow the network's master switch and change nothing (rest/CONTRACT.md, v3
// account bodies).
func sending(network fields, prefix string) given.Flag {
	send, former := network.flag(prefix+"Send"), network.flag(prefix+"SendOrReceive")
	network.flag(prefix + "ReceiveOnly")
	network.flag(prefix + "RfpReceive")
	if !send.Given {
		return former
	}
	return send
}

// required is what must be there, read as the type that is published.
func (f fields) required(name string, as func(fields, ...string) given.Text) string {
	value := as(f, name)
	if f.members[name] == nil || value.Given && strings.TrimSpace(value.Value) == "" {
		f.q.fail(fault.Field("request", f.path+name, fault.Required, "is required"))
	}
	return value.Value
}

// accountSavedG1 answers all changes of the first generation.
type accountSavedG1 struct {
	AccountUID          string `json:"accountUID"`
	ExternalReferenceID string `json:"externalReferenceId"`
}

func savedG1(out changes.Outcome[accounts.Saved]) answer {
	return done(http.StatusOK, out.Receipt,
		accountSavedG1{out.Result.UID.String(), out.Result.ExternalReferenceID})
}

// accountSaved is what the later generations answer.
type accountSaved struct {
	AccountUID string `json:"accountUID"`
}

func savedV2(out changes.Outcome[accounts.Saved]) answer {
	return done(http.StatusOK, out.Receipt, accountSaved{out.Result.UID.String()})
}

// accountOpenedV3 is envelope C8.
type accountOpenedV3 struct {
	codeAndMessage
	Data accountSaved `json:"data"`
}

func openedV3(out changes.Outcome[accounts.Saved]) answer {
	return done(http.StatusCreated, out.Receipt,
		accountOpenedV3{codeAndMessage{"SUCCESS", says(out.Receipt, "Account created")}, accountSaved{out.Result.UID.String()}})
}

func changedV3(out changes.Outcome[accounts.Saved]) answer {
	return done(http.StatusOK, out.Receipt, codeAndMessage{"SUCCESS", says(out.Receipt, "Account updated")})
}
