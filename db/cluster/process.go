package cluster

import (
	"path/filepath"
	"strings"
)

// titled reports whether a command line is that of a process of this cluster: the server ("/…/postgres -D
// …pgdata …") or a backend ("postgres: NAME: …", where NAME is cluster_name).
func (p place) titled(title string) bool {
	if strings.HasPrefix(title, "postgres: "+p.name+": ") {
		return true
	}
	program, arguments, _ := strings.Cut(title, " -D ")
	return filepath.Base(program) == "postgres" && strings.HasPrefix(arguments, p.pgdata()+" ")
}
