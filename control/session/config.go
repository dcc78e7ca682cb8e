// SPDX-License-Identifier: BSD-3-Clause

package session

import (
	"airpath/control/rules"
)

// Config of the session manager.
type Config struct {
	Units []UnitConfig `yaml:"units"`
	Pools []Pool       `yaml:"pools"`
	// CPFTEID lets the CP function choose F-TEIDs.
	CPFTEID bool `yaml:"-"`
	// CheckpointMs is how often units report usage for the case that they are killed; 0: 500.
	CheckpointMs uint32 `yaml:"checkpoint_ms"`
	// GTP-U path management, TS 29.281 §7.2: 0 interval sends no Echo Requests.
	EchoIntervalS uint32 `yaml:"echo_interval_s"`
	EchoTimeoutMs uint32 `yaml:"echo_timeout_ms"`
	EchoTries     uint32 `yaml:"echo_tries"`
	// LoadMs is how often units tell their load; 0: never.
	LoadMs uint32 `yaml:"-"`
	// WaitMs is how long requests wait for a unit that is away; 0: 2000. Less than what an SMF
	// waits for an answer.
	WaitMs uint32 `yaml:"wait_ms"`
	// ApplicationFiles say what applications there are, beside PFD management.
	ApplicationFiles []string `yaml:"-"`
	// Charging is what records are made of; nil: none are.
	Charging *Charging `yaml:"-"`
	// Predefined rules that sessions may activate, by name.
	Predefined []rules.Predefined `yaml:"-"`
}

// UnitConfig is a forwarding unit.
type UnitConfig struct {
	Name   string `yaml:"name"`
	Socket string `yaml:"socket"`
}
