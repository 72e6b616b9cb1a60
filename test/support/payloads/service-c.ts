/** Events of service C. */
import {
  CHANGES,
  commitId,
  COMMITS,
  sample,
  SERVICE_URLS,
  type Json,
  type WebhookSample,
} from './sample.js';

const ROOT = SERVICE_URLS.service_c_dc;
const WHEN = 1_767_607_200_000;

const self = (path: string): Json => ({ self: [{ href: ROOT + path }] });

const person = (name: string, displayName: string, id: number): Json => ({
  name,
  emailAddress: `${name}@example.com`,
  active: true,
  displayName,
  id,
  slug: name,
  type: 'NORMAL',
  links: self(`/users/${name}`),
});

const actor = person('admin', 'Administrator', 1);
const author = person('grace', 'Grace Hopper', 1906);

const repository: Json = {
  slug: 'site',
  id: 84,
  name: 'site',
  description: 'Playbooks and roles of the public web site',
  hierarchyId: commitId('hierarchy').slice(0, 20),
  scmId: 'git',
  state: 'AVAILABLE',
  statusMessage: 'Available',
  forkable: true,
  project: {
    key: 'WEB',
    id: 2,
    name: 'Web',
    description: 'Everything that is public',
    public: false,
    type: 'NORMAL',
    links: self('/projects/WEB'),
  },
  public: false,
  archived: false,
  links: {
    clone: [
      { href: `${ROOT}/scm/web/site.git`, name: 'http' },
      { href: 'ssh://git@c.example.com:7999/web/site.git', name: 'ssh' },
    ],
    ...self('/projects/WEB/repos/site/browse'),
  },
};

function commit(message: string, index: number): Json {
  const id = index === 0 ? COMMITS.after : commitId(message);
  return {
    id,
    displayId: id.slice(0, 11),
    author: { name: 'grace', emailAddress: 'grace@example.com' },
    authorTimestamp: WHEN,
    committer: { name: 'grace', emailAddress: 'grace@example.com' },
    committerTimestamp: WHEN,
    message,
    parents: [{ id: COMMITS.before, displayId: COMMITS.before.slice(0, 11) }],
  };
}

const change: Json = {
  ref: { id: 'refs/heads/main', displayId: 'main', type: 'BRANCH' },
  refId: 'refs/heads/main',
  fromHash: COMMITS.before,
  toHash: COMMITS.after,
  type: 'UPDATE',
};

function pullRequest(): Json {
  const side = (branch: string, latestCommit: string): Json => ({
    id: `refs/heads/${branch}`,
    displayId: branch,
    latestCommit,
    type: 'BRANCH',
    repository,
  });
  return {
    id: 11,
    version: 1,
    title: 'Add a page',
    description: CHANGES.map((line) => `* ${line}`).join('\n'),
    state: 'OPEN',
    open: true,
    closed: false,
    draft: false,
    createdDate: WHEN,
    updatedDate: WHEN,
    fromRef: side('feature/page', COMMITS.head),
    toRef: side('main', COMMITS.target),
    locked: false,
    author: { user: author, role: 'AUTHOR', approved: false, status: 'UNAPPROVED' },
    reviewers: [{ user: actor, role: 'REVIEWER', approved: false, status: 'UNAPPROVED' }],
    participants: [],
    links: self('/projects/WEB/repos/site/pull-requests/11'),
  };
}

/** Returns all events of the table in the contract, in its order. */
export function samplesOfC(): WebhookSample[] {
  const status = (ref: string): string => `${ROOT}/rest/build-status/1.0/commits/${ref}`;
  const pushed = {
    ref: COMMITS.after,
    refName: 'refs/heads/main',
    pushRef: 'refs/heads/main',
    statusApi: status(COMMITS.after),
  };
  const merge = {
    ref: COMMITS.target,
    refName: 'refs/heads/feature/page',
    headRef: COMMITS.head,
    statusApi: status(COMMITS.target),
  };
  const of = (event: string, payload: Json, expected: Parameters<typeof sample>[3]) =>
    sample(
      'service_c_dc',
      event,
      { eventKey: event, date: '2026-01-05T10:00:00+0000', ...payload },
      expected,
    );
  const commits = CHANGES.slice(0, 5).map(commit);
  const requested = { actor, pullRequest: pullRequest() };
  return [
    of(
      'repo:refs_changed',
      { actor, repository, changes: [change], commits, toCommit: commits[0] },
      pushed,
    ),
    // A synchronization has no acting user: the repository's link is the only one.
    of(
      'mirror:repo_synchronized',
      {
        mirrorServer: { id: 'B1SR-5V2A', name: 'Mirror in the south' },
        syncType: 'INCREMENTAL',
        refLimitExceeded: false,
        repository,
        changes: [change],
      },
      pushed,
    ),
    of('pr:opened', requested, merge),
    of('pr:from_ref_updated', { ...requested, previousFromHash: COMMITS.before }, merge),
    of(
      'pr:modified',
      {
        ...requested,
        previousTitle: 'A page',
        previousDescription: null,
        previousTarget: { id: 'refs/heads/main', displayId: 'main', type: 'BRANCH' },
      },
      merge,
    ),
  ];
}
