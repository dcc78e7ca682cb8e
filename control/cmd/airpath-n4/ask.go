// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"text/tabwriter"
	"time"

	"airpath/control/local"
	"airpath/control/rules"

	"github.com/spf13/cobra"
)

// asking makes a command that asks the running agent.
func asking(use, short string, args cobra.PositionalArgs, do func(c *local.Client, out io.Writer, args []string, asJSON bool) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: args}
	socket := cmd.Flags().String("socket", defaultSocket, "control socket of the agent (`control` in its configuration)")
	asJSON := cmd.Flags().Bool("json", false, "answer in JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return do(local.NewClient(*socket), cmd.OutOrStdout(), args, *asJSON)
	}
	return cmd
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// table prints rows whose cells are parted by tabs.
func table(out io.Writer, rows []string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, r)
	}
	return w.Flush()
}

func address(a netip.Addr) string {
	if !a.IsValid() {
		return "-"
	}
	return a.String()
}

func sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "sessions", Short: "PFCP sessions of the running agent"}
	cmd.AddCommand(asking("list", "a line a session", cobra.NoArgs, listSessions),
		asking("show UP_SEID", "a session with its rules, in JSON", cobra.ExactArgs(1),
			func(c *local.Client, out io.Writer, args []string, _ bool) error {
				d, err := c.Session(args[0])
				if err != nil {
					return err
				}
				return printJSON(out, d)
			}),
		asking("give-up UNIT", "delete the sessions of a forwarding unit that is not configured any more", cobra.ExactArgs(1),
			func(c *local.Client, out io.Writer, args []string, asJSON bool) error {
				n, err := c.GiveUp(args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(out, local.GivenUp{Sessions: n})
				}
				fmt.Fprintf(out, "%d sessions of %s given up\n", n, args[0])
				return nil
			}))
	return cmd
}

func listSessions(c *local.Client, out io.Writer, _ []string, asJSON bool) error {
	if asJSON {
		all := []rules.SessionInfo{}
		if err := c.Sessions(func(s rules.SessionInfo) { all = append(all, s) }); err != nil {
			return err
		}
		return printJSON(out, all)
	}
	rows := []string{"UP SEID\tCP SEID\tNODE\tIPV4\tIPV6\tTEIDS\tPDRS\tUNIT\tWORKER"}
	if err := c.Sessions(func(s rules.SessionInfo) {
		teids := make([]string, len(s.TEIDs))
		for i, t := range s.TEIDs {
			teids[i] = fmt.Sprintf("%#x", t)
		}
		v6 := address(s.IPv6)
		if s.IPv6.IsValid() && s.IPv6Bits != 0 {
			v6 += fmt.Sprintf("/%d", s.IPv6Bits)
		}
		rows = append(rows, fmt.Sprintf("%#x\t%#x\t%s\t%s\t%s\t%s\t%d\t%s\t%d", s.UPSEID, s.CPSEID, s.Node, address(s.IPv4), v6,
			strings.Join(teids, ","), s.PDRs, unitName(s.Unit, s.UnitGone), s.Worker))
	}); err != nil {
		return err
	}
	return table(out, rows)
}

// unitName says of a unit that it is not configured any more.
func unitName(name string, gone bool) string {
	if gone {
		return name + " (not configured)"
	}
	return name
}

func peersCommand() *cobra.Command {
	cmd := asking("peers", "associated CP functions", cobra.NoArgs, func(c *local.Client, out io.Writer, _ []string, asJSON bool) error {
		peers, err := c.Peers()
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(out, peers)
		}
		rows := []string{"NODE\tADDRESS\tLOCAL\tSTATE\tSINCE\tRECOVERY\tSESSIONS"}
		for _, p := range peers {
			state := "up"
			if !p.Up {
				state = "silent"
			}
			rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%d", p.Node, p.Address, p.Local, state,
				p.Since.UTC().Format(time.DateTime), p.Recovery.UTC().Format(time.DateTime), p.Sessions))
		}
		return table(out, rows)
	})
	cmd.AddCommand(asking("release NODE", "ask a CP function to release its association", cobra.ExactArgs(1),
		func(c *local.Client, out io.Writer, args []string, _ bool) error {
			cause, err := c.Release(args[0])
			if err == nil {
				fmt.Fprintln(out, cause)
			}
			return err
		}))
	return cmd
}

func ownerCommand() *cobra.Command {
	var networkInstance string
	cmd := asking("owner UE_IP", "which worker of which forwarding unit serves a UE", cobra.ExactArgs(1),
		func(c *local.Client, out io.Writer, args []string, asJSON bool) error {
			o, err := c.Owner(args[0], networkInstance)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(out, o)
			}
			fmt.Fprintf(out, "%s: bucket %d, unit %s, worker %d", o.Address, o.Bucket, o.Unit, o.Worker)
			if o.UPSEID != 0 {
				fmt.Fprintf(out, ", session %#x", o.UPSEID)
			}
			fmt.Fprintln(out)
			return nil
		})
	cmd.Flags().StringVar(&networkInstance, "network-instance", "", "where addresses overlap")
	return cmd
}

func statusCommand() *cobra.Command {
	return asking("status", "the agent and its forwarding units", cobra.NoArgs,
		func(c *local.Client, out io.Writer, _ []string, asJSON bool) error {
			s, err := c.Status()
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(out, s)
			}
			fmt.Fprintf(out, "airpath-n4 %s, pid %d, recovery time stamp %s, %d sessions\n", s.Version, s.Pid,
				s.Recovery.UTC().Format(time.DateTime), s.Sessions)
			rows := []string{"UNIT\tCONNECTED\tWORKERS\tSTEERING\tSESSIONS\tABOUT"}
			for _, u := range s.Units {
				rows = append(rows, fmt.Sprintf("%s\t%v\t%d\t%s\t%d\t%s", unitName(u.Name, u.Gone), u.Connected, u.Workers, u.Steering, u.Sessions, u.About))
			}
			return table(out, rows)
		})
}
