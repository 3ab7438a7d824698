# SPDX-License-Identifier: GPL-2.0-only
"""The wire format of RoCE v2 as its specification has it, written apart from
the module's own code: packets taken to pieces and put together, and their
invariant CRC (IBTA annex A17)."""

import socket
import struct
import zlib

PORT = 4791
SEND_PARTS = ("SEND_FIRST", "SEND_MIDDLE", "SEND_LAST", "SEND_LAST_IMM", "SEND_ONLY", "SEND_ONLY_IMM")
WRITE_PARTS = ("WRITE_FIRST", "WRITE_MIDDLE", "WRITE_LAST", "WRITE_LAST_IMM", "WRITE_ONLY",
               "WRITE_ONLY_IMM")
RC = dict(enumerate(SEND_PARTS + WRITE_PARTS + (
    "READ_REQUEST", "READ_RESPONSE_FIRST", "READ_RESPONSE_MIDDLE", "READ_RESPONSE_LAST",
    "READ_RESPONSE_ONLY", "ACKNOWLEDGE", "ATOMIC_ACKNOWLEDGE", "COMPARE_SWAP", "FETCH_ADD")))
RC[0x16] = "SEND_LAST_INVALIDATE"
RC[0x17] = "SEND_ONLY_INVALIDATE"
RC[0x1c] = "FLUSH"
RC[0x1d] = "ATOMIC_WRITE"
UC = {0x20 + number: name for number, name in enumerate(SEND_PARTS + WRITE_PARTS)}
UD = {0x64: "SEND_ONLY", 0x65: "SEND_ONLY_IMM"}

# Bytes of the headers between BTH and payload.
EXTENSION = {
    0x03: 4, 0x05: 4, 0x06: 16, 0x09: 4, 0x0a: 16, 0x0b: 20, 0x0c: 16, 0x0d: 4, 0x0f: 4,
    0x10: 4, 0x11: 4, 0x12: 12, 0x13: 28, 0x14: 28, 0x16: 4, 0x17: 4, 0x1c: 20, 0x1d: 16,
    0x64: 8, 0x65: 12,
}
EXTENSION.update({0x20 + number: EXTENSION.get(number, 0) for number in range(12)})
NO_PAYLOAD = (0x0c, 0x11, 0x12, 0x13, 0x14, 0x1c)


def name_of(opcode):
    """As table 38 has it, shortened."""
    for prefix, names in (("RC_", RC), ("UC_", UC), ("UD_", UD)):
        if opcode in names:
            return prefix + names[opcode]
    return "CNP" if opcode == 0x81 else "%#x" % opcode


def icrc(ip, udp, bth, rest):
    """Of a packet without its ICRC; the bytes as they stand on the wire."""
    ip, udp, bth = bytearray(ip), bytearray(udp), bytearray(bth)
    if ip[0] >> 4 == 4:
        ip[1] = ip[8] = 0xff
        ip[10:12] = b"\xff\xff"
    else:
        ip[0] |= 0x0f
        ip[1:4] = b"\xff\xff\xff"
        ip[7] = 0xff
    udp[6:8] = b"\xff\xff"
    bth[4] = 0xff
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ip + udp + bth + rest))


class Malformed(Exception):
    """What is wrong with a packet."""


class Packet:
    """One that was captured; checked as far as it can be by itself."""

    def __init__(self, ip_packet):
        version = ip_packet[0] >> 4
        size = 20 if version == 4 else 40
        self.ip = ip_packet[:size]
        if version == 4:
            total, proto = struct.unpack_from("!H", self.ip, 2)[0], self.ip[9]
            if self.ip[0] != 0x45 or not self.ip[6] & 0x40:
                raise Malformed("options in the IPv4 header, or DF is not set")
        else:
            total, proto = 40 + struct.unpack_from("!H", self.ip, 4)[0], self.ip[6]
        self.is_roce = proto == 17 and struct.unpack_from("!H", ip_packet, size + 2)[0] == PORT
        if not self.is_roce:
            return
        self.udp = ip_packet[size:size + 8]
        length = struct.unpack_from("!H", self.udp, 4)[0]
        if total != size + length or len(ip_packet) < total:
            raise Malformed("lengths of IP %d, UDP %d, packet %d" % (total, length, len(ip_packet)))
        self.take_apart(ip_packet[size + 8:total])

    def take_apart(self, data):
        """The transport headers and the payload."""
        if len(data) < 16 or len(data) % 4:
            raise Malformed("%d bytes in the UDP packet" % len(data))
        self.bth, rest, crc = data[:12], data[12:-4], data[-4:]
        self.opcode, flags = self.bth[0], self.bth[1]
        self.pad = flags >> 4 & 3
        self.psn = struct.unpack_from("!I", self.bth, 8)[0] & 0xffffff
        if flags & 0x0f:
            raise Malformed("transport version %d" % (flags & 0x0f))
        if self.bth[2:4] != b"\xff\xff":
            raise Malformed("partition key %s" % self.bth[2:4].hex())
        extension = EXTENSION.get(self.opcode, 0)
        self.headers, self.payload = rest[:extension], rest[extension:]
        if len(self.headers) < extension or len(self.payload) < self.pad:
            raise Malformed("%s of %d bytes" % (name_of(self.opcode), len(rest)))
        if self.opcode in NO_PAYLOAD and self.payload:
            raise Malformed("%s with payload" % name_of(self.opcode))
        if any(self.payload[len(self.payload) - self.pad:]):
            raise Malformed("pad bytes are not zero")
        want = icrc(self.ip, self.udp, self.bth, rest)
        if crc != want:
            raise Malformed("ICRC %s, %s expected" % (crc.hex(), want.hex()))

    def syndrome(self):
        """Of an AETH, or None."""
        if self.opcode in (0x0d, 0x0f, 0x10, 0x11, 0x12):
            return self.headers[0]
        return None


def read_pcap(path):
    """The IP packets of a capture from Ethernet."""
    with open(path, "rb") as f:
        data = f.read()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = 24
    while at + 16 <= len(data):
        taken, whole = struct.unpack_from(order + "II", data, at + 8)
        frame = data[at + 16:at + 16 + taken]
        at += 16 + taken
        if taken != whole:
            raise Malformed("the capture cut a packet short")
        if frame[12:14] in (b"\x08\x00", b"\x86\xdd"):
            yield frame[14:]


def build(source, destination, bth, rest, sport=0xc123, bad_icrc=False):
    """A whole IP packet with a right ICRC, or one that differs in a bit."""
    length = 8 + len(bth) + len(rest) + 4
    udp = struct.pack("!HHHH", sport, PORT, length, 0)
    if ":" in source:
        ip = struct.pack("!IHBB", 0x60000000, length, 17, 64)
        ip += socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, destination)
    else:
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 1, 0x4000, 64, 17, 0)
        ip += socket.inet_aton(source) + socket.inet_aton(destination)
        ip = ip[:10] + checksum(ip) + ip[12:]
    crc = icrc(ip, udp, bth, rest) if len(bth) == 12 else b"\0\0\0\0"
    if bad_icrc:
        crc = bytes([crc[0] ^ 1]) + crc[1:]
    return ip + udp + bth + rest + crc


def checksum(header):
    """Of an IPv4 header."""
    total = sum(struct.unpack("!%dH" % (len(header) // 2), header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return struct.pack("!H", ~total & 0xffff)


def make_bth(opcode, qpn, psn, flags=0x40, pkey=0xffff, ack=True):
    """Base transport header."""
    return struct.pack("!BBHII", opcode, flags, pkey, qpn & 0xffffff,
                       (psn & 0xffffff) | (0x80000000 if ack else 0))
