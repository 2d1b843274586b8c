// Package banks is the directory of banks: who they are, and on which rails they are reached. It is the same
// for every bank that is kept here, so its rows belong to no tenant. It grows only by directories that
// operators import.
package banks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/uptrace/bun"

	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
)

// UID is a bank's number in the directory.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// Ref names a bank: by country and national id, as in US:611090001, or by BIC. The first six characters of a
// BIC name the bank that has them, for IBANs that say no more.
type Ref string

// National returns the ref of a national id, such as a routing number; "" if the id is empty.
func National(country, id string) Ref {
	if id == "" {
		return ""
	}
	return Ref(country + ":" + ident.Upper(id))
}

// Routing returns the ref of an ABA routing number.
func Routing(number string) Ref { return National("US", number) }

// Coded returns the ref of a BIC. One that ends with XXX names the same bank as its first eight characters.
func Coded(bic string) Ref { return Ref(trimmed(ident.Upper(bic))) }

// Refs name a bank in two ways; the first that the directory has counts. Either may be empty.
type Refs [2]Ref

// trimmed returns a BIC without the XXX of a head office.
func trimmed(bic string) string {
	if len(bic) == 11 {
		return strings.TrimSuffix(bic, "XXX")
	}
	return bic
}

// Bank is a bank of the directory (rest/CONTRACT.md, banks).
type Bank struct {
	bun.BaseModel `bun:"table:banks,alias:b" json:"-"`

	UID UID `bun:"uid,pk" json:"-"`
	Entry

	// the ref by which it was asked for, in reads by ref
	Asked Ref `bun:"asked,scanonly" json:"-"`
}

// Entry is what the directory says of a bank.
type Entry struct {
	Ref            Ref    `bun:"ref" json:"-"`
	Country        string `bun:"country" json:"isoCountryCode"`          // ISO 3166-1, two letters
	NationalIDType string `bun:"national_id_type" json:"nationalIdType"` // ABA, BLZ
	NationalID     string `bun:"national_id" json:"nationalId"`
	Code           string `bun:"bic" json:"bic"` // 8 characters, or 11 of a branch; never with XXX
	Name           string `bun:"name" json:"institutionName"`
	// what FedACH says of the number: SEND, NEW (its successor takes the entries) or FRB
	RecordType string         `bun:"record_type" json:"recordTypeCode"`
	Successor  string         `bun:"successor" json:"-"` // the national id that has taken over
	Address    postal.Address `bun:"embed:address_" json:"address"`

	ACH     bool    `bun:"ach" json:"-"`
	Fedwire Fedwire `bun:"embed:fedwire_" json:"fedwireRoutingInfo"`
	RTP     RTP     `bun:"embed:rtp_" json:"rtpRoutingInfo"`
	FedNow  FedNow  `bun:"embed:fednow_" json:"fedNowRoutingInfo"`
}

// Fedwire is how Fedwire reaches a bank.
type Fedwire struct {
	Transfer       bool `bun:"transfer" json:"fundsTransferStatus"`
	SettlementOnly bool `bun:"settlement_only" json:"fundsSettlementOnly"`
	Securities     bool `bun:"securities" json:"securityTransferStatus"`
}

// RTP is how the RTP network reaches a bank. Services are words such as CRDT, separated by spaces.
type RTP struct {
	Participant         string `bun:"participant" json:"participantId"`
	Services            string `bun:"services" json:"services"`
	ReceivingConnection string `bun:"receiving_connection" json:"receivingConnection"`
	SignOnStatus        string `bun:"sign_on_status" json:"signOnStatus"`
	ActivatedOn         string `bun:"activated_on" json:"participantActivationDate"` // YYYY-MM-DD
	Status              string `bun:"status" json:"status"`
	ConnectionStatus    string `bun:"connection_status" json:"connectionStatus"`
}

// FedNow is how FedNow reaches a bank. Services are words such as CRDT, separated by spaces.
type FedNow struct {
	Services         string `bun:"services" json:"services"`
	Status           string `bun:"status" json:"status"`
	ConnectionStatus string `bun:"connection_status" json:"connectionStatus"`
}

// BIC returns the eight characters of the BIC that name the bank; "" if none is known.
func (e *Entry) BIC() string { return e.Code[:min(len(e.Code), 8)] }

// BranchBIC returns the BIC of the branch, of eleven characters; "" for a head office.
func (e *Entry) BranchBIC() string {
	if len(e.Code) == 11 {
		return e.Code
	}
	return ""
}

// DeliveryMethod is a rail on which a bank is reached, as partners read it (rest/CONTRACT.md,
// deliveryMethods).
type DeliveryMethod string

const (
	ByACH     DeliveryMethod = "ACH"
	ByFedwire DeliveryMethod = "Fedwire"
	ByFedNow  DeliveryMethod = "FedNow"
	ByRTP     DeliveryMethod = "RTP"
	BySWIFT   DeliveryMethod = "SWIFT"
)

// Reached reports whether a credit transfer on the rail reaches the bank. That an instant network or a
// participant is signed off at the moment does not count: it passes.
func (e *Entry) Reached(by rails.Rail) bool {
	switch by {
	case rails.ACH:
		return e.ACH
	case rails.Fedwire:
		return e.Fedwire.Transfer && !e.Fedwire.SettlementOnly
	case rails.FedNow:
		return takesCredits(e.FedNow.Status, e.FedNow.Services)
	case rails.RTP:
		return takesCredits(e.RTP.Status, e.RTP.Services)
	case rails.SWIFT:
		return len(e.Code) >= 8 && e.Code[7] != '1'
	}
	return false
}

func takesCredits(status, services string) bool {
	all := strings.Fields(services)
	return ident.Same(status, "Active") && (len(all) == 0 || slices.Contains(all, "CRDT"))
}

// DeliveryMethods returns the rails on which the bank is reached. A BIC whose eighth character is 1 belongs
// to a bank that is not connected to SWIFT (ISO 9362).
func (e *Entry) DeliveryMethods() []DeliveryMethod {
	methods := []DeliveryMethod{}
	for _, m := range []struct {
		method  DeliveryMethod
		reaches bool
	}{
		{ByACH, e.Reached(rails.ACH)},
		{ByFedwire, e.Reached(rails.Fedwire)},
		{ByFedNow, e.Reached(rails.FedNow)},
		{ByRTP, e.Reached(rails.RTP)},
		{BySWIFT, e.Reached(rails.SWIFT)},
	} {
		if m.reaches {
			methods = append(methods, m.method)
		}
	}
	return methods
}

// ErrNotFound is returned where the directory has no such bank.
var ErrNotFound = fault.New(fault.NotFound, "bank.not_found", "the directory has no bank with this number")
