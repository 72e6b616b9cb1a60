import { managedCredentialType } from '../../test/support/managed-credential-type.js';
import {
  DEFAULT_HEADER_ALIASES,
  headerValues,
  parseHeaderAliases,
  singleHeader,
} from './headers.js';
import {
  isWebhookServiceName,
  tokenTypeNamespace,
  WEBHOOK_SERVICE_NAMES,
  webhookService,
} from './services.js';

describe('the table of services', () => {
  it('has the three services of the contract, in its order', () => {
    expect(WEBHOOK_SERVICE_NAMES).toEqual(['service_a', 'service_b', 'service_c_dc']);
  });

  it('contains its own names only', () => {
    for (const name of ['github', 'SERVICE_A', '', 'constructor', '__proto__']) {
      expect(isWebhookServiceName(name)).toBe(false);
    }
    expect(isWebhookServiceName('service_c_dc')).toBe(true);
  });

  it('contains the credential type of each service', () => {
    expect(WEBHOOK_SERVICE_NAMES.map(tokenTypeNamespace)).toEqual([
      'service_a_token',
      'service_b_token',
      'service_c_dc_token',
    ]);
  });

  it('has a built-in credential type for the token of each service', () => {
    for (const name of WEBHOOK_SERVICE_NAMES) {
      expect(managedCredentialType(tokenTypeNamespace(name))?.kind).toBe('token');
    }
  });

  it('contains the events of the contract', () => {
    const events = WEBHOOK_SERVICE_NAMES.map((name) =>
      Object.fromEntries(
        Object.entries(webhookService(name).events).map(([event, { ref }]) => [event, ref]),
      ),
    );
    expect(events).toEqual([
      {
        push: 'after',
        pull_request: 'pull_request.head.sha',
        pull_request_review: 'pull_request.head.sha',
        pull_request_review_comment: 'pull_request.head.sha',
        release: 'release.tag_name',
        commit_comment: 'comment.commit_id',
        create: 'ref',
        page_build: 'build.commit',
      },
      {
        'Push Hook': 'checkout_sha',
        'Tag Push Hook': 'checkout_sha',
        'Merge Request Hook': 'object_attributes.last_commit.id',
      },
      {
        'repo:refs_changed': 'changes.0.toHash',
        'mirror:repo_synchronized': 'changes.0.toHash',
        'pr:opened': 'pullRequest.toRef.latestCommit',
        'pr:from_ref_updated': 'pullRequest.toRef.latestCommit',
        'pr:modified': 'pullRequest.toRef.latestCommit',
      },
    ]);
  });
});

describe('header aliases', () => {
  it('are read from a setting, and one header may have several', () => {
    const aliases = parseHeaderAliases(['X-A=X-B', ' x-a=X-C ']);
    expect(aliases).toEqual(new Map([['x-a', ['x-b', 'x-c']]]));
  });

  it('are all named in the error if they are malformed', () => {
    expect(() => parseHeaderAliases(['X-A', 'X-B=X-C', '=X', 'X Y=Z'])).toThrow('X-A, =X, X Y=Z');
  });

  it('are used only if the standard header is missing', () => {
    const rawHeaders = ['X-GitHub-Event', 'alias', 'X-Service-A-Event', 'ours'];
    const received = { headers: {}, rawHeaders };
    expect(singleHeader(received, 'X-Service-A-Event', DEFAULT_HEADER_ALIASES)).toBe('ours');
    expect(headerValues(received, 'X-Service-A-Event', DEFAULT_HEADER_ALIASES)).toEqual([
      'ours',
      'alias',
    ]);
    expect(
      singleHeader(
        { headers: { 'x-github-event': 'alias' } },
        'X-Service-A-Event',
        DEFAULT_HEADER_ALIASES,
      ),
    ).toBe('alias');
    expect(singleHeader({ headers: {} }, 'X-Service-A-Event', DEFAULT_HEADER_ALIASES)).toBeNull();
  });

  it('belong to one service, even if two services use the same header name', () => {
    const received = { headers: { 'x-hub-signature': 'sha1=0' } };
    for (const name of ['X-Service-A-Signature', 'X-Service-C-Signature']) {
      expect(headerValues(received, name, DEFAULT_HEADER_ALIASES)).toEqual(['sha1=0']);
    }
    expect(headerValues(received, 'X-Service-B-Token', DEFAULT_HEADER_ALIASES)).toEqual([]);
  });

  it('survive a raw header list of odd length', () => {
    expect(
      headerValues(
        { headers: {}, rawHeaders: ['X-Service-A-Event'] },
        'X-Service-A-Event',
        DEFAULT_HEADER_ALIASES,
      ),
    ).toEqual([]);
  });
});
