/**
 * Program of a user of the typed client: types from the OpenAPI document, calls with `fetch`. The test
 * compiles it against the types of the present document and runs it against a server; the lines marked
 * `@ts-expect-error` prove that the compiler finds mistakes.
 */
import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from '@controller/api';

type Job = components['schemas']['Job'];

interface Account {
  username: string;
  password: string;
}

/** Filters are separate parameters, whose names the document cannot list. */
const querySerializer = { object: { style: 'form', explode: true } } as const;

/** Logs in with name and password, and continues with a token of its own. */
async function logIn(baseUrl: string, { username, password }: Account): Promise<Client<paths>> {
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  const { data } = await createClient<paths>({ baseUrl }).POST('/api/v2/tokens/', {
    headers: { Authorization: `Basic ${basic}` },
    body: { description: 'typed client', scope: 'write' },
  });
  if (!data) throw new Error('The login was refused.');
  const headers = { Authorization: `Bearer ${data.token}` };
  return createClient<paths>({ baseUrl, headers, querySerializer });
}

/** Returns the messages of an error body, which has one of two shapes. */
function messagesOf(
  error: components['schemas']['Detail'] | components['schemas']['FieldErrors'],
): string[] {
  return Object.values(error)
    .flatMap((messages) => (Array.isArray(messages) ? messages : []))
    .map(String);
}

export interface Outcome {
  teamUrl: string;
  listed: string[];
  total: number | undefined;
  mistakes: string[];
  missing: string;
  job: Pick<Job, 'id' | 'status' | 'launch_type'>;
  ignored: string[];
}

/** Logs in, creates, lists with filters, runs into errors and launches a job. */
export async function journey(
  baseUrl: string,
  account: Account,
  given: { organization: number; template: number },
): Promise<Outcome> {
  const api = await logIn(baseUrl, account);

  const name = `Typed ${Date.now()}`;
  const created = await api.POST('/api/v2/teams/', {
    body: { name, organization: given.organization },
  });
  if (!created.data) throw new Error(JSON.stringify(created.error));
  const team = created.data;
  // @ts-expect-error A team has no such member.
  void team.no_such_member;
  // @ts-expect-error The name is a text.
  const wrong: number = team.name;
  void wrong;

  const listed = await api.GET('/api/v2/teams/', {
    params: {
      query: {
        order_by: '-name',
        page_size: 5,
        filters: { name__startswith: 'Typed', organization: String(given.organization) },
      },
    },
  });
  const organizations = listed.data?.results.map((one) => one.summary_fields.organization?.name);
  if (organizations?.some((one) => one === undefined))
    throw new Error('A team has no organization.');

  const again = await api.POST('/api/v2/teams/', {
    // @ts-expect-error The organization is a number, and the name is missing.
    body: { organization: 'none' },
  });
  const missing = await api.GET('/api/v2/teams/{id}/', { params: { path: { id: '999999' } } });

  const launched = await api.POST('/api/v2/job_templates/{id}/launch/', {
    params: { path: { id: String(given.template) } },
    body: { limit: 'web-1' },
  });
  if (!launched.data) throw new Error(JSON.stringify(launched.error));
  // A sliced template launches a workflow job: `type` distinguishes the two.
  if (launched.data.type !== 'job') throw new Error('One job was expected.');
  const found = await api.GET('/api/v2/jobs/{id}/', {
    params: { path: { id: String(launched.data.job) } },
  });
  if (!found.data) throw new Error(JSON.stringify(found.error));
  const { id, status, launch_type } = found.data;

  return {
    teamUrl: team.url,
    listed: listed.data?.results.map((one) => one.name) ?? [],
    total: listed.data?.count,
    mistakes: again.error ? messagesOf(again.error) : [],
    missing: missing.error && 'detail' in missing.error ? String(missing.error.detail) : '',
    job: { id, status, launch_type },
    ignored: Object.keys(launched.data.ignored_fields),
  };
}
