package files

// LimitUploads sets how many bytes may have arrived of the unfinished uploads of one caller.
func (s *Service) LimitUploads(bytes int64) { s.uploads.bytes.Resize(4 * bytes) }
