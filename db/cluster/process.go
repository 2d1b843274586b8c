package cluster

import (
	"path/filepath"
	"strings"
)

// titled tells whether a command line is that of a process of this cluster: the server's own
// ("/…/postgres -D …pgdata …") or a backend's ("postgres: NAME: …", NAME being cluster_name).
func (p place) titled(title string) bool {
	if strings.HasPrefix(title, "postgres: "+p.name+": ") {
		return true
	}
	program, arguments, _ := strings.Cut(title, " -D ")
	return filepath.Base(program) == "postgres" && strings.HasPrefix(arguments, p.pgdata()+" ")
}
