package db

import (
	"context"
	"slices"
)

// Sought is a value of a query whose giver wants to know whether anything was found by it. The server gets
// Plain. Values of one batch that have the same Key are one: Begin is called once before the batch is sent,
// and refuses all of it with an error; End is called once after that. A value was missed if no query with it
// found anything, and at least one was answered.
type Sought interface {
	Plain() any
	Key() any
	Begin(ctx context.Context) error
	End(missed bool)
}

// search is what became of a value in a batch.
type search struct {
	of              Sought
	answered, found bool
}

// seek replaces what is sought in the values of a query by what the server gets, and returns it.
func (b *Batch) seek(values []any) (plain []any, by []*search) {
	for i, value := range values {
		sought, is := value.(Sought)
		if !is {
			continue
		}
		if plain == nil {
			plain = slices.Clone(values)
		}
		plain[i] = sought.Plain()
		at := slices.IndexFunc(b.searches, func(s *search) bool { return s.of.Key() == sought.Key() })
		if at < 0 {
			at = len(b.searches)
			b.searches = append(b.searches, &search{of: sought})
		}
		by = append(by, b.searches[at])
	}
	if plain == nil {
		return values, nil
	}
	b.whenUndone(func() {
		for _, s := range by {
			s.answered, s.found = false, false
		}
	})
	return plain, by
}

// searching begins all searches of the batch, or none.
func (b *Batch) searching(ctx context.Context) error {
	for i, s := range b.searches {
		if err := s.of.Begin(ctx); err != nil {
			b.searches = b.searches[:i]
			return err
		}
	}
	return nil
}

// searched ends the searches that were begun.
func (b *Batch) searched() {
	for _, s := range b.searches {
		s.of.End(s.answered && !s.found)
	}
}

// finds reports whether a row of a read says that something was found, which a count of zero does not.
func finds(row any) bool {
	n, is := row.(*Count)
	return !is || n.N > 0
}
