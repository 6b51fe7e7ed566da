"""A workload of fault tests, of which no process looks as a workload usually does: odd_workload.py EVENTS OWNER BEAT HOW

- Z: the process that beats has ended its main thread, so it looks like a zombie.
If HOW is 2:

- Z: one child has ended, and its parent does not collect it.
- T: one child is stopped.
- t: one child is traced.
- D: one child waits for a vfork, in uninterruptible sleep that only SIGKILL ends. That child's own child is in S.

All of them ignore SIGTERM. They end when OWNER is removed or the process that it names has ended.

Not covered: uninterruptible sleep that outlasts SIGKILL. That needs a device or a file system that hangs."""
import ctypes
import os
import signal
import sys
import threading
import time

events, owner, beat, how = sys.argv[1:5]
libc = ctypes.CDLL(None)
PTRACE_TRACEME = 0


def wanted():
    try:
        with open(owner) as file:
            return os.path.exists('/proc/' + file.read().strip())
    except OSError:
        return False


def child(does):
    if os.fork() == 0:
        does()
        os._exit(0)


def stop():
    while True:
        os.kill(os.getpid(), signal.SIGSTOP)


def be_traced():
    libc.ptrace(PTRACE_TRACEME, 0, 0, 0)
    stop()


def wait_for_vfork():
    pipe = '%s.%d' % (events, os.getpid())
    os.mkfifo(pipe)
    # Nobody ever writes into the pipe, so the child never gets past opening it, and its parent waits.
    os.posix_spawn('/bin/true', ['true'], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, pipe, os.O_RDONLY, 0)])


def work():
    for does in (lambda: None, stop, be_traced, wait_for_vfork) if how == '2' else ():
        child(does)
    while wanted():
        monotonic = time.monotonic() * 1000
        with open(events, 'a') as file:
            file.write(beat % (time.time(), monotonic) + '\n')
        time.sleep(0.05)
    os.killpg(os.getpgrp(), signal.SIGKILL)


signal.signal(signal.SIGTERM, signal.SIG_IGN)
threading.Thread(target=work).start()
libc.pthread_exit(None)
