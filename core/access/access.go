// Package access knows who is calling and what they may do. The first line of every service method asks it.
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

// Permission is one right, by the name that tokens and roles carry.
type Permission string

// The permissions. Each list below is all there is: a name outside it grants nothing.
const (
	ViewCustomers   Permission = "vCust"
	ManageCustomers Permission = "mCust"
	ViewAccounts    Permission = "View_Account"
	ManageAccounts  Permission = "Manage_Account"
	ViewContacts    Permission = "View_Contacts"
	ManageContacts  Permission = "Manage_Contacts"
	ViewSignatories Permission = "View_Signatories"
	ViewUsers       Permission = "View_Roles_And_Users"
	ViewAudit       Permission = "View_Audit" // who did what
	ManageUsers     Permission = "Manage_Users"
	ActivateUsers   Permission = "Activate_Users"
	SuspendUsers    Permission = "Suspend_Users"
	ManageRoles     Permission = "Manage_Roles"
	LookUpCustomers Permission = "Lookup_Customers" // find a customer by any account number
	ExploreGraphQL  Permission = "Explore_GraphQL"  // introspection and free documents
	ManageClients   Permission = "Manage_Clients"   // API keys and signing keys
	ManageTenants   Permission = "Manage_Tenants"   // banks: for operators only, so no API key can have it
)

// implied lists what a permission brings along: who may change a thing may see it.
var implied = map[Permission][]Permission{
	ManageCustomers: {ViewCustomers, ViewSignatories},
	ManageAccounts:  {ViewAccounts},
	ManageContacts:  {ViewContacts},
	ManageUsers:     {ViewUsers},
	ActivateUsers:   {ViewUsers},
	SuspendUsers:    {ViewUsers},
	ManageRoles:     {ViewUsers},
}

// All are the permissions that an API key can have, in the order in which they are shown.
var All = []Permission{
	ViewCustomers, ManageCustomers, ViewAccounts, ManageAccounts, ViewContacts, ManageContacts,
	ViewSignatories, ViewUsers, ManageUsers, ActivateUsers, SuspendUsers, ManageRoles, ViewAudit,
	LookUpCustomers, ExploreGraphQL, ManageClients,
}

// Partners are the permissions of a partner's programs: its own customers, and all that is theirs. The record
// names the bank's staff and their reasons, so ViewAudit is not among them; a key that is given it sees that
// of its own customers.
var Partners = []Permission{
	ViewCustomers, ManageCustomers, ViewAccounts, ManageAccounts, ViewContacts, ManageContacts,
	ViewSignatories, ViewUsers, ManageUsers, ActivateUsers, SuspendUsers, ManageRoles, LookUpCustomers,
}

// Readers are the permissions of somebody who may look at everything and change nothing.
var Readers = []Permission{
	ViewCustomers, ViewAccounts, ViewContacts, ViewSignatories, ViewUsers, ViewAudit, LookUpCustomers,
	ExploreGraphQL,
}

// Reach is how much of the bank a caller sees and changes: what its legal entity is decides. Every read has a
// text of its own for each, so that each has its own plan.
type Reach string

const (
	OfCustomer Reach = "Customer" // the caller's own customer alone
	OfPartner  Reach = "Partner"  // a partner: itself, and the customers that belong to it
	OfBank     Reach = "Bank"     // the bank itself: everything in it
)

// AtLeast tells whether a caller of this reach sees all that one of the other does.
func (r Reach) AtLeast(other Reach) bool {
	wider := []Reach{OfCustomer, OfPartner, OfBank}
	return slices.Index(wider, r) >= slices.Index(wider, other)
}

// Caller is who calls, as the verified token says. It is never made from anything else in the request.
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

	// the person, where the token speaks for one of the bank's users; uuid.Nil for a program
	User    uuid.UUID
	LoginID string              // the person's login id; of an operator, who works at the command line
	Limits  []ApplicationLimits // what bounds the person's amounts; none of a program
	Holds   []Entitlement       // what the person's roles hold; none of a program
	Request string              // the id of the request, for the record

	// of a program, the person who answers for what its API key does; uuid.Nil where nobody is named
	Responsible uuid.UUID
}

// Party is who chose an idempotency key: the API key or the issuer, and the person where one is known. Neither
// has a space, so no two of them make the same text.
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

// Rights are the names of the permissions.
func (c Caller) Rights() []string {
	names := make([]string, len(c.Permissions))
	for i, p := range c.Permissions {
		names[i] = string(p)
	}
	return names
}

// ScopeCustomer is the legal entity that bounds what the caller sees, as its reach has it; 0 for the bank
// itself, which sees all.
func (c Caller) ScopeCustomer() int64 {
	if c.Reach == OfBank {
		return 0
	}
	return c.Entity
}

// Is tells whether a customer is the caller's own legal entity, and the caller not of the bank: what the bank
// arranges with it is not its own to change.
func (c Caller) Is(customer int64) bool { return c.Reach != OfBank && c.Entity == customer }

// May tells whether the caller has the permission, or one that implies it.
func (c Caller) May(want Permission) bool {
	return slices.ContainsFunc(c.Permissions, func(has Permission) bool {
		return has == want || slices.Contains(implied[has], want)
	})
}

var (
	ErrUnauthenticated = fault.New(fault.Unauthenticated, "caller.unauthenticated",
		"not authorized: a valid access token is needed (Authorization: Bearer TOKEN); it is missing, cut, ended or of another bank")
	ErrDenied = fault.New(fault.Denied, "caller.denied", "the caller may not do this")
)

type key struct{}

// call is what the context of a request carries.
type call struct {
	Caller

	mu       sync.Mutex
	refusals []Refusal
}

// With returns a context that carries the caller. Only the code that verified a token calls it.
func With(ctx context.Context, caller Caller) context.Context {
	return context.WithValue(ctx, key{}, &call{Caller: caller})
}

// OperatorClient stands in the record where an API key would, for who has the database in hand. No API key is
// called so.
const OperatorClient = "operator"

// Operator returns the context of the program's own background work: everything in the one bank, and the
// right to find and add banks. Tenant 0 stands for no bank yet. Only cmd calls it.
func Operator(ctx context.Context, tenant Tenant, code string, zone *time.Location) context.Context {
	return OperatorAs(ctx, "", tenant, code, zone)
}

// OperatorAs is Operator for somebody at the command line, whose name the record shows.
func OperatorAs(
	ctx context.Context, name string, tenant Tenant, code string, zone *time.Location,
) context.Context {
	return With(ctx, Caller{
		Tenant: tenant, TenantCode: code, Zone: zone, Client: OperatorClient, ClientName: "Operator",
		LoginID: name, Reach: OfBank, Permissions: append(slices.Clone(All), ManageTenants),
	})
}

// Writer tells apart who writes, for reads that must see what their caller wrote: not operators and
// background work, who may stand for anybody.
func Writer(ctx context.Context) (tenant int64, party string, ok bool) {
	c, ok := ctx.Value(key{}).(*call)
	if !ok || c.Tenant == 0 || c.May(ManageTenants) {
		return 0, "", false
	}
	return int64(c.Tenant), c.Party(), true
}

// Require returns the caller when it has one of the permissions; with none named, anyone known will do.
func Require(ctx context.Context, oneOf ...Permission) (Caller, error) {
	return RequireTo(ctx, Attempt{}, oneOf...)
}

// Attempt is what a caller sets out to do. Who lacks the permission to read is not asked what.
type Attempt struct {
	Action string // by its GraphQL name: addSignatory
	Object string // the kind of thing: signatory
	UID    string // which one; '' for what is yet to be made
}

// RequireTo is Require for a change of something.
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

// Refusal is an attempt of a caller that lacks the permission, or to read what is not the caller's to see.
type Refusal struct {
	Attempt
	Needs []Permission // any of which would have done
}

// Read is the action of a refusal to read a thing that is there, and not the caller's.
const Read = "read"

// RefuseRead remembers that the caller asked for a thing that is not its to see.
func RefuseRead(ctx context.Context, object, uid string) {
	if c, ok := ctx.Value(key{}).(*call); ok {
		c.refuse(Refusal{Attempt: Attempt{Action: Read, Object: object, UID: uid}})
	}
}

// mostRefusals is how many a request remembers: a document can ask for one thing a thousand times.
const mostRefusals = 100

func (c *call) refuse(r Refusal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := func(other Refusal) bool { return other.Attempt == r.Attempt && slices.Equal(other.Needs, r.Needs) }
	if len(c.refusals) < mostRefusals && !slices.ContainsFunc(c.refusals, again) {
		c.refusals = append(c.refusals, r)
	}
}

// Refusals are what the caller of a request was refused so far, each once, for the record.
func Refusals(ctx context.Context) []Refusal {
	c, ok := ctx.Value(key{}).(*call)
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.refusals)
}
