/**
 * Exports and imports objects as the command line does: every object with the fields of OPTIONS, with keys
 * made of names in place of ids, and with the members of its related lists.
 */
import { isItem, type Item } from '../collection/python-values.js';
import { CommandFailure, type Login, Session } from './session.js';

/** Fields of a key, by the type of the object. */
const KEYS: Record<string, readonly string[]> = {
  organization: ['name'],
  credential_type: ['name', 'kind'],
  credential: ['organization', 'name', 'credential_type'],
  notification_template: ['organization', 'name'],
  project: ['organization', 'name'],
  execution_environment: ['name'],
  inventory: ['organization', 'name'],
  inventory_source: ['organization', 'name', 'inventory'],
  schedule: ['unified_job_template', 'name'],
  system_job_template: ['name'],
  label: ['organization', 'name'],
  host: ['name', 'inventory'],
  group: ['name', 'inventory'],
};
/** Lists whose members are attached, by the end of their links. */
const ATTACHED =
  /\/(notification_templates_\w+|credentials|hosts|groups|children|execution_environments|schedules)\/$/;
/** Lists whose members belong to the object, and are exported with it. */
const OWN: Record<string, readonly string[]> = {
  inventory: ['groups', 'hosts', 'labels'],
  inventory_source: ['schedules'],
};
/** Lists that follow from others, and are not exported. */
const LEFT_OUT: Record<string, readonly string[]> = {
  inventory_source: ['groups', 'hosts'],
  inventory: ['root_groups'],
  group: ['all_hosts', 'potential_children'],
  host: ['all_groups'],
};
const ORDER = [
  ...['organizations', 'credential_types', 'credentials', 'notification_templates', 'projects'],
  ...['execution_environments', 'inventory', 'inventory_sources', 'schedules'],
];

export type Assets = Record<string, Item[]>;

interface Related {
  item: Item;
  list: string;
  members: Item[];
}

export class Transfer {
  private readonly options = new Map<string, Item | null>();
  private readonly pages = new Map<string, Item | null>();
  private readonly known = new Map<string, Item>();
  private readonly related: Related[] = [];

  private constructor(private readonly session: Session) {}

  /** Starts up and logs in, as each of the two commands does. */
  static async start(url: string, login: Login): Promise<Transfer> {
    const session = new Session(url, login);
    await session.start();
    return new Transfer(session);
  }

  async export(resources: readonly string[]): Promise<Assets> {
    const assets: Assets = {};
    for (const resource of resources) {
      const path = this.root(resource);
      const fields = await this.fieldsOf(path);
      if (!fields) throw new CommandFailure(`${resource} takes no POST.`);
      assets[resource] = await this.written(await this.listed(path), fields);
    }
    return assets;
  }

  async import(assets: Assets): Promise<void> {
    for (const resource of ORDER.filter((name) => name in assets)) {
      const path = this.root(resource);
      await this.know(path);
      await this.enter(path, assets[resource] ?? []);
    }
    // Members have members of their own.
    for (const { item, list, members } of this.related) await this.relate(item, list, members);
  }

  private async written(items: readonly Item[], fields: Item): Promise<Item[]> {
    const written: Item[] = [];
    for (const item of items) {
      // An update of the source creates its hosts and groups again.
      const isBrought = item.type !== 'inventory' && item.has_inventory_sources === true;
      if (item.managed !== true && !isBrought) {
        written.push(await this.write(item, fields));
      }
    }
    return written;
  }

  private async write(item: Item, fields: Item): Promise<Item> {
    const links = item.related as Record<string, string>;
    const asset: Item = {};
    for (const [name, description] of Object.entries(fields)) {
      if (name === 'id') continue;
      const link = links[name];
      if (link !== undefined) asset[name] = await this.keyOf(await this.page(link));
      else if (name in item) {
        // An id without a link has no name to be found by.
        if (isItem(description) && description.type === 'id' && item[name] !== null) {
          throw new CommandFailure(`There is no link for ${name} of ${String(item.url)}.`);
        }
        asset[name] = item[name];
      }
    }
    const related: Record<string, Item[]> = {};
    for (const [list, link] of Object.entries(links)) {
      if (list in fields) continue;
      const members = await this.membersOf(item, list, link);
      if (members) related[list] = members;
    }
    return { ...asset, related, natural_key: await this.keyOf(item) };
  }

  private async membersOf(item: Item, list: string, link: string): Promise<Item[] | null> {
    const type = String(item.type);
    const isOwn = OWN[type]?.includes(list) === true;
    if (LEFT_OUT[type]?.includes(list) || !(isOwn || ATTACHED.test(link))) return null;
    const fields = await this.fieldsOf(link);
    if (!fields) return null;
    if (isOwn) return this.written(await this.listed(link), fields);
    if (!('id' in fields)) return null;
    const members = await this.listed(link);
    const keys: Item[] = [];
    for (const member of members) keys.push(await this.keyOf(member));
    return keys;
  }

  private async enter(path: string, assets: readonly Item[]): Promise<void> {
    const fields = (await this.fieldsOf(path)) ?? {};
    for (const asset of assets) {
      const data: Item = {};
      for (const [name, value] of Object.entries(asset)) {
        const field = fields[name];
        if (!isItem(field)) continue;
        const isReference = ['id', 'integer'].includes(String(field.type)) && isItem(value);
        data[name] = isReference ? ((await this.found(value))?.id ?? null) : value;
      }
      const existing = await this.found(asset.natural_key as Item);
      const item = existing
        ? (await this.session.ask('PUT', String(existing.url), data)).json
        : (await this.session.ask('POST', path, data)).json;
      // Attaching by name returns no object.
      const entered = 'id' in item ? item : await this.named(path, data.name);
      await this.remember(entered);
      for (const [list, members] of Object.entries(asset.related as Record<string, Item[]>)) {
        if (members.length > 0) this.related.push({ item: entered, list, members });
      }
    }
  }

  private async relate(item: Item, list: string, members: readonly Item[]): Promise<void> {
    const link = (item.related as Record<string, string>)[list];
    if (link === undefined) throw new CommandFailure(`There is no ${list} of ${String(item.url)}.`);
    if (members.some((member) => 'natural_key' in member)) return this.enter(link, members);
    const present = new Set((await this.listed(link)).map(({ id }) => id));
    for (const member of members) {
      const found = await this.found(member);
      if (!found) throw new CommandFailure(`Nothing for ${JSON.stringify(member)}.`);
      if (present.has(found.id)) continue;
      const { status } = await this.session.ask('POST', link, { id: found.id });
      if (status !== 204) throw new CommandFailure(`${link} answered ${status} and not 204.`);
    }
  }

  private async named(path: string, name: unknown): Promise<Item> {
    const found = (await this.listed(path)).find((item) => item.name === name);
    if (!found) throw new CommandFailure(`${path} has no ${String(name)}.`);
    return found;
  }

  private async found(key: Item): Promise<Item | undefined> {
    const known = this.known.get(frozen(key));
    if (known) return known;
    const { type, ...rest } = key;
    const texts = Object.entries(rest).filter(([, value]) => typeof value === 'string');
    const query = new URLSearchParams(texts as [string, string][]).toString();
    await this.know(`${this.root(String(type))}?${query}`);
    return this.known.get(frozen(key));
  }

  private async know(path: string): Promise<void> {
    for (const item of await this.listed(path)) await this.remember(item);
  }

  private async remember(item: Item): Promise<void> {
    this.known.set(frozen(await this.keyOf(item)), item);
  }

  private async keyOf(item: Item): Promise<Item> {
    const key: Item = { type: item.type };
    for (const name of KEYS[String(item.type)] ?? []) {
      const link = (item.related as Record<string, string>)[name];
      if (link !== undefined) key[name] = await this.keyOf(await this.page(link));
      else if (name in item) key[name] = item[name];
    }
    return key;
  }

  private async page(path: string): Promise<Item> {
    const known = this.pages.get(path);
    if (known) return known;
    const { json } = await this.session.ask('GET', path);
    this.pages.set(path, json);
    return json;
  }

  private async listed(path: string): Promise<Item[]> {
    const results: Item[] = [];
    let next: unknown = path;
    while (typeof next === 'string') {
      const { json } = await this.session.ask('GET', next);
      if (!Array.isArray(json.results)) throw new CommandFailure(`${next} has no results.`);
      results.push(...json.results.filter(isItem));
      next = json.next;
    }
    return results;
  }

  /** Returns the fields of a POST; null if POST is not allowed. */
  private async fieldsOf(path: string): Promise<Item | null> {
    const known = this.options.get(path);
    if (known !== undefined) return known;
    const { headers, json } = await this.session.ask('OPTIONS', path);
    const isOpen = String(headers.allow).split(', ').includes('POST');
    const { POST: fields } = (json.actions ?? {}) as { POST?: Item };
    const answer = isOpen ? (fields ?? {}) : null;
    this.options.set(path, answer);
    return answer;
  }

  private root(name: string): string {
    const path = this.session.root[name] ?? this.session.root[`${name}s`];
    if (typeof path !== 'string') throw new CommandFailure(`There is no ${name} in the root.`);
    return path;
  }
}

/** Returns a text that is equal for equal keys, in any order of their members. */
function frozen(key: Item): string {
  const members = Object.entries(key).map(([name, value]): [string, unknown] => [
    name,
    isItem(value) ? frozen(value) : value,
  ]);
  return JSON.stringify(members.sort(([one], [other]) => (one < other ? -1 : 1)));
}
