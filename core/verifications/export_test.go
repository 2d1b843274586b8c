package verifications

// The bounds of what is open, and of what one call deals with.
const (
	MostOpen       = mostOpen
	AtATime        = atATime
	WatchedAtATime = watchedAtATime
)
