package playground

import (
	"embed"
	"io/fs"
	"strings"
)

// Example is a document of a real task of bank staff: a file under examples, with its variables
// beside it. Its first comment lines are the title and the description; lines "# REST: …" are the
// calls by which a partner gets the same data, with {name} for the value of a variable; "# Needs: …" names a
// permission that not every caller has, or "a person", for what programs may not do.
type Example struct {
	Name        string   `json:"name"` // of the file, without extension
	Title       string   `json:"title"`
	Description string   `json:"description"`
	REST        []string `json:"rest"`
	Needs       []string `json:"needs"`
	Person      bool     `json:"person"`
	Query       string   `json:"query"`     // what follows those comments
	Variables   string   `json:"variables"` // a JSON object, as text
}

//go:embed examples
var examples embed.FS

// Examples returns them in the order of their file names. The first one is what the page opens with.
func Examples() []Example {
	names, err := fs.Glob(examples, "examples/*.graphql")
	if err != nil {
		panic(err) // only a malformed pattern
	}
	found := make([]Example, 0, len(names))
	for _, name := range names {
		found = append(found, read(strings.TrimSuffix(name, ".graphql")))
	}
	return found
}

func read(name string) Example {
	example := Example{
		Name:      strings.TrimPrefix(name, "examples/"),
		REST:      []string{},
		Needs:     []string{},
		Query:     text(name + ".graphql"),
		Variables: strings.TrimSpace(text(name + ".json")),
	}
	for strings.HasPrefix(example.Query, "#") {
		line, rest, _ := strings.Cut(example.Query, "\n")
		example.Query = rest
		comment := strings.TrimSpace(strings.TrimPrefix(line, "#"))
		if call, ok := strings.CutPrefix(comment, "REST: "); ok {
			example.REST = append(example.REST, call)
		} else if need, ok := strings.CutPrefix(comment, "Needs: "); ok {
			example.need(need)
		} else if example.Title == "" {
			example.Title = comment
		} else if comment != "" {
			example.Description = strings.TrimSpace(example.Description + " " + comment)
		}
	}
	return example
}

func (e *Example) need(what string) {
	if what == "a person" {
		e.Person = true
		return
	}
	e.Needs = append(e.Needs, what)
}

func text(name string) string {
	content, err := examples.ReadFile(name)
	if err != nil {
		panic(err) // every .graphql has its .json: a test reads them all
	}
	return string(content)
}
