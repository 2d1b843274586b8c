package banks

import "io"

// ReadForTest reads a file without a database.
func ReadForTest(format Format, from io.Reader, each func(line int64, e *Entry, err error)) error {
	return formats[format].read(newInput(from, nil), func(line int64, e *Entry, err error) bool {
		if err == nil && e != nil {
			err = e.complete()
		}
		each(line, e, err)
		return true
	})
}

// ColumnsForTest lists the columns of an entry.
func ColumnsForTest() string { return columns("b.") }
