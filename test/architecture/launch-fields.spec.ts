import { sourceFiles } from './source-files.js';

/**
 * Maximum number of files: the declaration, the row of the run, the arguments of Ansible, and the fields of
 * messages.
 */
const MAX = 5;

it('a launch field is declared once, and few files name it', () => {
  const naming = sourceFiles('src')
    .filter(({ path, text }) => !path.endsWith('.spec.ts') && text.includes('skip_tags'))
    .map(({ path }) => path);
  expect(naming).toContain('src/prompts/launch-options.ts');
  expect(naming.length).toBeLessThanOrEqual(MAX);
});
