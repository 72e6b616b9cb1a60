import { setTimeout as sleep } from 'node:timers/promises';

import { hasChanged, needsChange } from './comparison.js';
import { isItem, type Item } from './python-values.js';
import { itemOf, member, ModuleFailure, related, type Wire } from './wire.js';

/** Result of a task. */
export interface Outcome extends Item {
  changed: boolean;
}

/** Ids for the lists below an object, by the name of the list. */
export type Associations = Record<string, number[]>;

export interface Search {
  nameOrId?: string;
  query?: Item;
}

export interface Waiting {
  /** Timeout in seconds. */
  timeout?: number;
  interval?: number;
}

/** Lists whose order matters: they are emptied and filled again. */
const ORDERED = ['instance_groups', 'galaxy_credentials', 'input_inventories'];
const NAMES: Record<string, string> = {
  users: 'username',
  workflow_job_template_nodes: 'identifier',
  instances: 'hostname',
};
const UNDER_WAY = ['new', 'pending', 'waiting', 'running'];
const MAX_LISTED = 10_000;

/** One task, with the steps that all modules of the collection are composed of. */
export class ModuleRun {
  readonly outcome: Outcome = { changed: false };

  constructor(
    readonly wire: Wire,
    readonly params: Item,
  ) {}

  /** Finds an object by name, number or named URL; undefined if there is none. */
  async find(endpoint: string, { nameOrId, query = {} }: Search): Promise<Item | undefined> {
    if (nameOrId?.includes('++')) {
      const named = encodeURIComponent(nameOrId).replaceAll('%2B', '+');
      const { status, json } = await this.wire.get(`${endpoint}/${named}/`);
      if (status === 200) return json;
    }
    const asked = nameOrId ? { ...query, ...nameQuery(endpoint, nameOrId) } : query;
    const { status, json } = await this.wire.get(endpoint, asked);
    if (status !== 200)
      throw new ModuleFailure(`${endpoint} answered ${status}: ${JSON.stringify(json)}`);
    const results = resultsOf(json);
    const count = Number(member(json, 'count'));
    if (count === 0) return undefined;
    if (count === 1) return results[0];
    const byId = nameOrId && results.find(({ id }) => String(id) === nameOrId);
    if (byId) return byId;
    throw new ModuleFailure(`${endpoint}: ${count} objects for ${JSON.stringify(asked)}.`);
  }

  async get(endpoint: string, search: Search): Promise<Item> {
    const found = await this.find(endpoint, search);
    if (!found)
      throw new ModuleFailure(`${endpoint}: nothing for ${JSON.stringify(search)}, expected one.`);
    return found;
  }

  async idOf(endpoint: string, nameOrId: string, query: Item = {}): Promise<number> {
    return Number(member(await this.get(endpoint, { nameOrId, query }), 'id'));
  }

  /** Returns the rows of all pages of a list. */
  async all(endpoint: string, query: Item = {}): Promise<Item[]> {
    const { json } = await this.wire.get(endpoint, query);
    if (Number(member(json, 'count')) > MAX_LISTED)
      throw new ModuleFailure(`${endpoint} holds too many objects.`);
    const results = resultsOf(json);
    let next = member(json, 'next');
    while (next !== null) {
      const page = (await this.wire.get(String(next))).json;
      results.push(...resultsOf(page));
      next = member(page, 'next');
    }
    return results;
  }

  /**
   * Creates the object or changes its differences, and then its lists.
   *
   * @returns the object in the last response
   */
  async ensure(
    existing: Item | undefined,
    fields: Item,
    endpoint: string,
    associations: Associations = {},
  ): Promise<Item> {
    const sent = Object.fromEntries(
      Object.entries(fields).filter(([, value]) => value !== undefined),
    );
    const item = existing ? await this.update(existing, sent) : await this.create(sent, endpoint);
    for (const [list, ids] of Object.entries(associations))
      await this.associate(`${String(member(item, 'url'))}${list}/`, ids);
    return item;
  }

  async remove(existing: Item | undefined): Promise<void> {
    if (!existing) return;
    const { status, json } = await this.wire.delete(String(member(existing, 'url')));
    if (status !== 202 && status !== 204)
      throw new ModuleFailure(`Unable to delete: ${status} ${JSON.stringify(json)}`);
    Object.assign(this.outcome, { changed: true, id: member(existing, 'id') });
  }

  /** Copies an object under a new name. */
  async copy(endpoint: string, from: string, name: string, query: Item = {}): Promise<Item> {
    const original = await this.get(endpoint, { nameOrId: from, query });
    const link = related(original, 'copy');
    if (endpoint === 'workflow_job_templates') await this.checkCopy(link);
    const { status, json } = await this.wire.post(link, { name });
    if (status !== 201) throw new ModuleFailure(`Unable to copy: ${JSON.stringify(json)}`);
    Object.assign(this.outcome, { changed: true, copied: true, id: member(json, 'id') });
    return json;
  }

  /** Polls a run until it ends. */
  async waitFor(url: string, { timeout, interval = 2 }: Waiting): Promise<Item> {
    const start = Date.now();
    let { json } = await this.wire.get(url);
    const sign = 'event_processing_finished' in json ? 'event_processing_finished' : 'finished';
    while (!member(json, sign)) {
      if (isOver(start, timeout)) throw new ModuleFailure(`${url} takes too long.`);
      await sleep(interval * 1000);
      ({ json } = await this.wire.get(url));
    }
    this.outcome.status = member(json, 'status');
    if (member(json, 'failed')) throw new ModuleFailure(`${url}: ${String(json.status)}`);
    for (const key of ['id', 'elapsed', 'started', 'finished']) this.outcome[key] = json[key];
    return json;
  }

  /** Polls a run until it has a final status. */
  async waitUntilDone(url: string, interval = 2): Promise<Item> {
    for (;;) {
      const { json } = await this.wire.get(url);
      if (!UNDER_WAY.includes(String(member(json, 'status')))) return json;
      await sleep(interval * 1000);
    }
  }

  /** Waits for the first node of a workflow job whose run has that name, and returns it. */
  async nodeOf(
    workflowJob: number,
    name: string,
    { timeout, interval = 1 }: Waiting,
  ): Promise<Item> {
    const start = Date.now();
    for (;;) {
      const url = `workflow_jobs/${workflowJob}/workflow_nodes/`;
      const { json } = await this.wire.get(url, { job__name: name });
      const [node] = resultsOf(json);
      if (Number(member(json, 'count')) > 0 && node) return node;
      if (isOver(start, timeout)) throw new ModuleFailure(`No node runs ${name}.`);
      await sleep(interval * 1000);
    }
  }

  private async create(fields: Item, endpoint: string): Promise<Item> {
    const { status, json } = await this.wire.post(endpoint, fields);
    if (status !== 200 && status !== 201)
      throw new ModuleFailure(`Unable to create: ${JSON.stringify(json)}`);
    const name = json.name ?? json.username ?? json.identifier ?? json.hostname;
    Object.assign(this.outcome, { changed: true, id: member(json, 'id'), name });
    return json;
  }

  private async update(existing: Item, fields: Item): Promise<Item> {
    const updateSecrets = this.params.update_secrets !== false;
    this.outcome.id = member(existing, 'id');
    if (!needsChange(existing, fields, updateSecrets)) return existing;
    const { status, json } = await this.wire.patch(String(member(existing, 'url')), fields);
    if (status !== 200) throw new ModuleFailure(`Unable to update: ${JSON.stringify(json)}`);
    this.outcome.changed ||= hasChanged(existing, json, fields, updateSecrets);
    return json;
  }

  private async associate(list: string, ids: readonly number[]): Promise<void> {
    const present = (await this.all(list)).map((item) => Number(member(item, 'id')));
    const isOrdered = ORDERED.some((name) => list.endsWith(`/${name}/`));
    if (isOrdered ? present.join() === ids.join() : isSameSet(present, ids)) return;
    const removed = isOrdered ? present : present.filter((id) => !ids.includes(id));
    const added = isOrdered ? ids : ids.filter((id) => !present.includes(id));
    for (const id of removed) await this.tie(list, { id, disassociate: true });
    for (const id of new Set(added)) await this.tie(list, { id });
  }

  /** Attaches or detaches one object; any status but 204 fails. */
  async tie(list: string, body: Item): Promise<void> {
    const { status, json } = await this.wire.post(list, body);
    if (status !== 204)
      throw new ModuleFailure(`${list} ${JSON.stringify(body)}: ${status} ${JSON.stringify(json)}`);
    this.outcome.changed = true;
  }

  private async checkCopy(link: string): Promise<void> {
    const { json } = await this.wire.get(link);
    const lost = ['templates', 'credentials', 'inventories'].flatMap((kind) =>
      Object.values(Object(member(json, `${kind}_unable_to_copy`)) as object),
    );
    const isAllowed = member(json, 'can_copy') && member(json, 'can_copy_without_user_input');
    if (!isAllowed || lost.length > 0)
      throw new ModuleFailure(`Unable to copy: ${JSON.stringify(json)}`);
  }
}

/** Returns the name of an object, from the field that its type uses. */
export function nameOf(item: Item): string {
  const name = item.name ?? item.username ?? item.identifier ?? item.hostname;
  if (typeof name !== 'string') throw new ModuleFailure('The object has no name.');
  return name;
}

/** Returns the role of that name among an object's roles, with its id. */
export function roleOf(item: Item, field: string): Item {
  const roles = itemOf(itemOf(item, 'summary_fields'), 'object_roles');
  return itemOf(roles, field);
}

function nameQuery(endpoint: string, nameOrId: string): Item {
  const field = NAMES[endpoint] ?? 'name';
  return /^\d+$/.test(nameOrId)
    ? { or__id: Number(nameOrId), [`or__${field}`]: nameOrId }
    : { [field]: nameOrId };
}

function resultsOf(page: Item): Item[] {
  const results = member(page, 'results');
  if (!Array.isArray(results)) throw new ModuleFailure('The endpoint has no results.');
  return results.filter(isItem);
}

const isOver = (start: number, timeout: number | undefined): boolean =>
  timeout !== undefined && Date.now() - start > timeout * 1000;

const isSameSet = (one: readonly number[], other: readonly number[]): boolean =>
  one.every((id) => other.includes(id)) && other.every((id) => one.includes(id));
