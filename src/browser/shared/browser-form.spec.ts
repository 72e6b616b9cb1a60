import type { Response } from 'express';
import { Forbidden } from '../../common/errors/errors.js';
import { csrfTokenOf, formTokenOf } from '../../common/http/csrf.js';
import type { PlainRequest } from '../../common/http/request.js';
import { browserForms, submissionOf } from './browser-form.js';
import { pendingForm } from './pending-form.js';

const TOKEN = csrfTokenOf('s');

type Parts = { headers?: Record<string, string>; type?: boolean };

const requestWith = (
  body: Record<string, unknown>,
  { headers = {}, type = true }: Parts = {},
): PlainRequest =>
  ({
    method: 'POST',
    url: '/api/v2/roles/',
    headers: { host: 'here', cookie: `controller_session=s; csrftoken=${TOKEN}`, ...headers },
    is: () => (type ? 'application/x-www-form-urlencoded' : false),
    body,
  }) as unknown as PlainRequest;

function send(body: Record<string, unknown>, parts?: Parts): PlainRequest {
  const request = requestWith(body, parts);
  browserForms(request, {} as Response, () => undefined);
  return request;
}

describe('browserForms', () => {
  it('reads the HTTP method from a form field', () => {
    const request = send({ _method: 'PATCH', csrfmiddlewaretoken: TOKEN, name: 'x' });
    expect(request.method).toBe('PATCH');
    expect(submissionOf(request)?.values).toMatchObject({ name: 'x' });
  });

  it('accepts the token of each page, although the tokens differ', () => {
    const [one, other] = [formTokenOf(TOKEN), formTokenOf(TOKEN)];
    expect(one).not.toBe(other);
    for (const csrfmiddlewaretoken of [one, other]) {
      expect(send({ _method: 'PUT', csrfmiddlewaretoken }).method).toBe('PUT');
    }
  });

  it.each(['POST', 'GET', 'CONNECT', 'patch', ''])('keeps the method POST for %j', (method) => {
    expect(send({ _method: method, csrfmiddlewaretoken: TOKEN }).method).toBe('POST');
  });

  it('reads the path of a sublist from a form field', () => {
    const request = send({ _path: '/api/v2/teams/7/roles/', csrfmiddlewaretoken: TOKEN, id: '1' });
    expect(request.url).toBe('/api/v2/teams/7/roles/');
    expect(submissionOf(request)?.values).not.toHaveProperty('_path');
  });

  it.each([
    '/api/v2/teams/7/',
    '/api/v2/roles/',
    '/api/login/',
    '/api/v2/teams/7/roles/?x=1',
    '/api/v2/teams/7/roles',
    '//elsewhere.example/7/roles/',
    '/api/v2/../login/7/roles/',
    'https://elsewhere.example/api/v2/teams/7/roles/',
    ['/api/v2/teams/7/roles/', '/api/v2/teams/8/roles/'],
  ])('keeps the URL of the request for %j', (path) => {
    expect(send({ _path: path, csrfmiddlewaretoken: TOKEN }).url).toBe('/api/v2/roles/');
  });

  it('ignores or refuses the path without a valid token and session', () => {
    const body = { _path: '/api/v2/teams/7/roles/' };
    expect(send(body).url).toBe('/api/v2/roles/');
    const cookie = { headers: { cookie: '' } };
    expect(send({ ...body, csrfmiddlewaretoken: TOKEN }, cookie).url).toBe('/api/v2/roles/');
    expect(() => send({ ...body, csrfmiddlewaretoken: 'b'.repeat(32) })).toThrow(Forbidden);
  });

  it.each([
    ['no token', {}, {}],
    ['a wrong token', { csrfmiddlewaretoken: 'b'.repeat(32) }, {}],
    ['the form of another session', { csrfmiddlewaretoken: formTokenOf(csrfTokenOf('t')) }, {}],
    ['a form without a session', { csrfmiddlewaretoken: formTokenOf('') }, {}],
    ['another site', { csrfmiddlewaretoken: TOKEN }, { origin: 'https://elsewhere.example' }],
  ])('refuses %s', (_case, body, headers) => {
    expect(() => send({ _method: 'DELETE', ...body }, { headers })).toThrow(Forbidden);
  });

  it('keeps a refused form of an earlier session, but not of another site', () => {
    const staleFrom = (origin: string): boolean | undefined => {
      const body = { _method: 'PATCH', csrfmiddlewaretoken: formTokenOf(csrfTokenOf('t')) };
      const request = requestWith(body, { headers: { origin } });
      expect(() => browserForms(request, {} as Response, () => undefined)).toThrow(Forbidden);
      return submissionOf(request)?.isStale;
    };
    expect(staleFrom('https://here')).toBe(true);
    expect(staleFrom('https://elsewhere.example')).toBeUndefined();
    expect(staleFrom('null')).toBeUndefined();
  });

  it.each([
    ['a client with an API token', { headers: { authorization: 'Bearer x' } }],
    ['a client without a session', { headers: { cookie: '' } }],
    ['JSON', { type: false }],
  ])('ignores %s', (_case, options) => {
    const request = send({ _method: 'DELETE', csrfmiddlewaretoken: TOKEN }, options);
    expect(request.method).toBe('POST');
    expect(submissionOf(request)).toBeUndefined();
  });
});

it('no form outside of the API is kept during a login, because its secrets are not declared', () => {
  const form = { values: { password: 'secret' }, raw: null, secrets: [] };
  const pendingAt = (path: string) => pendingForm({ path, method: 'POST' }, form, undefined);
  expect(pendingAt('/api/login/')).toBeNull();
  expect(pendingAt('/second-factor/begin/')).toBeNull();
  expect(pendingAt('/api/v2/teams/')).not.toBeNull();
});
