# SPDX-License-Identifier: GPL-2.0-only
"""Bytes through SMC sockets: what a client sends comes back, and is compared.

smc_check.py name          gives SMC-R version 2 the name by which hosts know each other
smc_check.py serve CONNECTIONS
smc_check.py ask ADDRESS CONNECTIONS BYTES
"""
import os
import socket
import struct
import sys
import threading

PORT = 18700
IPPROTO_SMC = 256

NETLINK_GENERIC, GENL_ID_CTRL = 16, 16
CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 3, 1, 2
SMC_NETLINK_ADD_UEID, SMC_NLA_EID_TABLE_ENTRY, SMC_MAX_EID_LEN = 10, 1, 32
NLM_F_REQUEST, NLM_F_ACK, NLMSG_ERROR = 1, 4, 2


def attribute(kind, text):
    data = text.encode() + b"\0"
    return (struct.pack("=HH", 4 + len(data), kind) + data).ljust((4 + len(data) + 3) & ~3, b"\0")


def request(netlink, family, command, payload):
    """Sends a command; returns the attributes of the answer, none if that is but an ACK."""
    message = struct.pack("=BBH", command, 1, 0) + payload
    header = struct.pack("=IHHII", 16 + len(message), family, NLM_F_REQUEST | NLM_F_ACK, 1, 0)
    netlink.send(header + message)
    answer = netlink.recv(65536)
    if struct.unpack_from("=H", answer, 4)[0] != NLMSG_ERROR:
        netlink.recv(65536)  # the ACK
        return answer[20:]
    error = -struct.unpack_from("=i", answer, 16)[0]
    if error:
        raise OSError(error, os.strerror(error))
    return b""


def family_id(attributes):
    while True:
        length, kind = struct.unpack_from("=HH", attributes)
        if kind == CTRL_ATTR_FAMILY_ID:
            return struct.unpack_from("=H", attributes, 4)[0]
        attributes = attributes[(length + 3) & ~3:]


def name():
    netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    netlink.bind((0, 0))
    family = family_id(request(netlink, GENL_ID_CTRL, CTRL_CMD_GETFAMILY,
                               attribute(CTRL_ATTR_FAMILY_NAME, "SMC_GEN_NETLINK")))
    request(netlink, family, SMC_NETLINK_ADD_UEID,
            attribute(SMC_NLA_EID_TABLE_ENTRY, "SRN-TEST".ljust(SMC_MAX_EID_LEN)))


def smc():
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)


def echo(connection):
    while data := connection.recv(65536):
        connection.sendall(data)
    connection.close()


def serve(connections):
    listener = smc()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", PORT))
    listener.listen()
    threads = [threading.Thread(target=echo, args=[listener.accept()[0]])
               for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def send(connection, data):
    """In pieces of many sizes, a byte among them."""
    at, piece = 0, 1
    while at < len(data):
        connection.sendall(data[at:at + piece])
        at += piece
        piece = piece * 7 % 200003 or 1
    connection.shutdown(socket.SHUT_WR)


def ask(connection, data, right):
    sender = threading.Thread(target=send, args=[connection, data])
    sender.start()
    back = bytearray()
    while more := connection.recv(65536):
        back += more
    sender.join()
    if back == data:
        right.append(True)
    else:
        print("differs from byte", next((i for i, pair in enumerate(zip(back, data))
                                         if pair[0] != pair[1]), min(len(back), len(data))))
    connection.close()


def ask_all(address, connections, size):
    right, threads = [], []
    for _ in range(connections):
        connection = smc()
        connection.connect((address, PORT))
        threads.append(threading.Thread(target=ask, args=[connection, os.urandom(size), right]))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # A thread that ends by an exception is none that brought it back.
    if len(right) != connections:
        sys.exit(f"{len(right)} of {connections} connections brought back what was sent")


if sys.argv[1] == "name":
    name()
elif sys.argv[1] == "serve":
    serve(int(sys.argv[2]))
else:
    ask_all(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
