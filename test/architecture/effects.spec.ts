/** Every writable field has an effect: code reads it, besides the declaration that stores and shows it. */
import '../../src/app.module.js';
import { fieldsOf } from '../../src/common/fields/field.js';
import { isWritable } from '../../src/common/fields/reads.decorator.js';
import { resources } from '../../src/common/resource/define-resource.js';
import { sourceFiles } from './source-files.js';

/** Fields that users read, which have no other effect. */
const SHOWN = new Set(['name', 'description', 'first_name', 'last_name']);

/** Files that declare, show or describe fields. */
const DECLARES =
  /\.(entity|schema|resource|spec)\.ts$|^src\/(browser|demo|openapi|service-names)\/|-fields\.ts$/;

/** Read by a pattern of the name; `launch-fields.spec.ts` shows that each prompt has its field. */
const PROMPT = /^ask_\w+_on_launch$/;

const code = sourceFiles('src')
  .filter(({ path }) => !DECLARES.test(path))
  .map(({ text }) => text)
  .join('\n');

const words = new Set(code.match(/\w+/g));

const written = resources().flatMap(({ type, entity }) =>
  fieldsOf(entity)
    .filter((field) => isWritable(field))
    .filter(({ name }) => !SHOWN.has(name) && !PROMPT.test(name))
    .map(({ name }) => ({ type, name })),
);

it('every writable field is read by code with an effect', () => {
  expect(written.length).toBeGreaterThan(150);
  const idle = written.filter(({ name }) => !words.has(name) && !words.has(`${name}_id`));
  expect(idle.map(({ type, name }) => `${type}.${name}`)).toEqual([]);
});
