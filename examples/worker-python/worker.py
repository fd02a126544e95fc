#!/usr/bin/env python3
"""A fairlead worker in Python, with the standard library only.

    python3 worker.py --server /run/fairlead/fairlead.sock --slots 4

It joins a server, runs jobs of the kinds in HANDLERS, up to --slots at once, and renews their
leases. Ctrl-C lets running tasks continue for --grace seconds and gives the rest back. Copy it, and
put functions of your own into HANDLERS.
"""
import argparse, hashlib, http.client, json, logging, os, pwd, random, signal, socket, struct, sys, threading, time
import traceback, urllib.parse

logging.basicConfig(format="%(message)s", level=logging.INFO)  # print would mix the lines of threads


class Stopped(Exception):
    """The job was cancelled, its time is over, or the lease was lost."""


class Permanent(Exception):
    """The task has failed, and no further try would mend that."""


class Away(ConnectionError):
    """Nobody listens at the server's socket, or the server cannot reach its database."""


# A handler gets a task with the arguments of its job, task.args, and calls task.check() now and
# then, which raises Stopped when it is to end. A task may run more than once.

def checksum(task):
    path = task.args["path"]
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 16):
                task.check()
                digest.update(block)
    except FileNotFoundError as error:
        raise Permanent(error)
    with open(path + ".sha256", "w") as out:
        out.write(digest.hexdigest() + "\n")


def wait(task):
    task.sleep(task.args["seconds"])


HANDLERS = {"checksum": checksum, "wait": wait}
FINAL = {"stale_attempt", "not_found", "invalid"}  # the server would refuse the same report again


class Task:
    def __init__(self, lease):
        self.ref = {"job": lease["job"], "task": lease["task"], "attempt": lease["attempt"]}
        self.spec, self.user, self.args = lease["spec"], lease["user"], lease["spec"].get("args")
        self.since, self.ended = lease["since"], None  # by the server's clock, and by our monotonic one
        self.end, self.outcome = threading.Event(), None  # the outcome is None while it runs

    def stop(self, state, cause):
        self.stopped = self.stopped if self.end.is_set() else {"state": state, "cause": cause}
        self.end.set()

    def check(self):
        if self.end.is_set():
            raise Stopped()

    def sleep(self, seconds):
        self.end.wait(seconds)
        self.check()

    def run(self):
        limit = threading.Timer(self.spec.get("limit_seconds", 1e6), self.stop, ["failed", "the time limit is over"])
        limit.daemon = True
        limit.start()
        try:
            HANDLERS[self.spec["kind"]](self)
            outcome = {"state": "succeeded"}
        except Stopped:
            outcome = self.stopped
        except BaseException as error:  # sys.exit ends a thread without a word, and its task would run forever
            if not isinstance(error, Permanent):
                logging.error(traceback.format_exc().rstrip())
            outcome = {"state": "failed", "cause": f"{type(error).__name__}: {error}"[:4000], "final": isinstance(error, Permanent)}
        self.ended = time.monotonic()
        self.outcome = outcome
        limit.cancel()
        about = "job {job}, task {task}, attempt {attempt}".format(**self.ref)
        ending = f"{self.outcome['state']} {self.outcome.get('cause', '')}".rstrip()
        logging.info(f"{about}, kind {self.spec['kind']}, for {self.user}: {ending}")


class Connection(http.client.HTTPConnection):
    """A connection over the socket of a server that runs as root, as our user, or as a trusted one."""

    def __init__(self, path, trusted):
        super().__init__("fairlead", timeout=60)
        self.path, self.trusted = path, trusted

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)
        # The system says who listens there: process, user, group.
        _, uid, _ = struct.unpack("3i", self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if uid not in self.trusted:
            self.close()
            raise PermissionError(f"user {uid} listens on {self.path}, who is not the server: see --server-user")


class Worker:
    def __init__(self, server, trusted, name, slots):
        self.server, self.trusted = server, {0, os.getuid(), *trusted}
        self.base = "/v1/agents/" + urllib.parse.quote(name, safe="") + "/"
        self.hello = {"capacity": {"cpu": slots}, "kinds": list(HANDLERS), "host": socket.gethostname(),
                      "instance": "%032x" % random.getrandbits(128)}
        self.lock, self.news, self.tasks, self.session = threading.Lock(), threading.Event(), {}, None
        self.ttl = 60
        self.sole = False  # the server says that no other server uses its database

    def call(self, verb, **body):
        """Sends a request. A lost request is an OSError; a refused one ends the worker."""
        connection = Connection(self.server, self.trusted)
        try:
            headers = {"Content-Type": "application/json"} | credential()
            connection.request("POST", self.base + verb, json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        except (ConnectionRefusedError, FileNotFoundError) as error:
            raise Away(error)
        except http.client.HTTPException as error:
            raise ConnectionError(error)
        finally:
            connection.close()
        if answer.status == 200:
            return json.loads(text)
        if answer.status == 503 and '"unavailable"' in text:
            raise Away(f"{verb}: {text}")
        if answer.status >= 500 or answer.status == 429:  # the server is away, or busy
            raise ConnectionError(f"{verb}: {text}")
        logging.error(f"{verb}: {text}")
        os._exit(1)

    def held(self, running=False):
        with self.lock:
            return [task for task in self.tasks.values() if not (running and task.outcome)]

    def join(self, again):
        for pause in backoff():
            try:
                # Ended tasks that were not reported are still ours, too. Their starts tell them from tasks
                # of the same numbers, which a database has after an older copy of it was restored.
                ours = self.held()
                answer = self.call("join", **self.hello, again=again, running=[task.ref for task in ours],
                                   running_since=[task.since for task in ours])
            except OSError as error:
                pause = min(pause, self.ttl / 5)
                logging.warning(f"the server does not answer, trying again in {pause:.1f} s: {error}")
                time.sleep(pause)
            else:
                self.session, self.ttl, self.renewed = answer["session"], answer["ttl_seconds"], time.monotonic()
                self.sole = answer.get("sole", False)
                for ref in answer.get("foreign", []):
                    self.disown(key(ref))
                return logging.info(f"joined; a lease lasts {self.ttl} seconds")

    def disown(self, unknown):
        """Ends a task that the restored database does not know, and reports nothing of it."""
        with self.lock:
            task = self.tasks.pop(unknown, None)
        if task:
            task.stop("released", "the database does not know it any more")

    def work(self):
        """Takes work until Ctrl-C."""
        self.join(again=False)
        threading.Thread(target=self.report, daemon=True).start()
        ack, pauses = [], backoff()
        while True:
            try:
                answer = self.call("poll", session=self.session, ack=ack, wait_seconds=30)
            except OSError:
                time.sleep(min(next(pauses), self.ttl / 5))
                continue
            ack, pauses, self.sole = [], backoff(), answer.get("sole", False)
            if answer.get("displaced"):
                sys.exit("another worker has joined under this name")
            if answer.get("rejoin"):
                self.join(again=True)
            for lease in answer.get("start", []):
                task = Task(lease)
                ack.append(task.ref)
                with self.lock:
                    known = self.tasks.setdefault(key(task.ref), task)
                if known is task:  # and not one that was sent again, as the acknowledgement was lost
                    threading.Thread(target=lambda task: (task.run(), self.news.set()), args=[task], daemon=True).start()
            for stop in answer.get("stop", []):
                if task := self.tasks.get(key(stop)):
                    task.stop("cancelled", stop["cause"])

    def report(self):
        """Reports ends at once, and renews the leases in time."""
        pauses = backoff()
        while True:
            self.news.wait(self.ttl / 3)
            self.news.clear()
            try:
                self.tell()
                pauses = backoff()
            except OSError as error:
                if self.sole and isinstance(error, Away):  # no other server can give our tasks to others
                    self.renewed = time.monotonic()
                time.sleep(min(next(pauses), self.ttl / 5))
                self.news.set()
            if time.monotonic() - self.renewed > 0.9 * self.ttl:
                for task in self.held(running=True):
                    task.stop("released", "the lease could not be renewed")

    def tell(self):
        sent = time.monotonic()
        ended = [task for task in self.held() if task.outcome]
        running = self.held(running=True)
        finished = [task for task in ended if task.outcome["state"] != "released"]
        released = [task for task in ended if task.outcome["state"] == "released"]
        answer = self.call(
            "report", session=self.session, renew=[task.ref for task in running],
            finished=[task.ref | task.outcome | {"ended_seconds_ago": max(0, sent - task.ended)} for task in finished],
            release=[task.ref for task in released])
        if answer.get("rejoin"):
            return  # the poll joins again, and names what we hold
        self.renewed = sent
        with self.lock:
            for task, error in zip(finished + released, answer.get("finished", []) + [None] * len(released)):
                if not error or error["code"] in FINAL:  # else the server could not record it: report it again
                    self.tasks.pop(key(task.ref), None)
        for task, error in zip(running, answer.get("renew", [])):
            if error and error["code"] == "stale_attempt":
                task.stop("cancelled", "the lease was lost")

    def leave(self, grace):
        """Takes nothing new, waits for running tasks, and gives back tasks that do not end in time."""
        if not self.session:
            return
        self.call("report", session=self.session, drain=True)
        until = time.monotonic() + grace
        while self.held(running=True) and time.monotonic() < until + 5:
            if time.monotonic() > until:
                for task in self.held(running=True):
                    task.stop("released", "the worker ends")
            time.sleep(0.05)
        self.tell()
        self.call("report", session=self.session, leave=True)


def key(ref):
    return ref["job"], ref["task"], ref["attempt"]


def backoff(pause=0.1, longest=5):
    """Pauses that double, with chance in them, so that many workers do not come back at once."""
    while True:
        yield pause * random.uniform(0.5, 1)
        pause = min(2 * pause, longest)


def credential():
    """The token in the file that FAIRLEAD_TOKEN_FILE names; without one we are whoever the system says."""
    path = os.environ.get("FAIRLEAD_TOKEN_FILE")
    if not path:
        return {}
    with open(path) as file:
        if os.fstat(file.fileno()).st_mode & 0o077:
            sys.exit(f"other users can read the token in {path}: chmod 600 {path}")
        return {"Authorization": "Bearer " + file.read().strip()}


def here():
    """The socket of our own server if there is one, else that of the machine's."""
    own = os.path.join(os.environ.get("XDG_RUNTIME_DIR", f"/tmp/fairlead-{os.getuid()}"), "fairlead.sock")
    return own if os.path.exists(own) else "/run/fairlead/fairlead.sock"


if __name__ == "__main__":
    flags = argparse.ArgumentParser(description="Run jobs of the kinds " + ", ".join(HANDLERS) + ".")
    flags.add_argument("--server", default=os.environ.get("FAIRLEAD_SERVER") or here(), help="path of its socket")
    flags.add_argument("--server-user", default=os.environ.get("FAIRLEAD_SERVER_USER"), help="as whom it runs, if that is neither root nor you")
    flags.add_argument("--name", default=f"{socket.gethostname()}-python-{os.getpid()}")
    flags.add_argument("--slots", type=int, default=4)
    flags.add_argument("--grace", type=float, default=10)
    args = flags.parse_args()
    worker = Worker(args.server, [pwd.getpwnam(args.server_user).pw_uid] if args.server_user else [], args.name, args.slots)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        worker.work()
    except KeyboardInterrupt:
        worker.leave(args.grace)
