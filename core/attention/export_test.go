package attention

// Listed is the text of what is listed of all that waits.
func Listed() string {
	var all []string
	for _, kind := range Kinds {
		all = append(all, string(kind))
	}
	return listed(all, "")
}

// Shared reports whether it is said of a kind whose its things are.
func Shared(kind Kind) bool {
	_, said := whose[kind]
	return said
}
