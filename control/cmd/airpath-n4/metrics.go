// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"airpath/control/charging"
	"airpath/control/session"

	"github.com/prometheus/client_golang/prometheus"
)

// statistics shows the session manager's counters to Prometheus.
type statistics struct{ manager *session.Manager }

type shown struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*session.Counters) uint64
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("airpath_"+name, help, labels, nil)
}

func count(name, help string, value func(*session.Counters) uint64) shown {
	return shown{describe(name, help), prometheus.CounterValue, value}
}

var (
	unitConnected = describe("unit_connected", "Whether a forwarding unit is connected and up to date.", "unit")
	unitSessions  = describe("unit_sessions", "Sessions of a forwarding unit.", "unit")
	unitGone      = describe("unit_gone", "Whether a forwarding unit is not configured any more, and has sessions.", "unit")
	unitSet       = describe("unit_applications_generation", "Generation of the applications in force.", "unit")
	unitSetBytes  = describe("unit_applications_bytes", "Memory of the applications in force.", "unit")
	applications  = describe("applications", "Applications that are told apart.")
	generation    = describe("applications_generation", "Generation of the applications that forwarding units are to have.")

	counters = []shown{
		{describe("sessions", "PFCP sessions."), prometheus.GaugeValue, func(c *session.Counters) uint64 { return c.Sessions }},
		{describe("teids", "TEIDs in use."), prometheus.GaugeValue, func(c *session.Counters) uint64 { return c.TEIDs }},
		{describe("ue_addresses", "UE addresses in use: IPv4 addresses and IPv6 /64s."), prometheus.GaugeValue, func(c *session.Counters) uint64 { return c.Addresses }},
		count("sessions_established_total", "Sessions established.", func(c *session.Counters) uint64 { return c.Established }),
		count("sessions_modified_total", "Sessions modified.", func(c *session.Counters) uint64 { return c.Modified }),
		count("sessions_deleted_total", "Sessions deleted.", func(c *session.Counters) uint64 { return c.Deleted }),
		count("sessions_refused_total", "Session requests refused by the session manager.", func(c *session.Counters) uint64 { return c.Refused }),
		count("usage_reports_total", "Usage reports sent to CP functions.", func(c *session.Counters) uint64 { return c.Reports }),
		count("usage_reports_lost_total", "Usage reports given up.", func(c *session.Counters) uint64 { return c.ReportsLost }),
		count("session_reports_unanswered_total", "Session reports of all kinds that no repetition got an answer to; most are sent again later.", func(c *session.Counters) uint64 { return c.ReportsUnanswered }),
		count("session_reports_lost_total", "Reports of downlink data, error indications and inactivity given up.", func(c *session.Counters) uint64 { return c.TidingsLost }),
		count("unit_events_twice_total", "Events of forwarding units that had been seen before.", func(c *session.Counters) uint64 { return c.EventsTwice }),
		count("unit_events_unknown_total", "Events of sessions or URRs that are not there.", func(c *session.Counters) uint64 { return c.EventsUnknown }),
		count("mac_addresses_detected_total", "Link addresses that frames of UEs came from for the first time.", func(c *session.Counters) uint64 { return c.MACsDetected }),
		count("mac_addresses_removed_total", "Link addresses that no frame of the UE came from any more.", func(c *session.Counters) uint64 { return c.MACsRemoved }),
		count("unit_disconnects_total", "Connections to forwarding units lost.", func(c *session.Counters) uint64 { return c.Disconnects }),
		count("sessions_refilled_total", "Sessions sent again to a forwarding unit that lost them.", func(c *session.Counters) uint64 { return c.RefilledSessions }),
		count("session_refill_failures_total", "Sessions a forwarding unit would not take again.", func(c *session.Counters) uint64 { return c.RefillFailures }),
		count("application_sets_total", "Sets of applications that came into force.", func(c *session.Counters) uint64 { return c.ApplicationsChanged }),
		count("application_sets_refused_total", "Changes of applications that a forwarding unit refused.", func(c *session.Counters) uint64 { return c.ApplicationsRefused }),
		count("charging_records_total", "Charging records made.", func(c *session.Counters) uint64 { return c.ChargingRecords }),
		count("charging_untold_records_total", "Charging records of usage that no CP function was told of.", func(c *session.Counters) uint64 { return c.UntoldRecords }),
		count("charging_uplink_octets_total", "Uplink octets in charging records made.", func(c *session.Counters) uint64 { return c.ChargedUplink }),
		count("charging_downlink_octets_total", "Downlink octets in charging records made.", func(c *session.Counters) uint64 { return c.ChargedDownlink }),
		count("store_damaged_total", "Records that were damaged in the store and left out.", func(c *session.Counters) uint64 { return c.StoreDamaged }),
		count("store_failures_total", "Changes the store could not commit.", func(c *session.Counters) uint64 { return c.StoreFailures }),
	}
)

func (s *statistics) Describe(ch chan<- *prometheus.Desc) {
	ch <- unitConnected
	ch <- unitSessions
	ch <- unitGone
	ch <- unitSet
	ch <- unitSetBytes
	ch <- applications
	ch <- generation
	for _, c := range counters {
		ch <- c.desc
	}
}

func (s *statistics) Collect(ch chan<- prometheus.Metric) {
	all := s.manager.Statistics()
	for _, c := range counters {
		ch <- prometheus.MustNewConstMetric(c.desc, c.kind, float64(c.value(&all)))
	}
	for _, u := range s.manager.Units() {
		connected, gone := 0.0, 0.0
		if u.Connected {
			connected = 1
		}
		if u.Gone {
			gone = 1
		}
		ch <- prometheus.MustNewConstMetric(unitConnected, prometheus.GaugeValue, connected, u.Name)
		ch <- prometheus.MustNewConstMetric(unitSessions, prometheus.GaugeValue, float64(u.Sessions), u.Name)
		ch <- prometheus.MustNewConstMetric(unitGone, prometheus.GaugeValue, gone, u.Name)
		ch <- prometheus.MustNewConstMetric(unitSet, prometheus.GaugeValue, float64(u.Set), u.Name)
		ch <- prometheus.MustNewConstMetric(unitSetBytes, prometheus.GaugeValue, float64(u.SetBytes), u.Name)
	}
	n, g := s.manager.CountApplications()
	ch <- prometheus.MustNewConstMetric(applications, prometheus.GaugeValue, float64(n))
	ch <- prometheus.MustNewConstMetric(generation, prometheus.GaugeValue, float64(g))
}

// chargingStatistics shows the record writer's counters to Prometheus.
type chargingStatistics struct{ writer *charging.Writer }

var (
	recordsWritten = describe("charging_records_written_total", "Charging records written to files.")
	recordOctets   = describe("charging_written_octets_total", "Octets of charging records written to files.")
	recordFiles    = describe("charging_files_total", "Files of charging records finished.")
	recordFailures = describe("charging_write_failures_total", "Failures to write charging records; they wait.")
)

func (s *chargingStatistics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{recordsWritten, recordOctets, recordFiles, recordFailures} {
		ch <- d
	}
}

func (s *chargingStatistics) Collect(ch chan<- prometheus.Metric) {
	c := s.writer.Statistics()
	for d, v := range map[*prometheus.Desc]uint64{recordsWritten: c.Records, recordOctets: c.Octets, recordFiles: c.Files, recordFailures: c.Failures} {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
	}
}
