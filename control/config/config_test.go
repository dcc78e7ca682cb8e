// SPDX-License-Identifier: BSD-3-Clause

package config

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const small = `
n4: {addresses: [127.0.0.8]}
units: [{name: pfu0, socket: /run/airpath/upf.sock}]
`

func TestDefaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n4.yaml")
	if err := os.WriteFile(path, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.N4.Port != 8805 || c.N4.Node.String() != "127.0.0.8" || c.N4.T1 != 3*time.Second || c.N4.N1 != 3 ||
		c.N4.HeartbeatInterval != 10*time.Second || c.AllowCPFTEID || c.Metrics != "" || c.LogLevel != slog.LevelInfo ||
		c.Store != "/var/lib/airpath/n4.db" || c.CheckpointMs != 500 || c.Echo != (Echo{0, 2000, 3}) || c.N4.LoadStep != 5 ||
		c.N4.OverloadThreshold != 90 || c.N4.OverloadReduction != 50 || c.N4.OverloadValidity != time.Minute {
		t.Errorf("%+v", c)
	}
	if _, err := Load(path + "x"); err == nil {
		t.Error("no file")
	}
}

// The files people start from are sound.
func TestDeployed(t *testing.T) {
	files, err := filepath.Glob("../../deploy/n4*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, f := range files {
		if _, err := Load(f); err != nil {
			t.Error(err)
		}
	}
}

func TestEverything(t *testing.T) {
	c, err := Parse([]byte(`
n4:
  addresses: [10.0.0.1, "2001:db8::1"]
  port: 18805
  node_id: UPF.example
  heartbeat_interval_s: 5
  t1_ms: 500
  n1: 4
  response_ttl_s: 20
  load_step: 0
  overload: {threshold: 70, reduction: 80, validity_s: 20}
  peers:
    - {address: 10.0.0.2, node_id: smf.example, port: 8806, associate: true}
    - {address: 10.1.0.0/16, ignore_recovery: true}
units: [{name: a, socket: /a}, {name: b, socket: /b}]
pools:
  - {network_instance: internet, prefix: 10.45.0.0/16, unit: a}
  - {network_instance: ims, prefix: 10.45.0.0/16}
  - {network_instance: internet, prefix: "2001:db8:45::/48"}
cp_fteid: allow
gtpu: {echo_interval_s: 60, echo_timeout_ms: 1000, echo_tries: 5}
checkpoint_ms: 250
store: /s
control: /c
metrics: 127.0.0.1:9100
applications: {files: [/a.rules, /b.rules]}
charging: {directory: /cdr, rating_group: 3, applications: {video: 9}, period_s: 0, volume_mb: 2, rotate_mb: 1, rotate_s: 60, sync_ms: 0}
predefined:
  - {name: gold, rules: [{application: video, filters: ["permit out ip from any to any"], direction: uplink, rating_group: 7,
     redirect: "http://p/", qer: {qfi: 5, gate: closed, mbr_ul_kbps: 1, mbr_dl_kbps: 2}}, {action: drop}]}
log: {level: debug, format: json}
`))
	if err != nil {
		t.Fatal(err)
	}
	p := c.N4.Peers
	r := c.Charging
	if r == nil || r.Directory != "/cdr" || r.RatingGroup != 3 || r.Applications["video"] != 9 || r.PeriodS != 0 || r.Volume != 2<<20 ||
		r.RotateBytes != 1<<20 || r.RotateEvery != time.Minute || r.SyncEvery != 0 || len(c.ApplicationFiles) != 2 {
		t.Errorf("%+v", r)
	}
	if d := c.Predefined; len(d) != 1 || d[0].Name != "gold" || len(d[0].Rules) != 2 || !d[0].Rules[1].Drop || *d[0].Rules[0].RatingGroup != 7 ||
		*d[0].Rules[0].QER.QFI != 5 || !d[0].Rules[0].QER.Gate.ULClosed || d[0].Rules[0].QER.MBR.DL != 2 || d[0].Rules[0].QER.GBR != nil {
		t.Errorf("%+v", d)
	}
	if len(c.N4.Addresses) != 2 || c.N4.Node.FQDN != "upf.example" || len(p) != 2 || !p[0].Associate || p[0].Port != 8806 ||
		p[0].Node.FQDN != "smf.example" || p[1].Prefix.Bits() != 16 || !p[1].IgnoreRecovery || p[0].IgnoreRecovery || len(c.Pools) != 3 || c.Pools[0].Unit != "a" ||
		!c.AllowCPFTEID || !c.LogJSON || c.LogLevel != slog.LevelDebug || c.Echo != (Echo{60, 1000, 5}) ||
		c.N4.ResponseTTL != 20*time.Second || c.N4.LoadStep != 0 || c.N4.OverloadThreshold != 70 || c.N4.OverloadReduction != 80 ||
		c.N4.OverloadValidity != 20*time.Second {
		t.Errorf("%+v", c)
	}
}

// Left out, or null, is the default; 0 is what it says where it means something.
func TestZeroIsNotLeftOut(t *testing.T) {
	for text, interval := range map[string]uint32{
		"gtpu: {echo_interval_s: 0}": 0, "gtpu: {echo_interval_s: }": 0, "gtpu: {echo_interval_s: 60}": 60, "checkpoint_ms:": 0, "...": 0,
	} {
		c, err := Parse([]byte(small + text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if c.Echo.IntervalS != interval || c.CheckpointMs != 500 {
			t.Errorf("%s: %+v", text, c)
		}
	}
}

func TestWrong(t *testing.T) {
	for _, w := range []struct{ text, want string }{
		{"", "n4.addresses: missing"},
		{small + "stoer: /x", "line 4: unknown key stoer"},
		{"n4: {addresses: 5}", "line 1: cannot unmarshal"},
		{"n4: [", "line 1"},
		{strings.Replace(small, "127.0.0.8", "0.0.0.0", 1), "n4.addresses[0]: \"0.0.0.0\": requests are answered"},
		{strings.Replace(small, "127.0.0.8", "localhost", 1), "n4.addresses[0]: \"localhost\" is not an address"},
		{strings.Replace(small, "127.0.0.8", "127.0.0.8, 127.0.0.8", 1), "n4.addresses[1]: \"127.0.0.8\" is there twice"},
		{strings.Replace(small, "8]", "8], port: 70000", 1), "n4.port: 70000 is not in 1…65535"},
		{strings.Replace(small, "8]", "8], node_id: -", 1), "n4.node_id: \"-\" is neither"},
		{strings.Replace(small, "8]", "8], peers: [{}]", 1), "n4.peers[0].address: \"\" is neither"},
		{strings.Replace(small, "8]", "8], peers: [{address: 10.0.0.0/8, associate: true}]", 1), "n4.peers[0].associate: needs a single address"},
		{strings.Replace(small, "8]", "8], peers: [{address: 10.0.0.1, port: -1}]", 1), "n4.peers[0].port: -1"},
		{"n4: {addresses: [127.0.0.8]}", "units: missing"},
		{strings.Replace(small, "name: pfu0, ", "", 1), "units[0].name: missing"},
		{strings.Replace(small, "}]", "}, {name: pfu0, socket: /x}]", 1), "units[1]: name or socket of pfu0 again"},
		{small + "pools: [{prefix: x}]", "pools[0].prefix: \"x\" is not a prefix"},
		{small + "pools: [{prefix: 10.45.0.1/16}]", "pools[0].prefix: 10.45.0.1/16 has bits"},
		{small + "pools: [{prefix: 10.0.0.0/7}]", "pools[0].prefix: 10.0.0.0/7 holds none, or more"},
		{small + "pools: [{prefix: '2001:db8::/65'}]", "holds none, or more"},
		{small + "pools: [{prefix: 10.45.0.0/16, unit: z}]", "pools[0].unit: no unit is called \"z\""},
		{small + "pools: [{prefix: 10.45.0.0/16}, {prefix: 10.45.8.0/24}]", "pools[1].prefix: overlaps with pools[0]"},
		{small + "cp_fteid: maybe", "cp_fteid: \"maybe\""},
		{small + "metrics: 9100", "metrics: \"9100\""},
		{small + "log: {level: loud}", "log.level: \"loud\""},
		{small + "log: {format: xml}", "log.format: \"xml\""},
		{small + "gtpu: {echo_tries: 99}", "gtpu.echo_tries: 99"},
		{strings.Replace(small, "8]", "8], port: 0", 1), "n4.port: 0 is not in 1…65535"},
		{strings.Replace(small, "8]", "8], heartbeat_interval_s: 0", 1), "n4.heartbeat_interval_s: 0 is not in 1…3600"},
		{strings.Replace(small, "8]", "8], t1_ms: 0", 1), "n4.t1_ms: 0 is not in 10…60000"},
		{strings.Replace(small, "8]", "8], n1: 0", 1), "n4.n1: 0 is not in 1…20"},
		{strings.Replace(small, "8]", "8], response_ttl_s: 0", 1), "n4.response_ttl_s: 0 is not in 1…600"},
		{strings.Replace(small, "8]", "8], peers: [{address: 10.0.0.1, port: 0}]", 1), "n4.peers[0].port: 0 is not in"},
		{small + "checkpoint_ms: 0", "checkpoint_ms: 0 is not in 10…60000"},
		{small + "gtpu: {echo_timeout_ms: 0}", "gtpu.echo_timeout_ms: 0 is not in"},
		{small + "gtpu: {echo_tries: 0}", "gtpu.echo_tries: 0 is not in"},
		{small + "---\ncheckpoint_ms: 100\n", "line 4: a second YAML document begins"},
		{small + "applications: {files: ['']}", "applications.files[0]: empty"},
		{small + "charging: {}", "charging.directory: missing"},
		{small + "charging: {directory: /x, rating_group: -1}", "charging.rating_group: -1 is not in 0…2147483647"},
		{small + "charging: {directory: /x, applications: {a: -1}}", "charging.applications.a: -1 is not in"},
		{small + "charging: {directory: /x, rotate_mb: 0}", "charging.rotate_mb: 0 is not in 1…"},
		{small + "charging: {directory: /x, sync: 1}", "unknown key sync"},
		{small + "predefined: [{rules: [{}]}]", "predefined[0].name: missing"},
		{small + "predefined: [{name: a}]", "predefined[0].rules: missing"},
		{small + "predefined: [{name: a, rules: [{}]}, {name: a, rules: [{}]}]", "predefined[1].name: \"a\" is predefined[0]'s, too"},
		{small + "predefined: [{name: a, rules: [{action: block}]}]", "predefined[0].rules[0].action: \"block\" is neither forward nor drop"},
		{small + "predefined: [{name: a, rules: [{direction: up}]}]", "predefined[0].rules[0].direction: \"up\" is not both"},
		{small + "predefined: [{name: a, rules: [{filters: [x]}]}]", "predefined[0].rules[0]: flow description \"x\""},
		{small + "predefined: [{name: a, rules: [{redirect: 'ftp://x'}]}]", "predefined[0].rules[0]: \"ftp://x\" is not http:// or https://"},
		{small + "predefined: [{name: a, rules: [{redirect: 'http://x', action: drop}]}]", "a rule that drops does not redirect"},
		{small + "predefined: [{name: a, rules: [{qer: {qfi: 64}}]}]", "predefined[0].rules[0].qer.qfi: 64 is not in 1…63"},
		{small + "predefined: [{name: a, rules: [{qer: {gate: ajar}}]}]", "predefined[0].rules[0].qer.gate: \"ajar\""},
		{small + "predefined: [{name: a, rules: [{qer: {mbr_ul_kbps: 5}}]}]", "mbr_ul_kbps and mbr_dl_kbps belong together"},
		{small + "predefined: [{name: a, rules: [{qer: {mbr_ul_kbps: 1, mbr_dl_kbps: 1, gbr_ul_kbps: 2, gbr_dl_kbps: 1}}]}]", "GBR above MBR"},
		{small + "---\n", "a second YAML document begins"},
		{small + "---\n[", "line 5"},
		{strings.Replace(small, "127.0.0.8", "224.0.0.1", 1), "n4.addresses[0]: 224.0.0.1 is not the address of a node"},
		{strings.Replace(small, "127.0.0.8", "255.255.255.255", 1), "n4.addresses[0]: 255.255.255.255 is not"},
		{strings.Replace(small, "8]", "8], node_id: 0.0.0.0", 1), "n4.node_id: 0.0.0.0 is not the address of a node"},
		{strings.Replace(small, "8]", "8], node_id: 'ff02::1'", 1), "n4.node_id: ff02::1 is not the address of a node"},
		{strings.Replace(small, "8]", "8], node_id: a..b", 1), "n4.node_id: \"a..b\" is neither"},
		{strings.Replace(small, "8]", "8], node_id: a-.b", 1), "n4.node_id: \"a-.b\" is neither"},
		{strings.Replace(small, "8]", "8], node_id: 10.0.0.300", 1), "n4.node_id: \"10.0.0.300\" is neither"},
		{strings.Replace(small, "8]", "8], node_id: "+strings.Repeat("a", 64)+".b", 1), "is neither"},
		{strings.Replace(small, "8]", "8], peers: [{address: 127.0.0.1/8}]", 1), "n4.peers[0].address: 127.0.0.1/8 has bits beyond its length; 127.0.0.0/8 is meant?"},
		{strings.Replace(small, "8]", "8], peers: [{address: 0.0.0.0}]", 1), "n4.peers[0].address: 0.0.0.0 is not the address of a node"},
	} {
		if _, err := Parse([]byte(w.text)); err == nil || !strings.Contains(err.Error(), w.want) {
			t.Errorf("%s\ngot  %v\nwant %s", w.text, err, w.want)
		}
	}
}
