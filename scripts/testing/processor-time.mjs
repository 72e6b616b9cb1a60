import { readdirSync, readFileSync } from 'node:fs';

/** Interval of samples. Processes that live shorter are counted with the parent that waited for them. */
const SAMPLE_MS = 500;
/** Linux counts processor time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Kinds of processes by their command lines; the first that matches counts. */
const KINDS = /** @type {const} */ ([
  ['PostgreSQL', /postgres/],
  ['Redis', /redis-server/],
  ['Chromium', /chrom/],
  ['Jest', /jest/],
  ['worker of the product', /dist\/worker\.js/],
  ['API of the product', /dist\/main\.js/],
  ['command line of the product', /dist\/cli\.js/],
  ['Ansible', /ansible-(playbook|inventory|galaxy)/],
  ['Python', /python/],
  ['podman', /podman|conmon|crun|runc/],
  ['git', /\bgit\b/],
]);

/**
 * Measures the processor time of this process's descendants by kind, by samples of `/proc` while they run.
 * Measures nothing without `/proc`.
 */
export class ProcessorTime {
  /** @type {Map<string, { kind: string, ticks: number }>} by process id and start time */
  #seen = new Map();
  /** @type {Set<number>} */
  #descendants = new Set([process.pid]);
  #timer = setInterval(() => this.#sample(), SAMPLE_MS).unref();
  #waitedBefore = waitedTicks();

  /** @returns {{ total: number, kinds: [kind: string, seconds: number][] }} kind with the most time first */
  stop() {
    clearInterval(this.#timer);
    this.#sample();
    /** @type {Map<string, number>} */
    const kinds = new Map();
    let counted = 0;
    for (const { kind, ticks } of this.#seen.values()) {
      kinds.set(kind, (kinds.get(kind) ?? 0) + ticks);
      counted += ticks;
    }
    const waited = waitedTicks() - this.#waitedBefore;
    if (waited > counted) kinds.set('too short to be sampled', waited - counted);
    const rows = [...kinds]
      .map(([kind, ticks]) => /** @type {[string, number]} */ ([kind, ticks / TICKS_PER_SECOND]))
      .filter(([, seconds]) => seconds >= 1)
      .sort(([, a], [, b]) => b - a);
    return { total: Math.max(counted, waited) / TICKS_PER_SECOND, kinds: rows };
  }

  #sample() {
    const rows = processes();
    // Parents usually come before their children. A child that comes first is found by the next sample.
    for (const { pid, parent, key, ticks } of rows) {
      if (!this.#descendants.has(parent)) continue;
      this.#descendants.add(pid);
      const known = this.#seen.get(key);
      // A process that has just been forked still has the command line of its parent.
      if (known && known.ticks > 0) known.ticks = ticks;
      else this.#seen.set(key, { kind: kindOf(pid), ticks });
    }
  }
}

function processes() {
  /** @type {{ pid: number, parent: number, key: string, ticks: number }[]} */
  const rows = [];
  for (const name of entries()) {
    const fields = statOf(name);
    if (!fields) continue;
    const pid = Number(name);
    const [parent, user, system, start] = [1, 11, 12, 19].map((index) => Number(fields[index]));
    rows.push({
      pid,
      parent: parent ?? 0,
      key: `${pid}:${start}`,
      ticks: (user ?? 0) + (system ?? 0),
    });
  }
  return rows;
}

/** Returns the processor time of descendants that have ended and were waited for. */
function waitedTicks() {
  const fields = statOf('self');
  return fields ? Number(fields[13]) + Number(fields[14]) : 0;
}

function entries() {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/**
 * Returns the fields of a process after the name of the program, see proc(5).
 *
 * @param {string} name
 */
function statOf(name) {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null; // The process has ended.
  }
}

/** @param {number} pid */
function kindOf(pid) {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
    return KINDS.find(([, pattern]) => pattern.test(command))?.[0] ?? 'others';
  } catch {
    return 'others';
  }
}
