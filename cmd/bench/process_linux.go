package main

import (
	"os/exec"
	"syscall"
)

// endWithUs has the kernel end the command when the bench dies, even by a kill.
func endWithUs(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
