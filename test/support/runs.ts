import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import type { TestApp } from './boot.js';
import type { PersonaName } from './personas.js';

/** Launches a job template through the API and returns the job. */
export async function launchJob(
  { as }: TestApp,
  template: Row,
  body: object = {},
  name: PersonaName = 'superuser',
): Promise<Row> {
  const url = `job_templates/${template.id}/launch/`;
  return (await as[name].post(url, body).expect(201)).body as Row;
}

/** Ends a job as a worker would. */
export async function endJob(
  { database }: TestApp,
  job: Row,
  status = 'successful',
): Promise<void> {
  await database.execute(sql`
    UPDATE unified_jobs SET status = ${status}, started = now() - interval '3 s', finished = now(),
      failed = ${status !== 'successful'}, event_processing_finished = true
    WHERE id = ${job.id}`);
}

/** Returns a playbook with one play for all hosts, with each task on one line. */
export const play = (...tasks: string[]): string =>
  [
    '- hosts: all',
    '  gather_facts: false',
    '  tasks:',
    ...tasks.map((task) => `    - ${task}`),
  ].join('\n');
