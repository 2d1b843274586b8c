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

// What the three generations send when an account is opened or changed, and their answers.

// sharedDraft reads the fields with the same names in all generations (rest/CONTRACT.md, account bodies).
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

// externalIn reads the account's name at another provider: an object, or only its id, as the later
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

// attributesIn reads the custom attributes; nil if not given.
func attributesIn(body fields) []customers.Attribute {
	items, there := body.each("additionalAttributes")
	if !there {
		return nil
	}
	return each(items, func(item fields) customers.Attribute {
		return customers.Attribute{Name: item.text("attributeName").Value, Value: item.text("value").Value}
	})
}

// draftG1 reads the first generation's body. It also accepts a country by name. accountId, which repeats the
// path, is not read.
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

// openingG1 requires the caller's reference, as the first generation does. Wires are on unless the body says
// otherwise.
func openingG1(body fields) accounts.Draft {
	d := wired(draftG1(body))
	d.Oldest = true
	return d
}

// draftV2 reads the second generation's body.
func draftV2(body fields) accounts.Draft {
	d := sharedDraft(body)
	d.Features, d.Older = switchesOf(body), true
	features := body.object("accountFeatures")
	d.Features.RFPReceive, d.Features.RFPSend = features.flag("rfpReceive"), features.flag("rfpSend")
	return d
}

// openingV2 takes the United States as the country if none is given.
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

// switchesOf reads the features of the first two generations. They are members of the account itself, mostly
// Yes and No.
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

// draftV3 reads the third generation's body, where features are grouped by network.
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

// sending reports whether an account may send over a real-time network. A former word counts if the present
// one is absent. Words for receiving change nothing, since receiving follows the network's master switch
// (rest/CONTRACT.md, v3 account bodies).
func sending(network fields, prefix string) given.Flag {
	send, former := network.flag(prefix+"Send"), network.flag(prefix+"SendOrReceive")
	network.flag(prefix + "ReceiveOnly")
	network.flag(prefix + "RfpReceive")
	if !send.Given {
		return former
	}
	return send
}

// required reads a required field as the published type.
func (f fields) required(name string, as func(fields, ...string) given.Text) string {
	value := as(f, name)
	if f.members[name] == nil || value.Given && strings.TrimSpace(value.Value) == "" {
		f.q.fail(fault.Field("request", f.path+name, fault.Required, "is required"))
	}
	return value.Value
}

// accountSavedG1 is the answer to all changes in the first generation.
type accountSavedG1 struct {
	AccountUID          string `json:"accountUID"`
	ExternalReferenceID string `json:"externalReferenceId"`
}

func savedG1(out changes.Outcome[accounts.Saved]) answer {
	return done(http.StatusOK, out.Receipt,
		accountSavedG1{out.Result.UID.String(), out.Result.ExternalReferenceID})
}

// accountSaved is the answer to them in the later generations.
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
		accountOpenedV3{
			codeAndMessage{"SUCCESS", says(out.Receipt, "Account created")},
			accountSaved{out.Result.UID.String()},
		})
}

func changedV3(out changes.Outcome[accounts.Saved]) answer {
	return done(http.StatusOK, out.Receipt, codeAndMessage{"SUCCESS", says(out.Receipt, "Account updated")})
}
