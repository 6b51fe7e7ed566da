"""Polls a node's /leader over one connection. Prints one line per response: the times of the request and of
the arrival (milliseconds on CLOCK_MONOTONIC), and the status. It is a separate process that waits for nothing else, so
that it adds little to the measured times. `ask-leader.py HOST PORT PAUSE_MS` runs until it is killed."""
import socket
import sys
import time

host, port, pause_seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]) / 1000
question = f"GET /leader HTTP/1.1\r\nhost: {host}\r\n\r\n".encode()


def now_ms():
    return time.monotonic_ns() / 1e6


while True:
    try:
        with socket.create_connection((host, port)) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while True:
                sent = now_ms()
                connection.sendall(question)
                answer = connection.recv(65536)
                received = now_ms()
                if not answer:
                    break
                print(f"{sent:.4f} {received:.4f} {int(answer[9:12])}", flush=True)
                time.sleep(pause_seconds)
    except ConnectionError:
        pass
    time.sleep(pause_seconds)
