package rest

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/limits"
	"bankgraph/core/roles"
	"bankgraph/core/signatories"
	"bankgraph/core/users"
)

// dialect is how one family of operations speaks: its envelope, and status and code by fault. The same
// missing customer is CUST001 in one and SIG_CUSTOMER_NOTFOUND in another.
type dialect struct {
	success func(answer) any
	failure func(phrase string, all []reported) any
	phrase  string            // what the message of a failure starts with, in envelopes that have one message
	spelled map[string]string // fields of core that this family calls by another name
	lines   []line            // the first that fits counts
}

// says returns the dialect with the phrase of one operation.
func (d dialect) says(phrase string) dialect {
	d.phrase = phrase
	return d
}

// updates returns the dialect of an account update, which has a code of its own for the server's failures
// (rest/CONTRACT.md, API901).
func (d dialect) updates() dialect {
	d.lines = append([]line{{kind: fault.Internal, status: http.StatusInternalServerError, code: notAuthorized}},
		d.lines...)
	return d
}

// line gives a fault its status and code.
type line struct {
	is      *fault.Fault  // this very fault of core,
	kind    fault.Kind    // or any of this kind,
	subject string        // about this subject,
	field   string        // this field
	problem fault.Problem // and this problem with it; what is empty fits all

	status int
	code   string
	exact  bool         // the code says the field already
	as     *fault.Fault // what callers read in its place, where they must not tell the two apart
}

func (l line) fits(f *fault.Fault) bool {
	if l.is != nil {
		return l.is.Is(f)
	}
	return (l.kind == "" || l.kind == f.Kind) && (l.subject == "" || l.subject == f.Subject) &&
		(l.field == "" || l.field == lastOf(f.Field)) && (l.problem == "" || l.problem == f.Problem)
}

// lastOf is the name of a field without the objects and lists that it is in: [0].entityLimitId is an
// entityLimitId.
func lastOf(field string) string { return field[strings.LastIndexByte(field, '.')+1:] }

func (d dialect) lineFor(f *fault.Fault) line {
	for _, l := range d.lines {
		if l.fits(f) {
			return l
		}
	}
	return line{status: http.StatusInternalServerError, code: serverFailure}
}

// reported is a fault in the words of a dialect.
type reported struct {
	status        int
	code, message string
	field         string // the field to blame, and what is wrong with it
	problem       fault.Problem
}

// tell: callers read the field in the words of their generation.
func (d dialect) tell(f *fault.Fault) reported {
	f, _ = fault.Of(fault.Called(f, d.spelled))
	l := d.lineFor(f)
	t := reported{status: l.status, code: l.code, message: l.message(f), field: f.Field, problem: problemOf(f)}
	if l.exact {
		t.field = ""
	}
	return t
}

// detail is the code of one thing that is wrong: the area, the field to blame and the problem with it.
func (t reported) detail(area string) string {
	if t.field == "" {
		return t.code
	}
	return area + "_" + strings.ToUpper(strings.ReplaceAll(places.ReplaceAllString(t.field, ""), ".", "_")) +
		"_" + string(t.problem)
}

// problemOf is what a code says is wrong with a field. Where the fault is one about a thing, and not about
// the form of a field, its kind says it: a conflict is no absence.
func problemOf(f *fault.Fault) fault.Problem {
	if f.Problem != "" {
		return f.Problem
	}
	switch f.Kind {
	case fault.NotFound:
		return fault.Unknown
	case fault.Conflict:
		return "CONFLICT"
	case fault.State:
		return "STATUS"
	case fault.Denied:
		return "DENIED"
	}
	return fault.Malformed
}

// places in lists are no part of a code.
var places = regexp.MustCompile(`\[\d+\]`)

const (
	serverFailure = "API900" // (rest/CONTRACT.md, failures of the server)
	notAuthorized = "API901"
)

// table completes the lines of an area: what is particular to it, what all areas share, and its own code for
// everything else that is wrong with a request. Absent and foreign things answer 400, not 404, and both in
// the same words (rest/CONTRACT.md, absent and foreign things).
func table(area, denied string, particular ...line) []line {
	return append(particular, []line{
		{is: customers.ErrOutOfScope, status: http.StatusBadRequest, code: area, as: customers.ErrNotFound},
		{is: changes.ErrKeyReused, status: http.StatusConflict, code: "IDEMPOTENCY_KEY_REUSED"},
		{is: changes.ErrInFlight, status: http.StatusConflict, code: "IDEMPOTENCY_IN_FLIGHT"},
		{is: changes.ErrStale, status: http.StatusConflict, code: "VERSION_CONFLICT"},
		{is: errMediaType, status: http.StatusUnsupportedMediaType, code: area},
		{is: errTooLarge, status: http.StatusRequestEntityTooLarge, code: area},
		{kind: fault.Unauthenticated, status: http.StatusUnauthorized, code: notAuthorized},
		{kind: fault.Denied, status: http.StatusForbidden, code: denied},
		{kind: fault.TooMany, status: http.StatusTooManyRequests, code: serverFailure},
		{kind: fault.Unavailable, status: http.StatusServiceUnavailable, code: serverFailure},
		{kind: fault.Internal, status: http.StatusInternalServerError, code: serverFailure},
		{status: http.StatusBadRequest, code: area},
	}...)
}

// The dialects. Envelopes have names, C1 to C10 (rest/CONTRACT.md, envelopes). A denied permission has a code
// of its own only at the lookup: elsewhere it is API901, not authorized.
var (
	customerLines = table("CUST001", notAuthorized)
	contactLines  = table("CUST001", notAuthorized,
		line{is: contacts.ErrNotFound, status: http.StatusBadRequest, code: "CUST002"})
	accountLines = table("ACC001", notAuthorized,
		line{is: accounts.ErrNotFound, status: http.StatusBadRequest, code: "ACC002"})

	customersG1 = dialect{
		success: successC1, failure: failureC1, lines: customerLines, spelled: map[string]string{
			"swiftCode": "swiftcode", "webSite": "website",
			"additionalProfileDetails":                       "addtionalProfileDetails[0]",
			"additionalProfileDetails.creditValueAdjustment": "addtionalProfileDetails[0].crediValueAdjustment",
			"additionalProfileDetails.detailsOfCharge":       "addtionalProfileDetails[0].detailsofCharge",
		},
	}
	customersV2 = dialect{success: successC1, failure: failureC1, lines: customerLines}
	// what checks and updates of limits share
	limitLines = slices.Clip([]line{
		{is: customers.ErrNotFound, status: http.StatusBadRequest, code: "CUSTOMER_CUSTOMERID_NOTFOUND"},
		{
			is: customers.ErrOutOfScope, status: http.StatusBadRequest, code: "CUSTOMER_CUSTOMERID_NOTFOUND",
			as: customers.ErrNotFound,
		},
		{is: errMediaType, status: http.StatusUnsupportedMediaType, code: "CUSTOMERLIMIT_UNSUPPORTED_MEDIATYPE"},
		{
			field: "customerUID", problem: fault.AllZero, status: http.StatusBadRequest,
			code: "CUSTOMER_CUSTOMERID_ALLZERO",
		},
		{field: "customerUID", status: http.StatusBadRequest, code: "CUSTOMER_CUSTOMERID_NUMBER"},
	})
	contactsG1 = dialect{success: successC1, failure: failureC1, lines: contactLines}
	contactsV2 = contactsG1
	accountsG1 = dialect{success: successC1, failure: failureC1, lines: accountLines, spelled: accountWords}
	accountsV2 = accountsG1
	accountsV3 = dialect{success: successV3, failure: failureC5, lines: accountLines}
	// Changes in the third generation answer C6 and C8 as they are.
	accountsSavedV3 = dialect{success: bare, failure: failureC5, lines: accountLines, spelled: featureWords}

	accountActionsV2 = dialect{success: bare, failure: failureC5, lines: table("ACC001", notAuthorized,
		line{is: accounts.ErrNotFound, status: http.StatusBadRequest, code: "ACC002"},
		line{
			field: "action", problem: fault.Required, status: http.StatusBadRequest,
			code: "CUSTOMER_BNKACCTACTION_REQUIRED", exact: true,
		},
		line{field: "action", status: http.StatusBadRequest, code: "CUSTOMER_BNKACCTACTION_INVALID", exact: true},
		line{
			field: "reason", problem: fault.Required, status: http.StatusBadRequest,
			code: "CUSTOMER_BNKACCTREASON_REQUIRED", exact: true,
		})}

	sweepsV1 = dialect{
		success: bare, failure: failureSweep, lines: table("SWEEP_VALIDATION_ERROR", notAuthorized,
			line{
				is: customers.ErrNotFound, status: http.StatusBadRequest, code: "SWEEP_CUSTOMERUID_NOTFOUND", exact: true,
			},
			line{
				is: customers.ErrOutOfScope, status: http.StatusBadRequest, code: "SWEEP_CUSTOMERUID_NOTFOUND",
				as: customers.ErrNotFound, exact: true,
			},
			line{
				is: accounts.ErrNotFound, status: http.StatusBadRequest, code: "SWEEP_ACCOUNTUID_NOTFOUND", exact: true,
			},
			line{
				is: customers.ErrInactive, status: http.StatusBadRequest, code: "SWEEP_CUSTOMERUID_STATUS", exact: true,
			},
			line{
				is: accounts.ErrNotActive, status: http.StatusBadRequest, code: "SWEEP_ACCOUNTUID_STATUS",
				exact: true,
			},
			line{
				is: accounts.ErrNoSweep, status: http.StatusBadRequest, code: "SWEEP_DIRECTION_NOTFOUND",
				exact: true,
			},
			line{
				is: accounts.ErrSweepExists, status: http.StatusBadRequest, code: "SWEEP_DIRECTION_NOTALLOWED",
				exact: true,
			},
			line{
				is: accounts.ErrSweepBeside, status: http.StatusBadRequest, code: "SWEEP_DIRECTION_NOTALLOWED",
				exact: true,
			}),
	}

	lookupV1 = dialect{
		success: bare, failure: failureC4, lines: table("LKUP_VALIDATION_ERROR", "LKUP_ACCESS_DENIED",
			line{field: "accountNumber", problem: fault.Max, status: http.StatusBadRequest, code: "LKUP_ACCNUM_MAX"},
			line{
				field: "accountNumber", problem: fault.AllZero, status: http.StatusBadRequest,
				code: "LKUP_ACCNUM_ALLZERO",
			},
			line{field: "accountNumber", status: http.StatusBadRequest, code: "LKUP_ACCNUM_INVALID"},
			line{field: "accountType", status: http.StatusBadRequest, code: "LKUP_ACCTYPE_INVALID"},
			line{kind: fault.Internal, status: http.StatusInternalServerError, code: "LKUP_INTERNAL_ERROR"}),
	}

	limitsV1 = dialect{
		success: bare, failure: failureC4,
		lines: table("CUSTOMERLIMIT_INVALID_REQUEST", notAuthorized, append(limitLines,
			line{
				field: "paymentRail", problem: fault.Required, status: http.StatusBadRequest,
				code: "CUSTOMERLIMIT_PAYMENTRAIL_REQUIRED",
			},
			line{field: "paymentRail", status: http.StatusBadRequest, code: "CUSTOMERLIMIT_PAYMENTRAIL_INVALID"},
			line{field: "paymentAmount", status: http.StatusBadRequest, code: "CUSTOMERLIMIT_AMOUNT_INVALID"},
			line{field: "deliveryDate", status: http.StatusBadRequest, code: "CUSTOMERLIMIT_DATE_INVALID"},
			line{field: "secCode", status: http.StatusBadRequest, code: "CUSTOMERLIMIT_SECCODE_INVALID"},
			line{
				field: "entryType", problem: fault.Required, status: http.StatusBadRequest,
				code: "CUSTOMERLIMIT_ENTRYTYPE_REQUIRED",
			},
			line{field: "entryType", status: http.StatusBadRequest, code: "CUSTOMERLIMIT_ENTRYTYPE_INVALID"})...),
	}

	// The update has a code of its own for what is the bank's fault, and answers 400 with it
	// (rest/CONTRACT.md, failures of the server).
	limitUpdateV1 = dialect{
		success: bare, failure: failureC4,
		lines: table("CUSTOMERLIMIT_INVALID_REQUEST", notAuthorized, append(limitLines,
			line{is: customers.ErrInactive, status: http.StatusBadRequest, code: "CUSTOMER_CUSTOMERID_STATUS"},
			line{is: limits.ErrProcessingOrg, status: http.StatusBadRequest, code: "CUSTOMER_CUSTOMERID_NOTALLOWED"},
			line{is: limits.ErrNone, status: http.StatusBadRequest, code: "CUSTOMERLIMIT_BASELINE_NOTFOUND"},
			line{is: changes.ErrStale, status: http.StatusConflict, code: "CUSTOMERLIMIT_UPDATE_FAILED"},
			line{is: changes.ErrWaiting, status: http.StatusBadRequest, code: "CUSTOMERLIMIT_UPDATE_FAILED"},
			line{kind: fault.Internal, status: http.StatusBadRequest, code: "CUSTOMERLIMIT_UPDATE_FAILED"},
			line{
				subject: "limit", field: "body", problem: fault.Required, status: http.StatusBadRequest,
				code: "CUSTOMERLIMIT_LIST_EMPTY",
			},
			line{
				field: "entityLimitId", problem: fault.Required, status: http.StatusBadRequest,
				code: "CUSTOMERLIMIT_ENTITYLIMITID_REQUIRED",
			},
			line{
				field: "entityLimitId", problem: fault.Unknown, status: http.StatusBadRequest,
				code: "CUSTOMERLIMIT_UNKNOWN_KEY",
			},
			line{
				field: "entityLimitValue", problem: fault.Required, status: http.StatusBadRequest,
				code: "CUSTOMERLIMIT_VALUE_REQUIRED",
			},
			line{
				field: "entityLimitValue", problem: fault.Min, status: http.StatusBadRequest,
				code: "CUSTOMERLIMIT_VALUE_NEGATIVE",
			},
			line{field: "entityLimitValue", status: http.StatusBadRequest, code: "CUSTOMERLIMIT_VALUE_INVALID"})...),
	}

	// Fees have no codes: their failures are a message.
	feesV1 = dialect{success: bare, failure: failureC3, lines: table("", notAuthorized)}

	// Signatories alone tell a foreign customer of the same bank from an absent one.
	signatoriesV1 = dialect{
		success: bare, failure: failureC4or6, lines: table("SIG_VALIDATION_ERROR", notAuthorized,
			line{is: signatories.ErrPartner, status: http.StatusBadRequest, code: "SIG_PARTNERID_REQUIRED"},
			line{is: customers.ErrNotFound, status: http.StatusBadRequest, code: "SIG_CUSTOMER_NOTFOUND"},
			line{is: customers.ErrOutOfScope, status: http.StatusBadRequest, code: "SIG_CUSTOMERACCESS_DENIED"},
			line{is: signatories.ErrNotFound, status: http.StatusBadRequest, code: "SIG_SIGNATORYNOTFOUND"},
			line{
				field: "fullName", problem: fault.Required, status: http.StatusBadRequest, code: "SIG_FULLNAME_REQUIRED",
			},
			line{is: signatories.ErrTaken, status: http.StatusBadRequest, code: "SIG_EMAIL_CONFLICT"},
			line{
				field: "emailAddress", problem: fault.Required, status: http.StatusBadRequest, code: "SIG_EMAIL_REQUIRED",
			},
			line{
				field: "emailAddress", problem: fault.Malformed, status: http.StatusBadRequest, code: "SIG_EMAIL_INVALID",
			},
			line{
				field: "phoneNumber", problem: fault.Required, status: http.StatusBadRequest, code: "SIG_PHONE_REQUIRED",
			},
			line{
				field: "phoneNumber", problem: fault.Malformed, status: http.StatusBadRequest, code: "SIG_PHONE_INVALID",
			},
			line{
				field: "approvalLimit", problem: fault.Min, status: http.StatusBadRequest, code: "SIG_APPROVALLIMIT_MIN",
			},
			line{field: "approvalLimit", status: http.StatusBadRequest, code: "SIG_APPROVALLIMIT_INVALID"}),
	}

	// Users and roles answer a message only. A customer that is not tied to the token's legal entity is 403,
	// whether there is one or not; what is not the customer's is 404 (rest/CONTRACT.md, absent and foreign
	// things).
	peopleV1 = dialect{success: successPG2, failure: failureC3, lines: table("", notAuthorized,
		line{is: customers.ErrNotFound, status: http.StatusForbidden, as: customers.ErrOutOfScope},
		line{is: customers.ErrOutOfScope, status: http.StatusForbidden},
		line{is: users.ErrNotFound, status: http.StatusNotFound},
		line{is: roles.ErrNotFound, status: http.StatusNotFound})}
)

// accountWords are what the first two generations call otherwise.
var accountWords = map[string]string{
	"enableUnderWritten": "isUnderWritten", "enableAchPrefund": "isAchPrefund",
}

// featureWords are where the third generation has the features of an account.
var featureWords = map[string]string{
	"enableWire":              "accountFeatures.fedWireFeature.enableWire",
	"enableDomesticWire":      "accountFeatures.fedWireFeature.enableDomesticWire",
	"enableInternationalWire": "accountFeatures.fedWireFeature.enableInternationalWire",
	"enableCallbacks":         "accountFeatures.fedWireFeature.enableCallbacks",
	"callbackLimit":           "accountFeatures.fedWireFeature.callbackLimit",
	"enableACH":               "accountFeatures.achFeature.enableACH",
	"enableOffset":            "accountFeatures.achFeature.enableOffset",
	"defaultOffset":           "accountFeatures.achFeature.defaultOffset",
	"enableUnderWritten":      "accountFeatures.achFeature.enableUnderWritten",
	"enableAchPrefund":        "accountFeatures.achFeature.enableAchPrefund",
	"achCompanyId":            "accountFeatures.achFeature.achCompanyId",
	"debitExposureLimit":      "accountFeatures.achFeature.debitExposureLimit",
	"creditExposureLimit":     "accountFeatures.achFeature.creditExposureLimit",
	"secCodes":                "accountFeatures.achFeature.secCodes",
}

// envelopeC1 is the envelope of the first two generations.
type envelopeC1 struct {
	Status     string      `json:"status"`
	Code       *string     `json:"code"`
	Message    *string     `json:"message"`
	Pagination *pagination `json:"pagination,omitempty"`
	Data       any         `json:"data"`
}

func successC1(said answer) any {
	return envelopeC1{Status: "Success", Pagination: said.pages, Data: said.data}
}

func failureC1(phrase string, all []reported) any {
	message := messages(all)
	if phrase != "" {
		message = phrase + ": " + message
	}
	return envelopeC1{Status: "Failure", Code: &all[0].code, Message: &message}
}

// messages are those of all that is wrong, for envelopes that have one message.
func messages(all []reported) string {
	return strings.Join(each(all, func(t reported) string { return t.message }), "; ")
}

// message is what callers read: the field, where one is to blame, and what is wrong.
func (l line) message(f *fault.Fault) string {
	if l.as != nil {
		return l.as.Error()
	}
	return f.Error()
}

// bare answers the data as it is.
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

// failureSweep is C4 with a code for each field: SWEEP_BALANCETYPE_REQUIRED.
func failureSweep(_ string, all []reported) any {
	return envelopeC4{
		Errors: each(all, func(t reported) codeAndMessage { return codeAndMessage{t.detail("SWEEP"), t.message} }),
	}
}

// failureC3 is a message only.
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

// inFeatures is where an account has a feature. Its code does without: ACCOUNT_CALLBACKLIMIT_MAX.
var inFeatures = regexp.MustCompile(`^accountFeatures\.([a-zA-Z]+Feature\.)?`)

// failureC5 says the area's code, and beside it what is wrong with which field, in the newer pattern
// AREA_FIELD_PROBLEM. Without a field to blame both are the same.
func failureC5(_ string, all []reported) any {
	details := each(all, func(t reported) codeAndMessage {
		t.field = inFeatures.ReplaceAllString(t.field, "")
		return codeAndMessage{t.detail("ACCOUNT"), t.message}
	})
	return envelopeC5{Code: all[0].code, Message: messages(all), Errors: details}
}
