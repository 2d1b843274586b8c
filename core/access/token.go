package access

import "bankgraph/core/fault"

// TokenRefusal says why an access token was refused. The log shows the reason; the caller is told only the
// fault.
type TokenRefusal struct {
	Issuer string // that the token names, which nothing has proven
	Why    string
	Of     *fault.Fault
}

// RefuseToken returns the refusal of an invalid token, with ErrUnauthenticated as its fault.
func RefuseToken(why string) error { return TokenRefusal{Why: why, Of: ErrUnauthenticated} }

func (r TokenRefusal) Error() string { return r.Why }

// Unwrap returns the fault that the caller is told.
func (r TokenRefusal) Unwrap() error { return r.Of }
