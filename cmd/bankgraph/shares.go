package main

import (
	"bankgraph/core/access"
	"bankgraph/core/fair"
)

// party is the caller in whose name something is held: an API key or a person of a bank. A caller that is not
// known yet is a party by its network, without a bank.
type party struct{ bank, caller string }

// stranger reports whether the party is not known yet: its token was not checked yet, or it is signing in.
func (p party) stranger() bool { return p.bank == "" || p.bank == signingIn }

func (p party) fair() fair.Party { return fair.Party{Bank: p.bank, Caller: p.caller} }

func partyOf(c access.Caller) party { return party{bank: c.TenantCode, caller: c.Party()} }

// shares count what is held of a limited supply, by party and by bank.
type shares struct {
	all     int64
	taken   int64
	callers map[party]int64
	banks   map[string]int64
}

func newShares(all int64) shares {
	return shares{all: all, callers: map[party]int64{}, banks: map[string]int64{}}
}

// caller is the share of one party while others want some too, bank that of all parties of one bank, and
// crowd that of all strangers of a kind.
func (s *shares) caller() int64 { return max(1, s.all/4) }
func (s *shares) bank() int64   { return max(1, s.all/2) }
func (s *shares) crowd() int64  { return max(1, s.all/4) }

// add takes n for a party, or gives it back if n is negative.
func (s *shares) add(of party, n int64) {
	s.taken += n
	if s.callers[of] += n; s.callers[of] == 0 {
		delete(s.callers, of)
	}
	if s.banks[of.bank] += n; s.banks[of.bank] == 0 {
		delete(s.banks, of.bank)
	}
}
