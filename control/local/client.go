// SPDX-License-Identifier: BSD-3-Clause

package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"airpath/control/n4"
	"airpath/control/rules"
	"airpath/control/session"
)

// Client asks a running agent.
type Client struct {
	path string
	http http.Client
}

// NewClient asks at the socket at path.
func NewClient(path string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	return &Client{path: path, http: http.Client{Transport: &http.Transport{DialContext: dial}}}
}

func (c *Client) ask(method, path string, into any) error {
	r, err := http.NewRequest(method, "http://agent"+path, nil)
	if err != nil {
		return err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("no agent answers at %s: %w", c.path, errors.Unwrap(err))
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return errors.New(strings.TrimSpace(string(body)))
	}
	return json.Unmarshal(body, into)
}

// Status of the agent.
func (c *Client) Status() (s Status, err error) { return s, c.ask("GET", "/v1/status", &s) }

// Collected is the status after unused memory went back to the system.
func (c *Client) Collected() (s Status, err error) { return s, c.ask("GET", "/v1/status?collect", &s) }

// Peers are the associations.
func (c *Client) Peers() (p []n4.PeerInfo, err error) { return p, c.ask("GET", "/v1/peers", &p) }

// Release asks a peer to release its association; its cause comes back.
func (c *Client) Release(node string) (string, error) {
	var answer Cause
	err := c.ask("POST", "/v1/peers/release?node="+url.QueryEscape(node), &answer)
	return answer.Cause, err
}

// Sessions yields all sessions by rising UP SEID.
func (c *Client) Sessions(yield func(rules.SessionInfo)) error {
	for after := uint64(0); ; {
		var page []rules.SessionInfo
		if err := c.ask("GET", "/v1/sessions?after="+strconv.FormatUint(after, 10), &page); err != nil {
			return err
		}
		for _, s := range page {
			yield(s)
			after = s.UPSEID
		}
		if len(page) < pageMax {
			return nil
		}
	}
}

// Session with its rules.
func (c *Client) Session(seid string) (d rules.SessionDetail, err error) {
	return d, c.ask("GET", "/v1/sessions/"+url.PathEscape(seid), &d)
}

// GiveUp deletes the sessions of a forwarding unit that is not configured any more.
func (c *Client) GiveUp(unit string) (sessions int, err error) {
	var answer GivenUp
	err = c.ask("POST", "/v1/sessions/give-up?unit="+url.QueryEscape(unit), &answer)
	return answer.Sessions, err
}

// Applications there are.
func (c *Client) Applications() (a session.ApplicationSet, err error) {
	return a, c.ask("GET", "/v1/applications", &a)
}

// LoadApplications has the agent read the files again; what is in force then comes back.
func (c *Client) LoadApplications() (a session.ApplicationSet, err error) {
	return a, c.ask("POST", "/v1/applications/load", &a)
}

// Owner of a UE address.
func (c *Client) Owner(ue, networkInstance string) (o Owner, err error) {
	if _, err := netip.ParseAddr(ue); err != nil {
		return o, fmt.Errorf("%q is not an address", ue)
	}
	q := url.Values{"ip": {ue}, "network_instance": {networkInstance}}
	return o, c.ask("GET", "/v1/owner?"+q.Encode(), &o)
}
