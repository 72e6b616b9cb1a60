import { sourceFiles } from './source-files.js';

/** Files of a resource with fields, roles, links and permissions only, without hooks and SQL. */
const PLAIN = ['team.entity.ts', 'teams.resource.ts', 'teams.controller.ts', 'teams.module.ts'];
const MAX = 100;

it('a plain resource needs fewer than 100 lines', () => {
  const files = sourceFiles('src').filter(({ path }) =>
    PLAIN.some((name) => path === `src/teams/${name}`),
  );
  const lines = files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
  expect(files).toHaveLength(PLAIN.length);
  expect(lines).toBeLessThan(MAX);
});
