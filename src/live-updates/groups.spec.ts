import { groupChanges, readGroups } from './groups.js';

it('reads each group once, with numbers or texts as ids', () => {
  expect(readGroups({ jobs: ['status_changed', 'status_changed'], job_events: [7, '7'] })).toEqual([
    { group: 'jobs', member: 'status_changed', name: 'jobs-status_changed' },
    { group: 'job_events', member: '7', name: 'job_events-7' },
  ]);
});

it.each([
  ['no object', ['jobs']],
  ['null', null],
  ['no list', { jobs: 'status_changed' }],
  ['an object as a member', { jobs: [{}] }],
  ['a strange name', { 'jobs\n': ['x'] }],
  ['a long member', { jobs: ['x'.repeat(65)] }],
  ['more than 100 groups', { job_events: Array.from({ length: 101 }, (_one, id) => id) }],
])('refuses %s', (_case, sent) => {
  expect(readGroups(sent)).toBeNull();
});

it('lists the groups that were left and joined', () => {
  expect(groupChanges(new Set(['a', 'b']), new Set(['b', 'c']))).toEqual({
    groups_current: ['b', 'c'],
    groups_left: ['a'],
    groups_joined: ['c'],
  });
});
