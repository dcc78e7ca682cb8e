/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_CONFIG_H
#define AIRPATH_CORE_CONFIG_H

/**
 * A deployment as it stands in YAML: passive data, loaded by libcyaml.
 *
 * A number left out gets the default, which is named beside each field, by ap_config_load();
 * a 0 in the file is what it says, or an error. docs/operations.md is the user's view.
 * Owner: the control thread; constant once loaded.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AP_CFG_CARRIERS_MAX 8
#define AP_CFG_UES_MAX 1024
#define AP_CFG_RNTI 0x4601 /**< C-RNTI unless the deployment says another */

enum ap_cfg_switch {
	AP_CFG_DEFAULT = 0,
	AP_CFG_ON,
	AP_CFG_OFF,
};

enum ap_cfg_preset {
	AP_PRESET_NULL = 0,
	AP_PRESET_RING,
	AP_PRESET_PCAP,
	AP_PRESET_TAP,
	AP_PRESET_AF_PACKET,
	AP_PRESET_AF_XDP,
	AP_PRESET_MEMIF,
	AP_PRESET_PCI,
	AP_PRESET_DEVARGS,
};

enum ap_cfg_framing {
	AP_FRAMING_ETHERNET = 0, /**< Ethernet on the wire, IP inside the role */
	AP_FRAMING_IP,           /**< bare IP packets, no Ethernet header */
	AP_FRAMING_RAW,          /**< frames pass whole (FAPI side, generator) */
};

enum ap_cfg_copy {
	AP_COPY_NONE = 0,
	AP_COPY_CPU,
	AP_COPY_DMA,
};

enum ap_cfg_strategy {
	AP_STRATEGY_SCATTER = 0,
	AP_STRATEGY_GATHER,
	AP_STRATEGY_SCHEME1,
	AP_STRATEGY_SCHEME2,
};

enum ap_cfg_rlc_mode {
	AP_RLC_UM = 0,
	AP_RLC_TM,
	AP_RLC_AM,
};

enum ap_cfg_governor {
	AP_GOVERNOR_AUTO = 0, /**< yield where lcores share a CPU, else busy */
	AP_GOVERNOR_BUSY,
	AP_GOVERNOR_YIELD,
	AP_GOVERNOR_ADAPTIVE,   /**< Algorithm 1 of S3 */
	AP_GOVERNOR_SLOT_AWARE, /**< ours: knows when the next packets come */
};

/** Who sets P-states. */
enum ap_cfg_pstates {
	AP_PSTATES_AUTO = 0,  /**< rte_power where the CPU has cpufreq, else none */
	AP_PSTATES_NONE,      /**< they are left alone */
	AP_PSTATES_RTE_POWER, /**< cpufreq, through librte_power */
	AP_PSTATES_MODEL,     /**< emulated: pauses slow the worker down */
};

/** Which lcores are to run faster than the others (S2: SST). */
enum ap_cfg_priority {
	AP_PRIORITY_NONE = 0, /**< no lcore of the deployment has one */
	AP_PRIORITY_NORMAL,   /**< others are `high` */
	AP_PRIORITY_HIGH,
};

/** How lcores save power; several may share one. Constants are those of Algorithm 1. */
struct ap_cfg_power {
	char *name;
	enum ap_cfg_pstates backend;
	char *table;                /**< file of P-states and watts, beside the deployment */
	uint32_t empty_polls_pause; /**< empty polls in a row before pauses, default 10 */
	uint32_t empty_polls_sleep; /**< ... before sleep, default 300 */
	uint32_t pause_us;          /**< default 1 */
	uint32_t sleep_us;          /**< idle hint that stands for sleep, default 300 */
	uint32_t timeout_ms;        /**< of a sleep that nothing ends, default 10 */
	uint32_t count_low;         /**< packets waiting above which trend_low counts, default 32 */
	uint32_t count_mid;         /**< ... trend_mid, default 64 */
	uint32_t count_high;        /**< ... P0 is chosen at once, default 96 */
	uint32_t trend_low;         /**< default 3 */
	uint32_t trend_mid;         /**< default 250 */
	uint32_t trend_step;        /**< trend at which the next P-state is chosen, default 10000 */
	uint32_t scale_down_ms;     /**< period of stepping down, default 100 */
	uint32_t scale_down_idle_percent; /**< idle share that steps down, default 25 */
	uint32_t scale_down_packets;   /**< packets a pass below which it steps down, default 32 */
	uint32_t slot_us;              /**< slot-aware: packets come every so often, 0: it learns */
	uint32_t slot_wakeups_percent; /**< slot-aware: of Algorithm 1's sleeps, default 95 */
	uint32_t slot_nap_percent;     /**< ... of a slot that is worth a sleep, default 25 */
	bool slot_naps; /**< ... one a slot instead, however often Algorithm 1 sleeps */
	/** Fastest P-state of lcores without priority, where others have it; default the second */
	uint32_t normal_mhz;
};

struct ap_cfg_pool {
	char *name; /**< user, phy, proto, hdr, ind, gen, emu, or a name ports refer to */
	uint32_t mbufs;
	uint32_t data_room; /**< B behind the headroom */
	uint32_t cache;     /**< mbufs in each lcore's cache, default 256 */
};

struct ap_cfg_port {
	char *name;
	enum ap_cfg_preset preset;
	char *peer;       /**< ring: the port at the other end */
	char *iface;      /**< af_packet, af_xdp, tap: kernel interface; memif: socket path */
	char *address;    /**< pci: domain:bus:device.function */
	char *devargs;    /**< devargs: as given to EAL; other presets: appended */
	char *rx_file;    /**< pcap */
	char *tx_file;    /**< pcap */
	bool infinite;    /**< pcap: replay rx_file for ever */
	bool server;      /**< memif: this end owns the socket */
	bool proxy_neigh; /**< answer ARP and neighbour solicitations for every address */
	enum ap_cfg_framing framing;
	uint32_t queues;    /**< default 1; for a upf as many as it has workers or dispatchers */
	uint32_t ring_size; /**< ring: descriptors a direction, default 4096 */
	uint32_t tx_hold;   /**< packets that wait when the device takes no more, up to 1048576;
			       default 8192 for the user_port of a ue, else 0 */
	uint32_t mtu;       /**< B of IP, default: the PMD's */
	char *pool;         /**< mbufs received here; default: the role's */
	char *mac;          /**< own address, default: the PMD's */
	char *peer_mac;     /**< destination of sent frames, default broadcast */
};

struct ap_cfg_qos_rule {
	uint8_t dscp; /**< 0..63 */
	uint8_t qfi;  /**< 0..63 */
};

struct ap_cfg_bearer {
	uint16_t id;     /**< DRB identity, 1..32 (TS 38.331 DRB-Identity) */
	uint8_t lcid;    /**< 4..32, default id + 3 */
	bool is_default; /**< default DRB: takes QFIs no bearer names */
	uint8_t *qfis;
	unsigned qfis_count;
	struct ap_cfg_bearer_sdap {
		enum ap_cfg_switch ul_header; /**< sdap-HeaderUL, default on */
		enum ap_cfg_switch dl_header; /**< sdap-HeaderDL, default on */
	} sdap;
	struct ap_cfg_bearer_pdcp {
		uint8_t sn_bits;          /**< 12 or 18, default 18 */
		uint32_t discard_ms;      /**< discardTimer, 0: infinity */
		uint32_t t_reordering_ms; /**< default 40, with RLC AM 200; 0: expires at once */
		bool reorder_at_once;     /**< the same as t-Reordering 0 */
		bool out_of_order;        /**< outOfOrderDelivery */
		bool status_report;       /**< statusReportRequired */
		uint32_t count_notify;    /**< COUNT from which new keys are asked for, default
					   * 2^32 - 2^24 */
		uint32_t reorder_slots; /**< COUNTs the reordering buffer spans, power of 2, default
					   the window */
		bool integrity;         /**< integrityProtection: PDUs carry a MAC-I */
	} pdcp;
	struct ap_cfg_bearer_rlc {
		enum ap_cfg_rlc_mode mode;
		uint8_t sn_bits;          /**< UM: 6 or 12, default 12; AM: 12 or 18, default 18 */
		uint32_t t_reassembly_ms; /**< default 35, AM: 5 */
		uint32_t queue_sdus; /**< power of 2, default 8192; AM: with the unacknowledged */
		/* AM only */
		uint32_t t_poll_retransmit_ms; /**< default 10 */
		uint32_t t_status_prohibit_ms; /**< default 0 */
		uint32_t poll_pdu;             /**< PDUs, default 64 */
		uint32_t poll_byte;            /**< B, default: infinity */
		uint32_t max_retx_threshold;   /**< 1..32, default 32 */
	} rlc;
	struct ap_cfg_bearer_mac {
		uint8_t priority;       /**< 1 (first) .. 16, default 8 */
		uint32_t pbr_kbytes_s;  /**< prioritisedBitRate, kB/s, 0: infinity */
		uint32_t bsd_ms;        /**< bucketSizeDuration, default 50 */
		uint8_t lcg;            /**< logicalChannelGroup 0..7 */
		uint8_t *serving_cells; /**< allowedServingCells: carriers; default all */
		unsigned serving_cells_count;
		uint8_t *scs; /**< allowedSCS-List: numerologies 0..4; default all */
		unsigned scs_count;
		uint32_t max_pusch_us; /**< maxPUSCH-Duration 20..500 µs, 0: any */
	} mac;
};

/** Who ciphers: modules/pdcp/pdcp_security.h. */
enum ap_cfg_engine {
	AP_ENGINE_DEFAULT = 0, /**< after loading one of the others */
	AP_ENGINE_MULTI_BUFFER,
	AP_ENGINE_CRYPTODEV,
};

/** Algorithms and keys of TS 33.501 annex D. Keys are never printed. */
struct ap_cfg_security {
	enum ap_cfg_engine engine; /**< default multi_buffer where the build has it */
	char *cryptodev; /**< vdev, or name or PCI address of a device; NULL: the engine's default
			  */
	uint8_t nea;     /**< 0..3, default 0 */
	uint8_t nia;     /**< 0..3, default 0 */
	char *key_enc;   /**< K_UPenc, 32 hexadecimal digits; needed with nea 1..3 */
	char *key_int;   /**< K_UPint; needed with nia 1..3 */
};

/** HARQ of the uplink (TS 38.321 §5.4.2); `dl_harq`: of the downlink (§5.3.2). */
struct ap_cfg_harq {
	uint32_t processes; /**< of each carrier, 1..32; default 16 where max_tx is given, else off
			     */
	uint32_t max_tx;    /**< transmissions of a TB, 1..8, default 4 */
};

/** Power headroom reports (TS 38.321 §5.4.6): values given, not measured. */
struct ap_cfg_phr {
	enum ap_cfg_switch report; /**< default off */
	uint32_t periodic_ms;      /**< phr-PeriodicTimer, 0: infinity */
	uint32_t prohibit_ms;      /**< phr-ProhibitTimer */
	uint8_t ph;                /**< power headroom level 0..63 */
	uint8_t pcmax;             /**< P_CMAX,f,c level 0..63 */
};

/** Scheduling requests (TS 38.321 §5.4.4). */
struct ap_cfg_sr {
	uint32_t prohibit_ms; /**< sr-ProhibitTimer 0..1000, default 0: none */
	uint32_t trans_max; /**< sr-TransMax 1..64; default 64 where prohibit_ms is given, else off
			     */
};

struct ap_cfg_ue {
	const char *kind; /**< `ue`, or of the role whose part it is; not in YAML */
	char *name;
	char *user_port; /**< NULL: of a gNB with N3 */
	char *phy_port;
	bool loopback; /**< its own uplink comes back: the receiver plays the gNB's uplink receiver
			*/
	uint32_t carriers;  /**< default 1 */
	uint8_t numerology; /**< 0..4, default: that of the first phy in the file */
	enum ap_cfg_strategy strategy;
	enum ap_cfg_copy copy;    /**< uplink in, downlink in, downlink out */
	char *dma_device;         /**< default: any; the skeleton driver where there is none */
	uint32_t frame_bytes;     /**< fronthaul Ethernet frame without FCS, default 9000 */
	uint8_t default_qfi;      /**< default 1 */
	uint32_t periodic_bsr_ms; /**< periodicBSR-Timer, 0: infinity */
	uint32_t retx_bsr_ms;     /**< retxBSR-Timer, default 320 */
	struct ap_cfg_phr phr;
	uint16_t rnti;  /**< C-RNTI of the first UE, default 0x4601; the others follow */
	uint32_t count; /**< UEs with the same bearers, default 1 */
	char *address;  /**< IPv4 of the first UE; the others follow; needed with several */
	char *address6; /**< its IPv6: the first 64 bits count, those of the others follow */
	bool any_rnti;  /**< takes grants and TBs of every RNTI */
	struct ap_cfg_security security;
	struct ap_cfg_harq harq;
	struct ap_cfg_sr sr;
	struct ap_cfg_qos_rule *qos;
	unsigned qos_count;
	struct ap_cfg_bearer *bearers;
	unsigned bearers_count;
};

/** What is at `port2` of a phy. */
enum ap_cfg_phy_side {
	AP_PHY_UE = 0, /**< a stack that the PHY grants TBs */
	AP_PHY_GNB,    /**< a stack that asks for TBs, and grants the UEs at `port` theirs */
};

struct ap_cfg_phy {
	char *name;
	char *port;
	char *port2; /**< cross-connects two stacks; default: loopback */
	enum ap_cfg_phy_side side;
	uint32_t ues; /**< with side gnb: UEs at `port`, default 1 */
	uint8_t *cqi; /**< with side gnb: what UEs report, one by one, 1..15 */
	unsigned cqi_count;
	uint32_t cqi_spread; /**< how far it may be off, 0..14 */
	uint32_t ahead;      /**< with side gnb: slots it is told of before them, default 2 */
	uint8_t numerology;  /**< 0..4 */
	uint16_t rnti;       /**< of the UE that is granted, default 0x4601 */
	uint32_t *tb_bytes;  /**< TB size per carrier */
	unsigned tb_bytes_count;
	double tb_loss;          /**< probability */
	double soft_loss;        /**< probability that a first transmission does not decode */
	struct ap_cfg_harq harq; /**< default: as the ue at its ring port */
	double dl_soft_loss;     /**< with side gnb: the same in downlink */
	double feedback_loss;    /**< with side gnb: probability that HARQ feedback is not heard */
	bool grant_on_sr;        /**< grants only what SRs and BSRs ask for */
	double frame_loss;
	double duplicate;
	double reorder;
	uint32_t delay_us;
	uint32_t jitter_us;
	double bit_error_rate;
	uint64_t seed;        /**< default 1 */
	uint32_t frame_bytes; /**< default 9000 */
	uint64_t slots;       /**< stop the slot clock after so many, 0: never */
};

struct ap_cfg_gen {
	char *name;
	char *port;
	char *rx_port;   /**< default: port */
	uint32_t *sizes; /**< IP packet sizes, B */
	unsigned sizes_count;
	bool imix;
	bool ipv6;
	uint32_t flows; /**< default 16 */
	uint8_t *dscps; /**< spread over the flows */
	unsigned dscps_count;
	char *replay;     /**< classic pcap file instead of made packets */
	double pps;       /**< packets/s */
	double gbps;      /**< IP bits/s; neither: as fast as the port takes */
	uint64_t packets; /**< stop after so many, 0: never */
	uint64_t seed;    /**< default 1 */
};

/** Where outbound packets longer than an interface's MTU go. */
enum ap_cfg_oversize {
	AP_OVERSIZE_FRAGMENT = 0, /**< fragmented, where IPv4 allows or the outer header is ours */
	AP_OVERSIZE_TOO_BIG,      /**< dropped, and the sender told (ICMP) */
};

enum ap_cfg_steering {
	AP_STEERING_RSS = 0,  /**< the port spreads by a symmetric hash, of the inner header where
			       * it can */
	AP_STEERING_TEID,     /**< flow rules of the port on bits of the TEID */
	AP_STEERING_SOFTWARE, /**< dispatcher lcores receive and hand to workers */
};

/** Source and Destination Interface, numbers of TS 29.244 §8.2.2. */
enum ap_cfg_upf_side {
	AP_UPF_ACCESS = 0,
	AP_UPF_CORE,
	AP_UPF_SGI_N6_LAN,
	AP_UPF_CP_FUNCTION,
	AP_UPF_LI_FUNCTION,
};

/** What a gNB's interface is toward. */
enum ap_cfg_gnb_side {
	AP_GNB_N3 = 0, /**< UPFs */
	AP_GNB_F1,     /**< DUs */
};

/** Where a UPF, or a gNB, meets a network; several share a port by VLAN. */
struct ap_cfg_upf_interface {
	char *name;
	char *port; /**< NULL: a gNB's virtual functions */
	char *mac;  /**< gNB with virtual functions: frames to it are the interface's; else NULL */
	enum ap_cfg_gnb_side side;   /**< gNB */
	uint32_t vlan;               /**< 0: untagged */
	enum ap_cfg_upf_side *types; /**< default: all but cp_function and li_function */
	unsigned types_count;
	char **network_instances; /**< default: any */
	unsigned network_instances_count;
	char **addresses; /**< `address/bits` */
	unsigned addresses_count;
	char **gateways; /**< default routes, at most one a family */
	unsigned gateways_count;
	uint32_t mtu;     /**< B of IP, default 1500 */
	bool lan;         /**< frames of Ethernet PDU sessions, without addresses */
	bool proxy_neigh; /**< upf: answers ARP and neighbour solicitations for its UEs */
};

struct ap_cfg_upf_route {
	char *interface;
	char *prefix; /**< `address/bits` */
	char *via;    /**< next hop; default: on the link */
};

/** A link address that is not to be asked for. */
struct ap_cfg_upf_neighbour {
	char *interface;
	char *address;
	char *mac;
};

/** What becomes of flows that break the rules of HTTP, TLS, DNS or QUIC. */
enum ap_cfg_dpi_bad {
	AP_DPI_OPEN = 0, /**< as of those that name no host */
	AP_DPI_CLOSED,   /**< their packets are dropped */
};

/** Detection of applications. */
struct ap_cfg_dpi {
	enum ap_cfg_dpi_bad on_bad;
	uint32_t scans; /**< flows each worker looks at at once, default 4096 */
};

struct ap_cfg_upf {
	const char *kind; /**< of role, for messages; not in YAML */
	char *name;
	char *socket;     /**< UNIX SOCK_SEQPACKET the agent connects to */
	uint32_t workers; /**< default 1; each serves one queue of every port */
	enum ap_cfg_steering steering;
	uint32_t dispatchers;    /**< with steering software, default 1 */
	uint32_t sessions;       /**< most at once, default 1048576 */
	uint32_t burst_bytes;    /**< least burst of an MBR without one, default 16384; 20 ms of the
				    rate where that is more */
	uint32_t buffer_packets; /**< buffered for UEs that are paged, by all workers together,
				    and as many for neighbours; default 8192 */
	uint32_t buffer_session_packets; /**< ... for one session without a BAR's count, default 64
					  */
	uint32_t reassembly_packets;     /**< fragmented ones at once, each worker, default 1024 */
	uint32_t reassembly_ms;          /**< default 1000 */
	uint32_t error_indications_s;    /**< sent a second by each worker at most, default 100 */
	enum ap_cfg_oversize oversize;
	uint32_t flows;         /**< entries of each worker's flow table, default 1048576 */
	uint32_t session_flows; /**< ... of one session at most, default 4096 */
	struct ap_cfg_dpi dpi;
	struct ap_cfg_upf_interface *interfaces;
	unsigned interfaces_count;
	struct ap_cfg_upf_route *routes;
	unsigned routes_count;
	struct ap_cfg_upf_neighbour *neighbours;
	unsigned neighbours_count;
};

enum ap_cfg_scheduler {
	AP_SCHEDULER_ROUND_ROBIN = 0,
	AP_SCHEDULER_PROPORTIONAL_FAIR,
};

/** A PDU session that a gNB has from its start on: all `bearers` of a UE. */
struct ap_cfg_gnb_context {
	uint32_t ue;          /**< which of `ues`, from 0; the context's ue_id too */
	uint32_t pdu_session; /**< 1..255, default 1 */
	char *upf;            /**< address of the UPF */
	uint32_t teid;        /**< of its uplink tunnel */
};

/** A gNB: the stack of its UEs on the network's side, and who of them is sent what when. */
struct ap_cfg_gnb {
	struct ap_cfg_ue l2; /**< `ues` is its count; without what only a UE has */
	/** In place of user_port, tunnels to UPFs: socket, interfaces, routes, neighbours,
	 * reassembly, error_indications_s; no interfaces: there are none. */
	struct ap_cfg_upf n3;
	struct ap_cfg_gnb_context *contexts;
	unsigned contexts_count;
	uint32_t *tb_bytes; /**< of each carrier: what a slot carries in each direction, B */
	unsigned tb_bytes_count;
	enum ap_cfg_scheduler scheduler;
	uint32_t ues_per_slot;   /**< UEs granted on a carrier and slot at most, default 16 */
	uint32_t ue_slot_bytes;  /**< most a UE is granted there, default: no limit */
	uint32_t average_ms;     /**< of proportional_fair, default 100 */
	struct ap_cfg_harq harq; /**< of its uplink; what its downlink has is l2.harq */
};

/** What crosses between CU and DU in role gnb_header. */
enum ap_cfg_gnb_split {
	AP_GNB_SPLIT_RLC = 0, /**< RLC PDUs: S3's header processing */
	AP_GNB_SPLIT_PDCP,    /**< PDCP PDUs: F1-U itself */
};

struct ap_cfg_gnb_header {
	/** Its port side is a UPF's: name, socket, workers, sessions (default 65536), reassembly,
	 * error_indications_s, oversize, interfaces, routes, neighbours. */
	struct ap_cfg_upf edge;
	enum ap_cfg_gnb_split split;
	uint32_t drbs_per_session; /**< 1, 2, 4 or 8; default 1 */
	char **vfs; /**< ports of a SmartNIC's virtual functions: one a worker; in place of the
		       interfaces' ports */
	unsigned vfs_count;
};

/** Who says whether a packet is the host's or the SmartNIC's. */
enum ap_cfg_smartnic_mark {
	AP_SMARTNIC_MARK_SHARE,  /**< the SmartNIC: a share of the bearers is the host's */
	AP_SMARTNIC_MARK_SENDER, /**< bit 15 of the outer IPv4 Identification: 1 the host's */
};

/** The emulation of a SmartNIC before a gnb_header. */
struct ap_cfg_smartnic {
	char *name;
	char *gnb;  /**< name of the gnb_header */
	char *wire; /**< port */
	char **vfs; /**< ports: the other ends of the gnb_header's, in order */
	unsigned vfs_count;
	enum ap_cfg_smartnic_mark mark;
	uint32_t offload_percent; /**< of the bearers, those of the host, 0..100; default 0 */
};

struct ap_cfg_lcore {
	char *name; /**< thread name, up to 15 characters */
	uint32_t cpu;
	enum ap_cfg_governor governor;
	char *power; /**< of `power`; default the first, or the defaults where there is none */
	enum ap_cfg_priority priority; /**< default normal where another lcore is high */
};

struct ap_cfg_place {
	char *node; /**< `role.node`, or a glob; an exact name beats a glob */
	char *lcore;
};

/** Where a value of the deployment comes from. */
struct ap_cfg_mark {
	const void *at;
	uint32_t size, line; /**< B there; from 1 */
};

struct ap_config {
	char *path;         /**< of the file; not in YAML */
	const void **zeros; /**< numbers that are 0 there; not in YAML, between config*.c */
	unsigned zeros_count;
	struct ap_cfg_mark *marks; /**< lines of what the file has; not in YAML, ap_config_line() */
	unsigned marks_count;
	char *warnings; /**< what is sound and yet unlikely to be meant, in lines; NULL: none */
	char *name;
	struct ap_cfg_memory {
		uint32_t mb;                  /**< EAL memory, default 1024 */
		enum ap_cfg_switch hugepages; /**< default: if there are any */
	} memory;
	enum ap_cfg_switch stats; /**< cycles per node, default on */
	uint32_t burst;           /**< packets a port is polled for, default 64 */
	uint32_t cut_size;        /**< slots of a cut's ring, power of 2, default 4096 */
	struct ap_cfg_pool *pools;
	unsigned pools_count;
	struct ap_cfg_port *ports;
	unsigned ports_count;
	struct ap_cfg_ue *ue;
	unsigned ue_count;
	struct ap_cfg_gnb *gnb;
	unsigned gnb_count;
	struct ap_cfg_phy *phy;
	unsigned phy_count;
	struct ap_cfg_gen *gen;
	unsigned gen_count;
	struct ap_cfg_upf *upf;
	unsigned upf_count;
	struct ap_cfg_gnb_header *gnb_header;
	unsigned gnb_header_count;
	struct ap_cfg_smartnic *smartnic;
	unsigned smartnic_count;
	struct ap_cfg_power *power;
	unsigned power_count;
	struct ap_cfg_lcore *lcores;
	unsigned lcores_count;
	struct ap_cfg_place *place;
	unsigned place_count;
};

#define AP_ERROR_LEN 1024

/** What is wrong with a deployment: a line a person can act on, or a few of them. */
struct ap_error {
	char text[AP_ERROR_LEN]; /**< "file:line: place: reason" */
};

/** Writes `e->text` once: the first error is the one that is kept. @return -EINVAL. */
int ap_error_set(struct ap_error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * Says what is wrong with a deployment: `FILE:LINE: text`. @param at what is: a member of `cfg`, or
 * the text of one; where the file left it out, the line is that of what it is a part of.
 * @return -EINVAL
 */
int ap_config_bad(const struct ap_config *cfg, const void *at, struct ap_error *err,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/** @return the line of `at` as in ap_config_bad(), from 1, or 0: of none. */
unsigned ap_config_line(const struct ap_config *cfg, const void *at);

/**
 * Loads and checks the values of one file (not what they mean together: ap_plan_*()).
 * @param err filled on failure
 * @return the deployment, or NULL. Free with ap_config_free().
 */
struct ap_config *ap_config_load(const char *path, struct ap_error *err);
void ap_config_free(struct ap_config *cfg);

#define AP_CFG_KEY_LEN 16 /**< B of ap_cfg_security's keys */

/** Reads a key. @return 0, or -EINVAL when `hex` is not 32 hexadecimal digits. */
int ap_config_key(const char *hex, uint8_t key[AP_CFG_KEY_LEN]);

/**
 * Reads `address/bits`, or an address alone, which has all bits.
 * @return octets of the address, 4 or 16, or -EINVAL
 */
int ap_config_prefix(const char *text, uint8_t address[16], uint8_t *bits);

/** Reads `xx:xx:xx:xx:xx:xx`. @return 0 or -EINVAL. */
int ap_config_mac(const char *text, uint8_t mac[6]);

/** @return how `lcore` saves power: its own entry of `power`, the first one, or the defaults. */
const struct ap_cfg_power *ap_config_power(const struct ap_config *cfg,
					   const struct ap_cfg_lcore *lcore);

/** @return the i-th stack of protocols among those of ues and gnbs, or NULL past the last. */
const struct ap_cfg_ue *ap_config_stack(const struct ap_config *cfg, unsigned i);

/** @return the gnb that has `port` for N3, or NULL. */
const struct ap_cfg_gnb *ap_config_n3(const struct ap_config *cfg, const char *port);

/** @return the port called `name`, or NULL. */
const struct ap_cfg_port *ap_config_port(const struct ap_config *cfg, const char *name);

#endif
