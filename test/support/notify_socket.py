"""A service manager's socket: prints its path, then each message that arrives as a line of JSON."""
import json
import os
import socket
import sys

path = sys.argv[1]
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind(path)
print(json.dumps(path), flush=True)
while True:
    data, descriptors, _, _ = socket.recv_fds(server, 65536, 8)
    # A sender that waits for its message to be received (BARRIER=1) waits until its file is closed.
    for descriptor in descriptors:
        os.close(descriptor)
    print(json.dumps(data.decode()), flush=True)
