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

// WorkFor sets how long one call of Check or Pay works.
func (s *Service) WorkFor(d time.Duration) { s.step = d }

// Forget forgets what first readings found, as another process does not know it.
func (s *Service) Forget() { s.readings = firstReadings{} }
