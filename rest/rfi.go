package rest

import (
	"net/http"
	"regexp"
	"strings"
	"time"

	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

// rfiV1 answers requests for information (rest/CONTRACT.md, requests for information).
var rfiV1 = dialect{
	success: bare, failure: failureRFI,
	lines: table("RFI_VALIDATION_ERROR", notAuthorized,
		because(payments.ErrNoPayment, "RFI_PAYMENT_NOTFOUND"),
		because(payments.ErrNotFound, "RFI_PAYMENT_NOTFOUND"),
		because(payments.ErrNoInformation, "RFI_PAYMENTDELIVERYMETHOD_INVALID"),
		because(payments.ErrInformationEarly, "RFI_OUTPAYMENTSTATUS_INVALID"),
		because(payments.ErrOwnRequest, "RFI_DIRECTION_INVALID"),
		because(payments.ErrOtherRail, "RFI_INCORRECTINFOCODE_MISMATCH"),
		line{is: errMediaType, status: http.StatusUnsupportedMediaType, code: "RFI_INVALID_INPUT"},
		line{is: errTooLarge, status: http.StatusRequestEntityTooLarge, code: "RFI_INVALID_INPUT"},
		wrong("body", "", "RFI_INVALID_INPUT"),
		wrong("paymentId", fault.Required, "RFI_PAYMENTID_REQUIRED"),
		wrong("paymentId", "", "RFI_PAYMENTID_INVALID"),
		wrong("initiatingPartyName", fault.Required, "RFI_INITPARTYNAME_REQUIRED"),
		wrong("missingInformation", fault.Required, "RFI_MISSINGORINCORRECTINFO_REQUIRED"),
		wrong("code", fault.Required, "RFI_STATUSREASONCODE_REQUIRED"),
		wrong("additionalInfo", fault.Required, "RFI_ADDITIONALINFO_REQUIRED"),
		line{kind: fault.Internal, status: http.StatusInternalServerError, code: "RFI_SERVICE_ERROR"},
		line{kind: fault.Unavailable, status: http.StatusServiceUnavailable, code: "RFI_SERVICE_CALL_FAILED"}),
}

// failureRFI is C4 with the codes of items of lists, which depend on the list that they are in.
func failureRFI(_ string, all []reported) any {
	return envelopeC4{Errors: each(all, func(t reported) codeAndMessage {
		return codeAndMessage{rfiCode(t), t.message}
	})}
}

var (
	rfiItem     = regexp.MustCompile(`^(missing|incorrect)Information\[\d+\]$`)
	rfiItemCode = regexp.MustCompile(`^(missing|incorrect)Information\[\d+\]\.code$`)
)

// rfiCode is the code of what is wrong with an item: of one that is null, and of a code that is in no list.
func rfiCode(t reported) string {
	code := rfiItemCode.FindStringSubmatch(t.field)
	switch {
	case rfiItem.MatchString(t.field) && t.problem == fault.Required:
		return "RFI_STATUSREASONINFO_NULL"
	case code != nil && t.problem != fault.Required && t.code == "RFI_VALIDATION_ERROR":
		return "RFI_" + strings.ToUpper(code[1]) + "INFOCODE_INVALID"
	}
	return t.code
}

// rfiPayment reads the number of a payment. Blanks name none.
func rfiPayment(field, text string) (payments.UID, error) {
	if strings.TrimSpace(text) == "" {
		return 0, fault.Field("rfi", field, fault.Required, "is required")
	}
	return payments.ParseUID(field, text)
}

func (a *api) requestInformation(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, options, f := inPath(q, "paymentId", rfiPayment), q.options(), q.fields()
	draft := payments.InformationDraft{
		Missing: rfiItems(f, "missingInformation"), Incorrect: rfiItems(f, "incorrectInformation"),
		Party: f.text("initiatingPartyName").Value,
	}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Payments.RequestInformation(r.Context(), uid, draft, options)
	return done(http.StatusOK, out.Receipt, rfiSentOf(&out.Result)), err
}

// rfiItems reads a list of things that are missing or wrong; core refuses those that are null.
func rfiItems(f fields, list string) (all []*payments.InformationItem) {
	given, _ := f.members[list].([]any)
	kept := make([]any, len(given))
	for i, item := range given {
		if kept[i] = item; item == nil {
			kept[i] = object{}
		}
	}
	if len(given) > 0 {
		f.members[list] = kept
	}
	items, _ := f.each(list)
	for i, item := range items {
		if given[i] == nil {
			all = append(all, nil)
			continue
		}
		all = append(all, &payments.InformationItem{
			Code: item.text("code").Value,
			Info: item.text("additionalInfo").Value,
		})
	}
	return all
}

// rfiSent answers that a request is on its way.
type rfiSent struct {
	Message        string     `json:"message"`
	PaymentID      string     `json:"paymentId"`
	DeliveryMethod rails.Rail `json:"deliveryMethod"`
	Timestamp      string     `json:"timestamp"`
}

func rfiSentOf(s *payments.SavedInformation) rfiSent {
	return rfiSent{
		"Request for information sent", s.Payment.String(), s.Rail,
		s.At.UTC().Format(time.RFC3339),
	}
}

func (a *api) listInformation(r *http.Request) (answer, error) {
	q := read(r)
	uid := inPath(q, "paymentId", rfiPayment)
	if q.err != nil {
		return answer{}, q.err
	}
	h, err := a.core.Payments.InformationHistory(r.Context(), uid)
	if err != nil {
		return answer{}, err
	}
	return one(rfiHistory{
		h.Payment.UID.String(), h.Payment.Rail, len(h.Requests), each(h.Requests, rfiOf),
	}), nil
}

// rfiHistory is what was asked about a payment, both ways.
type rfiHistory struct {
	PaymentID      string     `json:"paymentId"`
	DeliveryMethod rails.Rail `json:"deliveryMethod"`
	RecordCount    int        `json:"recordCount"`
	History        []rfi      `json:"rfiHistory"`
}

type rfi struct {
	MessageID   string             `json:"rfiMessageId"`
	Direction   payments.Direction `json:"requestDirection"`
	Missing     []rfiReason        `json:"missingInformation"`
	Incorrect   []rfiReason        `json:"incorrectInformation"`
	Party       string             `json:"initiatingPartyName"`
	RequestedAt string             `json:"timestamp"`
	Answer      *rfiAnswer         `json:"response,omitzero"` // of the other bank
}

type rfiReason struct {
	Code string `json:"code"`
	Info string `json:"additionalInfo,omitzero"`
}

// rfiAnswer is what the other bank has answered: ours, as no text has it.
type rfiAnswer struct {
	Information []string `json:"information"`
	At          string   `json:"timestamp"`
}

func rfiOf(r *payments.InformationRequest) rfi {
	reason := func(item *payments.InformationItem) rfiReason { return rfiReason{item.Code, item.Info} }
	view := rfi{
		MessageID: r.MessageID, Direction: r.Direction, Missing: each(r.Said.Missing, reason),
		Incorrect: each(r.Said.Incorrect, reason), Party: r.Said.Party,
		RequestedAt: r.At.UTC().Format(time.RFC3339),
	}
	if r.AnsweredAt != nil {
		view.Answer = &rfiAnswer{listed(r.Heard), r.AnsweredAt.UTC().Format(time.RFC3339)}
	}
	return view
}
