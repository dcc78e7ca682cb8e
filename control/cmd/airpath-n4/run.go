// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	"airpath/control/charging"
	"airpath/control/config"
	"airpath/control/local"
	"airpath/control/n4"
	"airpath/control/owner"
	"airpath/control/rules"
	"airpath/control/session"
	"airpath/control/store"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
)

func runCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run -c FILE",
		Short: "run the agent until SIGINT or SIGTERM; sessions and traffic go on without it",
		Args:  cobra.NoArgs,
	}
	file := cmd.Flags().StringP("config", "c", "", "configuration file")
	_ = cmd.MarkFlagRequired("config")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := config.Load(*file)
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return run(ctx, c)
	}
	return cmd
}

func logger(c *config.Config) *slog.Logger {
	o := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogJSON {
		return slog.New(slog.NewJSONHandler(os.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, o))
}

// answersPatience is how long the end waits for answers under way.
const answersPatience = 500 * time.Millisecond

// troublePatience is how long the end may take when the store can be used no more: something may wait
// for it in vain.
const troublePatience = 10 * time.Second

// run starts everything in the order that nothing is answered before it can be done, and ends it
// the other way round.
func run(ctx context.Context, c *config.Config) error {
	log := logger(c)
	var hangs *time.Timer
	defer func() {
		if hangs != nil {
			hangs.Stop()
		}
	}()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	kept, err := store.Open(store.Options{Path: c.Store, Log: log})
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer func() {
		if err := kept.Close(); err != nil {
			log.Error("store", "error", err)
		}
	}()
	if c.Charging != nil {
		records, err := charging.Open(charging.Options{Directory: c.Charging.Directory, RotateBytes: c.Charging.RotateBytes,
			RotateEvery: c.Charging.RotateEvery, SyncEvery: c.Charging.SyncEvery, Store: kept, Log: log})
		if err != nil {
			return err
		}
		defer records.Close()
		registry.MustRegister(&chargingStatistics{records})
	}
	server, err := n4.New(c.N4, log, registry)
	if err != nil {
		return err
	}
	defer server.Close()
	manager, err := session.New(session.Options{Config: sessionConfig(c), Store: kept, Reporter: server, Log: log,
		Agent: "airpath-n4 " + version})
	if err != nil {
		return err
	}
	defer manager.Close()
	registry.MustRegister(&statistics{manager})
	source := local.Source{Sessions: manager, Peers: server.Peers, AskRelease: server.AskRelease,
		Owner:  func(a netip.Addr, ni string) (local.Owner, error) { return findOwner(manager, a, ni) },
		Status: func() local.Status { return status(manager) }, Applications: manager.Applications,
		LoadApplications: manager.LoadApplications, GiveUp: manager.GiveUp}
	defer reloadOnHangup(manager, log)()
	asked, err := local.Serve(c.Control, source)
	if err != nil {
		return err
	}
	defer asked.Close()
	if c.Metrics != "" {
		metrics, err := serveMetrics(c.Metrics, registry)
		if err != nil {
			return err
		}
		defer metrics.Close()
	}
	server.Start(manager)
	log.Info("airpath-n4", "version", version, "node", c.N4.Node, "addresses", c.N4.Addresses, "port", c.N4.Port,
		"recovery", manager.RecoveryTimeStamp().UTC(), "sessions", manager.Statistics().Sessions)
	select {
	case <-ctx.Done():
	case <-kept.Trouble():
		log.Error("store", "path", c.Store, "error", kept.Err())
		hangs = time.AfterFunc(troublePatience, func() { os.Exit(1) })
		return fmt.Errorf("store %s: %w", c.Store, kept.Err())
	}
	server.Stop(answersPatience)
	log.Info("ends; sessions stay")
	return nil
}

// reloadOnHangup reads the application files again at SIGHUP, until what comes back is called.
func reloadOnHangup(m *session.Manager, log *slog.Logger) (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			if err := m.LoadApplications(); err != nil {
				log.Error("applications stay as they are", "error", err)
			}
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
	}
}

func sessionConfig(c *config.Config) session.Config {
	s := session.Config{CPFTEID: c.AllowCPFTEID, CheckpointMs: c.CheckpointMs, EchoIntervalS: c.Echo.IntervalS,
		EchoTimeoutMs: c.Echo.TimeoutMs, EchoTries: c.Echo.Tries, ApplicationFiles: c.ApplicationFiles, Predefined: c.Predefined}
	if c.Charging != nil {
		s.Charging = &c.Charging.Charging
		s.Charging.Node = c.N4.Node.String()
	}
	if c.N4.LoadStep > 0 || c.N4.OverloadThreshold > 0 {
		s.LoadMs = 1000
	}
	for _, u := range c.Units {
		s.Units = append(s.Units, session.UnitConfig{Name: u.Name, Socket: u.Socket})
	}
	for _, p := range c.Pools {
		s.Pools = append(s.Pools, session.Pool{NetworkInstance: p.NetworkInstance, Prefix: p.Prefix, Unit: p.Unit})
	}
	return s
}

func serveMetrics(address string, registry *prometheus.Registry) (io.Closer, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(l) }()
	return server, nil
}

func status(m *session.Manager) local.Status {
	s := local.Status{Version: version, Pid: os.Getpid(), Recovery: m.RecoveryTimeStamp(), CPUSeconds: local.CPUSeconds(),
		RSS: local.RSS()}
	for _, u := range m.Units() {
		s.Sessions += u.Sessions
		s.Units = append(s.Units, local.Unit{Name: u.Name, Gone: u.Gone, Connected: u.Connected, About: u.Unit, Workers: int(u.Workers),
			Steering: u.Steering, Sessions: u.Sessions})
	}
	return s
}

var errNoBucket = errors.New("no forwarding unit has said yet which worker serves which bucket")

// findOwner says who serves a UE address: the unit that has its session, else the only one.
func findOwner(m *session.Manager, a netip.Addr, networkInstance string) (local.Owner, error) {
	o := local.Owner{Address: a, NetworkInstance: networkInstance, Worker: -1}
	if a.Is4() {
		o.Bucket = owner.BucketIPv4(a.As4())
	} else {
		o.Bucket = owner.BucketPrefix6(a.As16())
	}
	m.List(0, func(s rules.SessionInfo) bool {
		has := s.IPv4 == a
		if s.IPv6.IsValid() && a.Is6() {
			p := netip.PrefixFrom(s.IPv6, int(s.IPv6Bits))
			has = p.Contains(a)
		}
		if has {
			o.UPSEID, o.Unit, o.Worker = s.UPSEID, s.Unit, s.Worker
		}
		return !has
	})
	if o.UPSEID != 0 {
		return o, nil
	}
	units := m.Units()
	for _, u := range units {
		if int(o.Bucket) < len(u.Buckets) && (len(units) == 1 || o.Unit == "") {
			o.Unit, o.Worker = u.Name, int(u.Buckets[o.Bucket])
		}
	}
	if o.Worker < 0 {
		return o, errNoBucket
	}
	return o, nil
}
