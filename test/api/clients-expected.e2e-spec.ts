/**
 * Clients that exist expect keys and types of this API. `clients-expected.json` names them, for OPTIONS
 * and for answers; `clients-expected-differences.json` is all that differs here, with the reason. What is
 * here besides is no difference.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { boot, type TestApp } from '../support/boot.js';
import { Samples, sampleTypes } from '../support/samples.js';

interface Expected {
  /** By list and method, `name:type` of each field; `!` where it is required, then `=` and a default. */
  options: Record<string, { GET?: string; POST?: string }>;
  /** By document, list or object, `name:type` of each key; of links and summaries the names alone. */
  answers: Record<string, string>;
}

/** Differences by their reason. */
type Differences = Record<string, string[]>;

type Shown = Record<string, unknown>;
type Described = Record<string, { type: string; required?: boolean; default?: unknown }>;

const read = (name: string): unknown =>
  JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'test', 'api', `${name}.json`), 'utf8'));
const expected = read('clients-expected') as Expected;
const differences = read('clients-expected-differences') as Differences;

/** Types that say nothing of the value, and values that do not tell their type. */
const UNKNOWN = ['field', 'null'];

let test: TestApp;
let samples: Samples;
beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  for (const type of sampleTypes()) await samples.of(type);
  await samples.tieAll();
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
    // A default of nothing is none: fields that are left out are empty.
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

/** The object a path shows: of lists the first. */
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

it('has the keys and types that clients expect, or a reason', async () => {
  const found: string[] = [];
  for (const path of Object.keys(expected.options))
    found.push(...(await differencesOfOptions(path)));
  for (const path of Object.keys(expected.answers))
    found.push(...(await differencesOfAnswer(path)));
  const explained = Object.values(differences).flat();
  expect(found.filter((one) => !explained.includes(one))).toEqual([]);
  // A line that does not differ any more goes.
  expect(explained.filter((one) => !found.includes(one))).toEqual([]);
});
