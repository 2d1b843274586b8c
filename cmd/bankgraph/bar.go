package main

import (
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"
)

// progress shows how far a long job is: as a bar on a terminal, else as a line for each tenth.
func progress(errs io.Writer, what string) func(done, total int) {
	var bar *progressbar.ProgressBar
	tenth := 0
	return func(done, total int) {
		if !terminalOf(errs) {
			if total > 0 && done*10/total > tenth {
				tenth = done * 10 / total
				fmt.Fprintf(errs, "%s: %d of %d\n", what, done, total)
			}
			return
		}
		if bar == nil {
			bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(errs),
				progressbar.OptionSetDescription(what),
				progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
		}
		_ = bar.Set(done)
	}
}
