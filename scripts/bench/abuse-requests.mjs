import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';

import { createTemplate } from './objects.mjs';

/**
 * Request of an abusive client. A function returns a different body each time.
 *
 * @typedef {Omit<import('./types.d.mts').Sent, 'body'> & { name: string, who: string,
 *   body?: string | Buffer | (() => string | Buffer) }} Abuse
 */
/** @typedef {{ template: number, inventory: number, organization: number, tokens: Record<string, string> }} Victims */
/** @typedef {ReturnType<typeof senders>} Senders */

const ANONYMOUS = 'anonymous';
const MEGABYTE = 1_000_000;
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

/** @template Value @param {number} count @param {(index: number) => Value} create */
const times = (count, create) => Array.from({ length: count }, (_, index) => create(index));
/** @param {string} text @param {number} [bytes] */
const fill = (text, bytes = MEGABYTE) => text.repeat(Math.floor(bytes / text.length));

/** Returns mappings that only a complete YAML parser reads. @param {number} bytes */
export function yaml(bytes) {
  const lines = [];
  for (let size = 0; size < bytes - 20;) {
    /** @type {string} */
    const line = `n${lines.length}: [1]`;
    lines.push(line);
    size += line.length + 1;
  }
  return lines.join('\n');
}

/**
 * Creates the objects of the requests, and accounts with few roles, with tokens by name.
 *
 * @param {import('./types.d.mts').World} world
 * @param {import('./types.d.mts').Call} call
 * @returns {Promise<Victims>}
 */
export async function createVictims(world, call) {
  const { template, inventory } = await createTemplate(world, call, {
    ask_variables_on_launch: true,
    survey_enabled: true,
  });
  await call('POST', `job_templates/${template.id}/survey_spec/`, {
    name: '',
    description: '',
    spec: [
      {
        question_name: 'Q',
        variable: 'q',
        type: 'multiselect',
        choices: times(1000, (index) => `choice ${index}`),
      },
    ],
  });
  const { organization } = await call('GET', `inventories/${inventory}/`);
  /** @type {Record<string, string>} */
  const tokens = {};
  /** @type {(username: string, roles: readonly (readonly [path: string, role: string])[]) => Promise<void>} */
  const account = async (username, roles) => {
    const user = await call('POST', 'users/', { username, password: randomUUID() });
    for (const [path, role] of roles) {
      const { object_roles: objectRoles } = (await call('GET', path)).summary_fields;
      await call('POST', `users/${user.id}/roles/`, { id: objectRoles[role].id });
    }
    tokens[username] = (await call('POST', `users/${user.id}/personal_tokens/`, {})).token;
  };
  await account('nobody', []);
  await account('executor', [[`job_templates/${template.id}/`, 'execute_role']]);
  await account('keeper', [[`inventories/${inventory}/`, 'admin_role']]);
  await account('orgadmin', [[`organizations/${organization}/`, 'admin_role']]);
  return { template: template.id, inventory, organization, tokens };
}

/** Returns the most expensive known requests. @type {(victims: Victims) => Abuse[]} */
export const abuses = (victims) => {
  const from = senders(victims.tokens);
  return [
    ...anonymousRequests(victims, from),
    ...bodyRequests(victims, from),
    ...listRequests(from),
    ...launchRequests(victims, from),
    ...scheduleRequests(victims, from),
  ];
};

/** Returns functions that create requests of an account to the API. @param {Record<string, string>} tokens */
function senders(tokens) {
  /** @type {(who: string) => Record<string, string>} */
  const headersOf = (who) =>
    who === ANONYMOUS ? JSON_TYPE : { ...JSON_TYPE, authorization: `Bearer ${tokens[who]}` };
  /**
   * @type {(method: Abuse['method']) => (name: string, who: string, path: string, body?: unknown,
   *   headers?: Record<string, string>) => Abuse}
   */
  const send = (method) => (name, who, path, body, headers) => ({
    name,
    who,
    method,
    path: `/api/v2/${path}`,
    headers: { ...headersOf(who), ...headers },
    ...(body === undefined ? {} : { body: isFunction(body) ? body : asText(body) }),
  });
  return {
    /** @type {(name: string, who: string, path: string, headers?: Record<string, string>) => Abuse} */
    get: (name, who, path, headers) => send('GET')(name, who, path, undefined, headers),
    post: send('POST'),
  };
}

/**
 * @param {unknown} body
 * @returns {body is () => string | Buffer}
 */
const isFunction = (body) => typeof body === 'function';

/**
 * Returns a function that returns a different body each time, because the created object has a name.
 *
 * @param {() => unknown} create
 */
const changing = (create) => () => asText(create());

/** @param {unknown} body */
const asText = (body) =>
  typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);

/** @type {(inventory: number) => (variables: string) => object} */
const hostWith = (inventory) => (variables) => ({
  name: `h-${randomUUID()}`,
  inventory,
  variables,
});

/**
 * @param {Victims} victims
 * @param {Senders} senders
 * @returns {Abuse[]}
 */
function anonymousRequests({ template }, { get, post }) {
  const zipped = gzipSync(Buffer.alloc(10 * MEGABYTE, ' '));
  const receiver = `job_templates/${template}/service_a/`;
  const wrong = `Basic ${Buffer.from('admin:wrong').toString('base64')}`;
  const login = post('a login of many fields', ANONYMOUS, '', fill('a=1&', 60_000), FORM_TYPE);
  return [
    post('a compressed body', ANONYMOUS, 'teams/', zipped, { 'content-encoding': 'gzip' }),
    post('JSON', ANONYMOUS, 'teams/', `[${fill('[],')}0]`),
    post('a delivery without a signature', ANONYMOUS, receiver, `{"a": "${fill('x')}"}`),
    { ...login, path: '/api/login/' },
    get('a wrong password', ANONYMOUS, 'me/', { authorization: wrong }),
    get('headers', ANONYMOUS, 'me/', { cookie: fill('a=1;', 14_000), accept: 'text/html' }),
  ];
}

/** Returns a type with templates whose parser searches for a tag after each space. @param {number} count */
const slowTemplates = (count) => ({
  name: 'blocks',
  kind: 'cloud',
  inputs: { fields: [] },
  injectors: {
    env: Object.fromEntries(times(count, (n) => [`A${n}`, `{%${fill(' ', 60_000)}`])),
  },
});

/**
 * @param {Victims} victims
 * @param {Senders} senders
 * @returns {Abuse[]}
 */
function bodyRequests({ inventory }, { post }) {
  const host = hostWith(inventory);
  const kinds = times(60_000, (n) => `{"k${n}":0}`);
  const aliases = times(40, (n) => `a${n}: &a${n} [*a${n - 1}, *a${n - 1}]`)
    .join('\n')
    .replaceAll('*a-1', 'x');
  const part = (/** @type {number} */ n) =>
    `--x\r\nContent-Disposition: form-data; name="f${n}"\r\n\r\n1\r\n`;
  const many = JSON.stringify(Object.fromEntries(times(700, (n) => [`k${n}`, n])));
  /** @type {(count: number, variables: string) => () => string | Buffer} */
  const hosts = (count, variables) =>
    changing(() => ({ inventory, hosts: times(count, () => host(variables)) }));
  return [
    post('lists', 'nobody', 'teams/', `{"name": [${fill('[],')}0]}`),
    post('objects of one kind each', 'nobody', 'teams/', `[${kinds}]`),
    post('names', 'nobody', 'teams/', `{${times(80_000, (n) => `"k${n}":0`)}}`),
    post('values within the limit', 'nobody', 'teams/', `{"name": [${fill('0,', 190_000)}0]}`),
    post('levels', 'nobody', 'teams/', fill('[')),
    post('a text of a megabyte', 'nobody', 'teams/', { name: fill('é', MEGABYTE / 2) }),
    post('a name of nine megabytes', 'nobody', 'teams/', { name: fill('x', 9 * MEGABYTE) }),
    post('a deep object', 'nobody', 'credential_types/', {
      name: 'deep',
      kind: 'cloud',
      inputs: { fields: times(2000, (n) => ({ id: `f${n}`, label: 'x', choices: [[[]]] })) },
    }),
    post('blocks of 120 KB', 'nobody', 'credential_types/', slowTemplates(2)),
    post('blocks of 260 KB', 'nobody', 'credential_types/', slowTemplates(4)),
    post(
      'YAML of aliases',
      'nobody',
      'hosts/',
      changing(() => host(aliases)),
    ),
    post(
      'YAML of 64 KB',
      'nobody',
      'hosts/',
      changing(() => host(yaml(65_000))),
    ),
    post(
      'YAML of 121 KB',
      'nobody',
      'hosts/',
      changing(() => host(yaml(121_000))),
    ),
    post('a form of many parts', 'nobody', 'teams/', `${times(990, part).join('')}--x--`, {
      'content-type': 'multipart/form-data; boundary=x',
    }),
    post(
      'a host with YAML',
      'keeper',
      'hosts/',
      changing(() => host(yaml(65_000))),
    ),
    post('hosts with YAML', 'keeper', 'bulk/host_create/', hosts(14, yaml(64_000))),
    post('hosts with much JSON', 'keeper', 'bulk/host_create/', hosts(90, many)),
  ];
}

/**
 * @param {Senders} senders
 * @returns {Abuse[]}
 */
function listRequests({ get }) {
  const regex = encodeURIComponent('(x{1,200}){1,200}');
  const any = times(99, (n) => `or__organization__name__icontains=${n}`).join('&');
  const ways = times(40, () => 'chain__organization__created_by__username__iregex=^x').join('&');
  const orders = times(16, () => 'organization__created_by__username').join();
  const html = { accept: 'text/html' };
  return [
    get('a regular expression', 'nobody', `users/?username__regex=${regex}`),
    get('filters', 'nobody', `teams/?${any}`),
    get(
      'names of every object',
      'nobody',
      'teams/?hasOwnProperty__x=1&__proto__=1&constructor__y=1',
    ),
    get(
      'a search of many parts',
      'nobody',
      `hosts/?host_filter=${fill('(name%3Da%20or%20', 10_000)}`,
    ),
    get('filters over relations', 'nobody', `teams/?${ways}`),
    get('search terms', 'nobody', `unified_jobs/?search=${times(32, (n) => `w${n}`)}`),
    get('orders', 'nobody', `teams/?order_by=${orders}`),
    get('ids', 'nobody', `hosts/?id__in=${times(2500, (n) => n)}`),
    get('a large page', 'orgadmin', 'activity_stream/?page_size=200', html),
    get('a page with a form', 'orgadmin', 'job_templates/', html),
  ];
}

/**
 * @param {Victims} victims
 * @param {Senders} senders
 * @returns {Abuse[]}
 */
function launchRequests({ template, inventory, organization }, { get, post }) {
  const launch = `job_templates/${template}/launch/`;
  const bulk = 'bulk/job_launch/';
  const extra = (/** @type {object} */ extra_vars) => ({ extra_vars });
  const names = (/** @type {number} */ count) =>
    Object.fromEntries(times(count, (n) => [`name_${n}`, n]));
  const jobs = times(100, () => ({ unified_job_template: template }));
  return [
    post('answers', 'executor', launch, extra({ q: times(50_000, (n) => `choice ${n % 1000}`) })),
    post('wrong answers', 'executor', launch, extra({ q: times(50_000, () => 'wrong') })),
    post('a variable of a megabyte', 'executor', launch, extra({ text: fill('x', 900_000) })),
    post('many variables', 'executor', launch, extra(names(10_000))),
    post('too many variables', 'executor', launch, extra(names(45_000))),
    post('variables in an object', 'executor', launch, extra({ all: names(9999) })),
    post('a hundred launches', 'orgadmin', bulk, { name: 'x', organization, jobs }),
    post('variables of a hundred launches', 'orgadmin', bulk, {
      name: 'x',
      organization,
      jobs,
      extra_vars: names(500),
    }),
    post('too many variables of launches', 'orgadmin', bulk, {
      name: 'x',
      organization,
      jobs,
      extra_vars: names(10_000),
    }),
    get('an inventory for Ansible', 'keeper', `inventories/${inventory}/script/?hostvars=1`),
  ];
}

/**
 * @param {Victims} victims
 * @param {Senders} senders
 * @returns {Abuse[]}
 */
function scheduleRequests({ organization }, { post }) {
  const start = 'DTSTART;TZID=Europe/Berlin:20300101T000000';
  /** @type {(name: string, ...rules: string[]) => Abuse} */
  const preview = (name, ...rules) =>
    post(name, 'nobody', 'schedules/preview/', { rrule: `${start} ${rules.join(' ')}` });
  /** @type {(count: number, first?: number) => string} */
  const all = (count, first = 0) => times(count, (n) => n + first).join();
  const every = 'FREQ=DAILY;INTERVAL=1';
  const never = `${every};BYMONTH=2;BYMONTHDAY=30`;
  const crowded = `BYMONTH=1;BYMONTHDAY=${all(31, 1)};BYHOUR=${all(24)};BYMINUTE=0,30`;
  const loop = '{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}';
  return [
    preview('rules without occurrences', ...times(10, () => `RRULE:${never}`)),
    preview('a rule that occurs', `RRULE:${every}`, ...times(9, () => `RRULE:${never}`)),
    preview(
      'exceptions without occurrences',
      `RRULE:${every}`,
      ...times(8, () => `EXRULE:${never}`),
      `EXRULE:${every}`,
    ),
    preview('years without a match', 'RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=MO,TU;BYSETPOS=366'),
    preview(
      'months without a match',
      ...times(10, () => 'RRULE:FREQ=MONTHLY;INTERVAL=1;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=32'),
    ),
    preview('a rule of many times', `RRULE:FREQ=YEARLY;INTERVAL=1;${crowded}`),
    post(
      'a message without end',
      'orgadmin',
      'notification_templates/',
      changing(() => ({
        name: randomUUID(),
        organization,
        notification_type: 'webhook',
        notification_configuration: { url: 'http://example.com', headers: {} },
        messages: { started: { body: loop } },
      })),
    ),
  ];
}
