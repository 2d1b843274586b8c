package live

import "bankgraph/core/access"

// Watched reports whether the feed of a bank is read.
func (s *Service) Watched(tenant access.Tenant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.feeds[tenant] != nil
}
