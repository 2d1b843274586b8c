package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// attributes start a process as this account, in its own group, and signal it when we die.
func (a account) attributes(whenWeDie syscall.Signal) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: whenWeDie}
	if !a.ours() {
		attributes.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attributes
}

// owns tells whether the process is one of this cluster. Every PostgreSQL process works in its data folder.
// A container's root may not look at other users' folders; then the name in the process title decides.
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

// commandOf is the command line of a process, nil where it cannot be read.
func commandOf(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

// processes are the pids of this cluster, of its server and of all that works for it.
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
