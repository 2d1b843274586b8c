package rest

import (
	"strings"

	"bankgraph/core/banks"
	"bankgraph/core/check"
)

// routedOne and routedList answer the operations with a routing number in their path (rest/CONTRACT.md, C11).
// The message is filled in failures only.
type routedOne struct {
	Message       string `json:"message"`
	RoutingNumber routed `json:"routingNumber"`
}

type routedList struct {
	Message       string   `json:"message"`
	RoutingNumber []routed `json:"routingNumber"`
}

// routed is a bank by its routing number.
type routed struct {
	InstitutionName    string                 `json:"institutionName"`
	NationalIDName     string                 `json:"nationalIdName"`
	NationalID         string                 `json:"nationalId"`
	RecordTypeCode     string                 `json:"recordTypeCode"`
	RoutingAddress     routingAddress         `json:"routingAddress"`
	DeliveryMethods    []banks.DeliveryMethod `json:"deliveryMethods"`
	FedwireRoutingInfo *banks.Fedwire         `json:"fedwireRoutingInfo,omitzero"`
	RTPRoutingInfo     *rtpRouting            `json:"rtpRoutingInfo,omitzero"`
	FedNowRoutingInfo  *fedNowRouting         `json:"fedNowRoutingInfo,omitzero"`
}

// routingAddress has lengths of its own: what is longer is cut.
type routingAddress struct {
	AddressLine1 string `json:"addressLine1"`
	AddressLine2 string `json:"addressLine2"`
	City         string `json:"city"`
	StateCode    string `json:"stateCode"`
	ZIPCode      string `json:"zipCode"`
	CountryCode  string `json:"countryCode"`
	Country      string `json:"country"`
}

type rtpRouting struct {
	ParticipantID             string   `json:"participantId"`
	Services                  []string `json:"services"`
	ReceivingConnection       string   `json:"receivingConnection"`
	SignOnStatus              string   `json:"signOnStatus"`
	ParticipantActivationDate string   `json:"participantActivationDate"`
	Status                    string   `json:"status"`
	ConnectionStatus          string   `json:"connectionStatus"`
}

type fedNowRouting struct {
	Services         []string `json:"services"`
	Status           string   `json:"status"`
	ConnectionStatus string   `json:"connectionStatus"`
}

func routedOf(b *banks.Bank) routed {
	a := b.Address
	view := routed{
		InstitutionName: b.Name, NationalIDName: b.NationalIDType, NationalID: b.NationalID,
		RecordTypeCode: b.RecordType, DeliveryMethods: b.DeliveryMethods(),
		RoutingAddress: routingAddress{
			AddressLine1: cut(a.Line1, 35), AddressLine2: cut(a.Line2, 35), City: cut(a.City, 35),
			StateCode: cut(a.State, 35), ZIPCode: cut(a.PostalCode, 35), CountryCode: b.Country,
			Country: cut(nameOf(b.Country), 20),
		},
	}
	if b.Fedwire != (banks.Fedwire{}) {
		view.FedwireRoutingInfo = &b.Fedwire
	}
	if p := b.RTP; p != (banks.RTP{}) {
		view.RTPRoutingInfo = &rtpRouting{
			p.Participant, services(p.Services), p.ReceivingConnection, p.SignOnStatus,
			p.ActivatedOn, p.Status, p.ConnectionStatus,
		}
	}
	if p := b.FedNow; p != (banks.FedNow{}) {
		view.FedNowRoutingInfo = &fedNowRouting{services(p.Services), p.Status, p.ConnectionStatus}
	}
	return view
}

func services(words string) []string { return append([]string{}, strings.Fields(words)...) }

func nameOf(country string) string {
	found, _ := check.CountryOf(country)
	return found.Name
}

// cut shortens a text to so many characters.
func cut(text string, most int) string {
	if all := []rune(text); len(all) > most {
		return string(all[:most])
	}
	return text
}

// lookedUp is a bank by any of its numbers.
type lookedUp struct {
	InstitutionName string                 `json:"institutionName"`
	StreetAddress1  string                 `json:"streetAddress1"`
	StreetAddress2  *string                `json:"streetAddress2"`
	City            string                 `json:"city"`
	ZIPCode         string                 `json:"zipCode"`
	CountryName     string                 `json:"countryName"`
	ISOCountryCode  string                 `json:"isoCountryCode"`
	BIC             *string                `json:"bic"`
	BranchBIC       *string                `json:"branchBic"`
	NationalIDType  string                 `json:"nationalIdType"`
	NationalID      string                 `json:"nationalId"`
	DeliveryMethods []banks.DeliveryMethod `json:"deliveryMethods"`
}

func lookedUpOf(b *banks.Bank) lookedUp {
	return lookedUp{
		InstitutionName: b.Name, StreetAddress1: b.Address.Line1, StreetAddress2: orNull(b.Address.Line2),
		City: b.Address.City, ZIPCode: b.Address.PostalCode, CountryName: nameOf(b.Country),
		ISOCountryCode: b.Country, BIC: orNull(b.BIC()), BranchBIC: orNull(b.BranchBIC()),
		NationalIDType: b.NationalIDType, NationalID: b.NationalID, DeliveryMethods: b.DeliveryMethods(),
	}
}
