package graph

// What the guard multiplies: how long lists are that have no page, and what the database does beyond reading
// rows. Each domain's file adds its own.

// listSizes are those of plain lists; what is not here counts as ten.
var listSizes = map[string]int{"Viewer.permissions": 20, "Viewer.limits": 2}

// prices are those of fields of objects and of inputs.
var prices = map[string]int64{}

// The work of the database, in objects: about 50 are read in a millisecond.
const (
	countOne  = 2   // a count in the index, of what one customer has
	countMany = 20  // up to model.MostCounted rows
	history   = 5   // a look into the bank's longest table
	sorted    = 20  // an index finds the rows, but not in the order of the list
	search    = 450 // every word of every name that begins so
	scan      = 500 // no index: the list is walked until a page is full
)
