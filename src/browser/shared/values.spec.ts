import { objectTitleOf } from './values.js';

const GENERATED = '0f8fad5b-d9cb-469f-a165-70867728950e';
const RUNS_DEPLOY = { summary_fields: { unified_job_template: { name: 'Deploy' } } };

it.each([
  ['its name', { id: 7, type: 'team', name: 'Ops' }, 'Ops'],
  ['its own identifier', { id: 7, identifier: 'build', ...RUNS_DEPLOY }, 'build'],
  ['its template', { id: 7, identifier: GENERATED, ...RUNS_DEPLOY }, 'Deploy'],
  [
    'its type and id',
    { id: 7, type: 'workflow_job_template_node', identifier: GENERATED },
    'Workflow job template node 7',
  ],
])('the title of an object is %s', (_what, item, title) => {
  expect(objectTitleOf(item)).toBe(title);
});
