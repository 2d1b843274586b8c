package graph

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/limits"
	"bankgraph/db"
)

// codes are the published codes of faults, by what they are about and their kind. A kind without a line
// for its subject has the line of "".
var codes = map[fault.Kind]map[string]string{
	fault.Invalid:         {"": "VALIDATION_ERROR", "operation": "STATEMENT_LIMIT", "answer": "ANSWER_TOO_LARGE", "request": "INVALID_REQUEST"},
	fault.Unauthenticated: {"": "API901"},
	fault.Denied:          {"": "API901", "customer": "CUST001"},
	fault.NotFound:        {"": "CUST001", "account": "ACC002", "contact": "CUST002", "signatory": "SIG_SIGNATORYNOTFOUND", "user": "USER001", "role": "ROLE001"},
	fault.State:           {"": "CUST001", "account": "ACC001", "user": "USER001"},
	fault.Conflict:        {"": "CUST001", "account": "ACC001", "user": "USER001", "role": "ROLE001", "idempotency": "IDEMPOTENCY_KEY_REUSED"},
	fault.TooMany:         {"": "API900"},
	fault.Unavailable:     {"": "API900"},
	fault.Internal:        {"": "API900"},
}

func codeOf(f *fault.Fault) string {
	if errors.Is(f, changes.ErrInFlight) {
		return "IDEMPOTENCY_IN_FLIGHT"
	}
	field := f.Field[strings.LastIndexByte(f.Field, '.')+1:]
	for _, p := range precise {
		if p.is != nil && !p.is.Is(f) || p.is == nil && (p.subject != f.Subject || p.field != "" && p.field != field || p.problem != "" && p.problem != f.Problem) {
			continue
		}
		return p.code
	}
	if code, ok := codes[f.Kind][f.Subject]; ok {
		return code
	}
	return codes[f.Kind][""]
}

// precise are the codes of what is wrong with a field, and of declared faults, where they say more than the kind does:
// those that the other face answers too.
var precise = []struct {
	is      *fault.Fault  // this very fault,
	subject string        // or of this subject
	field   string        // this field
	problem fault.Problem // and this problem with it; what is empty fits all
	code    string
}{
	{is: customers.ErrInactive, code: "CUSTOMER_CUSTOMERID_STATUS"},
	{is: limits.ErrProcessingOrg, code: "CUSTOMER_CUSTOMERID_NOTALLOWED"},
	{is: limits.ErrNone, code: "CUSTOMERLIMIT_BASELINE_NOTFOUND"},
	{subject: "limit", field: "limits", problem: fault.Required, code: "CUSTOMERLIMIT_LIST_EMPTY"},
	{subject: "limit", field: "code", problem: fault.Required, code: "CUSTOMERLIMIT_ENTITYLIMITID_REQUIRED"},
	{subject: "limit", field: "code", problem: fault.Unknown, code: "CUSTOMERLIMIT_UNKNOWN_KEY"},
	{subject: "limit", field: "value", problem: fault.Required, code: "CUSTOMERLIMIT_VALUE_REQUIRED"},
	{subject: "limit", field: "value", problem: fault.Min, code: "CUSTOMERLIMIT_VALUE_NEGATIVE"},
	{subject: "limit", field: "value", code: "CUSTOMERLIMIT_VALUE_INVALID"},
	{subject: "limit", field: "amount", code: "CUSTOMERLIMIT_AMOUNT_INVALID"},
	{subject: "limit", field: "entryType", problem: fault.Required, code: "CUSTOMERLIMIT_ENTRYTYPE_REQUIRED"},
	{subject: "limit", code: "CUSTOMERLIMIT_INVALID_REQUEST"},
}

// words are the names of fields, by what they are of, where core has those of the partners.
var words = map[string]map[string]string{
	"account": {
		"accountName": "name", "accountNumber": "number", "fboAccountNumber": "fboNumber", "accountType": "type", "accountSubType": "subType",
		"systemOfRecords": "systemOfRecord", "routingNumber": "bankId", "reason": "note", "accountUID": "uid",
		"externalAccount.externalProvider": "externalAccount.provider", "externalAccount.externalId": "externalAccount.id",
		"externalAccount.externalAuthToken": "externalAccount.token",
		"enableWire":                        "features.wires", "enableDomesticWire": "features.domesticWires", "enableInternationalWire": "features.internationalWires",
		"enableCallbacks": "features.callbacks", "callbackLimit": "features.callbackLimit", "enableACH": "features.ach",
		"enableOffset": "features.offset", "defaultOffset": "features.defaultOffset", "enableUnderWritten": "features.underwritten",
		"enableAchPrefund": "features.achPrefund", "debitExposureLimit": "features.debitExposureLimit",
		"creditExposureLimit": "features.creditExposureLimit", "achCompanyId": "features.achCompanyId", "secCodes": "features.secCodes",
	},
	"feeTier": {"feeTier": "tier", "feeName": "name"},
	"sweep": {
		"accountUID":          "account",
		"sweepFrom.contactId": "fromContact", "sweepFrom.paymentMethod": "fromMethod", "sweepTo.contactId": "toContact",
		"sweepTo.paymentMethod": "toMethod", "range.fromAmount": "fromAmount", "range.toAmount": "toAmount",
		"frequency.type": "frequency", "frequency.dayOfWeek": "dayOfWeek", "frequency.dayOfMonth": "dayOfMonth",
	},
	"contact": {
		"address.addressLine1": "address.line1", "address.addressLine2": "address.line2",
		"contactBank": "bank", "contactBank.accountNo": "bank.accountNumber", "contactBank.accountCcy": "bank.accountCurrency",
		"contactBank.address.addressLine1": "bank.address.line1", "contactBank.address.addressLine2": "bank.address.line2",
		"intermediaryBank.address.addressLine1": "intermediaryBank.address.line1", "intermediaryBank.address.addressLine2": "intermediaryBank.address.line2",
		"intermediaryBank.address.addressLine3": "intermediaryBank.addressLine3",
		"otherInfo.beneficiaryNotes":            "beneficiaryNotes", "otherInfo.otherBeneBankInfo": "otherBankInfo",
		"regulartoryReporting": "regulatoryReporting",
	},
	"customer": {
		"customerType": "type", "achCompanyID": "achCompanyId", "webSite": "website",
		"legalAddress.addressLine1": "legalAddress.line1", "legalAddress.addressLine2": "legalAddress.line2",
		"mailingAddress.addressLine1": "mailingAddress.line1", "mailingAddress.addressLine2": "mailingAddress.line2",
		"additionalProfileDetails":                               "profile",
		"legalEntityAccessSettings":                              "access",
		"legalEntityAccessSettings.paymentLimitforFirstApprover": "access.firstApproverLimit", "legalEntityAccessSettings.paymentLimitforSecondApprover": "access.secondApproverLimit",
		"legalEntityAccessSettings.paymentNumberOfApprovers": "access.numberOfApprovers",
	},
}

var errTooMuch = fault.New(fault.Invalid, "operation.too_much", "the operation asks the database too many questions; send it in parts")

// present turns an error into what the caller may see of it: a fault with its kind, code and field, the
// errors of the GraphQL language itself, and for everything else nothing but the request's id.
func (h handlerOptions) present(ctx context.Context, err error) *gqlerror.Error {
	var language *gqlerror.Error
	path := graphql.GetPath(ctx)
	if errors.As(err, &language) && language.Path != nil {
		path = language.Path
	}
	if own := graphql.GetPath(ctx); len(own) > 0 && len(path) > len(own) {
		if f, ok := fault.Of(err); ok && f.Kind == fault.Invalid && f.Field == "" {
			err, path = malformedArgument(ctx, path[len(own):], err), own // gqlgen says by the path which argument it could not read
		}
	}
	if faults := faultsOf(err); len(faults) > 0 {
		return h.faults(ctx, path, faults)
	}
	if errors.Is(err, db.ErrTooManyStatements) {
		return h.error(ctx, path, errTooMuch)
	}
	if language != nil && errors.Unwrap(language) == nil {
		shown := *language
		shown.Path = path
		if len(path) > 1 && path[0] == ast.PathName("variable") && shown.Extensions["code"] == errcode.ValidationFailed {
			// gqlparser's place of a wrong variable; a path in an answer is one of its data (specification, 7.1.2).
			shown.Message, shown.Path = "$"+path[1:].String()+" "+shown.Message, nil
			if field := variableField(ctx, path[1:]); field != "" {
				shown.Extensions = map[string]any{"code": errcode.ValidationFailed, "field": field}
			}
		}
		return h.tagged(ctx, &shown, nil)
	}
	unavailable := h.Unavailable != nil && h.Unavailable(err) || errors.Is(err, context.DeadlineExceeded)
	if unavailable {
		slog.WarnContext(ctx, "graphql: the bank could not answer", "error", err, "path", path.String(), "request", h.RequestID(ctx))
		return h.error(ctx, path, fault.New(fault.Unavailable, "", "the bank cannot answer now; try again later"))
	}
	if !errors.Is(err, context.Canceled) {
		slog.ErrorContext(ctx, "graphql: unexpected error", "error", err, "path", path.String(), "request", h.RequestID(ctx))
	}
	return h.error(ctx, path, fault.New(fault.Internal, "", "internal error"))
}

// faultsOf are the faults of an error, in the words of the schema: all that is wrong with an input, or one.
func faultsOf(err error) (all []*fault.Fault) {
	var several fault.Faults
	if !errors.As(err, &several) {
		f, ok := fault.Of(err)
		if !ok {
			return nil
		}
		several = fault.Faults{f}
	}
	for _, f := range several {
		if customers.ErrOutOfScope.Is(f) { // nobody can tell a foreign customer from an absent one
			f = customers.ErrNotFound
		}
		f, _ = fault.Of(fault.Called(f, words[f.Subject]))
		all = append(all, f)
	}
	return all
}

// faults is the error of several faults. gqlgen takes one from a presenter: the others ride behind it, and unfold
// takes them out of the response.
func (h handlerOptions) faults(ctx context.Context, path ast.Path, faults []*fault.Fault) *gqlerror.Error {
	list := make(gqlerror.List, len(faults))
	for i, f := range faults {
		list[i] = h.error(ctx, path, f)
	}
	if len(list) == 1 {
		return list[0]
	}
	first := *list[0]
	first.Err = list
	return &first
}

// unfold gives each fault its own error in the response.
func unfold(errs gqlerror.List) (all gqlerror.List) {
	for _, err := range errs {
		var several gqlerror.List
		if errors.As(err.Err, &several) {
			all = append(all, several...)
			continue
		}
		all = append(all, err)
	}
	return all
}

func (h handlerOptions) error(ctx context.Context, path ast.Path, f *fault.Fault) *gqlerror.Error {
	shown := &gqlerror.Error{Message: f.Error(), Path: path, Extensions: map[string]any{"kind": f.Kind, "code": codeOf(f)}}
	if f.Field != "" {
		shown.Extensions["field"] = f.Field
	}
	switch {
	case f.Detail == "":
	case f.Kind == fault.Denied:
		needs := strings.Split(f.Detail, "|")
		shown.Message += ": it needs " + strings.Join(needs, " or ")
		shown.Extensions["permissions"] = needs
	case f.Kind == fault.State:
		shown.Message += ": it is " + f.Detail
		shown.Extensions["state"] = f.Detail
	}
	return h.tagged(ctx, shown, f)
}

func (h handlerOptions) tagged(ctx context.Context, shown *gqlerror.Error, f *fault.Fault) *gqlerror.Error {
	extensions := map[string]any{"requestId": h.RequestID(ctx)}
	for name, value := range shown.Extensions {
		extensions[name] = value
	}
	if f == nil && extensions["kind"] == nil {
		extensions["kind"] = fault.Invalid
	}
	shown.Extensions = extensions
	return shown
}

// recovered logs a panic and hides it.
func (h handlerOptions) recovered(ctx context.Context, panicked any) error {
	slog.ErrorContext(ctx, "graphql: panic", "panic", panicked, "stack", string(debug.Stack()), "request", h.RequestID(ctx))
	return fault.New(fault.Internal, "", "internal error")
}
