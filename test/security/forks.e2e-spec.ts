/** A run starts a process for each fork, so a setting limits the number of forks. */
import { boot, type TestApp } from '../support/boot.js';

const FORKS = 5000;
const refused = { forks: ['Maximum number of forks (200) exceeded.'] };

let test: TestApp;
beforeAll(async () => {
  test = await boot({ settings: { MAX_FORKS: '200' } });
});
afterAll(() => test.close());

it('forks above the limit are refused in templates, launches and bulk launches', async () => {
  const { make, as, home } = test;
  const template = await make.jobTemplate({ ask_forks_on_launch: true });
  const url = `job_templates/${template.id}/`;
  expect((await as.superuser.patch(url, { forks: FORKS }).expect(400)).body).toEqual(refused);
  const launch = await as.superuser.post(`${url}launch/`, { forks: FORKS }).expect(400);
  expect(launch.body).toEqual(refused);
  const bulk = { name: 'x', organization: home.organization.id };
  const jobs = [{ unified_job_template: template.id, forks: FORKS }];
  const { body } = await as.superuser.post('bulk/job_launch/', { ...bulk, jobs }).expect(400);
  expect(JSON.stringify(body)).toContain('Maximum number of forks (200) exceeded.');
});
