#!/usr/bin/python3
"""Runs participants of kazoo's Election recipe, and reports when they lead. Its arguments are
CONNECT PATH SESSION_MS NAME COUNT.

bench/lines.ts describes the output of such programs, and the commands on their input.
"""
import signal
import sys
import threading
import time

from kazoo.client import KazooClient

connect, path, session_ms, first_name, count = sys.argv[1:6]
output = threading.Lock()


def say(what, name):
    at = time.clock_gettime(time.CLOCK_MONOTONIC)
    with output:
        print(f"{what} {name} monotonic {at:.6f}", flush=True)


class Participant:
    def __init__(self, name):
        self.name = name
        self.leaving = threading.Event()
        self.client = KazooClient(hosts=connect, timeout=int(session_ms) / 1000)
        self.client.start(timeout=60)
        self.election = self.client.Election(path, name)
        self.thread = threading.Thread(target=self.election.run, args=(self.lead,), daemon=True)
        self.thread.start()

    def lead(self):
        say("leads", self.name)
        self.leaving.wait()

    def leave(self):
        say("leaves", self.name)
        self.leaving.set()
        self.election.cancel()
        self.thread.join()
        self.client.stop()
        self.client.close()


participants = {}


def join(name):
    participants[name] = Participant(name)


def leave(name):
    participant = participants.pop(name, None)
    if participant is not None:
        participant.leave()


def leave_all():
    leaving = [threading.Thread(target=leave, args=(name,)) for name in list(participants)]
    for thread in leaving:
        thread.start()
    for thread in leaving:
        thread.join()


def obey():
    for line in sys.stdin:
        verb, name = line.split()
        if verb == "join":
            join(name)
        elif verb == "leave":
            threading.Thread(target=leave, args=(name,)).start()


def begin():
    many = int(count)
    for index in range(many):
        join(first_name if many == 1 else f"{first_name}-{index}")
    obey()


# Block SIGTERM before any thread starts, so that all threads inherit the block. Only this thread waits for the signal.
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
threading.Thread(target=begin, daemon=True).start()
signal.sigwait({signal.SIGTERM})
leave_all()
