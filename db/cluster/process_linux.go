package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// attributes make a process start as this account, in its own group, and get a signal when we die.
func (a account) attributes(whenWeDie syscall.Signal) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: whenWeDie}
	if !a.ours() {
		attributes.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attributes
}

// owns reports whether a process belongs to this cluster. The working folder of every PostgreSQL process is
// its data folder. If we may not read it, as root in a container, the process title decides.
func (p place) owns(pid int) bool {
	if pid <= 0 {
		return false
	}
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err == nil {
		return cwd == p.pgdata()
	}
	if !os.IsPermission(err) {
		return false // gone, or a zombie
	}
	title, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && p.titled(strings.ReplaceAll(string(title), "\x00", " "))
}

// commandOf returns the command line of a process; nil if it cannot be read.
func commandOf(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

// processes returns the pids of this cluster: of its server and of all backends.
func (p place) processes() []int {
	var found []int
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, entry := range entries {
		if pid, err := strconv.Atoi(filepath.Base(entry)); err == nil && p.owns(pid) {
			found = append(found, pid)
		}
	}
	return found
}
