package graph

// What the guard multiplies: how long lists are that have no page, and what the database does beyond reading rows.

// listSizes are those of plain lists; what is not here counts as ten. Limits per rail are at most these many, and a
// customer's fee tiers are few.
var listSizes = map[string]int{
	"Customer.limits": 15, "Customer.fees": 10, "Query.feeCatalogue": 40,
	"Viewer.permissions": 20, "Viewer.limits": 2,
	"User.roles": 3, "User.limits": 2, "User.applicationLimits": 2, "ApplicationLimits.limits": 3,
	"Role.applications": 5, "RoleApplication.limits": 3,
	"AuditEntry.changes": 20, "Approval.changes": 20,
}

// The work of the database, in objects: about 50 are read in a millisecond.
const (
	countOne  = 2   // a count in the index, of what one customer has
	countMany = 20  // up to model.MostCounted rows
	history   = 5   // a look into the bank's longest table
	sorted    = 20  // an index finds the rows, but not in the order of the list
	search    = 450 // every word of every name that begins so
	scan      = 500 // no index: the list is walked until a page is full
)

var prices = map[string]int64{
	"CustomerConnection.totalCount": countMany, "CustomerConnection.totalCountIsExact": countMany,
	"AuditEntryConnection.totalCount": history, "AuditEntryConnection.totalCountIsExact": history,
	"ApprovalConnection.totalCount": countMany, "ApprovalConnection.totalCountIsExact": countMany,
	"AccountConnection.totalCount": countOne, "AccountConnection.totalCountIsExact": countOne,
	"ContactConnection.totalCount": countOne, "ContactConnection.totalCountIsExact": countOne,
	"SignatoryConnection.totalCount": countOne, "UserConnection.totalCount": countOne, "RoleConnection.totalCount": countOne,

	"Customer.history": history, "Account.history": history, "Contact.history": history,
	"Signatory.history": history, "User.history": history, "Role.history": history,

	"CustomerFilter.text": search, "CustomerFilter.type": sorted, "CustomerFilter.status": sorted,
	"ApprovalFilter.status": sorted,
	"AuditFilter.object":    sorted, "AuditFilter.since": sorted, "AuditFilter.until": sorted,
	"AuditFilter.action": scan, "AuditFilter.client": scan, "AuditFilter.decision": scan,
}
