package files

import (
	"time"

	"bankgraph/core/fair"
)

// LimitUploads sets how many bytes may have arrived of the unfinished uploads of one caller.
func (s *Service) LimitUploads(bytes int64) { s.uploads.bytes = fair.New(4*bytes, time.Now) }

// PaymentsText is the statement that reads a page of the payments of a file.
var PaymentsText = paymentsText

// LineOf is the id of a line.
var LineOf = lineID
