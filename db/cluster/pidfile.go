package cluster

import (
	"os"
	"strconv"
	"strings"
)

// pidStatus is the content of postmaster.pid. Its lines are: 1 pid, 2 data folder, 3 start time, 4 port, 5
// socket folder, 6 listen address, 7 shared memory, 8 status.
type pidStatus struct {
	pid    int
	socket string
	status string // starting, ready, standby, stopping
}

func (s pidStatus) ready() bool { return s.status == "ready" && s.socket != "" }

func readPidFile(path string) (pidStatus, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return pidStatus{}, err
	}
	lines := strings.Split(string(text), "\n")
	line := func(number int) string {
		if number > len(lines) {
			return "" // still being written
		}
		return strings.TrimSpace(lines[number-1])
	}
	pid, _ := strconv.Atoi(line(1)) // 0 for a damaged line, which is no pid
	return pidStatus{pid: pid, socket: line(5), status: line(8)}, nil
}

// noProcess is above the highest pid of every system.
const noProcess = "999999999"

// disownPidFile replaces the pid in a left-over postmaster.pid, which may belong to another process by now
// and would keep the server from starting. The file itself must stay: its shared memory line keeps a new
// server off data to which orphans of the old one still write.
func disownPidFile(p place) error {
	text, err := os.ReadFile(p.pidFile())
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(text), "\n")
	changed := p.pidFile() + ".bankgraph"
	if err := os.WriteFile(changed, []byte(noProcess+"\n"+rest), 0o600); err != nil {
		return err
	}
	if err := os.Chown(changed, p.user.uid, p.user.gid); err != nil {
		return err
	}
	return os.Rename(changed, p.pidFile())
}
