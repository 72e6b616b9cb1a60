import fc from 'fast-check';
import {
  filterMismatch,
  InvalidFilters,
  parseWebhookFilters,
  valueAtPointer,
  webhookFilterFaults,
  type FilteredEvent,
} from './filters.js';
import { parseExact } from '../common/exact-json.js';
import { parseRecord } from '../common/records.js';
import { matchesRef } from './ref-glob.js';

const PULL_REQUEST: FilteredEvent = {
  service: 'service_a',
  type: 'pull_request',
  refName: 'feature/page',
  payload: {
    action: 'opened',
    pull_request: { draft: false, labels: [{ name: 'deploy' }] },
    'a/b': { '~c': 1 },
  },
};
const PUSH: FilteredEvent = {
  service: 'service_c_dc',
  type: 'repo:refs_changed',
  refName: 'refs/heads/main',
  payload: {},
};

describe('filterMismatch', () => {
  it.each([
    [{}],
    [{ events: [], actions: [], refs: [], equals: {} }],
    [{ events: ['push', 'pull_request'] }],
    [{ actions: ['opened', 'synchronize'] }],
    [{ refs: ['main', 'feature/*'] }],
    [{ equals: { '/pull_request/draft': false } }],
    [{ equals: { '/pull_request/labels/0/name': ['deploy', 'ship'] } }],
    [{ equals: { '/a~1b/~0c': 1 } }],
  ])('accepts an event with the filter %j', (filters) => {
    expect(filterMismatch(filters, PULL_REQUEST)).toBeNull();
  });

  it.each([
    [{ events: ['push'] }, 'The event pull_request is not among'],
    [{ actions: ['closed'] }, 'The action opened is not among'],
    [{ refs: ['main'] }, 'feature/page matches none'],
    [{ equals: { '/pull_request/draft': true } }, 'The value at /pull_request/draft'],
    [{ equals: { '/pull_request/draft': null } }, 'The value at'],
    [{ equals: { '/pull_request/draft': 'false' } }, 'The value at'],
    [{ equals: { '/pull_request': 'x' } }, 'The value at'],
    [{ equals: { '/__proto__/x': null } }, 'The value at'],
    [{ events: ['pull_request'], actions: ['closed'] }, 'The action opened'],
  ])('rejects an event with the filter %j', (filters, reason) => {
    expect(filterMismatch(filters, PULL_REQUEST)).toContain(reason);
  });

  it('compares numbers by value, in any notation of the payload', () => {
    const event = { ...PUSH, payload: parseRecord('{"a": 1.0, "b": 1e2}') };
    expect(filterMismatch({ equals: { '/a': 1, '/b': 100 } }, event)).toBeNull();
    expect(filterMismatch({ equals: { '/a': 2 } }, event)).toContain('The value at /a');
    const written = parseWebhookFilters(parseExact('{"equals": {"/a": [2, 1.0], "/b": 100.0}}'));
    expect(filterMismatch(written, event)).toBeNull();
  });

  it('rejects an event without an action if the filter has actions', () => {
    expect(filterMismatch({ actions: ['opened'] }, PUSH)).toBe('The event has no action.');
  });

  it('rejects an event without a branch or tag if the filter has refs', () => {
    const event = { ...PUSH, refName: null };
    expect(filterMismatch({ refs: ['**'] }, event)).toBe('The event names no branch or tag.');
  });

  it('accepts full and short refs', () => {
    expect(filterMismatch({ refs: ['refs/heads/main'] }, PUSH)).toBeNull();
    expect(filterMismatch({ refs: ['main'] }, PUSH)).toBeNull();
  });
});

describe('matchesRef', () => {
  it.each([
    ['main', 'main', true],
    ['main', 'Main', false],
    ['main', 'main2', false],
    ['release/*', 'release/1.0', true],
    ['release/*', 'release/1/0', false],
    ['release/**', 'release/1/0', true],
    ['*', 'refs/heads/main', true],
    ['v?.?', 'v1.2', true],
    ['v?.?', 'v1/2', false],
    ['**', 'a/b/c', true],
    ['*-fix', 'hot-fix', true],
    ['*-fix', 'hot-fixes', false],
    ['', 'main', false],
    ['v[0-9]', 'v1', false],
    ['(a+)+$', 'aaaa', false],
  ])('%s, %s: %s', (pattern, name, expected) => {
    expect(matchesRef(pattern, name)).toBe(expected);
  });

  it('agrees with the equivalent regular expression', () => {
    const pieces = fc.constantFrom('a', 'b', '/', '*', '**', '?');
    const names = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 6 }), names, (pattern, name) => {
        const text = pattern.join('');
        const source = text
          .replace(/\*\*+/g, '\u0001')
          .replaceAll('*', '[^/]*')
          .replaceAll('\u0001', '.*')
          .replaceAll('?', '[^/]');
        const expected = new RegExp(`^${source}$`, 's').test(name.join(''));
        expect(matchesRef(text, name.join(''))).toBe(expected);
      }),
    );
  });

  it('stays fast on patterns that cause backtracking', () => {
    const startedAt = process.cpuUsage();
    matchesRef(`${'*a'.repeat(127)}b`, 'a'.repeat(1024));
    expect(process.cpuUsage(startedAt).user).toBeLessThan(500_000);
  });

  it('stays fast on the most and longest patterns that filters can have', () => {
    // The fastest of three, because other processes of the machine slow some of them.
    const times = [1, 2, 3].map(() => {
      const startedAt = process.cpuUsage();
      for (let index = 10; index < 60; index += 1) {
        matchesRef(`${'?*a*'.repeat(63)}z${index}`, 'ab'.repeat(512));
      }
      return process.cpuUsage(startedAt).user;
    });
    expect(Math.min(...times)).toBeLessThan(250_000);
  });
});

describe('webhookFilterFaults', () => {
  it.each([
    [{}],
    [{ events: ['push', 'Push Hook', 'pr:opened'], actions: ['opened'], refs: ['**'] }],
    [{ equals: { '/a': 1, '/b/0': 'x', '/c': null, '/d': [true, 2] } }],
  ])('accepts %j', (value) => {
    expect(webhookFilterFaults(value)).toEqual([]);
    expect(parseWebhookFilters(value)).toBe(value);
  });

  it.each([
    [[], 'must be an object'],
    ['push', 'must be an object'],
    [{ event: ['push'] }, '"event" is not a filter'],
    [{ events: 'push' }, '"events" must be a list'],
    [{ events: ['pussh'] }, '"pussh" is not an event'],
    [{ refs: [''] }, '"refs" must hold texts'],
    [{ refs: ['x'.repeat(257)] }, '"refs" must hold texts'],
    [{ refs: [1] }, '"refs" must hold texts'],
    [{ refs: ['a\u0000'] }, '"refs" must hold texts'],
    [{ actions: Array.from({ length: 51 }, () => 'a') }, 'more than 50'],
    [{ equals: [] }, '"equals" must be an object'],
    [{ equals: { a: 1 } }, 'is not a JSON pointer'],
    [{ equals: { '/a~2': 1 } }, 'is not a JSON pointer'],
    [{ equals: { '/a': {} } }, 'must be a text, number'],
    [{ equals: { '/a': [[1]] } }, 'must be a text, number'],
  ])('refuses %j', (value, fault) => {
    expect(webhookFilterFaults(value).join(' ')).toContain(fault);
    expect(() => parseWebhookFilters(value)).toThrow(InvalidFilters);
  });
});

describe('valueAtPointer', () => {
  it('never throws, and reads own properties only', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, pointer) => {
        expect(typeof valueAtPointer(value, `/${pointer}`)).not.toBe('function');
      }),
    );
    expect(valueAtPointer({}, '/constructor')).toBeUndefined();
    expect(valueAtPointer([], '/length')).toBeUndefined();
  });
});
