import { moduleArguments, type ModuleRun } from './module-run.js';

const RUN: ModuleRun = {
  jobId: 1,
  attempt: 1,
  inventory: {},
  extraVars: {},
  jobType: 'run',
  module: 'ping',
  moduleArgs: '',
  limit: '',
};

it.each<[Partial<ModuleRun>, string[]]>([
  [{}, []],
  [{ moduleArgs: '--version' }, ['--args=--version']],
  [{ limit: 'localhost' }, ['--limit=localhost']],
  [{ forks: 3, verbosity: 2, diffMode: true }, ['--diff', '--forks=3', '-vv']],
  [
    { becomeEnabled: true, passwords: { ssh: 'x', become: 'y' } },
    ['--ask-pass', '--become', '--ask-become-pass'],
  ],
])('converts the settings %p to options of ansible', (settings, options) => {
  expect(moduleArguments({ ...RUN, ...settings })).toEqual(['-u', 'root', ...options]);
});

it('passes --check in a check', () => {
  expect(moduleArguments({ ...RUN, jobType: 'check' })[0]).toBe('--check');
});
