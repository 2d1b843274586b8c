package attention

// Listed is the text of what is listed of all that waits.
func Listed() string {
	var all []string
	for _, kind := range Kinds {
		all = append(all, string(kind))
	}
	return listed(all, "")
}
