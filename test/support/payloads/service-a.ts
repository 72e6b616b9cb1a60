/** Events of service A with complete objects and all their links. */
import {
  CHANGES,
  commitId,
  COMMITS,
  sample,
  SERVICE_URLS,
  type Json,
  type WebhookSample,
} from './sample.js';

const API = SERVICE_URLS.service_a;
const SITE = 'https://a.example.com';
const WHEN = '2026-01-05T10:00:00Z';

const linksUnder = (url: string, links: Record<string, string>): Json =>
  Object.fromEntries(Object.entries(links).map(([name, path]) => [`${name}_url`, url + path]));

function user(login: string, id: number): Json {
  return {
    login,
    id,
    node_id: `U_${commitId(login).slice(0, 12)}`,
    avatar_url: `https://avatars.a.example.com/u/${id}?v=4`,
    gravatar_id: '',
    url: `${API}/users/${login}`,
    html_url: `${SITE}/${login}`,
    ...linksUnder(`${API}/users/${login}`, {
      followers: '/followers',
      following: '/following{/other_user}',
      gists: '/gists{/gist_id}',
      starred: '/starred{/owner}{/repo}',
      subscriptions: '/subscriptions',
      organizations: '/orgs',
      repos: '/repos',
      events: '/events{/privacy}',
      received_events: '/received_events',
    }),
    type: 'User',
    user_view_type: 'public',
    site_admin: false,
  };
}

function repository(owner: Json, id: number): Json {
  const name = `${String(owner.login)}/site`;
  const url = `${API}/repos/${name}`;
  return {
    id,
    node_id: `R_${commitId(name).slice(0, 12)}`,
    name: 'site',
    full_name: name,
    private: false,
    owner,
    html_url: `${SITE}/${name}`,
    description: 'Playbooks and roles of the public web site',
    fork: id !== 42,
    url,
    ...linksUnder(url, {
      forks: '/forks',
      keys: '/keys{/key_id}',
      collaborators: '/collaborators{/collaborator}',
      teams: '/teams',
      hooks: '/hooks',
      issue_events: '/issues/events{/number}',
      events: '/events',
      assignees: '/assignees{/user}',
      branches: '/branches{/branch}',
      tags: '/tags',
      blobs: '/git/blobs{/sha}',
      git_tags: '/git/tags{/sha}',
      git_refs: '/git/refs{/sha}',
      trees: '/git/trees{/sha}',
      statuses: '/statuses/{sha}',
      languages: '/languages',
      stargazers: '/stargazers',
      contributors: '/contributors',
      subscribers: '/subscribers',
      subscription: '/subscription',
      commits: '/commits{/sha}',
      git_commits: '/git/commits{/sha}',
      comments: '/comments{/number}',
      issue_comment: '/issues/comments{/number}',
      contents: '/contents/{+path}',
      compare: '/compare/{base}...{head}',
      merges: '/merges',
      archive: '/{archive_format}{/ref}',
      downloads: '/downloads',
      issues: '/issues{/number}',
      pulls: '/pulls{/number}',
      milestones: '/milestones{/number}',
      notifications: '/notifications{?since,all,participating}',
      labels: '/labels{/name}',
      releases: '/releases{/id}',
      deployments: '/deployments',
    }),
    created_at: '2024-03-01T08:00:00Z',
    updated_at: WHEN,
    pushed_at: WHEN,
    git_url: `git://a.example.com/${name}.git`,
    ssh_url: `git@a.example.com:${name}.git`,
    clone_url: `${SITE}/${name}.git`,
    svn_url: `${SITE}/${name}`,
    homepage: null,
    size: 1834,
    stargazers_count: 12,
    watchers_count: 12,
    language: 'Jinja',
    has_issues: true,
    has_projects: true,
    has_downloads: true,
    has_wiki: false,
    has_pages: true,
    has_discussions: false,
    forks_count: 3,
    mirror_url: null,
    archived: false,
    disabled: false,
    open_issues_count: 4,
    license: { key: 'apache-2.0', name: 'Apache License 2.0', spdx_id: 'Apache-2.0', node_id: 'L' },
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: ['ansible', 'automation'],
    visibility: 'public',
    forks: 3,
    open_issues: 4,
    watchers: 12,
    default_branch: 'main',
  };
}

const owner = user('octo', 7);
const contributor = user('grace', 1906);
const site = repository(owner, 42);
const common = { repository: site, sender: contributor };

const person = { name: 'Grace Hopper', email: 'grace@example.com', username: 'grace', date: WHEN };

function commit(message: string, index: number): Json {
  const id = index === CHANGES.length - 1 ? COMMITS.after : commitId(message);
  return {
    id,
    tree_id: commitId(`tree ${message}`),
    distinct: true,
    message: `${message}\n\nSigned-off-by: Grace Hopper <grace@example.com>`,
    timestamp: WHEN,
    url: `${SITE}/octo/site/commit/${id}`,
    author: person,
    committer: person,
    added: [`roles/web/tasks/part_${index}.yml`],
    removed: [],
    modified: ['site.yml', 'inventories/production/hosts.yml', `roles/web/defaults/${index}.yml`],
  };
}

function push(): Json {
  const commits = CHANGES.map(commit);
  return {
    ref: 'refs/heads/main',
    before: COMMITS.before,
    after: COMMITS.after,
    ...common,
    pusher: { name: 'grace', email: 'grace@example.com' },
    created: false,
    deleted: false,
    forced: false,
    base_ref: null,
    compare: `${SITE}/octo/site/compare/${COMMITS.before.slice(0, 12)}...${COMMITS.after.slice(0, 12)}`,
    commits,
    head_commit: commits.at(-1),
  };
}

/** Returns a pull request from a fork: the head's repository differs from the base's. */
function pullRequest(): Json {
  const url = `${API}/repos/octo/site/pulls/12`;
  const side = (ref: string, sha: string, repo: Json): Json => {
    const account = repo.owner as Json;
    return { label: `${String(account.login)}:${ref}`, ref, sha, user: account, repo };
  };
  return {
    url,
    id: 99,
    node_id: 'PR_kwDOAA',
    html_url: `${SITE}/octo/site/pull/12`,
    diff_url: `${SITE}/octo/site/pull/12.diff`,
    patch_url: `${SITE}/octo/site/pull/12.patch`,
    issue_url: `${API}/repos/octo/site/issues/12`,
    number: 12,
    state: 'open',
    locked: false,
    title: 'Add a page',
    user: contributor,
    body: CHANGES.map((line) => `- ${line}`).join('\r\n'),
    created_at: WHEN,
    updated_at: WHEN,
    closed_at: null,
    merged_at: null,
    merge_commit_sha: commitId('merge'),
    assignee: null,
    assignees: [],
    requested_reviewers: [owner],
    requested_teams: [],
    labels: [
      { id: 208, name: 'documentation', color: '0075ca', default: true, description: 'Docs' },
    ],
    milestone: null,
    draft: false,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: `${API}/repos/octo/site/pulls/comments{/number}`,
    comments_url: `${API}/repos/octo/site/issues/12/comments`,
    statuses_url: `${API}/repos/octo/site/statuses/${COMMITS.head}`,
    head: side('feature/page', COMMITS.head, repository(contributor, 43)),
    base: side('main', COMMITS.target, site),
    _links: Object.fromEntries(
      ['self', 'html', 'issue', 'comments', 'commits', 'statuses'].map((name) => [
        name,
        { href: `${url}/${name}` },
      ]),
    ),
    author_association: 'CONTRIBUTOR',
    auto_merge: null,
    merged: false,
    mergeable: null,
    rebaseable: null,
    mergeable_state: 'unknown',
    merged_by: null,
    comments: 0,
    review_comments: 1,
    maintainer_can_modify: true,
    commits: 3,
    additions: 120,
    deletions: 8,
    changed_files: 5,
  };
}

const review: Json = {
  id: 5,
  node_id: 'PRR_5',
  user: owner,
  body: 'Good, with one question.',
  commit_id: COMMITS.head,
  submitted_at: WHEN,
  state: 'approved',
  html_url: `${SITE}/octo/site/pull/12#pullrequestreview-5`,
  pull_request_url: `${API}/repos/octo/site/pulls/12`,
  author_association: 'OWNER',
};

const reviewComment: Json = {
  id: 6,
  pull_request_review_id: 5,
  diff_hunk: '@@ -1,3 +1,4 @@\n - hosts: web\n+  serial: 1',
  path: 'site.yml',
  position: 4,
  commit_id: COMMITS.head,
  original_commit_id: COMMITS.head,
  user: owner,
  body: 'Why one by one?',
  created_at: WHEN,
  updated_at: WHEN,
  html_url: `${SITE}/octo/site/pull/12#discussion_r6`,
  pull_request_url: `${API}/repos/octo/site/pulls/12`,
  author_association: 'OWNER',
  line: 4,
  side: 'RIGHT',
};

const commitComment: Json = {
  url: `${API}/repos/octo/site/comments/8`,
  html_url: `${SITE}/octo/site/commit/${COMMITS.head}#commitcomment-8`,
  id: 8,
  user: owner,
  position: null,
  line: null,
  path: null,
  commit_id: COMMITS.head,
  created_at: WHEN,
  updated_at: WHEN,
  author_association: 'OWNER',
  body: 'Why?',
};

function release(): Json {
  const url = `${API}/repos/octo/site/releases/3`;
  const asset = (name: string, id: number): Json => ({
    url: `${API}/repos/octo/site/releases/assets/${id}`,
    id,
    name,
    uploader: contributor,
    content_type: 'application/gzip',
    state: 'uploaded',
    size: 1_024_000,
    download_count: 0,
    browser_download_url: `${SITE}/octo/site/releases/download/v1.2.0/${name}`,
  });
  return {
    url,
    assets_url: `${url}/assets`,
    upload_url: `https://uploads.a.example.com/repos/octo/site/releases/3/assets{?name,label}`,
    html_url: `${SITE}/octo/site/releases/tag/v1.2.0`,
    id: 3,
    author: contributor,
    tag_name: 'v1.2.0',
    target_commitish: 'main',
    name: 'January',
    draft: false,
    prerelease: false,
    created_at: WHEN,
    published_at: WHEN,
    assets: [asset('site-1.2.0.tar.gz', 31), asset('site-1.2.0.zip', 32)],
    tarball_url: `${API}/repos/octo/site/tarball/v1.2.0`,
    zipball_url: `${API}/repos/octo/site/zipball/v1.2.0`,
    body: CHANGES.map((line) => `- ${line}`).join('\r\n'),
  };
}

const pageBuild: Json = {
  url: `${API}/repos/octo/site/pages/builds/4`,
  status: 'built',
  error: { message: null },
  pusher: contributor,
  commit: COMMITS.after,
  duration: 2104,
  created_at: WHEN,
  updated_at: WHEN,
};

/** Returns all events of the table in the contract, in its order. */
export function samplesOfA(): WebhookSample[] {
  const head = { ref: COMMITS.head, refName: 'feature/page' };
  const status = (ref: string): string => `${API}/repos/octo/site/statuses/${ref}`;
  const of = (event: string, payload: Json, expected: Parameters<typeof sample>[3]) =>
    sample('service_a', event, { ...common, ...payload }, expected);
  const pull_request = pullRequest();
  return [
    of('push', push(), {
      ref: COMMITS.after,
      refName: 'refs/heads/main',
      pushRef: 'refs/heads/main',
      statusApi: status(COMMITS.after),
    }),
    of(
      'pull_request',
      { action: 'opened', number: 12, pull_request },
      { ...head, statusApi: status(COMMITS.head) },
    ),
    of('pull_request_review', { action: 'submitted', review, pull_request }, head),
    of(
      'pull_request_review_comment',
      { action: 'created', comment: reviewComment, pull_request },
      head,
    ),
    of(
      'release',
      { action: 'published', release: release() },
      { ref: 'v1.2.0', refName: 'v1.2.0' },
    ),
    of('commit_comment', { action: 'created', comment: commitComment }, { ref: COMMITS.head }),
    of(
      'create',
      {
        ref: 'feature/page',
        ref_type: 'branch',
        master_branch: 'main',
        description: 'Playbooks and roles of the public web site',
        pusher_type: 'user',
      },
      { ref: 'feature/page', refName: 'feature/page' },
    ),
    of('page_build', { id: 4, build: pageBuild }, { ref: COMMITS.after }),
  ];
}
