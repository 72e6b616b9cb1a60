import { createHmac, randomUUID } from 'node:crypto';

const REAL_SIZE_BYTES = 25_000;

/** Returns a push event of service A, of a realistic size. */
export function pushEvent({ before, after, apiUrl }) {
  const person = { name: 'octo', email: 'octo@example.com', username: 'octo' };
  const repository = {
    id: 1296269,
    name: 'deploy',
    full_name: 'acme/deploy',
    private: true,
    html_url: 'https://code.example.com/acme/deploy',
    statuses_url: `${apiUrl}/repos/acme/deploy/statuses/{sha}`,
    default_branch: 'main',
  };
  const payload = {
    ref: 'refs/heads/main',
    before,
    after,
    created: false,
    deleted: false,
    forced: false,
    compare: `https://code.example.com/acme/deploy/compare/${before}...${after}`,
    repository,
    pusher: { name: person.name, email: person.email },
    sender: { login: person.username, id: 583231, type: 'User' },
    commits: [],
  };
  for (let number = 1; JSON.stringify(payload).length < REAL_SIZE_BYTES; number++) {
    payload.commits.push({
      id: after,
      message: `Commit ${number} of the push: explain what changed and why`,
      timestamp: '2026-01-01T12:00:00Z',
      author: person,
      committer: person,
      added: [],
      removed: [],
      modified: [`roles/web/tasks/part-${number}.yml`],
    });
  }
  return { body: JSON.stringify(payload), delivery: randomUUID() };
}

/** Returns the headers of a delivery, signed with the template's key. */
export const signedHeaders = ({ body, delivery }, key) => ({
  'Content-Type': 'application/json',
  'X-Service-A-Event': 'push',
  'X-Service-A-Delivery': delivery,
  'X-Service-A-Signature': `sha1=${createHmac('sha1', key).update(body).digest('hex')}`,
});
