import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import type { TestApp } from './boot.js';

/** Starts an update of a project, and lets the update fail with an explanation. */
export async function failSync(
  { app, as, database }: TestApp,
  project: number,
  explanation: string,
): Promise<void> {
  const { body } = await as.superuser.post(`projects/${project}/update/`, {}).expect(202);
  const transitions = app.get(RunTransitions, { strict: false });
  await database.transaction(() =>
    transitions.move([{ id: body.id, explanation }], { from: ['pending'], to: 'failed' }),
  );
}
