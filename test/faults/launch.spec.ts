/**
 * Budget: 25 s, because it kills API processes between commit and response.
 */
import { issueToken } from '../../src/common/crypto/tokens.js';
import { Cluster } from './support/cluster.js';
import { figuresOf, printFigures } from './support/figures.js';

/** An API process that dies while it launches a job. */
describe('an API process that dies', () => {
  let cluster: Cluster;
  let headers: Record<string, string>;

  beforeAll(async () => {
    cluster = await Cluster.start({ fakeSeconds: 0 });
    const { token, digest } = issueToken();
    await cluster.rows(
      `WITH admin AS (INSERT INTO users (username, is_superuser) VALUES ('root', true) RETURNING id)
       INSERT INTO tokens (description, scope, user_id, digest, expires)
       SELECT '', 'write', id, $1, now() + interval '1 hour' FROM admin`,
      [digest],
    );
    headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    await cluster.worker();
  });

  afterAll(() => cluster.stop());

  const launch = (url: string) =>
    fetch(`${url}/api/v2/job_templates/2/launch/`, { method: 'POST', headers, body: '{}' });
  const jobIds = async () =>
    (await cluster.rows<{ id: number }>('SELECT id FROM unified_jobs')).map(({ id }) => id);

  it('before the commit: there is no job, and the next launch works', async () => {
    const api = await cluster.api({ FAIL_POINT: 'run-created' });
    await expect(launch(api.url)).rejects.toThrow();
    expect(await api.ended).toBe('SIGKILL');
    expect(await jobIds()).toEqual([]);
  });

  it('after the commit, before anybody was told: the job runs', async () => {
    const api = await cluster.api({ FAIL_POINT: 'run-committed' });
    await expect(launch(api.url)).rejects.toThrow();
    expect(await api.ended).toBe('SIGKILL');
    const ids = await jobIds();
    expect(ids).toHaveLength(1);
    const figures = figuresOf(ids, await cluster.over(ids, 20_000), await cluster.ledger());
    printFigures('API killed after its commit', figures);
    expect(figures).toEqual({ accepted: 1, finished: 1, lost: 0, doubled: 0 });
  });
});
