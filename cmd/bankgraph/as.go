package main

import (
	"context"
	"errors"
	"os/user"

	"bankgraph/core/access"
	"bankgraph/core/ident"
)

// operatorName is the name of the operator in the record: the one given, or the login at the machine.
func (s *settings) operatorName() string {
	if s.As != "" {
		return s.As
	}
	if who, err := user.Current(); err == nil {
		if _, ok := ident.Login(who.Username); ok {
			return who.Username
		}
		return "uid:" + who.Uid
	}
	return "unknown" // a container's user may have no name
}

// checkAs refuses a name that would be ambiguous in the record.
func (s *settings) checkAs() error {
	if _, ok := ident.Login(s.As); s.As != "" && !ok {
		return errors.New(
			"--as (BANKGRAPH_AS) must be 1 to 200 letters, digits and special characters of ASCII, " +
				"without spaces")
	}
	return nil
}

// anywhere is the context of the operator before a bank is chosen.
func (b *bank) anywhere(ctx context.Context) context.Context {
	return access.OperatorAs(ctx, b.as, 0, "", nil)
}
