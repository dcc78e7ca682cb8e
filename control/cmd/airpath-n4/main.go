// SPDX-License-Identifier: BSD-3-Clause

// Command airpath-n4 is the management unit of the UPF: it speaks PFCP (TS 29.244) with SMFs and
// tells forwarding units what to do.
package main

import (
	"fmt"
	"os"

	"airpath/control/apps"
	"airpath/control/config"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "unknown"

const defaultSocket = "/run/airpath/n4.sock"

func main() {
	if err := command().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "airpath-n4:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "airpath-n4",
		Short:         "PFCP agent of the airpath UPF",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(runCommand(), checkCommand(), sessionsCommand(), peersCommand(), ownerCommand(), statusCommand(), applicationsCommand(),
		benchCommand(), &cobra.Command{
			Use:   "version",
			Short: "print the version",
			Args:  cobra.NoArgs,
			Run:   func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), version) },
		})
	return root
}

func checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "say what is wrong with a configuration file",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(args[0])
			if err != nil {
				return err
			}
			applications, err := apps.LoadFiles(c.ApplicationFiles)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: sound: node %s, %d addresses, %d units, %d pools, %d applications\n", args[0], c.N4.Node,
				len(c.N4.Addresses), len(c.Units), len(c.Pools), len(applications.Order))
			return nil
		},
	}
}
