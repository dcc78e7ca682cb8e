// SPDX-License-Identifier: BSD-3-Clause

// Package testns runs tests in a network namespace of their own, so that those that use fixed
// addresses and ports do not get in each other's way.
package testns

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const inside = "AIRPATH_TEST_NETNS"

// Main is for TestMain. Where a namespace cannot be had the tests run without.
func Main(m *testing.M) {
	if os.Getenv(inside) != "" {
		if err := loopbackUp(); err != nil {
			panic(err)
		}
		os.Exit(m.Run())
	}
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if err := cmd.Start(); err != nil {
		os.Exit(m.Run())
	}
	var failed *exec.ExitError
	if err := cmd.Wait(); errors.As(err, &failed) {
		os.Exit(max(1, failed.ExitCode()))
	}
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}
