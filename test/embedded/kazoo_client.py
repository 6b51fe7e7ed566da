"""Runs one case with a kazoo client. Usage: kazoo_client.py HOST:PORT CASE. Raises an error on failure."""

import sys
import threading

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import BadVersionError, NoAuthError, NodeExistsError, NoNodeError, NotEmptyError
from kazoo.security import make_digest_acl

wait_seconds = 10
clients = []


def connect(**options):
    client = KazooClient(hosts=address, timeout=4, **options)
    client.start(timeout=wait_seconds)
    clients.append(client)
    return client


def raises(error, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except error:
        return
    raise AssertionError("%s did not raise %s" % (call, error))


def in_thread(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def znodes():
    client = connect()
    client.ensure_path("/a/b/c")
    client.set("/a/b/c", b"data")
    data, stat = client.get("/a/b/c")
    assert (data, stat.version, stat.data_length) == (b"data", 1, 4)
    assert client.get_children("/a") == ["b"]
    raises(BadVersionError, client.set, "/a/b/c", b"", version=0)
    raises(NotEmptyError, client.delete, "/a/b")
    raises(NodeExistsError, client.create, "/a/b")
    raises(NoNodeError, client.get, "/missing")
    path, stat = client.create("/a/s-", b"x", sequence=True, ephemeral=True, include_data=True)
    assert path == "/a/s-0000000001"
    assert stat.ephemeralOwner == client.client_id[0]
    client.delete("/a", recursive=True)
    assert client.exists("/a") is None
    assert client.sync("/") == "/"
    assert client.server_version()[:2] == (3, 8)


def watches():
    client, other = connect(), connect()
    seen, woken = [], threading.Event()
    client.ensure_path("/w")

    @client.ChildrenWatch("/w")
    def children(names):
        seen.append(sorted(names))
        if len(names) == 2:
            woken.set()

    other.create("/w/a")
    other.create("/w/b")
    assert woken.wait(wait_seconds)
    assert seen[0] == [] and seen[-1] == ["a", "b"]
    data, changed = [], threading.Event()

    @client.DataWatch("/w/late")
    def value(content, stat, event):
        data.append(content)
        if content == b"second":
            changed.set()

    other.create("/w/late", b"first")
    other.set("/w/late", b"second")
    assert changed.wait(wait_seconds)
    assert data[0] is None


def transactions():
    client = connect()
    client.ensure_path("/t")
    good = client.transaction()
    good.create("/t/a", b"1")
    good.set_data("/t", b"2", version=0)
    good.check("/t", version=1)
    results = good.commit()
    assert results[0] == "/t/a" and results[1].version == 1 and results[2] is True
    bad = client.transaction()
    bad.create("/t/b")
    bad.delete("/t/missing")
    bad.check("/t", version=1)
    names = [type(result).__name__ for result in bad.commit()]
    assert names == ["RolledBackError", "NoNodeError", "RuntimeInconsistency"], names
    assert client.exists("/t/b") is None


def auth():
    acl = [make_digest_acl("alice", "wonderland", all=True)]
    alice = connect(auth_data=[("digest", "alice:wonderland")], default_acl=acl)
    stranger = connect()
    alice.create("/private", b"secret")
    raises(NoAuthError, stranger.get, "/private")
    stranger.add_auth("digest", "alice:wonderland")
    assert stranger.get("/private")[0] == b"secret"
    found, stat = alice.get_acls("/private")
    assert found == acl
    alice.set_acls("/private", acl, version=stat.aversion)


def lock():
    first, second = connect(), connect()
    mine = first.Lock("/lock", "first")
    theirs = second.Lock("/lock", "second")
    assert mine.acquire(timeout=wait_seconds)
    assert not theirs.acquire(blocking=False)
    got = threading.Event()

    def wait():
        theirs.acquire(timeout=wait_seconds)
        got.set()

    in_thread(wait)
    while mine.contenders() != ["first", "second"]:
        pass
    assert not got.is_set()
    mine.release()
    assert got.wait(wait_seconds)
    theirs.release()


def election():
    order, done = [], threading.Event()

    def lead(name, until):
        order.append(name)
        until.wait(wait_seconds)

    first, second = connect(), connect()
    stop_first, second_leads = threading.Event(), threading.Event()
    in_thread(lambda: first.Election("/election", "first").run(lead, "first", stop_first))
    while order != ["first"]:
        done.wait(0.01)

    def second_turn():
        order.append("second")
        second_leads.set()

    waiting = second.Election("/election", "second")
    in_thread(lambda: waiting.run(second_turn))
    while waiting.contenders() != ["first", "second"]:
        done.wait(0.01)
    assert order == ["first"]
    stop_first.set()
    assert second_leads.wait(wait_seconds)
    assert order == ["first", "second"]


def party_and_counter():
    first, second = connect(), connect()
    for client, name in ((first, "a"), (second, "b")):
        client.Party("/party", name).join()
    assert sorted(first.Party("/party")) == ["a", "b"]
    second.stop()
    assert sorted(first.Party("/party")) == ["a"]
    counter = first.Counter("/counter")
    counter += 2
    counter -= 1
    assert counter.value == 1


def reconnection():
    client, other = connect(), connect()
    client.create("/mine", ephemeral=True)
    session, woken, states = client.client_id, threading.Event(), []
    client.get_children("/", watch=lambda event: woken.set())
    client.add_listener(states.append)
    print("break the connections", flush=True)
    while KazooState.CONNECTED not in states:
        threading.Event().wait(0.01)
    assert client.client_id == session
    assert other.exists("/mine").ephemeralOwner == session[0]
    other.create("/new")
    assert woken.wait(wait_seconds)


cases = {
    case.__name__: case
    for case in (znodes, watches, transactions, auth, lock, election, party_and_counter, reconnection)
}

if __name__ == "__main__":
    address, name = sys.argv[1:]
    try:
        cases[name]()
    finally:
        for client in clients:
            client.stop()
