import '../../organizations/organizations.resource.js';
import { teams } from '../../teams/teams.resource.js';
import { objectTitleOf, valueView } from './value-views.js';

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

it.each([
  [
    'by its name',
    { organization: { id: 3, name: 'Shop' } },
    '<a href="/api/v2/organizations/3/">Shop</a>',
  ],
  ['by its id alone if the caller may not read it', {}, '#3'],
])('a reference is shown %s', (_what, summaries, shown) => {
  const team = { id: 7, type: 'team', organization: 3, summary_fields: summaries };
  expect(String(valueView('organization', team, teams))).toBe(shown);
});
