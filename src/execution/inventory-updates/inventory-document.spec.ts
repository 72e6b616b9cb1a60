import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { exactJson } from '../../common/exact-json.js';
import { readDocument } from './inventory-document.js';
import { parseDocument } from './parse-document.js';

const objectOf = (members: number): string =>
  `{${Array.from({ length: members }, (_, index) => `"k${index}":1`).join(',')}}`;

it('the reader parses a document', async () => {
  const document = { all: { hosts: ['a', 'b'] }, _meta: { hostvars: { a: { x: null } } } };
  expect(await readDocument(JSON.stringify(document))).toEqual(document);
});

it('the reader keeps large integers, the notation of floats and the order of names', async () => {
  const text = '{"all":{"vars":{"b":1.0,"443":[12345678901234567890,{"9":1,"1":[]}]}},"7":{}}';
  expect(exactJson(await readDocument(text))).toBe(text);
});

it('the reader keeps the unsafe mark only on texts that could be templates', async () => {
  const marked = (text: string) => ({ __ansible_unsafe: text });
  const vars = { name: marked('db'), hint: marked('{{ 1 }}'), other: { ...marked('a'), b: 1 } };
  const plain = { ...vars, name: 'db' };
  expect(await readDocument(JSON.stringify({ vars }))).toEqual({ vars: plain });
  expect(await readDocument(JSON.stringify({ vars }).replace('1}', '1.0}'))).toMatchObject({
    vars: { name: 'db', hint: marked('{{ 1 }}') },
  });
});

it.each([
  ['text that is not JSON', '{"all": ', 'not valid JSON'],
  ['more values than it takes', `[${'0,'.repeat(4_000_000)}0]`, 'more than 4000000 values'],
  ['a larger object than it takes', objectOf(500_001), 'object with more than 500000 members'],
])('the reader refuses %s', (_name, text, fault) => {
  expect(parseDocument(text)).toEqual({ fault: expect.stringContaining(fault) as string });
});

it('the reader does not block the event loop while it reads a large document', async () => {
  const timer = monitorEventLoopDelay();
  timer.enable();
  await readDocument(`[${'{},'.repeat(1_200_000)}1.0]`);
  // The monitor records a delay in the next turn of the event loop.
  await setTimeout(1);
  timer.disable();
  expect(timer.max / 1e6).toBeLessThan(1_000);
});

it('the reader fails a run whose document needs too much memory, and reads the next document', async () => {
  // An empty array needs a hundred times the memory of its two characters.
  const deep = `${'['.repeat(3_900_000)}${']'.repeat(3_900_000)}`;
  await expect(readDocument(deep)).rejects.toThrow('The inventory');
  expect(await readDocument('{}')).toEqual({});
});
