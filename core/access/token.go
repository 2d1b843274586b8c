package access

import "bankgraph/core/fault"

// TokenRefusal is why an access token does not count. The log shows it; who brought the token learns the
// fault alone.
type TokenRefusal struct {
	Issuer string // that the token names, which nothing has proven
	Why    string
	Of     *fault.Fault
}

// RefuseToken is the refusal of a token that proves nothing.
func RefuseToken(why string) error { return TokenRefusal{Why: why, Of: ErrUnauthenticated} }

func (r TokenRefusal) Error() string { return r.Why }

// Unwrap returns what the caller is told.
func (r TokenRefusal) Unwrap() error { return r.Of }
