// SPDX-License-Identifier: BSD-3-Clause

// Package config reads the configuration file of airpath-n4. What is wrong with it is said with
// the place in the file and the reason.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"time"

	"airpath/control/n4"
	"airpath/control/rules"

	"gopkg.in/yaml.v3"
)

// Config of the management unit, with defaults filled in.
type Config struct {
	N4    n4.Config
	Units []Unit
	Pools []Pool
	// AllowCPFTEID: F-TEIDs that the CP function chose are taken, §5.5.1.
	AllowCPFTEID bool
	Echo         Echo
	CheckpointMs uint32
	Store        string // path
	Control      string // path of the socket that the other commands ask
	Metrics      string // address:port of Prometheus' /metrics; "": none
	// ApplicationFiles say what applications there are, beside PFD management.
	ApplicationFiles []string
	Predefined       []rules.Predefined
	Charging         *Charging // nil: no records
	LogLevel         slog.Level
	LogJSON          bool
}

// Unit is a forwarding unit.
type Unit struct {
	Name   string
	Socket string
}

// Pool is a range of UE addresses of a network instance.
type Pool struct {
	NetworkInstance string
	Prefix          netip.Prefix
	Unit            string // forwarding unit that serves it; "": any
}

// Echo is GTP-U path management, TS 29.281 §7.2; an interval of 0 sends no Echo Requests.
type Echo struct {
	IntervalS, TimeoutMs, Tries uint32
}

// The file as it is written.
type file struct {
	N4 struct {
		Addresses         []string `yaml:"addresses"`
		Port              *int     `yaml:"port"`
		NodeID            string   `yaml:"node_id"`
		Peers             []peer   `yaml:"peers"`
		HeartbeatInterval *int     `yaml:"heartbeat_interval_s"`
		T1                *int     `yaml:"t1_ms"`
		N1                *int     `yaml:"n1"`
		ResponseTTL       *int     `yaml:"response_ttl_s"`
		LoadStep          *int     `yaml:"load_step"`
		Overload          struct {
			Threshold *int `yaml:"threshold"`
			Reduction *int `yaml:"reduction"`
			Validity  *int `yaml:"validity_s"`
		} `yaml:"overload"`
	} `yaml:"n4"`
	Units []struct {
		Name   string `yaml:"name"`
		Socket string `yaml:"socket"`
	} `yaml:"units"`
	Pools []struct {
		NetworkInstance string `yaml:"network_instance"`
		Prefix          string `yaml:"prefix"`
		Unit            string `yaml:"unit"`
	} `yaml:"pools"`
	CPFTEID string `yaml:"cp_fteid"`
	GTPU    struct {
		EchoInterval *int `yaml:"echo_interval_s"`
		EchoTimeout  *int `yaml:"echo_timeout_ms"`
		EchoTries    *int `yaml:"echo_tries"`
	} `yaml:"gtpu"`
	Checkpoint   *int             `yaml:"checkpoint_ms"`
	Store        string           `yaml:"store"`
	Control      string           `yaml:"control"`
	Metrics      string           `yaml:"metrics"`
	Applications applicationsFile `yaml:"applications"`
	Predefined   []predefinedFile `yaml:"predefined"`
	Charging     *chargingFile    `yaml:"charging"`
	Log          struct {
		Level  string `yaml:"level"`
		Format string `yaml:"format"`
	} `yaml:"log"`
}

type peer struct {
	Address   string `yaml:"address"`
	NodeID    string `yaml:"node_id"`
	Port      *int   `yaml:"port"`
	Associate bool   `yaml:"associate"`
	Ignore    bool   `yaml:"ignore_recovery"`
}

// Load reads and checks a file.
func Load(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Parse reads and checks the text of a file. All that is wrong is in the error, a line each.
func Parse(text []byte) (*Config, error) {
	var f file
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, readable(err)
	}
	var more yaml.Node
	switch err := d.Decode(&more); {
	case err == nil:
		return nil, fmt.Errorf("line %d: a second YAML document begins; put all of it into one", more.Line)
	case !errors.Is(err, io.EOF):
		return nil, readable(err)
	}
	k := &checker{}
	c := k.convert(&f)
	return c, errors.Join(k.errs...)
}

// checker collects what is wrong.
type checker struct{ errs []error }

func (k *checker) fail(place, format string, args ...any) {
	k.errs = append(k.errs, fmt.Errorf("%s: %s", place, fmt.Sprintf(format, args...)))
}

// number of a range. Left out, it is the default; 0 is a number like others.
func (k *checker) number(place string, v *int, low, high, otherwise int) int {
	if v == nil {
		return otherwise
	}
	if *v < low || *v > high {
		k.fail(place, "%d is not in %d…%d", *v, low, high)
	}
	return *v
}

func text(v, otherwise string) string {
	if v == "" {
		return otherwise
	}
	return v
}

func (k *checker) convert(f *file) *Config {
	c := &Config{
		N4: n4.Config{
			Port:              uint16(k.number("n4.port", f.N4.Port, 1, 65535, 8805)),
			HeartbeatInterval: time.Duration(k.number("n4.heartbeat_interval_s", f.N4.HeartbeatInterval, 1, 3600, 10)) * time.Second,
			T1:                time.Duration(k.number("n4.t1_ms", f.N4.T1, 10, 60000, 3000)) * time.Millisecond,
			N1:                k.number("n4.n1", f.N4.N1, 1, 20, 3),
			ResponseTTL:       time.Duration(k.number("n4.response_ttl_s", f.N4.ResponseTTL, 1, 600, 15)) * time.Second,
			LoadStep:          k.number("n4.load_step", f.N4.LoadStep, 0, 100, 5),
			OverloadThreshold: k.number("n4.overload.threshold", f.N4.Overload.Threshold, 0, 99, 90),
			OverloadReduction: k.number("n4.overload.reduction", f.N4.Overload.Reduction, 1, 100, 50),
			OverloadValidity:  time.Duration(k.number("n4.overload.validity_s", f.N4.Overload.Validity, 10, 3600, 60)) * time.Second,
		},
		Echo: Echo{
			IntervalS: uint32(k.number("gtpu.echo_interval_s", f.GTPU.EchoInterval, 0, 86400, 0)),
			TimeoutMs: uint32(k.number("gtpu.echo_timeout_ms", f.GTPU.EchoTimeout, 10, 60000, 2000)),
			Tries:     uint32(k.number("gtpu.echo_tries", f.GTPU.EchoTries, 1, 20, 3)),
		},
		CheckpointMs: uint32(k.number("checkpoint_ms", f.Checkpoint, 10, 60000, 500)),
		Store:        text(f.Store, "/var/lib/airpath/n4.db"),
		Control:      text(f.Control, "/run/airpath/n4.sock"),
		Metrics:      f.Metrics,
	}
	k.n4(f, c)
	k.units(f, c)
	k.pools(f, c)
	k.applications(f, c)
	k.charging(f, c)
	k.predefined(f, c)
	switch text(f.CPFTEID, "refuse") {
	case "allow":
		c.AllowCPFTEID = true
	case "refuse":
	default:
		k.fail("cp_fteid", "%q is neither refuse nor allow", f.CPFTEID)
	}
	if c.Metrics != "" {
		if _, err := netip.ParseAddrPort(c.Metrics); err != nil {
			k.fail("metrics", "%q is not ADDRESS:PORT", c.Metrics)
		}
	}
	if err := c.LogLevel.UnmarshalText([]byte(text(f.Log.Level, "info"))); err != nil {
		k.fail("log.level", "%q is not debug, info, warn or error", f.Log.Level)
	}
	switch text(f.Log.Format, "text") {
	case "json":
		c.LogJSON = true
	case "text":
	default:
		k.fail("log.format", "%q is neither text nor json", f.Log.Format)
	}
	return c
}
