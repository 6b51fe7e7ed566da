/**
 * Runs participants of an election with a Java library, and reports when they lead. Its arguments are:
 * latch|selector|recipe CONNECT PATH SESSION_MS NAME COUNT
 *
 * bench/lines.ts describes the output of such programs, and the commands on their input.
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.recipes.leader.LeaderElectionSupport;

public final class Elections {
    private static final int CONNECTION_TIMEOUT_MS = 15_000;

    private final String connect;
    private final String path;
    private final int sessionMs;
    private final String recipe;
    private final Map<String, Participant> participants = new ConcurrentHashMap<>();

    private interface Participant {
        void leave() throws Exception;
    }

    private Elections(String recipe, String connect, String path, int sessionMs) {
        this.recipe = recipe;
        this.connect = connect;
        this.path = path;
        this.sessionMs = sessionMs;
    }

    public static void main(String[] args) throws Exception {
        Elections elections = new Elections(args[0], args[1], args[2], Integer.parseInt(args[3]));
        String name = args[4];
        int count = Integer.parseInt(args[5]);
        Runtime.getRuntime().addShutdownHook(new Thread(elections::leaveAll));
        for (int index = 0; index < count; index++) {
            elections.join(count == 1 ? name : name + "-" + index);
        }
        elections.obey();
    }

    /** Never returns, even when the input ends. A signal ends the process. */
    private void obey() throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("join")) {
                join(words[1]);
            } else if (words[0].equals("leave")) {
                new Thread(() -> leave(words[1])).start();
            }
        }
        new CountDownLatch(1).await();
    }

    private void join(String name) throws Exception {
        participants.put(name, switch (recipe) {
            case "latch" -> joinLatch(name);
            case "selector" -> joinSelector(name);
            case "recipe" -> joinRecipe(name);
            default -> throw new IllegalArgumentException("latch, selector or recipe, not " + recipe);
        });
    }

    private void leave(String name) {
        Participant participant = participants.remove(name);
        if (participant == null) {
            return;
        }
        say("leaves", name);
        try {
            participant.leave();
        } catch (Exception error) {
            error.printStackTrace();
        }
    }

    private void leaveAll() {
        List<Thread> leaving = new ArrayList<>();
        for (String name : participants.keySet()) {
            Thread thread = new Thread(() -> leave(name));
            thread.start();
            leaving.add(thread);
        }
        for (Thread thread : leaving) {
            try {
                thread.join();
            } catch (InterruptedException error) {
                return;
            }
        }
    }

    private CuratorFramework client() throws InterruptedException {
        CuratorFramework client = CuratorFrameworkFactory.newClient(
            connect, sessionMs, CONNECTION_TIMEOUT_MS, new ExponentialBackoffRetry(100, 5));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    private Participant joinLatch(String name) throws Exception {
        CuratorFramework client = client();
        LeaderLatch latch = new LeaderLatch(client, path, name);
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                say("leads", name);
            }

            @Override
            public void notLeader() {
            }
        });
        latch.start();
        return () -> {
            latch.close();
            client.close();
        };
    }

    private Participant joinSelector(String name) throws Exception {
        CuratorFramework client = client();
        CountDownLatch leaves = new CountDownLatch(1);
        AtomicBoolean leads = new AtomicBoolean();
        ExecutorService work = Executors.newSingleThreadExecutor();
        LeaderSelector selector = new LeaderSelector(client, path, work, new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework framework) throws InterruptedException {
                leads.set(true);
                say("leads", name);
                leaves.await();
            }
        });
        selector.setId(name);
        selector.start();
        return () -> {
            leaves.countDown();
            if (leads.get()) {
                // The mutex is released after the work has returned. Closing the client earlier would prevent that.
                work.shutdown();
                work.awaitTermination(10, TimeUnit.SECONDS);
            }
            selector.close();
            work.shutdownNow();
            client.close();
        };
    }

    private Participant joinRecipe(String name) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper(connect, sessionMs, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        connected.await();
        makePath(client);
        LeaderElectionSupport election = new LeaderElectionSupport();
        election.setZooKeeper(client);
        election.setRootNodeName(path);
        election.setHostName(name);
        election.addListener(event -> {
            if (event == LeaderElectionSupport.EventType.ELECTED_COMPLETE) {
                say("leads", name);
            }
        });
        election.start();
        return () -> {
            election.stop();
            client.close();
        };
    }

    private void makePath(ZooKeeper client) throws KeeperException, InterruptedException {
        try {
            client.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException error) {
            // Another participant has already created the path.
        }
    }

    private static void say(String what, String name) {
        long atUs = System.nanoTime() / 1000;
        System.out.println(what + " " + name + " monotonic " + atUs / 1_000_000 + "." + padded(atUs % 1_000_000));
        System.out.flush();
    }

    private static String padded(long micros) {
        String digits = Long.toString(micros);
        return "0".repeat(6 - digits.length()) + digits;
    }
}
