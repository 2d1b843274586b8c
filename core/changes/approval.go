package changes

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/fault"
)

// UID is an approval's number.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// ParseUID reads an approval's number from decimal digits.
func ParseUID(field, text string) (UID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" || strings.Trim(text, "0123456789") != "" || err != nil {
		return 0, fault.Field("approval", field, fault.Number, "must be the digits of an approval UID")
	}
	return UID(n), nil
}

// Status is the state of an approval.
type Status string

const (
	Open     Status = "Open"
	Approved Status = "Approved"
	Refused  Status = "Refused"
)

// Approval is a change that waits for a second person's decision, or that has been decided.
type Approval struct {
	bun.BaseModel `bun:"table:approvals,alias:p" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	UID      UID           `bun:"uid,pk,nullzero" json:"uid"`
	Customer int64         `bun:"customer" json:"customerUID"` // the customer that the change concerns
	// the operation that was requested, by its GraphQL name: changeSignatory
	Operation string `bun:"operation" json:"operation"`
	Object    string `bun:"object" json:"object"` // the kind of thing: signatory
	ObjectUID string `bun:"object_uid" json:"objectUID"`
	// true: the object was created and is Pending; false: an existing object, still unchanged
	Creation       bool            `bun:"creation" json:"creation"`
	Before         json.RawMessage `bun:"before,type:json" json:"-"`
	After          json.RawMessage `bun:"after,type:json" json:"-"`
	Reason         string          `bun:"reason" json:"reason"`
	Status         Status          `bun:"status" json:"status"`
	MakerClient    string          `bun:"maker_client" json:"makerClient"`
	MakerLogin     string          `bun:"maker_login" json:"makerLogin"`
	MadeAt         time.Time       `bun:"made_at,nullzero" json:"madeAt"`
	CheckerClient  string          `bun:"checker_client" json:"checkerClient"`
	CheckerLogin   string          `bun:"checker_login" json:"checkerLogin"`
	DecidedAt      *time.Time      `bun:"decided_at" json:"decidedAt"`
	DecisionReason string          `bun:"decision_reason" json:"decisionReason"`
	Decides        access.Reach    `bun:"decides" json:"-"` // the least reach that the checker must have
	MakerReach     access.Reach    `bun:"maker_reach" json:"-"`
	// the maker, or the person responsible for the maker's API key
	MakerPerson *uuid.UUID `bun:"maker_person,type:uuid" json:"-"`
	// the maker's legal entity; 0 if it was not kept
	MakerEntity  int64        `bun:"maker_entity" json:"-"`
	MakerParty   int64        `bun:"maker_party" json:"-"` // for whom it counts while it is open (RoomTx)
	CheckerReach access.Reach `bun:"checker_reach" json:"-"`

	Approvers int32 `bun:"approvers" json:"approvers"` // how many must agree: 1 or 2
	// the first of two who agreed
	FirstCheckerClient string       `bun:"first_client" json:"firstCheckerClient"`
	FirstCheckerLogin  string       `bun:"first_login" json:"firstCheckerLogin"`
	FirstPerson        *uuid.UUID   `bun:"first_person,type:uuid" json:"-"`
	FirstEntity        int64        `bun:"first_entity" json:"-"`
	FirstReach         access.Reach `bun:"first_reach" json:"-"`
	FirstApprovedAt    *time.Time   `bun:"first_at" json:"firstApprovedAt"`
}

// maker returns who requested the change, as far as that was kept.
func (a *Approval) maker() access.Accountable {
	made := access.Accountable{Client: a.MakerClient, Login: a.MakerLogin, Entity: a.MakerEntity}
	if a.MakerPerson != nil {
		made.Person = *a.MakerPerson
	}
	return made
}

// first returns the first of two who agreed.
func (a *Approval) first() access.Accountable {
	agreed := access.Accountable{Client: a.FirstCheckerClient, Login: a.FirstCheckerLogin, Entity: a.FirstEntity}
	if a.FirstPerson != nil {
		agreed.Person = *a.FirstPerson
	}
	return agreed
}

// Changes returns the fields that the approval would change.
func (a *Approval) Changes() []audit.Change { return audit.Changes(a.Before, a.After) }

// waiting is an approval with the columns that only its decision needs.
type waiting struct {
	Approval `bun:",extend"`
	Draft    []byte `bun:"draft,type:bytea"` // the requested change, sealed
	Version  int32  `bun:"version"`          // of the object when the change was requested

	// who answers by now for the API keys of the maker, and of the first of two who agreed
	MakerAnswers *uuid.UUID `bun:"maker_answers,type:uuid,scanonly"`
	FirstAnswers *uuid.UUID `bun:"first_answers,type:uuid,scanonly"`
}

// makers returns who requested the change: as it was then, and as it is by now.
func (w *waiting) makers() []access.Accountable { return answered(w.maker(), w.MakerAnswers) }

// firsts returns the first of two who agreed: as it was then, and as it is by now.
func (w *waiting) firsts() []access.Accountable { return answered(w.first(), w.FirstAnswers) }

// answered returns who it was and, for a program that somebody answers for by now, that program of theirs.
func answered(was access.Accountable, now *uuid.UUID) []access.Accountable {
	if was.Login != "" || now == nil {
		return []access.Accountable{was}
	}
	is := was
	is.Person = *now
	return []access.Accountable{was, is}
}

var (
	ErrNoApproval = fault.New(fault.NotFound, "approval.not_found", "no such approval")
	ErrDecided    = fault.New(fault.State, "approval.decided", "the change has been decided on already")
	ErrOwn        = fault.New(fault.State, "approval.own",
		"nobody can decide on their own change, nor on one of an API key that they are responsible "+
			"for: another person must")
	ErrTwice = fault.New(fault.State, "approval.twice",
		"the caller has approved the change already: it needs another person")
	ErrMakerEnded = fault.New(fault.State, "approval.maker_ended",
		"whoever asked for the change has lost access since: refuse it, and ask for it yourself if it is "+
			"still wanted")
	// ErrApproverEnded is ErrMakerEnded for the first of two who approve.
	ErrApproverEnded = fault.New(fault.State, "approval.approver_ended",
		"whoever approved the change first has lost access since: refuse it, and ask for it again if it is "+
			"still wanted")
	ErrPerson = fault.New(fault.Denied, "approval.person",
		"only a person can approve or refuse a change: the bank does not let programs decide")
	ErrNotYours = fault.New(fault.Denied, "approval.not_yours",
		"the caller cannot decide on this change: whoever asked for it sees more of the bank, or only the "+
			"bank decides")
	ErrWaiting = fault.New(fault.State, "approval.waiting",
		"a change of it waits for approval: decide on that first")
)
