package rest

import (
	"net/http"
	"regexp"
	"strings"

	"bankgraph/core/fault"
)

// envelopeC1 is the envelope of the first two generations.
type envelopeC1 struct {
	Status     string      `json:"status"`
	Code       *string     `json:"code"`
	Message    *string     `json:"message"`
	Pagination *pagination `json:"pagination,omitempty"`
	Data       any         `json:"data"`
}

func successC1(said answer) any {
	var message *string
	if waits := says(said.mark, ""); waits != "" {
		message = &waits
	}
	return envelopeC1{Status: "Success", Message: message, Pagination: said.pages, Data: said.data}
}

func failureC1(phrase string, all []reported) any {
	message := messages(all)
	if phrase != "" {
		message = phrase + ": " + message
	}
	return envelopeC1{Status: "Failure", Code: &all[0].code, Message: &message}
}

// messages joins all messages, for envelopes with one message.
func messages(all []reported) string {
	return strings.Join(each(all, func(t reported) string { return t.message }), "; ")
}

// message is what callers read: the field, if there is one, what is wrong with it, and the permission that is
// missing.
func (l line) message(f *fault.Fault) string {
	if l.as != nil {
		return l.as.Error()
	}
	return f.PublicMessage()
}

// bare answers the data without an envelope.
func bare(said answer) any { return said.data }

// successPG2 is bare too, with the pages of a list beside its data (rest/CONTRACT.md, PG2).
func successPG2(said answer) any {
	if said.pages == nil {
		return said.data
	}
	size := int64(said.pages.PageSize)
	return struct {
		TotalElements int64 `json:"totalElements"`
		TotalPages    int64 `json:"totalPages"`
		Size          int64 `json:"size"`
		Page          int   `json:"page"`
		Data          any   `json:"data"`
	}{
		said.pages.TotalRecords, (said.pages.TotalRecords + size - 1) / size, size, said.pages.PageReturned,
		said.data,
	}
}

// successV3 is C9, with the pages of a list before the data.
func successV3(said answer) any {
	return struct {
		Pagination *pagination `json:"pagination,omitempty"`
		Data       any         `json:"data"`
	}{said.pages, said.data}
}

type codeAndMessage struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type envelopeC4 struct {
	Errors []codeAndMessage `json:"errors"`
}

func failureC4(_ string, all []reported) any {
	return envelopeC4{
		Errors: each(all, func(t reported) codeAndMessage { return codeAndMessage{t.code, t.message} }),
	}
}

// failureSweep is C4 with a code for each field, such as SWEEP_BALANCETYPE_REQUIRED.
func failureSweep(_ string, all []reported) any {
	return envelopeC4{
		Errors: each(all, func(t reported) codeAndMessage { return codeAndMessage{t.detail("SWEEP"), t.message} }),
	}
}

// failureC3 is only a message.
func failureC3(_ string, all []reported) any {
	return envelopeC3{Message: messages(all)}
}

type envelopeC3 struct {
	Message string `json:"message"`
}

// failureC4or6 is C4 for what is wrong with a request and C6 for everything else (rest/CONTRACT.md, signatory
// bodies).
func failureC4or6(phrase string, all []reported) any {
	if all[0].status == http.StatusBadRequest {
		return failureC4(phrase, all)
	}
	return codeAndMessage{all[0].code, all[0].message}
}

type envelopeC5 struct {
	Code    string           `json:"code"`
	Message string           `json:"message"`
	Errors  []codeAndMessage `json:"errors"`
	Data    *struct{}        `json:"data"` // always null
}

// failureC11 is C5 without data.
func failureC11(_ string, all []reported) any {
	return struct {
		Code    string           `json:"code"`
		Message string           `json:"message"`
		Errors  []codeAndMessage `json:"errors"`
	}{all[0].code, messages(all), failureC4("", all).(envelopeC4).Errors}
}

// inFeatures is the path to a feature in an account, which codes leave out: ACCOUNT_CALLBACKLIMIT_MAX.
var inFeatures = regexp.MustCompile(`^accountFeatures\.([a-zA-Z]+Feature\.)?`)

// failureC5 gives the area's code and, in the newer pattern AREA_FIELD_PROBLEM, what is wrong with each
// field. Without a field the two are the same.
func failureC5(_ string, all []reported) any {
	details := each(all, func(t reported) codeAndMessage {
		t.field = inFeatures.ReplaceAllString(t.field, "")
		return codeAndMessage{t.detail("ACCOUNT"), t.message}
	})
	return envelopeC5{Code: all[0].code, Message: messages(all), Errors: details}
}
