// SPDX-License-Identifier: BSD-3-Clause

// Command airpath-n4 is the management unit of the UPF: it speaks PFCP (TS 29.244) with SMFs and
// tells forwarding units what to do.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "unknown"

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
	root.AddCommand(&cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  cobra.NoArgs,
		Run:   func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), version) },
	})
	return root
}
