/**
 * Client that behaves like the command line: it sends the requests of its commands, with start-up and
 * login. Commands and their flags come from the responses to OPTIONS.
 *
 *   const command = new CommandLineClient(test.url, { token });
 *   await command.create('teams', { name: 'Ops', organization: 'Home' });
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { isItem, type Item, pythonJson } from '../collection/python-values.js';
import { type Answer, CommandFailure, type Login, Session } from './session.js';

const NAMES: Record<string, string> = { users: 'username', instances: 'hostname' };
/** Actions whose OPTIONS are read for a resource, of an object that need not exist. */
const SUBCOMMANDS: Record<string, string> = {
  job_templates: 'launch',
  workflow_job_templates: 'launch',
  projects: 'update',
  inventory_sources: 'update',
};
const ROLE_BEARING = [
  ...['organizations', 'projects', 'inventory', 'teams', 'credentials', 'job_templates'],
  ...['workflow_job_templates', 'instance_groups'],
];
/** Fields with variables, which are always sent as text. */
const TEXTS = ['variables', 'extra_vars', 'source_vars'];

type Flags = Record<string, Item>;

/** Commands of one resource: its flags and the methods of its objects. */
interface Commands {
  path: string;
  filters: Flags;
  fields: Flags;
  allowed: string[];
  launch: Flags;
}

export class CommandLineClient {
  /** Requests of the last command. */
  requests: readonly string[] = [];
  private session: Session;

  constructor(
    private readonly url: string,
    private readonly login: Login,
  ) {
    this.session = new Session(url, login);
  }

  async list(resource: string, filters: Item = {}, { all = false } = {}): Promise<Item[]> {
    const commands = await this.prepare(resource);
    const flags = Object.entries(commands.filters).filter(([, flag]) => flag.filterable !== false);
    const known = { ...Object.fromEntries(flags), order_by: { type: 'string' } };
    const query = await this.valuesOf(filters, known);
    let { json } = await this.session.ask('GET', withQuery(commands.path, query));
    const results = resultsOf(json);
    while (all && json.next !== null) {
      ({ json } = await this.session.ask('GET', String(json.next)));
      results.push(...resultsOf(json));
    }
    return results;
  }

  async get(resource: string, name: string | number): Promise<Item> {
    const commands = await this.prepare(resource);
    return (await this.session.ask('GET', await this.urlOf(resource, commands, name))).json;
  }

  async create(resource: string, fields: Item): Promise<Item> {
    const commands = await this.prepare(resource);
    const missing = Object.keys(commands.fields).filter(
      (name) => commands.fields[name]?.required === true && fields[name] === undefined,
    );
    if (missing.length > 0) throw new CommandFailure(`Required: ${missing.join(', ')}`);
    const data = await this.valuesOf(fields, commands.fields);
    return (await this.session.ask('POST', commands.path, data)).json;
  }

  async modify(resource: string, name: string | number, fields: Item): Promise<Item> {
    const commands = await this.prepare(resource, 'PUT');
    const url = await this.urlOf(resource, commands, name);
    const data = await this.valuesOf(fields, commands.fields);
    return (await this.session.ask('PATCH', url, data)).json;
  }

  async delete(resource: string, name: string | number): Promise<void> {
    const commands = await this.prepare(resource, 'DELETE');
    await this.session.ask('DELETE', await this.urlOf(resource, commands, name));
  }

  /** Launches a template or updates a project. Monitors the run if there is an interval. */
  async start(
    resource: string,
    name: string | number,
    flags: Item = {},
    interval?: number,
  ): Promise<{ run: Item; output: string }> {
    const commands = await this.prepare(resource);
    const { json } = await this.session.ask('GET', await this.urlOf(resource, commands, name));
    const data = await this.valuesOf(flags, commands.launch);
    const run = await this.session.ask('POST', linkOf(json, SUBCOMMANDS[resource] ?? ''), data);
    if (interval === undefined) return { run: run.json, output: '' };
    return this.monitor(run.json, interval);
  }

  /** Grants a user or team a role on an object, or revokes it. */
  async hold(
    word: 'grant' | 'revoke',
    [holders, holder]: readonly [holders: 'users' | 'teams', name: string],
    [key, object]: readonly [key: string, name: string],
    role: string,
  ): Promise<void> {
    const commands = await this.prepare(holders);
    const path = String(this.session.root[key]);
    const id = await this.idOf(path, key, object);
    // The client omits the trailing slash here.
    const { json } = await this.session.ask('GET', `${path}${id}`);
    const { object_roles: roles } = json.summary_fields as Item;
    const given = isItem(roles) ? roles[`${role}_role`] : undefined;
    if (!isItem(given)) throw new CommandFailure(`${object} has no role ${role}.`);
    const url = await this.urlOf(holders, commands, holder);
    const link = linkOf((await this.session.ask('GET', url)).json, 'roles');
    const verb = word === 'grant' ? 'associate' : 'disassociate';
    await this.session.ask('POST', link, { id: given.id, [verb]: true });
  }

  /** Attaches one object to a list of another, or detaches it. */
  async tie(
    verb: 'associate' | 'disassociate',
    [resource, name]: readonly [resource: string, name: string],
    list: string,
    [others, other]: readonly [others: string, name: string],
  ): Promise<Item[]> {
    const commands = await this.prepare(resource);
    const url = await this.urlOf(resource, commands, name);
    const id = await this.idOf(String(this.session.root[others]), others, other);
    const link = linkOf((await this.session.ask('GET', url)).json, list);
    await this.session.ask('POST', link, { id, [verb]: true });
    return resultsOf((await this.session.ask('GET', link)).json);
  }

  async output(resource: string, id: number): Promise<string> {
    const commands = await this.prepare(resource);
    const { json } = await this.session.ask('GET', `${commands.path}${id}/`);
    return (await this.session.ask('GET', `${linkOf(json, 'stdout')}?format=txt_download`)).text;
  }

  /** Starts up, logs in and reads OPTIONS, as every command of a resource does. */
  private async prepare(resource: string, method = 'GET'): Promise<Commands> {
    this.session = new Session(this.url, this.login);
    this.requests = this.session.requests;
    await this.session.start();
    const path = this.session.root[resource];
    if (typeof path !== 'string') throw new CommandFailure(`There is no ${resource}.`);
    const list = await this.session.ask('OPTIONS', path);
    const detail = await this.session.send('OPTIONS', `${path}1/`);
    const allowed = String(detail.headers.allow).split(', ');
    if (!allowed.includes(method)) throw new CommandFailure(`${resource} has no such command.`);
    const actions = actionsOf(list);
    const launch = await this.launchFlags(resource, path);
    if (resource === 'users' || resource === 'teams') await this.readRoles();
    const { GET: filters = {}, POST: fields = {} } = actions;
    return { path, filters, fields, allowed, launch };
  }

  private async launchFlags(resource: string, path: string): Promise<Flags> {
    const subcommand = SUBCOMMANDS[resource];
    if (!subcommand) return {};
    const answer = await this.session.send('OPTIONS', `${path}1/${subcommand}/`);
    return answer.status < 300 ? (actionsOf(answer).POST ?? {}) : {};
  }

  private async readRoles(): Promise<void> {
    for (const key of ROLE_BEARING) {
      const { json } = await this.session.ask('OPTIONS', String(this.session.root[key]));
      if (!Array.isArray(json.object_roles)) throw new CommandFailure(`${key} names no roles.`);
    }
  }

  private async urlOf(
    resource: string,
    { path }: Commands,
    name: string | number,
  ): Promise<string> {
    return `${path}${await this.idOf(path, resource, name)}/`;
  }

  /** Looks up a name twice as the client does: once to count, once to read. */
  private async idOf(path: string, resource: string, name: string | number): Promise<number> {
    if (typeof name === 'number') return name;
    const url = withQuery(path, { [NAMES[resource] ?? 'name']: name });
    const { count } = (await this.session.ask('GET', url)).json;
    if (count !== 1) throw new CommandFailure(`${String(count)} objects are called ${name}.`);
    const [found] = resultsOf((await this.session.ask('GET', url)).json);
    return Number(found?.id);
  }

  private async valuesOf(given: Item, flags: Flags): Promise<Item> {
    const values: Item = {};
    for (const [name, value] of Object.entries(given)) {
      const flag = flags[name];
      if (!flag) throw new CommandFailure(`No flag --${name}.`);
      values[name] = await this.valueOf(name, value, flag);
    }
    return values;
  }

  private async valueOf(name: string, value: unknown, { type, choices }: Item): Promise<unknown> {
    if (type === 'boolean') return Number(value);
    if (TEXTS.includes(name) && isItem(value)) return pythonJson(value);
    if (type === 'json') return value;
    if (type === 'id' && typeof value === 'number') return value;
    if (type === 'id' && typeof value === 'string')
      return this.idOf(this.rootOf(name), name, value);
    if (type === 'list_of_ids' && Array.isArray(value)) {
      const key = name.replace(/s$/, '');
      return Promise.all(value.map((one) => this.idOf(this.rootOf(key), name, one as string)));
    }
    const first: unknown = Array.isArray(choices) && (choices[0] as unknown[])[0];
    return type === 'integer' || type === 'field' || typeof first === 'number'
      ? Number(value)
      : String(value);
  }

  /** Returns the collection that a field's name refers to. */
  private rootOf(field: string): string {
    const path = this.session.root[field] ?? this.session.root[`${field}s`];
    if (typeof path !== 'string') throw new CommandFailure(`Give --${field} as a number.`);
    return path;
  }

  private async monitor(run: Item, interval: number): Promise<{ run: Item; output: string }> {
    const isWorkflow = run.type === 'workflow_job';
    let [output, next] = ['', 0];
    for (;;) {
      if (!isWorkflow) {
        const since = next === 0 ? '' : `&start_line__gte=${next}`;
        const url = `${linkOf(run, run.type === 'job' ? 'job_events' : 'events')}?order_by=start_line&no_truncate=True${since}`;
        for (const event of resultsOf((await this.session.ask('GET', url)).json)) {
          if (Number(event.start_line) !== next) continue;
          output += `${String(event.stdout)}\n`;
          next = Number(event.end_line);
        }
      }
      const { json } = await this.session.ask('GET', String(run.url));
      const isOver = isWorkflow ? json.finished !== null : json.event_processing_finished;
      if (isOver && isWorkflow) output = await this.namesOfRuns(Number(run.id));
      if (isOver) return { run: json, output };
      await sleep(interval * 1000);
    }
  }

  private async namesOfRuns(workflowJob: number): Promise<string> {
    const query = `order_by=finished&unified_job_node__workflow_job=${workflowJob}`;
    const { json } = await this.session.ask('GET', `/api/v2/unified_jobs?${query}`);
    return resultsOf(json)
      .map(({ id, name, status }) => `${String(id)} ${String(name)} ${String(status)}`)
      .join('\n');
  }
}

/** Returns the fields by method. Fails for methods other than GET and POST, and for fields without a type. */
function actionsOf({ json }: Answer): Record<string, Flags> {
  const { actions } = json;
  if (!isItem(actions)) throw new CommandFailure('OPTIONS tells of no actions.');
  for (const [method, fields] of Object.entries(actions)) {
    const isKnown = method === 'GET' || method === 'POST';
    const untyped = isItem(fields)
      ? Object.keys(fields).filter((name) => !isItem(fields[name]) || !('type' in fields[name]))
      : [method];
    if (!isKnown || untyped.length > 0)
      throw new CommandFailure(`OPTIONS: ${method} ${untyped.join(', ')}`);
  }
  return actions as Record<string, Flags>;
}

function linkOf(item: Item, name: string): string {
  const link = isItem(item.related) ? item.related[name] : undefined;
  if (typeof link !== 'string') throw new CommandFailure(`There is no link ${name}.`);
  return link;
}

const resultsOf = ({ results }: Item): Item[] =>
  Array.isArray(results) ? results.filter(isItem) : [];

const withQuery = (path: string, query: Item): string => {
  const pairs = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  const text = new URLSearchParams(pairs).toString();
  return text === '' ? path : `${path}?${text}`;
};
