import { setTimeout as pause } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { Actor } from '../common/access.js';
import { Forbidden, resultOr } from '../common/errors/errors.js';
import { exactJson } from '../common/exact-json.js';
import type { Cookies } from '../common/http/cookies.js';
import { assertCsrf } from '../common/http/csrf.js';
import { isRecord } from '../common/records.js';
import { resource } from '../common/resource/define-resource.js';
import type { CommonServices } from '../common/rest/common-services.service.js';
import {
  INVENTORY_CHANNEL,
  type InventoriesRepository,
} from '../inventories/inventories.repository.js';
import type { JobEventsRepository } from '../runs/events/job-events.repository.js';
import { nextEvents } from '../runs/events/run-events.js';
import { Watch, type RunSignalFeed } from '../runs/live/run-signal-feed.service.js';
import { runChannel, SCHEDULE_CHANNEL, STATUS_CHANNEL } from '../runs/run-signals.service.js';
import type { LiveRun, RunsRepository } from '../runs/runs.repository.js';
import { isFinal } from '../runs/state-machine.js';
import type { JobStatus } from '../runs/unified-job.entity.js';
import { groupChanges, EVENT_GROUPS, readGroups, type LiveGroup } from './groups.js';
import { statusMessage, summaryMessage, workflowMessage } from './messages.js';

/** Time in ms after which the session and the followed runs are checked even without a message. */
const MAX_WAIT_MS = 3000;
/** Time in which changes are gathered for one check, in ms. */
const BATCH_DELAY_MS = 50;
/** Interval of pings, in ms. A client that sent no pong to the last ping is disconnected. */
const PING_MS = 15_000;
/** Time within which a client must receive a message, in ms. */
const SEND_TIMEOUT_MS = 10_000;
/** Maximum number of unread messages of a client. */
const MAX_UNREAD = 10;
/** Maximum number of runs whose events a client follows. */
const MAX_FOLLOWED = 20;
/** Maximum numbers of changed objects per kind and of sent statuses in memory. */
const MAX_CHANGED = 10_000;
const MAX_STATUSES = 1000;
/** Maximum number of changed objects in one statement. */
const BATCH = 200;

const DENIED = { error: 'access denied to channel' };
const POLICY_VIOLATION = 1008;

/** Caller of a websocket: the request of the handshake, and its session. */
export interface SocketCaller {
  request: Cookies;
  /** Returns the user, or null once the session has ended. */
  authenticate: () => Promise<Actor | null>;
}

/** Services that a client needs. */
export interface LiveServices {
  feed: RunSignalFeed;
  runs: RunsRepository;
  runEvents: JobEventsRepository;
  inventories: InventoriesRepository;
  services: CommonServices;
}

/** Run whose events a client follows. */
interface FollowedRun {
  group: string;
  /** Counter of the last event that was sent. */
  after: number;
  /** True if there can be events that were not sent. */
  hasChanges: boolean;
  release: () => void;
}

/**
 * Client of the websocket with its subscription and the state that was sent to it. One loop does all work
 * in order. Before the loop sends changes, it authenticates the caller and checks the permission on each
 * run again.
 */
export class LiveClient {
  private groups: ReadonlySet<string> = new Set();
  private readonly followed = new Map<number, FollowedRun>();
  /** Runs with a change of status that has not been sent. */
  private readonly changed = new Set<number>();
  /** Schedules with a change that has not been sent. */
  private readonly schedules = new Set<number>();
  /** Inventories with a change of status that has not been sent, and inventories in deletion. */
  private readonly inventories = new Set<number>();
  private readonly deleting = new Set<number>();
  /** Last status that was sent, by run, for the runs with the latest messages. */
  private readonly statuses = new Map<number, JobStatus>();
  private readonly unread: unknown[] = [];
  private readonly watch = new Watch(() => undefined);
  private isAlive = true;
  private lastPing = Date.now();

  constructor(
    private readonly client: WebSocket,
    private readonly caller: SocketCaller,
    private readonly live: LiveServices,
  ) {
    client.on('pong', () => (this.isAlive = true));
    client.on('error', () => client.terminate());
    client.on('message', (data: Buffer) => this.receive(data));
  }

  /** Serves the client until it leaves, its session ends, or the signal aborts. */
  async serve(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.client.close(1001));
    const releases = [
      this.listen(STATUS_CHANNEL, this.changed, () => this.wantsStatuses),
      this.listen(SCHEDULE_CHANNEL, this.schedules, () => this.groups.has('schedules-changed')),
      this.listen(INVENTORY_CHANNEL, this.inventories, () =>
        this.groups.has('inventories-status_changed'),
      ),
    ];
    try {
      for (let hasGreeted = false; !signal.aborted && this.isOpen; hasGreeted = true) {
        const actor = await this.caller.authenticate();
        if (!actor) {
          this.client.close(POLICY_VIOLATION);
          return;
        }
        if (!hasGreeted) await this.send({ accept: true, user: actor.id });
        for (const message of this.unread.splice(0)) await this.subscribe(message, actor);
        await this.sendSchedules(actor);
        await this.sendInventories(actor);
        if (!(await this.sendChanges(actor))) await this.wait(signal);
      }
    } finally {
      for (const release of releases) release();
      for (const { release: leave } of this.followed.values()) leave();
    }
  }

  private async wait(signal: AbortSignal): Promise<void> {
    if (await this.watch.next(MAX_WAIT_MS, signal)) {
      await pause(BATCH_DELAY_MS, undefined, { signal }).catch(() => undefined);
    } else for (const run of this.followed.values()) run.hasChanges = true;
    if (Date.now() - this.lastPing < PING_MS || !this.isOpen) return;
    if (!this.isAlive) return this.client.terminate();
    this.isAlive = false;
    this.lastPing = Date.now();
    this.client.ping();
  }

  private receive(data: Buffer): void {
    if (this.unread.length >= MAX_UNREAD) this.client.close(POLICY_VIOLATION);
    else this.unread.push(resultOr((): unknown => JSON.parse(data.toString()), null));
    this.watch.notify();
  }

  /** Collects the ids that messages on a channel contain, while they are wanted. */
  private listen(channel: string, ids: Set<number>, isWanted: () => boolean): () => void {
    return this.live.feed.listen(channel, (message) => {
      if (message === undefined) return this.checkUnfinished();
      if (!isWanted()) return;
      const changed: unknown = JSON.parse(message);
      for (const id of Array.isArray(changed) ? changed.map(Number) : []) {
        if (ids.size < MAX_CHANGED) ids.add(id);
      }
      this.watch.notify();
    });
  }

  /** Checks the unfinished runs again, because messages about their statuses may have been lost. */
  private checkUnfinished(): void {
    for (const [id, status] of this.statuses) if (!isFinal(status)) this.changed.add(id);
    this.watch.notify();
  }

  private get wantsStatuses(): boolean {
    return [...this.groups].some((name) => name.startsWith('jobs-') || isOfWorkflow(name));
  }

  /** Replaces the subscription. A message without the token of the session ends the connection. */
  private async subscribe(message: unknown, actor: Actor): Promise<void> {
    const { xrftoken, groups } = isRecord(message) ? message : {};
    try {
      assertCsrf(this.caller.request, xrftoken);
    } catch (error) {
      if (!(error instanceof Forbidden)) throw error;
      await this.send(DENIED);
      this.client.close(POLICY_VIOLATION);
      return;
    }
    if (groups === undefined) return;
    const requested = readGroups(groups);
    if (!requested) return this.send(DENIED);
    const denied = await this.follow(requested, actor);
    for (const { group, member } of denied) {
      await this.send({ error: `${DENIED.error} ${group} for resource id ${member}` });
    }
    const names = requested.filter((group) => !denied.includes(group)).map(({ name }) => name);
    const before = this.groups;
    this.groups = new Set(names);
    await this.send(groupChanges(before, this.groups));
  }

  /** @returns groups of events of runs that the caller cannot read, or that exceed the limit */
  private async follow(requested: readonly LiveGroup[], actor: Actor): Promise<LiveGroup[]> {
    const events = requested.filter(({ group }) => EVENT_GROUPS.has(group));
    const ids = events.map(({ member }) => Number(member)).filter((id) => Number.isSafeInteger(id));
    const rows = ids.length > 0 ? await this.live.runs.live(ids, actor) : [];
    const readable = new Map(rows.filter((run) => run.may_read).map((run) => [run.id, run]));
    const admitted = events
      .filter(({ group, member }) => readable.get(Number(member))?.type === EVENT_GROUPS.get(group))
      .slice(0, MAX_FOLLOWED);
    const groupsById = new Map(admitted.map(({ group, member }) => [Number(member), group]));
    for (const id of this.followed.keys()) if (!groupsById.has(id)) this.leave(id);
    const added = [...groupsById].filter(([id]) => !this.followed.has(id));
    const lastCounters = await this.live.runEvents.lastCounters(added.map(([id]) => id));
    for (const [id, group] of added) this.join(id, { group, after: lastCounters.get(id) ?? 0 });
    return events.filter((group) => !admitted.includes(group));
  }

  private join(id: number, run: Pick<FollowedRun, 'group' | 'after'>): void {
    const release = this.live.feed.listen(runChannel(id), () => {
      const followed = this.followed.get(id);
      if (followed) followed.hasChanges = true;
      this.watch.notify();
    });
    this.followed.set(id, { ...run, hasChanges: true, release });
  }

  private leave(id: number): void {
    this.followed.get(id)?.release();
    this.followed.delete(id);
  }

  /**
   * Sends a limited part of the changes.
   *
   * @returns true if there are more changes
   */
  private async sendChanges(actor: Actor): Promise<boolean> {
    const changed = [...this.changed].slice(0, BATCH);
    const ids = new Set([...changed, ...this.followed.keys()]);
    if (ids.size === 0) return this.schedules.size + this.inventories.size > 0;
    const runs = new Map((await this.live.runs.live([...ids], actor)).map((run) => [run.id, run]));
    const unfinished = new Set<number>();
    for (const [id, followed] of this.followed) {
      const run = runs.get(id);
      if (!run?.may_read) this.leave(id);
      else if (await this.sendEvents(run, followed, actor)) unfinished.add(id);
    }
    // The statuses were read before the events, so a final status comes after the last event.
    for (const id of ids) {
      if (unfinished.has(id) || !this.changed.delete(id)) continue;
      const run = runs.get(id);
      if (run) await this.sendStatus(run);
    }
    return unfinished.size + this.changed.size + this.schedules.size + this.inventories.size > 0;
  }

  /**
   * Sends the next events of a run.
   *
   * @returns true if there are more events
   */
  private async sendEvents(run: LiveRun, followed: FollowedRun, actor: Actor): Promise<boolean> {
    const { id, type, status } = run;
    if (this.statuses.get(id) !== status) this.changed.add(id);
    if (!followed.hasChanges) return false;
    followed.hasChanges = false;
    if (isOfWorkflow(followed.group)) return false;
    const { services } = this.live;
    const page = await nextEvents(services, resource(type), { id, after: followed.after }, actor);
    for (const event of page.results) {
      followed.after = Number(event.counter);
      await this.send({ ...event, [type]: id, group_name: followed.group });
    }
    followed.hasChanges ||= page.hasNext;
    return page.hasNext;
  }

  private async sendStatus(run: LiveRun): Promise<void> {
    const { id, status, may_read: isReadable, workflow_job_id: workflow } = run;
    if (this.statuses.get(id) === status) return;
    this.recordSent(id, status);
    // Users with permission to read a workflow job can see the statuses of its nodes.
    if (workflow !== null && this.followed.has(workflow)) await this.send(workflowMessage(run));
    if (!isReadable) return;
    if (this.groups.has('jobs-status_changed')) await this.send(statusMessage(run));
    if (this.groups.has('jobs-summary') && isFinal(status)) await this.send(summaryMessage(run));
  }

  private async sendSchedules(actor: Actor): Promise<void> {
    const ids = [...this.schedules].slice(0, BATCH);
    if (ids.length === 0) return;
    for (const id of ids) this.schedules.delete(id);
    const query = { id__in: ids.join(), page_size: String(BATCH), count_disabled: '1' };
    const { resources } = this.live.services;
    const { results, hasNext } = await resources.list(resource('schedule'), query, actor);
    for (const { id } of results) await this.send({ group_name: 'schedules', id });
    if (!hasNext) return;
    // A page can be smaller than the batch (MAX_PAGE_SIZE).
    const sent = new Set(results.map(({ id }) => id));
    for (const id of ids) if (!sent.has(id)) this.schedules.add(id);
  }

  /**
   * Sends the changes of inventories. The end of a deletion is sent to callers who can read all inventories,
   * or who received the start of the deletion.
   */
  private async sendInventories(actor: Actor): Promise<void> {
    const ids = [...this.inventories].slice(0, BATCH);
    if (ids.length === 0) return;
    const pending = await this.live.inventories.pendingAmong(ids, actor);
    for (const id of ids) {
      this.inventories.delete(id);
      const fields = { group_name: 'inventories', inventory_id: id };
      if (pending.has(id)) {
        if (this.deleting.size < MAX_CHANGED) this.deleting.add(id);
        await this.send({ ...fields, status: 'pending_deletion' });
      } else if (this.deleting.delete(id) || actor.isSuperuser || actor.isSystemAuditor) {
        await this.send({ ...fields, status: 'deleted' });
      }
    }
  }

  private recordSent(id: number, status: JobStatus): void {
    this.statuses.delete(id);
    this.statuses.set(id, status);
    const [oldest] = this.statuses.keys();
    if (oldest !== undefined && this.statuses.size > MAX_STATUSES) this.statuses.delete(oldest);
  }

  private get isOpen(): boolean {
    return this.client.readyState === this.client.OPEN;
  }

  /** Resolves when the client has received the message. A slow client is disconnected. */
  private send(message: object): Promise<void> {
    if (!this.isOpen) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.client.terminate(), SEND_TIMEOUT_MS);
      this.client.send(exactJson(message), () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

const isOfWorkflow = (group: string): boolean => group.startsWith('workflow_events');
