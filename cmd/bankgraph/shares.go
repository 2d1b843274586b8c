package main

import "bankgraph/core/access"

// party is in whose name something is held: an API key or a person of a bank. Those whom nobody knows yet are
// parties by the network that they call from, of no bank.
type party struct{ bank, caller string }

// stranger reports whether nobody knows the party: it brings a token that was not looked at yet, or signs in.
func (p party) stranger() bool { return p.bank == "" || p.bank == signingIn }

func partyOf(c access.Caller) party { return party{bank: c.TenantCode, caller: c.Party()} }

// shares count what is held of something that there is only so much of, by party and by bank.
type shares struct {
	all     int64
	taken   int64
	callers map[party]int64
	banks   map[string]int64
}

func newShares(all int64) shares {
	return shares{all: all, callers: map[party]int64{}, banks: map[string]int64{}}
}

// caller is what one party may have while others want some too, bank what the parties of one bank may, and
// crowd what all strangers of a kind may.
func (s *shares) caller() int64 { return max(1, s.all/4) }
func (s *shares) bank() int64   { return max(1, s.all/2) }
func (s *shares) crowd() int64  { return max(1, s.all/4) }

// add takes so much for a party, or gives it back when n is below zero.
func (s *shares) add(of party, n int64) {
	s.taken += n
	if s.callers[of] += n; s.callers[of] == 0 {
		delete(s.callers, of)
	}
	if s.banks[of.bank] += n; s.banks[of.bank] == 0 {
		delete(s.banks, of.bank)
	}
}
