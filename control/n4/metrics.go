// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"strconv"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics of the N4 interface. Labels are names of procedures (pfcp.Name) and causes.
type metrics struct {
	requests        *prometheus.CounterVec // received, by type and cause of the answer
	seconds         *prometheus.HistogramVec
	retransmissions *prometheus.CounterVec // direction: received, sent
	discarded       *prometheus.CounterVec // by reason
	sent            *prometheus.CounterVec // requests of ours that were answered
	sentSeconds     *prometheus.HistogramVec
	unanswered      *prometheus.CounterVec
	foreign         *prometheus.CounterVec // refused: the session, or association, is of another CP function
	peerRestarts    prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "airpath", Subsystem: "n4", Name: name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	seconds := func(name, help string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "airpath", Subsystem: "n4", Name: name,
			Help: help, Buckets: prometheus.ExponentialBuckets(50e-6, 2, 18)}, []string{"type"})
		r.MustRegister(h)
		return h
	}
	m := &metrics{
		requests:        counter("requests_total", "PFCP requests answered, by type and cause.", "type", "cause"),
		seconds:         seconds("request_seconds", "From a PFCP request to its answer."),
		retransmissions: counter("retransmissions_total", "PFCP requests received or sent again.", "direction"),
		discarded:       counter("discarded_total", "Datagrams not answered, by reason.", "reason"),
		sent:            counter("sent_requests_total", "PFCP requests of ours that were answered.", "type"),
		sentSeconds:     seconds("sent_request_seconds", "From a PFCP request of ours to its answer."),
		unanswered:      counter("unanswered_requests_total", "PFCP requests of ours given up.", "type"),
		foreign:         counter("foreign_requests_total", "PFCP requests for sessions and associations of other CP functions, refused.", "type"),
	}
	m.peerRestarts = prometheus.NewCounter(prometheus.CounterOpts{Namespace: "airpath", Subsystem: "n4",
		Name: "peer_restarts_total", Help: "New Recovery Time Stamps of CP functions."})
	r.MustRegister(m.peerRestarts)
	return m
}

// gauges are of what is there now.
func (m *metrics) gauges(r prometheus.Registerer, s *Server) {
	gauge := func(name, help string, value func() float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "airpath", Subsystem: "n4", Name: name, Help: help}, value))
	}
	gauge("associations", "PFCP associations.", func() float64 { return float64(len(s.Peers())) })
	gauge("load_percent", "Load of the forwarding units.", func() float64 {
		s.load.mu.Lock()
		defer s.load.mu.Unlock()
		return float64(s.load.percent)
	})
	gauge("overload_reduction_percent", "By how much CP functions are asked to send fewer requests.",
		func() float64 { return float64(s.reduction()) })
}

func (m *metrics) request(t uint8, c rules.Cause, took time.Duration) {
	m.requests.WithLabelValues(pfcp.Name(t), strconv.Itoa(int(c))).Inc()
	m.seconds.WithLabelValues(pfcp.Name(t)).Observe(took.Seconds())
}

func (m *metrics) answered(t uint8, took time.Duration) {
	m.sent.WithLabelValues(pfcp.Name(t)).Inc()
	m.sentSeconds.WithLabelValues(pfcp.Name(t)).Observe(took.Seconds())
}

func (m *metrics) discard(reason string) { m.discarded.WithLabelValues(reason).Inc() }
