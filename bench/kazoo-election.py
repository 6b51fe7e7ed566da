#!/usr/bin/python3
"""One participant of kazoo's Election recipe, which says when it leads: CONNECT PATH SESSION_MS NAME"""
import sys
import threading
import time

from kazoo.client import KazooClient

connect, path, session_ms, name = sys.argv[1:5]
client = KazooClient(hosts=connect, timeout=int(session_ms) / 1000)
client.start()


def lead():
    print(time.time_ns() // 1000, flush=True)
    threading.Event().wait()


client.Election(path, name).run(lead)
