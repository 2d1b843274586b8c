//go:build unix && !linux

package cluster

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// attributes make a process start as this account, in its own group. There is no "parent died" signal on
// these systems: after a kill -9 of the program the server lives on, and the next start adopts it.
func (a account) attributes(syscall.Signal) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if !a.ours() {
		attributes.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attributes
}

// owns reports whether a process belongs to this cluster, by its title.
func (p place) owns(pid int) bool {
	if pid <= 0 {
		return false
	}
	title, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && p.titled(strings.TrimSpace(string(title)))
}

// commandOf returns the command line of a process; nil if it cannot be read.
func commandOf(pid int) []string {
	title, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(title))
}

// processes returns the pids of this cluster: of its server and of all backends.
func (p place) processes() []int {
	var found []int
	list, _ := exec.Command("ps", "-ax", "-o", "pid=,command=").Output()
	for line := range strings.Lines(string(list)) {
		number, title, _ := strings.Cut(strings.TrimSpace(line), " ")
		if pid, err := strconv.Atoi(number); err == nil && p.titled(strings.TrimSpace(title)) {
			found = append(found, pid)
		}
	}
	return found
}
