// Package access says who is calling and what they may do. Every method of a service asks it first.
package access

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"bankgraph/core/fault"
)

// Tenant is a bank's number (tenants.id). It stands first in every key.
type Tenant int64

// Permission is one right, under the name that tokens and roles use for it.
type Permission string

// The permissions. Any other name grants nothing.
const (
	ViewCustomers    Permission = "vCust"
	ManageCustomers  Permission = "mCust"
	ViewAccounts     Permission = "View_Account"
	ManageAccounts   Permission = "Manage_Account"
	ViewContacts     Permission = "View_Contacts"
	ManageContacts   Permission = "Manage_Contacts"
	ViewSignatories  Permission = "View_Signatories"
	ViewUsers        Permission = "View_Roles_And_Users"
	ViewAudit        Permission = "View_Audit" // the audit record
	ManageUsers      Permission = "Manage_Users"
	ActivateUsers    Permission = "Activate_Users"
	SuspendUsers     Permission = "Suspend_Users"
	ManageRoles      Permission = "Manage_Roles"
	ViewPayments     Permission = "View_Payments"
	InitiatePayments Permission = "Initiate_Payments"
	CancelPayments   Permission = "Cancel_Payments"
	ReturnPayments   Permission = "Return_Payments"   // give back what came in
	ReversePayments  Permission = "Reversal_Payments" // ask for what went out
	ApprovePayments  Permission = "Approve_Payments"  // decide on payments that wait for a second person
	// see which listed names payments were found with, and decide
	ScreenPayments Permission = "Screen_Payments"
	ViewFiles      Permission = "View_bulk_payments"
	UploadFiles    Permission = "Upload_Bulk_Payment_File" // and cancel them
	ApproveFiles   Permission = "Approve_bulk_payments"
	ViewTrades     Permission = "View_Trades"
	// quotes and trades of foreign exchange for the spot date
	SpotTrade           Permission = "Spot_Trade"
	InstructTrades      Permission = "Create_Instruct_Trades" // those for later, and covers
	CancelTrades        Permission = "Cancel_Trades"
	ViewWebhooks        Permission = "View_Webhooks"
	ManageWebhooks      Permission = "Manage_Webhooks" // where events of payments are posted to
	ViewPositiveRules   Permission = "View_Positive_Rules"
	ManagePositiveRules Permission = "Manage_Positive_Rules" // which debits of other banks may be paid
	ManageExceptions    Permission = "Manage_Exception"      // see and decide debits that no rule allows
	LookUpCustomers     Permission = "Lookup_Customers"      // find a customer by any account number
	ExploreGraphQL      Permission = "Explore_GraphQL"       // introspection and free documents
	MoveClock           Permission = "Move_Clock"            // of a sandbox bank
	ManageClients       Permission = "Manage_Clients"        // API keys and signing keys
	// banks: for operators only, so no API key can have it
	ManageTenants Permission = "Manage_Tenants"
)

// implied lists the permissions that another one includes: whoever may change a thing may see it.
var implied = map[Permission][]Permission{
	ManageCustomers:     {ViewCustomers, ViewSignatories},
	ManageAccounts:      {ViewAccounts},
	ManageContacts:      {ViewContacts},
	ManageUsers:         {ViewUsers},
	ActivateUsers:       {ViewUsers},
	SuspendUsers:        {ViewUsers},
	ManageRoles:         {ViewUsers},
	InitiatePayments:    {ViewPayments},
	CancelPayments:      {ViewPayments},
	ReturnPayments:      {ViewPayments},
	ReversePayments:     {ViewPayments},
	ApprovePayments:     {ViewPayments},
	ScreenPayments:      {ViewPayments},
	UploadFiles:         {ViewFiles},
	ApproveFiles:        {ViewFiles},
	SpotTrade:           {ViewTrades},
	InstructTrades:      {ViewTrades},
	CancelTrades:        {ViewTrades},
	ManageWebhooks:      {ViewWebhooks, ViewPayments}, // what is posted are payments
	ManagePositiveRules: {ViewPositiveRules},
}

// All lists the permissions that an API key can have, in the order in which they are shown.
var All = []Permission{
	ViewCustomers, ManageCustomers, ViewAccounts, ManageAccounts, ViewContacts, ManageContacts,
	ViewSignatories, ViewPayments, InitiatePayments, CancelPayments, ReturnPayments, ReversePayments,
	ApprovePayments, ViewFiles, UploadFiles, ApproveFiles, ViewTrades, SpotTrade,
	InstructTrades, CancelTrades, ViewUsers, ManageUsers, ActivateUsers, SuspendUsers,
	ManageRoles, ViewWebhooks, ManageWebhooks, ViewPositiveRules, ManagePositiveRules,
	ManageExceptions, ViewAudit, LookUpCustomers, ExploreGraphQL, ManageClients, MoveClock, ScreenPayments,
}

// Partners lists the permissions of a partner's programs. ViewAudit is not among them, because the record
// names the bank's staff and their reasons. A partner's key that is given it sees the record of its own
// customers, since they came to it.
var Partners = []Permission{
	ViewCustomers, ManageCustomers, ViewAccounts, ManageAccounts, ViewContacts, ManageContacts,
	ViewSignatories, ViewPayments, InitiatePayments, CancelPayments, ReturnPayments, ReversePayments,
	ApprovePayments, ViewFiles, UploadFiles, ApproveFiles, ViewTrades, SpotTrade, InstructTrades, CancelTrades,
	ViewUsers, ManageUsers, ActivateUsers, SuspendUsers, ManageRoles, ViewWebhooks,
	ManageWebhooks, ViewPositiveRules, ManagePositiveRules, ManageExceptions, LookUpCustomers,
}

// Readers lists the permissions that read everything and change nothing.
var Readers = []Permission{
	ViewCustomers, ViewAccounts, ViewContacts, ViewSignatories, ViewPayments, ViewFiles, ViewTrades, ViewUsers,
	ViewWebhooks, ViewPositiveRules, ViewAudit, LookUpCustomers, ExploreGraphQL,
}

// Reach is how much of the bank a caller sees and changes; the kind of its legal entity decides. Every read
// has a separate SQL text for each reach, so that each gets its own plan.
type Reach string

const (
	OfCustomer Reach = "Customer" // the caller's own customer alone
	OfPartner  Reach = "Partner"  // a partner: itself, and the customers that belong to it
	OfBank     Reach = "Bank"     // the bank itself: everything in it
)

// AtLeast reports whether this reach is as wide as the other, or wider.
func (r Reach) AtLeast(other Reach) bool {
	wider := []Reach{OfCustomer, OfPartner, OfBank}
	return slices.Index(wider, r) >= slices.Index(wider, other)
}

// Caller is the API key or person that asks, as the verified token says. It is never made from anything else
// in the request.
type Caller struct {
	Tenant      Tenant
	TenantCode  string
	Zone        *time.Location // the bank's; days, weeks and months are counted in it
	Client      string         // the API key, or the address of the external issuer
	ClientName  string
	Entity      int64 // the legal entity: the UID of the customer that the key or user belongs to
	Partner     int64 // the partner id: 0 when an external issuer's token has none
	Reach       Reach // how much of the bank the caller sees
	Permissions []Permission

	// the person, if the token was issued to one of the bank's users; uuid.Nil for a program
	User    uuid.UUID
	LoginID string              // the person's login id, or the name of an operator at the command line
	Limits  []ApplicationLimits // the person's own limits; empty for a program
	Holds   []Entitlement       // the entitlements of the person's roles; empty for a program
	Request string              // the id of the request, for the record

	// for a program, the person responsible for its API key; uuid.Nil if nobody is named
	Responsible uuid.UUID
}

// Party names whom shares and idempotency keys count for: the API key or the issuer, followed by the person
// if there is one. Neither has a space, so no two parties make the same text.
func (c Caller) Party() string {
	if c.LoginID == "" {
		return c.Client
	}
	return c.Client + " " + c.LoginID
}

// Location is the bank's time zone.
func (c Caller) Location() *time.Location {
	if c.Zone == nil {
		return time.UTC
	}
	return c.Zone
}

// Rights returns the names of the permissions.
func (c Caller) Rights() []string {
	names := make([]string, len(c.Permissions))
	for i, p := range c.Permissions {
		names[i] = string(p)
	}
	return names
}

// ScopeCustomer returns the legal entity that bounds what the caller sees; 0 for the bank, which sees
// everything.
func (c Caller) ScopeCustomer() int64 {
	if c.Reach == OfBank {
		return 0
	}
	return c.Entity
}

// Is reports whether the customer is the caller's own legal entity, for callers outside the bank: they may
// not change what the bank arranges with them.
func (c Caller) Is(customer int64) bool { return c.Reach != OfBank && c.Entity == customer }

// May reports whether the caller has the permission, or one that implies it.
func (c Caller) May(want Permission) bool {
	return slices.ContainsFunc(c.Permissions, func(has Permission) bool {
		return has == want || slices.Contains(implied[has], want)
	})
}

var (
	ErrUnauthenticated = fault.New(fault.Unauthenticated, "caller.unauthenticated",
		"not authorized: a valid access token is needed (Authorization: Bearer TOKEN); it is missing, "+
			"cut, ended or of another bank")
	ErrDenied = fault.New(fault.Denied, "caller.denied", "the caller may not do this")
)

type key struct{}

type call struct {
	Caller

	mu       sync.Mutex
	refusals []Refusal
}

// With returns a context that carries the caller. Only the code that verified a token calls it.
func With(ctx context.Context, caller Caller) context.Context {
	return context.WithValue(ctx, key{}, &call{Caller: caller})
}

// OperatorClient stands in the record in place of an API key, for operators at the command line and
// background work. No API key has this name.
const OperatorClient = "operator"

// Operator returns the context of the program's own background work, which may do everything in the one bank,
// and find and add banks. Tenant 0 means no bank yet. Only cmd calls it.
func Operator(ctx context.Context, tenant Tenant, code string, zone *time.Location) context.Context {
	return OperatorAs(ctx, "", tenant, code, zone)
}

// OperatorAs is Operator for a person at the command line, whose name the record shows.
func OperatorAs(
	ctx context.Context, name string, tenant Tenant, code string, zone *time.Location,
) context.Context {
	return With(ctx, Caller{
		Tenant: tenant, TenantCode: code, Zone: zone, Client: OperatorClient, ClientName: "Operator",
		LoginID: name, Reach: OfBank, Permissions: append(slices.Clone(All), ManageTenants),
	})
}

// Writer identifies the caller, for reads that must see what the same caller wrote. ok is false for operators
// and background work, which may act for anybody.
func Writer(ctx context.Context) (tenant int64, party string, ok bool) {
	c, ok := ctx.Value(key{}).(*call)
	if !ok || c.Tenant == 0 || c.May(ManageTenants) {
		return 0, "", false
	}
	return int64(c.Tenant), c.Party(), true
}

// Require returns the caller if it has one of the permissions; without any, every authenticated caller will
// do. It returns ErrUnauthenticated or ErrDenied.
func Require(ctx context.Context, oneOf ...Permission) (Caller, error) {
	return RequireTo(ctx, Attempt{}, oneOf...)
}

// Attempt is what a caller tried to do. It is empty for reads that lack their permission.
type Attempt struct {
	Action string // by its GraphQL name: addSignatory
	Object string // the kind of thing: signatory
	UID    string // of the thing; '' if it is yet to be created
}

// RequireTo is Require for a change.
func RequireTo(ctx context.Context, what Attempt, oneOf ...Permission) (Caller, error) {
	c, ok := ctx.Value(key{}).(*call)
	if !ok {
		return Caller{}, ErrUnauthenticated
	}
	if len(oneOf) > 0 && !slices.ContainsFunc(oneOf, c.May) {
		c.refuse(Refusal{what, oneOf})
		return Caller{}, ErrDenied.With(listed(oneOf))
	}
	return c.Caller, nil
}

func listed(oneOf []Permission) string {
	names := make([]string, len(oneOf))
	for i, p := range oneOf {
		names[i] = string(p)
	}
	return strings.Join(names, "|")
}

// Refusal is an attempt without the permission for it, or to read a thing outside the caller's reach.
type Refusal struct {
	Attempt
	Needs []Permission // any one of them would have been enough
}

// Read is the action of a refusal to read a thing that exists, but outside the caller's reach.
const Read = "read"

// RefuseRead remembers that the caller asked for a thing outside its reach.
func RefuseRead(ctx context.Context, object, uid string) {
	if c, ok := ctx.Value(key{}).(*call); ok {
		c.refuse(Refusal{Attempt: Attempt{Action: Read, Object: object, UID: uid}})
	}
}

// mostRefusals is how many refusals a request remembers: one GraphQL document can ask for thousands of
// things.
const mostRefusals = 100

func (c *call) refuse(r Refusal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := func(other Refusal) bool {
		return other.Attempt == r.Attempt && slices.Equal(other.Needs, r.Needs)
	}
	if len(c.refusals) < mostRefusals && !slices.ContainsFunc(c.refusals, again) {
		c.refusals = append(c.refusals, r)
	}
}

// Refusals returns the request's refusals so far, each once, for the audit record.
func Refusals(ctx context.Context) []Refusal {
	c, ok := ctx.Value(key{}).(*call)
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.refusals)
}
