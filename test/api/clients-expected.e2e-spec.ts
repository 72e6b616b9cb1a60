/**
 * Existing clients find the keys and types that they expect in OPTIONS and in responses.
 * `clients-expected.json` lists them; `clients-expected-differences.json` lists all permitted differences
 * with a reason. Additional keys are permitted.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { resources } from '../../src/common/resource/define-resource.js';
import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { boot, type TestApp } from '../support/boot.js';
import { Samples, sampleTypes } from '../support/samples.js';

interface Expected {
  /** Fields by list and method: `name:type` of each; `!` if it is required, then `=` and a default. */
  options: Record<string, { GET?: string; POST?: string }>;
  /** Keys by document, list or object: `name:type` of each; only the names of links and summaries. */
  answers: Record<string, string>;
  /** Values of each field with choices, separated by bars, by list and `GET name`. */
  choices: Record<string, Record<string, string>>;
  /** Slugs of the setting categories. */
  categories: string;
  /** Settings by category: `name:type` of each, then `=` and the default. */
  settings: Record<string, string>;
}

/** Differences by their reason. */
type Differences = Record<string, string[]>;

type Shown = Record<string, unknown>;
interface Info {
  type: string;
  required?: boolean;
  default?: unknown;
  choices?: [value: unknown, label: string][];
}

type Described = Record<string, Info>;

const read = (name: string): unknown =>
  JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'test', 'api', `${name}.json`), 'utf8'));
const expected = read('clients-expected') as Expected;
const differences = read('clients-expected-differences') as Differences;

/** Types that reveal nothing about the value, and values that do not reveal their type. */
const UNKNOWN = ['field', 'null'];

let test: TestApp;
let samples: Samples;
beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  for (const type of sampleTypes()) await samples.of(type);
  await samples.linkAll();
}, 60_000);
afterAll(() => test.close());

const entries = (text: string | undefined): [name: string, rest: string][] =>
  (text ?? '').split(' ').map((one) => {
    const at = one.indexOf(':');
    return at < 0 ? [one, ''] : [one.slice(0, at), one.slice(at + 1)];
  });

const differ = (wanted: string, type: string): boolean =>
  wanted !== type && ![wanted, type].some((one) => UNKNOWN.includes(one));

function differencesOfFields(place: string, text: string, described: Described = {}): string[] {
  const known = entries(text).flatMap(([name, rest]) => {
    const [, type = '', mark, value] = /^([a-z_]+)(!?)(?:=(.*))?$/.exec(rest) ?? [];
    const info = described[name];
    if (!info) return [`${place} ${name} is missing`];
    const fault = (what: string): string => `${place} ${name} ${what}`;
    return [
      ...(differ(type, info.type) ? [fault(`is ${info.type}, not ${type}`)] : []),
      ...faultsOfSending(info, mark === '!', value).map(fault),
    ];
  });
  const names = new Set(entries(text).map(([name]) => name));
  const more = Object.entries(described).filter(
    ([name, info]) => info.required && !names.has(name),
  );
  return [...known, ...more.map(([name]) => `${place} ${name} is required, and not known`)];
}

function faultsOfSending(
  info: Described[string],
  isRequired: boolean,
  value: string | undefined,
): string[] {
  const own = JSON.stringify(info.default);
  return [
    ...((info.required ?? false) === isRequired
      ? []
      : [isRequired ? 'is not required' : 'is required']),
    // An empty default counts as no default: omitted fields are empty.
    ...(value === undefined || value === own ? [] : [`has the default ${own}, not ${value}`]),
  ];
}

async function differencesOfOptions(path: string): Promise<string[]> {
  const { body } = await test.as.superuser.options(path).expect(200);
  const { actions } = body as { actions: Record<string, Described | undefined> };
  return (['GET', 'POST'] as const).flatMap((method) => {
    const text = expected.options[path]?.[method];
    if (text === undefined) return [];
    const place = `${method} ${path}`;
    return actions[method]
      ? differencesOfFields(place, text, actions[method])
      : [`${place} is missing`];
  });
}

const valueText = (value: unknown): string => (value === '' ? "''" : String(value));

async function differencesOfChoices(path: string): Promise<string[]> {
  const { body } = await test.as.superuser.options(path).expect(200);
  const { actions } = body as { actions: Record<string, Described | undefined> };
  return Object.entries(expected.choices[path]!).flatMap(([key, text]) => {
    const [method = '', name = ''] = key.split(' ');
    const info = actions[method]?.[name];
    // A missing field is a difference of its own.
    if (!info) return [];
    const place = `${method} ${path} ${name}`;
    if (!info.choices) return [`${place} has no choices`];
    const known = new Set(info.choices.map(([value]) => valueText(value)));
    const lacking = text
      .split('|')
      .map(valueText)
      .filter((value) => !known.has(value));
    return lacking.length > 0 ? [`${place} lacks ${lacking.join('|')}`] : [];
  });
}

/**
 * Returns the differences of the settings. Settings whose value differs have a line: these are the defaults.
 */
function differencesOfSettings(category: string, shown: Shown): string[] {
  return entries(expected.settings[category]).flatMap(([name, rest]) => {
    const [type = '', value] = rest.split('=');
    if (!(name in shown)) return [`${category} ${name} is missing`];
    const [own, present] = [typeOf(shown[name]), JSON.stringify(shown[name])];
    if (differ(type, own)) return [`${category} ${name} is ${own}, not ${type}`];
    return value === undefined || value === present
      ? []
      : [`${category} ${name} is ${present}, not ${value}`];
  });
}

async function differencesOfCategories(): Promise<string[]> {
  const { body } = await test.as.superuser.get('settings/?page_size=200').expect(200);
  const known = (body.results as { slug: string }[]).map(({ slug }) => slug);
  const missing = expected.categories.split(' ').filter((slug) => !known.includes(slug));
  return missing.map((slug) => `/api/v2/settings/${slug}/ is missing`);
}

/** Returns the object at a path; of a list, its first object. */
async function shownAt(path: string): Promise<Shown> {
  const type = path.includes(':id') ? (path.split('/')[3] ?? '').replace(/s$/, '') : '';
  const url = type === '' ? path : path.replace(':id', String((await samples.of(type)).id));
  const { body } = await test.as.superuser.get(url).set('Accept', 'application/json').expect(200);
  const { results = [body] } = body as { results?: Shown[] };
  const [first] = results;
  if (!first) throw new Error(`${url} shows nothing.`);
  return first;
}

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
};

async function differencesOfAnswer(path: string): Promise<string[]> {
  const shown = await shownAt(path);
  return entries(expected.answers[path]).flatMap(([name, type]) => {
    const [group = '', member] = name.split('.');
    const holder = member === undefined ? shown : (shown[group] as Shown | undefined);
    const key = member ?? group;
    if (!holder || !(key in holder)) return [`${path} ${name} is missing`];
    const own = typeOf(holder[key]);
    return type !== '' && differ(type, own) ? [`${path} ${name} is ${own}, not ${type}`] : [];
  });
}

it('the response has the keys and types that clients expect, or a recorded reason', async () => {
  const found: string[] = [];
  for (const path of Object.keys(expected.options))
    found.push(...(await differencesOfOptions(path)));
  for (const path of Object.keys(expected.answers))
    found.push(...(await differencesOfAnswer(path)));
  for (const path of Object.keys(expected.choices)) {
    found.push(...(await differencesOfChoices(path)));
  }
  found.push(...(await differencesOfCategories()));
  for (const path of Object.keys(expected.settings)) {
    const { body } = await test.as.superuser.get(path).expect(200);
    found.push(...differencesOfSettings(path, body as Shown));
    const { body: options } = await test.as.superuser.options(path).expect(200);
    expect(Object.keys(options.actions.GET as object)).toEqual(Object.keys(body as object));
  }
  const explained = Object.values(differences).flat();
  expect(found.filter((one) => !explained.includes(one))).toEqual([]);
  // Lines without a difference must be removed.
  expect(explained.filter((one) => !found.includes(one))).toEqual([]);
});

/** Fields whose values are names that users know unchanged. */
const OWN_NAMES = /^(?:module_name|type)$/;

it('choices have readable labels', async () => {
  const raw: string[] = [];
  for (const { path } of resources()) {
    const { status, body } = await test.as.superuser.options(`/api/v2/${path}/`);
    if (status !== 200) continue;
    for (const [name, info] of Object.entries(body.actions.GET as Described)) {
      for (const [value, label] of OWN_NAMES.test(name) ? [] : (info.choices ?? [])) {
        if (typeof value === 'string' && /^[a-z][a-z_-]*$/.test(label)) {
          raw.push(`${path} ${name}: ${value} is "${label}"`);
        }
      }
    }
  }
  expect(raw).toEqual([]);
});
