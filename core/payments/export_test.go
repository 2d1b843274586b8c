package payments

// FillFilesUpTo bounds the entries of a file of ACH.
func (s *Service) FillFilesUpTo(most int) { s.entriesOfFile = most }

// NextDue finds payments whose day has come.
const NextDue = nextDue
