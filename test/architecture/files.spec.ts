import { basename } from 'node:path';

import { sourceFiles } from './source-files.js';

/** Longer files do more than one thing. */
const MAX_LINES = 300;
const files = sourceFiles('src', 'test');

it('no file is longer than 300 lines', () => {
  const long = files
    .filter(({ path }) => path.startsWith('src/'))
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > MAX_LINES);
  expect(long).toEqual([]);
});

it('files are named for what they hold', () => {
  const vague = /^(utils?|helpers?|misc|common|types|constants|interfaces)\.ts$/;
  const shape = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*\.ts$/;
  const faults = files.filter(
    ({ path }) => vague.test(basename(path)) || !shape.test(basename(path)),
  );
  expect(faults.map(({ path }) => path)).toEqual([]);
});

it('no work is left as a note in the code', () => {
  const faults = files.filter(
    ({ path, text }) => path.startsWith('src/') && /\b(TODO|FIXME|XXX)\b/.test(text),
  );
  expect(faults.map(({ path }) => path)).toEqual([]);
});
