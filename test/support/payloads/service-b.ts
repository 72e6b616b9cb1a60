/** Events of service B. */
import {
  CHANGES,
  commitId,
  COMMITS,
  sample,
  SERVICE_URLS,
  type Json,
  type WebhookSample,
} from './sample.js';

const ROOT = SERVICE_URLS.service_b;
const PAGE = `${ROOT}/group/sub/site`;
const SSH = 'git@b.example.com:group/sub/site.git';
const WHEN = '2026-01-05T10:00:00+00:00';

const project: Json = {
  id: 15,
  name: 'site',
  description: 'Playbooks and roles of the public web site',
  web_url: PAGE,
  avatar_url: null,
  git_ssh_url: SSH,
  git_http_url: `${PAGE}.git`,
  namespace: 'sub',
  visibility_level: 0,
  path_with_namespace: 'group/sub/site',
  default_branch: 'main',
  ci_config_path: null,
  homepage: PAGE,
  url: SSH,
  ssh_url: SSH,
  http_url: `${PAGE}.git`,
};

const repository: Json = {
  name: 'site',
  url: SSH,
  description: project.description,
  homepage: PAGE,
  git_http_url: `${PAGE}.git`,
  git_ssh_url: SSH,
  visibility_level: 0,
};

const user: Json = {
  id: 4,
  name: 'Grace Hopper',
  username: 'grace',
  avatar_url: 'https://avatars.b.example.com/4.png',
  email: '[REDACTED]',
};

function commit(message: string, index: number): Json {
  const id = index === CHANGES.length - 1 ? COMMITS.after : commitId(message);
  return {
    id,
    message: `${message}\n\nChangelog: changed\n`,
    title: message,
    timestamp: WHEN,
    url: `${PAGE}/-/commit/${id}`,
    author: { name: 'Grace Hopper', email: 'grace@example.com' },
    added: [`roles/web/tasks/part_${index}.yml`],
    modified: ['site.yml', 'inventories/production/hosts.yml'],
    removed: [],
  };
}

function push(kind: 'push' | 'tag_push', ref: string): Json {
  return {
    object_kind: kind,
    event_name: kind,
    before: COMMITS.before,
    after: COMMITS.after,
    ref,
    ref_protected: true,
    checkout_sha: COMMITS.after,
    message: null,
    user_id: 4,
    user_name: 'Grace Hopper',
    user_username: 'grace',
    user_email: '',
    user_avatar: user.avatar_url,
    project_id: 15,
    project,
    commits: CHANGES.map(commit),
    total_commits_count: CHANGES.length,
    push_options: {},
    repository,
  };
}

function mergeRequest(): Json {
  const last = { ...commit('Add a page', 0), id: COMMITS.head };
  return {
    object_kind: 'merge_request',
    event_type: 'merge_request',
    user,
    project,
    object_attributes: {
      assignee_id: 4,
      author_id: 4,
      created_at: '2026-01-05 10:00:00 UTC',
      description: CHANGES.map((line) => `- ${line}`).join('\n'),
      draft: false,
      head_pipeline_id: null,
      id: 99,
      iid: 12,
      last_edited_at: null,
      last_edited_by_id: null,
      merge_commit_sha: null,
      merge_error: null,
      merge_params: { force_remove_source_branch: '1' },
      merge_status: 'checking',
      merge_user_id: null,
      merge_when_pipeline_succeeds: false,
      milestone_id: null,
      source_branch: 'feature/page',
      source_project_id: 16,
      state_id: 1,
      target_branch: 'main',
      target_project_id: 15,
      time_estimate: 0,
      title: 'Add a page',
      updated_at: '2026-01-05 10:00:00 UTC',
      updated_by_id: null,
      prepared_at: null,
      assignee_ids: [4],
      blocking_discussions_resolved: true,
      detailed_merge_status: 'checking',
      first_contribution: true,
      human_time_change: null,
      human_time_estimate: null,
      human_total_time_spent: null,
      labels: [],
      last_commit: last,
      reviewer_ids: [],
      source: { ...project, id: 16, path_with_namespace: 'grace/site', namespace: 'grace' },
      state: 'opened',
      system: false,
      target: project,
      time_change: 0,
      total_time_spent: 0,
      url: `${PAGE}/-/merge_requests/12`,
      work_in_progress: false,
      approval_rules: [],
      action: 'open',
    },
    labels: [],
    changes: { merge_status: { previous: 'preparing', current: 'checking' } },
    repository,
    assignees: [user],
  };
}

/** Returns all events of the table in the contract, in its order. */
export function samplesOfB(): WebhookSample[] {
  const status = (ref: string): string => `${ROOT}/api/v4/projects/15/statuses/${ref}`;
  const pushed = (ref: string) => ({
    ref: COMMITS.after,
    refName: ref,
    pushRef: ref,
    statusApi: status(COMMITS.after),
  });
  const [branch, tag] = ['refs/heads/main', 'refs/tags/v1'];
  return [
    sample('service_b', 'Push Hook', push('push', branch), pushed(branch)),
    sample('service_b', 'Tag Push Hook', push('tag_push', tag), pushed(tag)),
    sample('service_b', 'Merge Request Hook', mergeRequest(), {
      ref: COMMITS.head,
      refName: 'feature/page',
      statusApi: status(COMMITS.head),
    }),
  ];
}
