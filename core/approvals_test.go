package core_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
)

// Whoever may decide on a change finds it, with its fields, whatever it is of. Who may only see customers
// sees that it waits, but of what it changes no more than that permission shows.
func TestWhoDecidesSeesWhatWaits(t *testing.T) {
	t.Parallel()
	ofCustomers := []string{"customer", "limits", "feeTier"}
	for _, w := range writes {
		// which waits for nobody
		if !strings.HasSuffix(w.name, "to be approved") || strings.HasPrefix(w.name, "cancel") {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			b := coretest.New(t)
			as := b.Staff()
			do := w.on(b)
			if w.as != nil {
				as = w.as(b)
			}
			out, err := do(as, "k")
			if err != nil || out.Approval == 0 {
				t.Fatalf("nothing waits: %+v %v", out, err)
			}
			uid := changes.UID(out.Approval)
			deciders := 0
			for _, p := range access.All {
				found, err := b.Changes.Find(b.As(p), uid)
				_, decides := b.Changes.Approve(b.As(p), uid, changes.RequestOptions{})
				switch shown := err == nil && len(found.Changes()) > 0; {
				case !errors.Is(decides, access.ErrDenied):
					deciders++
					if !shown {
						t.Errorf("%s decides on it, and does not see it: %v", p, err)
					}
				case p == access.ViewCustomers && (err != nil || shown != slices.Contains(ofCustomers, found.Object)):
					t.Errorf("%s sees the fields of a %+v: %v, %v", p, found, shown, err)
				}
			}
			if deciders == 0 {
				t.Error("nobody decides on it")
			}
		})
	}
}
