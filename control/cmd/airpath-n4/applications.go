// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"io"

	"airpath/control/local"
	"airpath/control/session"

	"github.com/spf13/cobra"
)

func applicationsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "applications", Short: "applications the running agent tells apart"}
	cmd.AddCommand(asking("list", "a line an application, then one a forwarding unit", cobra.NoArgs,
		func(c *local.Client, out io.Writer, _ []string, asJSON bool) error {
			a, err := c.Applications()
			if err != nil {
				return err
			}
			return printApplications(out, a, asJSON)
		}),
		asking("load", "read the application files again; what is wrong leaves what is in force", cobra.NoArgs,
			func(c *local.Client, out io.Writer, _ []string, asJSON bool) error {
				a, err := c.LoadApplications()
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(out, a)
				}
				return printUnitApplications(out, a)
			}))
	return cmd
}

func printApplications(out io.Writer, a session.ApplicationSet, asJSON bool) error {
	if asJSON {
		return printJSON(out, a)
	}
	rows := []string{"APPLICATION\tINDEX\tFROM\tPFDS"}
	for _, one := range a.Applications {
		from := "file"
		if one.Managed {
			from = "PFD management"
		}
		rows = append(rows, fmt.Sprintf("%s\t%d\t%s\t%d", one.ID, one.Index, from, one.PFDs))
	}
	if err := table(out, rows); err != nil {
		return err
	}
	return printUnitApplications(out, a)
}

func printUnitApplications(out io.Writer, a session.ApplicationSet) error {
	fmt.Fprintf(out, "%d applications, generation %d\n", len(a.Applications), a.Generation)
	rows := []string{"UNIT\tGENERATION\tPFDS\tMEMORY\tBUILD MS\tERROR"}
	for _, u := range a.Units {
		rows = append(rows, fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%s", u.Unit, u.Generation, u.Rules, u.MemoryBytes, u.BuildMs, u.Error))
	}
	return table(out, rows)
}
