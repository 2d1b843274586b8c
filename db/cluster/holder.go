package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// sign writes into the lock file who holds the lock.
func sign(lock *os.File) error {
	err := lock.Truncate(0)
	if err == nil {
		_, err = lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		_ = lock.Close()
		return fmt.Errorf("sign the lock: %w", err)
	}
	return nil
}

// inUse returns ErrInUse with the process that holds the lock, and what to do.
func inUse(path string) error {
	return fmt.Errorf("%w%s: stop it, or choose another data folder (--data, BANKGRAPH_DATA)", ErrInUse,
		holder(path))
}

// holder describes the process that signed the lock, if it is running: " (pid 42, bankgraph serve)".
func holder(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 0 || syscall.Kill(pid, 0) == syscall.ESRCH {
		return "" // an older program, which did not sign
	}
	words := commandOf(pid)
	if len(words) == 0 {
		return fmt.Sprintf(" (pid %d)", pid)
	}
	words[0] = filepath.Base(words[0])
	for i, word := range words {
		if strings.HasPrefix(word, "-") { // flags may hold secrets
			words = words[:i]
			break
		}
	}
	return fmt.Sprintf(" (pid %d, %s)", pid, strings.Join(words, " "))
}
