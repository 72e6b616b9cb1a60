/** Sends forms as a browser without scripts does. */
import supertest from 'supertest';

import { SessionsService } from '../../src/auth/sessions.service.js';
import { CSRF_COOKIE, SESSION_COOKIE } from '../../src/common/http/cookies.js';
import { csrfTokenOf } from '../../src/common/http/csrf.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import type { TestApp } from '../support/boot.js';

type Values = Readonly<Record<string, unknown>>;
export type BrowserForm = (path: string, values: Values) => Promise<supertest.Response>;

/** Returns a function that posts a form in a session of a user. */
export async function browserForm(test: TestApp, user: Row): Promise<BrowserForm> {
  const session = await test.app.get(SessionsService, { strict: false }).start(user.id);
  const token = csrfTokenOf(session);
  return (path, values) =>
    supertest(test.url)
      .post(path)
      .set('Cookie', `${SESSION_COOKIE}=${session}; ${CSRF_COOKIE}=${token}`)
      .set('Origin', test.url)
      .set('Accept', 'text/html')
      .type('form')
      .send(
        new URLSearchParams(
          Object.entries({ csrfmiddlewaretoken: token, ...values }).flatMap(([name, value]) =>
            [value].flat().map((one): [string, string] => [name, String(one)]),
          ),
        ).toString(),
      );
}
