package files

// LimitUploads sets how many bytes may have arrived of the unfinished uploads of one caller.
func (s *Service) LimitUploads(bytes int64) { s.uploads.bytes.Resize(4 * bytes) }

// PaymentsText is the statement that reads a page of the payments of a file.
var PaymentsText = paymentsText

// LineOf is the id of a line.
var LineOf = lineID
