# SPDX-License-Identifier: BSD-3-Clause
"""Rules of TS 29.244 as an SMF writes them, out of scapy's IEs; raw TLVs where scapy has none.

Names of IEs and of their bits are those of the specification. `None` leaves an IE out.
"""

import ipaddress
from collections.abc import Iterable

from scapy.contrib import pfcp as p
from scapy.packet import Packet, Raw

ACCESS, CORE, N6_LAN, CP = 0, 1, 2, 3  # Source and Destination Interface, §8.2.2, §8.2.24
_IP4_OR_6 = {4: ("ipv4", "V4"), 6: ("ipv6", "V6")}


def raw(kind: int, value: bytes = b"") -> Packet:
    """Any IE at all."""
    return p.IE_NotImplemented(ietype=kind, data=value)


def _list(*ies) -> list[Packet]:
    """Flat, without what is None."""
    flat: list[Packet] = []
    for ie in ies:
        if ie is None:
            continue
        if isinstance(ie, Packet):
            flat.append(ie)
        else:
            flat += _list(*ie)
    return flat


def all_of(container: Packet, kind: type[Packet]) -> list[Packet]:
    """The IEs of a class that stand directly in a message or a grouped IE."""
    body = container.payload if isinstance(container, p.PFCP) else container
    return [ie for ie in getattr(body, "IE_list", None) or [] if isinstance(ie, kind)]


def one_of(container: Packet, kind: type[Packet]) -> Packet | None:
    found = all_of(container, kind)
    return found[0] if found else None


def unknown_ies(packet: Packet) -> list[str]:
    """What scapy could not read of a message."""
    if isinstance(packet, Raw):
        return [f"bytes that are no IE: {packet.load.hex()}"]
    found = []
    for ie in getattr(packet, "IE_list", None) or []:
        found += unknown_ies(ie)
    if isinstance(packet, p.PFCP) and packet.payload:
        found += unknown_ies(packet.payload)
    return found


def address(value: str, cls: type[Packet], **fields) -> Packet:
    """An IE with an IPv4 or IPv6 address and the flag that says which."""
    field, flag = _IP4_OR_6[ipaddress.ip_address(value).version]
    if cls is p.IE_FSEID:
        flag = flag.lower()
    return cls(**{field: value, flag: 1}, **fields)


def node_id(value: str) -> Packet:
    try:
        version = ipaddress.ip_address(value).version
    except ValueError:
        return p.IE_NodeId(id_type=2, id=value)
    if version == 4:
        return p.IE_NodeId(id_type=0, ipv4=value)
    return p.IE_NodeId(id_type=1, ipv6=value)


def network_instance(name: str | None, *, labels: bool = False) -> Packet | None:
    """Raw octets as most SMFs write it, or encoded as labels like an APN (§8.2.4 leaves both)."""
    if name is None:
        return None
    return p.IE_NetworkInstance(instance=name) if labels else raw(22, name.encode())


def choose(chid: int | None = None, *, v4: bool = True, v6: bool = False) -> Packet:
    """F-TEID with CHOOSE."""
    shared = {} if chid is None else {"CHID": 1, "choose_id": chid}
    return p.IE_FTEID(CH=1, V4=int(v4), V6=int(v6), **shared)


def fteid(teid: int, peer: str) -> Packet:
    return address(peer, p.IE_FTEID, TEID=teid)


def ue_ip(*addresses: str, destination: bool = False) -> Packet:
    """UE IP Address; an IPv6 one is its /64 unless the flags of §8.2.62 say otherwise."""
    fields: dict = {"SD": int(destination)}
    for one in addresses:
        field, flag = _IP4_OR_6[ipaddress.ip_address(one).version]
        fields |= {field: one, flag: 1}
    return p.IE_UE_IP_Address(**fields)


def choose_ue_ip(*, v4: bool = False, v6: bool = False, destination: bool = False) -> Packet:
    """UE IP Address with CHV4 and CHV6, which scapy takes for spare bits."""
    return raw(93, bytes([destination << 2 | v4 << 4 | v6 << 5]))


def as_destination(ue: Packet) -> Packet:
    """The same UE IP Address with S/D set: for the PDI of the other direction."""
    octets = bytearray(bytes(ue))
    octets[4] |= 4
    return raw(93, bytes(octets[4:]))


def sdf(
    description: str | None = None,
    *,
    tos: tuple[int, int] | None = None,
    spi: int | None = None,
    label: int | None = None,
    identity: int | None = None,
) -> Packet:
    fields: dict = {}
    if description is not None:
        fields |= {"FD": 1, "flow_description": description}
    if tos is not None:
        fields |= {"TTC": 1, "tos_traffic_class": tos[0], "tos_traffic_mask": tos[1]}
    if spi is not None:
        fields |= {"SPI": 1, "security_parameter_index": spi}
    if label is not None:
        fields |= {"FL": 1, "flow_label": label}
    if identity is not None:
        fields |= {"BID": 1, "sdf_filter_id": identity}
    return p.IE_SDF_Filter(**fields)


def pdi(source: int | None, *ies) -> Packet:
    interface = None if source is None else p.IE_SourceInterface(interface=source)
    return p.IE_PDI(IE_list=_list(interface, ies))


def pdr(
    number: int,
    *ies,
    far: int | None = None,
    precedence: int | None = None,
    removal: int | None = None,
    qers: Iterable[int] = (),
    urrs: Iterable[int] = (),
    update: bool = False,
) -> Packet:
    """Create or Update PDR; `ies`: its PDI and whatever else."""
    cls = p.IE_UpdatePDR if update else p.IE_CreatePDR
    return cls(
        IE_list=_list(
            p.IE_PDR_Id(id=number),
            None if precedence is None else p.IE_Precedence(precedence=precedence),
            ies,
            None if removal is None else p.IE_OuterHeaderRemoval(header=removal),
            None if far is None else p.IE_FAR_Id(id=far),
            [p.IE_URR_Id(id=n) for n in urrs],
            [p.IE_QER_Id(id=n) for n in qers],
        )
    )


def apply_action(*flags: str, octets: int = 2) -> Packet:
    """§8.2.26: one octet in releases before 16, two since."""
    bits = ("DROP", "FORW", "BUFF", "NOCP", "DUPL", "IPMA", "IPMD", "DFRT")
    first = sum(1 << bits.index(f) for f in flags)
    return raw(44, bytes([first]) + bytes(octets - 1))


def tunnel(teid: int, peer: str) -> Packet:
    """Outer Header Creation of GTP-U/UDP/IP."""
    if ipaddress.ip_address(peer).version == 4:
        return p.IE_OuterHeaderCreation(GTPUUDPIPV4=1, TEID=teid, ipv4=peer)
    return p.IE_OuterHeaderCreation(GTPUUDPIPV6=1, TEID=teid, ipv6=peer)


def far(
    number: int,
    *flags: str,
    to: int | None = None,
    instance: str | None = None,
    out: tuple[int, str] | None = None,
    tos: tuple[int, int] | None = None,
    end_markers: bool = False,
    bar: int | None = None,
    update: bool = False,
    extra: Iterable[Packet] = (),
    copies: Iterable[tuple[int, int, str]] = (),
) -> Packet:
    """Create or Update FAR. `out`: of Outer Header Creation, TEID and address; `tos`: with mask;
    `copies`: Duplicating Parameters, destination interface, TEID and address each."""
    parameters = _list(
        None if to is None else p.IE_DestinationInterface(interface=to),
        network_instance(instance),
        None if out is None else tunnel(*out),
        None if tos is None else p.IE_TransportLevelMarking(tos=tos[0], traffic_class=tos[1]),
        p.IE_PFCPSMReqFlags(SNDEM=1) if end_markers else None,
        extra,
    )
    inner = p.IE_UpdateForwardingParameters if update else p.IE_ForwardingParameters
    copy = p.IE_UpdateDuplicatingParameters if update else p.IE_DuplicatingParameters
    cls = p.IE_UpdateFAR if update else p.IE_CreateFAR
    return cls(
        IE_list=_list(
            p.IE_FAR_Id(id=number),
            apply_action(*flags) if flags else None,
            inner(IE_list=parameters) if parameters else None,
            [
                copy(IE_list=[p.IE_DestinationInterface(interface=where), tunnel(teid, peer)])
                for where, teid, peer in copies
            ],
            None if bar is None else p.IE_BAR_Id(id=bar),
        )
    )


def qer(
    number: int,
    *,
    gate: tuple[int, int] | None = (0, 0),
    mbr: tuple[int, int] | None = None,
    gbr: tuple[int, int] | None = None,
    qfi: int | None = None,
    rqi: bool | None = None,
    update: bool = False,
) -> Packet:
    """Create or Update QER. `gate`: UL, DL, 1 being closed; rates: UL, DL in kbps."""
    cls = p.IE_UpdateQER if update else p.IE_CreateQER
    return cls(
        IE_list=_list(
            p.IE_QER_Id(id=number),
            None if gate is None else p.IE_GateStatus(ul=gate[0], dl=gate[1]),
            None if mbr is None else p.IE_MBR(ul=mbr[0], dl=mbr[1]),
            None if gbr is None else p.IE_GBR(ul=gbr[0], dl=gbr[1]),
            None if qfi is None else p.IE_QFI(QFI=qfi),
            None if rqi is None else p.IE_RQI(RQI=int(rqi)),
        )
    )


_TRIGGERS = ("PERIO", "VOLTH", "TIMTH", "QUHTI", "START", "STOPT", "DROTH", "LIUSA")
_TRIGGERS += ("VOLQU", "TIMQU", "ENVCL", "MACAR", "EVETH", "EVEQU", "IPMJL", "QUVTI")


def triggers(*names: str) -> Packet:
    """Reporting Triggers, §8.2.19: three octets."""
    bits = sum(1 << _TRIGGERS.index(name) for name in names)
    return raw(37, bytes([bits & 0xFF, bits >> 8, 0]))


def volume(cls: type[Packet], **of: int) -> Packet:
    """Volume Threshold or Quota: `total`, `uplink`, `downlink` octets."""
    flags = {"total": "TOVOL", "uplink": "ULVOL", "downlink": "DLVOL"}
    return cls(**of, **{flags[name]: 1 for name in of})


def urr(
    number: int,
    *ies,
    methods: Iterable[str] = ("VOLUM",),
    report: Iterable[str] = (),
    threshold: dict[str, int] | None = None,
    quota: dict[str, int] | None = None,
    update: bool = False,
) -> Packet:
    """Create or Update URR."""
    cls = p.IE_UpdateURR if update else p.IE_CreateURR
    return cls(
        IE_list=_list(
            p.IE_URR_Id(id=number),
            p.IE_MeasurementMethod(**dict.fromkeys(methods, 1)) if methods else None,
            triggers(*report) if report or not update else None,
            volume(p.IE_VolumeThreshold, **threshold) if threshold else None,
            volume(p.IE_VolumeQuota, **quota) if quota else None,
            ies,
        )
    )


def pfd(**fields: str) -> Packet:
    """A PFD Context of one PFD: `flow`, `url`, `domain`, `custom`."""
    flags = {"flow": "FD", "url": "URL", "domain": "DN", "custom": "CP"}
    contents = p.IE_PFDContents(**fields, **{flags[name]: 1 for name in fields})
    return p.IE_PFDContext(IE_list=[contents])


def pfds(application: str, *contexts: Packet) -> Packet:
    """Application ID's PFDs."""
    return p.IE_ApplicationID_PFDs(IE_list=[p.IE_ApplicationId(id=application), *contexts])


def bar(number: int, *, packets: int | None = None, delay: int | None = None) -> Packet:
    """Create BAR. `delay`: of the notification, in units of 50 ms."""
    return p.IE_Create_BAR(
        IE_list=_list(
            p.IE_BAR_Id(id=number),
            None if delay is None else p.IE_DownlinkDataNotificationDelay(delay=delay),
            None if packets is None else p.IE_SuggestedBufferingPacketsCount(count=packets),
        )
    )


def remove(cls: type[Packet], number: int) -> Packet:
    """Remove PDR, FAR, QER, URR or BAR."""
    identity = {
        p.IE_RemovePDR: p.IE_PDR_Id,
        p.IE_RemoveFAR: p.IE_FAR_Id,
        p.IE_RemoveQER: p.IE_QER_Id,
        p.IE_RemoveURR: p.IE_URR_Id,
        p.IE_Remove_BAR: p.IE_BAR_Id,
    }[cls]
    return cls(IE_list=[identity(id=number)])
