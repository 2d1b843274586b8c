package contacts

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/fault"
)

// Notice names a notice of change of ACH, by which another bank says what is right of a contact
// (rest/CONTRACT.md, notices of change).
type Notice struct {
	Payment int64  `json:"payment"` // that it is about
	Code    string `json:"code"`    // such as C01
}

// Notices are the notices of change that the bank has received. Payments, to which they belong, come after
// contacts.
type Notices interface {
	// NoticedContact returns the contact that the payment of a notice named. Payments that the caller may not
	// see are not found.
	NoticedContact(ctx context.Context, n Notice) (UID, error)
	// NoticeTx returns what of the contact is to change, or why the notice is not to be followed.
	NoticeTx(ctx context.Context, tx *changes.Tx, k *Contact, n Notice) (Draft, error)
	// FollowedTx keeps who follows the notice: the contact has changed, or waits for a second person.
	FollowedTx(ctx context.Context, tx *changes.Tx, k *Contact, n Notice) error
}

// OnNotices sets, once before any work begins, where notices of change are found.
func (s *Service) OnNotices(notices Notices) { s.notices = notices }

// ErrNotice is returned for a notice of change that nobody has sent about the payment.
var ErrNotice = fault.New(fault.NotFound, "noticeOfChange.not_found",
	"the payment has no notice of change with this code")

// ErrNoticeOfNone is returned for a notice about a payment that names no contact.
var ErrNoticeOfNone = fault.New(fault.State, "noticeOfChange.no_contact",
	"the payment names no contact that could be corrected")

// ErrNoticeApplied is returned for a notice that the contact follows already.
var ErrNoticeApplied = fault.New(fault.State, "noticeOfChange.applied", "the notice of change was applied")

// ErrNoticeOvertaken is returned for a notice about another account, or name, than the contact has by now.
var ErrNoticeOvertaken = fault.New(fault.State, "noticeOfChange.overtaken",
	"the contact has another account or name than the payment that the notice of change is about: "+
		"change it by hand, where it is wrong")

// ErrNoticeUseless is returned for a notice that says what the contact cannot have.
var ErrNoticeUseless = fault.New(fault.State, "noticeOfChange.useless",
	"what the notice of change says cannot stand in a contact")

// ApplyNotice changes a contact as a notice of change says. It is a change of the contact as every other one:
// what that asks for, this does.
func (s *Service) ApplyNotice(
	ctx context.Context, n Notice, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.apply.Require(ctx, "")
	if err == nil {
		c := check.Of("noticeOfChange")
		n.Code = strings.ToUpper(strings.TrimSpace(n.Code))
		c.Required("code", n.Code)
		c.AtMost("code", n.Code, 3)
		err = c.Err()
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	uid, err := s.notices.NoticedContact(ctx, n)
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.apply.Do(ctx, caller, changes.Target{UID: uid.String()}, Draft{Notice: &n}, options)
}

// followTx writes what a notice of change says into a contact.
func (s *Service) followTx(ctx context.Context, tx *changes.Tx, k *Contact, n Notice) error {
	says, err := s.notices.NoticeTx(ctx, tx, k, n)
	if err != nil || reflect.DeepEqual(says, Draft{}) { // the contact has it already
		return err
	}
	if err := useless(says.checkChange()); err != nil {
		return err
	}
	return useless(s.fillTx(ctx, tx, k, says))
}

// useless says of a fault of form that it is in the notice, which nobody can write otherwise.
func useless(err error) error {
	var all fault.Faults
	if one, is := fault.Of(err); !errors.As(err, &all) && is {
		all = fault.Faults{one}
	}
	if len(all) == 0 || all[0].Kind != fault.Invalid {
		return err
	}
	var says []string
	for _, f := range all {
		says = append(says, strings.TrimPrefix(f.Error(), "contactBank."))
	}
	return ErrNoticeUseless.Saying(ErrNoticeUseless.Message + ": " + strings.Join(says, "; "))
}
