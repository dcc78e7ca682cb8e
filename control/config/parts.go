// SPDX-License-Identifier: BSD-3-Clause

package config

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"airpath/control/n4"
	"airpath/control/rules"

	"gopkg.in/yaml.v3"
)

// readable turns yaml's errors into lines and reasons without the names of Go types.
func readable(err error) error {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	unknown := regexp.MustCompile(`field (\S+) not found in type .*`)
	lines := make([]error, len(wrong.Errors))
	for i, e := range wrong.Errors {
		lines[i] = errors.New(unknown.ReplaceAllString(e, "unknown key $1"))
	}
	return errors.Join(lines...)
}

var label = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$`)

// hostname says whether v is one, RFC 1123 §2.1, with underscores: not an address gone wrong either.
func hostname(v string) bool {
	labels := strings.Split(v, ".")
	last := labels[len(labels)-1]
	return len(v) <= 253 && !slices.ContainsFunc(labels, func(l string) bool { return !label.MatchString(l) }) &&
		strings.Trim(last, "0123456789") != ""
}

// unicast fails for what no node has as its address.
func (k *checker) unicast(place string, a netip.Addr) {
	if a.IsUnspecified() || a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		k.fail(place, "%s is not the address of a node", a)
	}
}

// node is a Node ID: an address or a host name.
func (k *checker) node(place, v string) rules.NodeID {
	if a, err := netip.ParseAddr(v); err == nil {
		k.unicast(place, a.Unmap())
		return rules.NodeID{Addr: a.Unmap()}
	}
	if !hostname(v) {
		k.fail(place, "%q is neither an address nor a host name", v)
	}
	return rules.NodeID{FQDN: strings.ToLower(v)}
}

func (k *checker) n4(f *file, c *Config) {
	if len(f.N4.Addresses) == 0 {
		k.fail("n4.addresses", "missing")
	}
	for i, v := range f.N4.Addresses {
		place := fmt.Sprintf("n4.addresses[%d]", i)
		a, err := netip.ParseAddr(v)
		a = a.Unmap()
		switch {
		case err != nil:
			k.fail(place, "%q is not an address", v)
		case a.IsUnspecified():
			k.fail(place, "%q: requests are answered from the address they came to; name each", v)
		case slices.Contains(c.N4.Addresses, a):
			k.fail(place, "%q is there twice", v)
		default:
			k.unicast(place, a)
		}
		c.N4.Addresses = append(c.N4.Addresses, a)
	}
	switch {
	case f.N4.NodeID != "":
		c.N4.Node = k.node("n4.node_id", f.N4.NodeID)
	case len(c.N4.Addresses) > 0:
		c.N4.Node.Addr = c.N4.Addresses[0]
	}
	for i, p := range f.N4.Peers {
		c.N4.Peers = append(c.N4.Peers, k.peer(fmt.Sprintf("n4.peers[%d]", i), p))
	}
}

func (k *checker) peer(place string, p peer) n4.Peer {
	o := n4.Peer{Port: uint16(k.number(place+".port", p.Port, 1, 65535, 8805)), Associate: p.Associate,
		IgnoreRecovery: p.Ignore}
	if prefix, err := netip.ParsePrefix(p.Address); err == nil {
		o.Prefix = prefix.Masked()
		if prefix != o.Prefix {
			k.fail(place+".address", "%s has bits beyond its length; %s is meant?", prefix, o.Prefix)
		}
	} else if a, err := netip.ParseAddr(p.Address); err == nil {
		o.Prefix = netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen())
	} else {
		k.fail(place+".address", "%q is neither an address nor a prefix", p.Address)
		return o
	}
	if o.Prefix.IsSingleIP() {
		k.unicast(place+".address", o.Prefix.Addr())
	}
	if p.Associate && !o.Prefix.IsSingleIP() {
		k.fail(place+".associate", "needs a single address, not %s", o.Prefix)
	}
	if p.NodeID != "" {
		o.Node = k.node(place+".node_id", p.NodeID)
	}
	return o
}

func (k *checker) units(f *file, c *Config) {
	if len(f.Units) == 0 {
		k.fail("units", "missing: there is nobody to forward")
	}
	for i, u := range f.Units {
		place := fmt.Sprintf("units[%d]", i)
		switch {
		case u.Name == "":
			k.fail(place+".name", "missing")
		case u.Socket == "":
			k.fail(place+".socket", "missing")
		}
		for _, other := range c.Units {
			if other.Name == u.Name || other.Socket == u.Socket {
				k.fail(place, "name or socket of %s again", other.Name)
			}
		}
		c.Units = append(c.Units, Unit{u.Name, u.Socket})
	}
}

// poolBitsMax bounds the UEs of a pool: the map of those in use has a bit for each.
const poolBitsMax = 24

func (k *checker) pools(f *file, c *Config) {
	for i, p := range f.Pools {
		place := fmt.Sprintf("pools[%d]", i)
		prefix, err := netip.ParsePrefix(p.Prefix)
		if err != nil {
			k.fail(place+".prefix", "%q is not a prefix", p.Prefix)
			continue
		}
		pool := Pool{p.NetworkInstance, prefix, p.Unit}
		free := 64 - prefix.Bits() // IPv6 is given out as /64
		if prefix.Addr().Is4() {
			free = 32 - prefix.Bits()
		}
		switch {
		case prefix != prefix.Masked():
			k.fail(place+".prefix", "%s has bits beyond its length; %s is meant?", prefix, prefix.Masked())
		case free < 0 || free > poolBitsMax:
			k.fail(place+".prefix", "%s holds none, or more than 2^%d UEs", prefix, poolBitsMax)
		}
		if p.Unit != "" && !slices.ContainsFunc(c.Units, func(u Unit) bool { return u.Name == p.Unit }) {
			k.fail(place+".unit", "no unit is called %q", p.Unit)
		}
		for j, other := range c.Pools {
			if other.NetworkInstance == pool.NetworkInstance && other.Prefix.Overlaps(prefix) {
				k.fail(place+".prefix", "overlaps with pools[%d] in the same network instance", j)
			}
		}
		c.Pools = append(c.Pools, pool)
	}
}
