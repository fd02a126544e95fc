// A fairlead worker in TypeScript, with nothing but node (18 or later).
//
//     node worker.ts --server /run/fairlead/fairlead.sock --slots 4     (node 22.18 or later)
//     npx tsc && node worker.js                                         (before that)
//
// It joins a server, runs jobs of the kinds in handlers, up to --slots at once, and renews their
// leases. Ctrl-C lets running tasks continue for --grace seconds and gives the rest back. Copy it, and
// put functions of your own into handlers.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, realpath, stat, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

type Ref = { job: number; task: number; attempt: number };
type Lease = Ref & { since: string; user: string; spec: { kind: string; args?: any; limit_seconds?: number } };
type Outcome = { state: "succeeded" | "failed" | "cancelled" | "released"; cause?: string; final?: boolean };
type Task = { lease: Lease; abort: AbortController; stopped?: Outcome; outcome?: Outcome; ended?: number };
type Problem = { code: string; detail: string } | null;

/** The task has failed, and no further try would mend that. */
class Permanent extends Error {}

/** Nobody listens at the server's socket, or the server cannot reach its database. */
class Away extends Error {}

// A handler gets the arguments of the job, and a signal that is aborted when it is to end. A
// task may run more than once.
const handlers: Record<string, (args: any, signal: AbortSignal) => Promise<void>> = {
  async checksum(args: { path: string }, signal) {
    const data = await readFile(args.path, { signal }).catch((error) => {
      throw error.code === "ENOENT" ? new Permanent(error.message) : error;
    });
    await writeFile(args.path + ".sha256", createHash("sha256").update(data).digest("hex") + "\n", { signal });
  },
  async wait(args: { seconds: number }, signal) {
    await sleep(1000 * args.seconds, undefined, { signal });
  },
};

// The socket of our own server if there is one, else that of the machine's.
const FINAL = ["stale_attempt", "not_found", "invalid"]; // the server would refuse the same report again

const own = `${process.env.XDG_RUNTIME_DIR ?? `/tmp/fairlead-${process.getuid!()}`}/fairlead.sock`;
const here = existsSync(own) ? own : "/run/fairlead/fairlead.sock";

const flags = parseArgs({
  options: {
    server: { type: "string", default: process.env.FAIRLEAD_SERVER || here },
    // The number of the user as whom the server runs, if that is neither root nor you: id -u NAME.
    "server-uid": { type: "string" },
    name: { type: "string", default: `${hostname()}-node-${process.pid}` },
    slots: { type: "string", default: "4" },
    grace: { type: "string", default: "10" },
  },
}).values;

const instance = createHash("sha256").update(`${Math.random()} ${process.pid} ${Date.now()}`).digest("hex");
const tasks = new Map<string, Task>(); // by their attempt, until their end has been reported
const away = new AbortController(); // ends the poll
let session = "", ttl = 60, renewed = 0;
let sole = false; // the server says that no other server uses its database

const key = (r: Ref) => `${r.job}/${r.task}/${r.attempt}`;
const refOf = ({ lease: { job, task, attempt } }: Task): Ref => ({ job, task, attempt });
const running = () => [...tasks.values()].filter((t) => !t.outcome);
const now = () => performance.now() / 1000;

/**
 * Finds the socket, and checks that nobody but root, this user and the server's user can have put it
 * there: it and each directory above it have to belong to one of them, and others must not be able to
 * exchange its contents. Node does not say who is at the other end of a connection.
 */
async function trusted(path: string): Promise<string> {
  const users = [0, process.getuid!(), Number(flags["server-uid"] ?? 0)];
  const socket = await realpath(path);
  for (let at = socket; ; at = dirname(at)) {
    const { uid, mode } = await stat(at);
    const shared = at !== socket && (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
    if (shared || !users.includes(uid)) throw new Error(`user ${uid} owns ${at}, so ${socket} may be another's server (see server-uid)`);
    if (at === dirname(at)) return socket;
  }
}

/** The token in the file that FAIRLEAD_TOKEN_FILE names; without one we are whoever the system says. */
async function credential(): Promise<{ Authorization?: string }> {
  const path = process.env.FAIRLEAD_TOKEN_FILE;
  if (!path) return {};
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) {
    console.error(`other users can read the token in ${path}: chmod 600 ${path}`);
    process.exit(1);
  }
  return { Authorization: "Bearer " + (await readFile(path, "utf8")).trim() };
}

/** Sends a request. A lost request is an exception; a refused one ends the worker. */
async function call(verb: string, body: object, signal: AbortSignal = AbortSignal.timeout(60_000)): Promise<any> {
  const socketPath = await trusted(flags.server!).catch((error) => {
    throw error.code === "ENOENT" ? new Away(error.message) : error;
  });
  const headers = { Host: "fairlead", "Content-Type": "application/json", ...(await credential()) };
  const { status, text } = await new Promise<{ status: number; text: string }>((done, fail) => {
    const path = `/v1/agents/${encodeURIComponent(flags.name!)}/${verb}`;
    const sent = request({ socketPath, path, method: "POST", headers, signal }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => (text += part)).on("end", () => done({ status: answer.statusCode!, text })).on("error", fail);
    });
    const absent = (error: any) => fail(["ECONNREFUSED", "ENOENT"].includes(error.code) ? new Away(error.message) : error);
    sent.on("error", absent).end(JSON.stringify(body));
  });
  if (status === 200) return JSON.parse(text);
  if (status === 503 && text.includes('"unavailable"')) throw new Away(`${verb}: ${text}`);
  if (status >= 500 || status === 429) throw new Error(`${verb}: ${text}`);
  console.error(`${verb}: ${text}`);
  process.exit(1);
}

/** Pauses that double, with chance in them, so that many workers do not come back at once. */
class Backoff {
  next = 0.1;
  async pause(most = 5) {
    await sleep(1000 * Math.min(most, this.next) * (0.5 + Math.random() / 2));
    this.next = Math.min(2 * this.next, 5);
  }
}

async function join(again: boolean) {
  for (const backoff = new Backoff(); !away.signal.aborted; await backoff.pause(ttl / 5)) {
    try {
      // Ended tasks that were not reported are still ours, too. Their starts tell them from tasks of the
      // same numbers, which a database has after an older copy of it was restored.
      const ours = [...tasks.values()];
      const hello = { capacity: { cpu: Number(flags.slots) }, kinds: Object.keys(handlers), host: hostname(), instance };
      const held = { running: ours.map(refOf), running_since: ours.map((t) => t.lease.since) };
      const answer = await call("join", { ...hello, again, ...held });
      [session, ttl, renewed, sole] = [answer.session, answer.ttl_seconds, now(), Boolean(answer.sole)];
      for (const ref of (answer.foreign ?? []) as Ref[]) disown(key(ref));
      console.log("joined; a lease lasts", ttl, "seconds");
      return;
    } catch (error) {
      console.log("the server does not answer, trying again:", String(error));
    }
  }
}

/** Ends a task that the restored database does not know, and reports nothing of it. */
function disown(unknown: string) {
  const task = tasks.get(unknown);
  tasks.delete(unknown);
  stop(task, { state: "released", cause: "the database does not know it any more" });
}

/** Takes work until Ctrl-C. */
async function work() {
  await join(false);
  report();
  let ack: Ref[] = [];
  for (let backoff = new Backoff(); !away.signal.aborted; ) {
    let answer: any;
    try {
      answer = await call("poll", { session, ack, wait_seconds: 30 }, away.signal);
    } catch {
      if (!away.signal.aborted) await backoff.pause(ttl / 5);
      continue;
    }
    [ack, backoff, sole] = [[], new Backoff(), Boolean(answer.sole)];
    if (answer.displaced) {
      console.error("another worker has joined under this name");
      process.exit(1);
    }
    if (answer.rejoin) await join(true);
    for (const lease of (answer.start ?? []) as Lease[]) {
      const task: Task = { lease, abort: new AbortController() };
      ack.push(refOf(task));
      if (tasks.has(key(lease))) continue; // sent again, as the acknowledgement was lost
      tasks.set(key(lease), task);
      run(task);
    }
    for (const s of answer.stop ?? []) stop(tasks.get(key(s)), { state: "cancelled", cause: s.cause });
  }
}

function stop(task: Task | undefined, outcome: Outcome) {
  if (!task) return;
  task.stopped ??= outcome;
  task.abort.abort();
}

async function run(task: Task) {
  const { spec, user, job, task: index, attempt } = task.lease;
  const limit = setTimeout(stop, 1000 * Math.min(spec.limit_seconds || 2e6, 2e6), task, { state: "failed", cause: "the time limit is over" });
  let outcome: Outcome = { state: "succeeded" };
  try {
    await handlers[spec.kind](spec.args, task.abort.signal);
  } catch (error) {
    if (!task.stopped && !(error instanceof Permanent)) console.error(error);
    outcome = task.stopped ?? { state: "failed", cause: String(error).slice(0, 4000), final: error instanceof Permanent };
  }
  clearTimeout(limit);
  [task.ended, task.outcome] = [now(), outcome];
  console.log(`job ${job}, task ${index}, attempt ${attempt}, kind ${spec.kind}, for ${user}: ${outcome.state}`, outcome.cause ?? "");
  await tell().catch(() => {}); // or else the next report says it
}

/** Renews the leases in time, and reports what could not be reported at once. */
async function report() {
  for (const backoff = new Backoff(); ; ) {
    await sleep((1000 * ttl) / 3, undefined, { ref: false });
    for (let error; (error = await tell().then(() => undefined, (e) => e)); await backoff.pause(ttl / 5)) {
      if (sole && error instanceof Away) renewed = now(); // no other server can give our tasks to others
      if (now() - renewed > 0.9 * ttl) for (const t of running()) stop(t, { state: "released", cause: "the lease could not be renewed" });
    }
    backoff.next = 0.1;
  }
}

async function tell() {
  const sent = now(), renew = running(), ended = [...tasks.values()].filter((t) => t.outcome);
  const released = (t: Task) => t.outcome!.state === "released";
  const finished = ended.filter((t) => !released(t));
  const answer = await call("report", {
    session,
    renew: renew.map(refOf),
    finished: finished.map((t) => ({ ...refOf(t), ...t.outcome, ended_seconds_ago: Math.max(0, sent - t.ended!) })),
    release: ended.filter(released).map(refOf),
  });
  if (answer.rejoin) return; // the poll joins again, and names what we hold
  renewed = sent;
  for (const t of ended.filter(released)) tasks.delete(key(t.lease));
  finished.forEach((t, i) => {
    const problem = (answer.finished as Problem[] | undefined)?.[i];
    // With any other code the server could not record the end: the next report repeats it.
    if (!problem || FINAL.includes(problem.code)) tasks.delete(key(t.lease));
  });
  (answer.renew as Problem[] | undefined)?.forEach((problem, i) => {
    if (problem?.code === "stale_attempt") stop(renew[i], { state: "cancelled", cause: "the lease was lost" });
  });
}

/** Takes nothing new, waits for running tasks, and gives back tasks that do not end in time. */
async function leave() {
  if (away.signal.aborted || !session) process.exit(1); // asked twice, or there is nothing to give back
  away.abort();
  await call("report", { session, drain: true });
  const until = now() + Number(flags.grace);
  while (running().length > 0 && now() < until + 5) {
    if (now() > until) for (const t of running()) stop(t, { state: "released", cause: "the worker ends" });
    await sleep(50);
  }
  await tell();
  await call("report", { session, leave: true });
  process.exit(0);
}

process.on("SIGINT", leave).on("SIGTERM", leave);
await work();
