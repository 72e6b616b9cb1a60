/** Application with an identity provider, and logins. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from './boot.js';
import {
  CLIENT,
  CookieBrowser,
  IdentityProvider,
  type Account,
} from './fakes/identity-provider.js';

export class SingleSignOn {
  test!: TestApp;
  provider!: IdentityProvider;
  /** Authenticator `idp`. */
  authenticator!: Row;
  private subjects = 0;
  private names = 0;

  /** Starts the application and the identity provider for the tests of a file. */
  constructor() {
    beforeAll(async () => {
      this.test = await boot();
      this.provider = await IdentityProvider.start([`${this.test.url}/sso/callback/idp/`]);
      this.authenticator = await this.createAuthenticator('idp');
    });
    afterAll(async () => {
      await this.provider.close();
      await this.test.close();
    });
  }

  readonly configuration = (changes: object = {}): object => ({
    issuer: this.provider.issuer,
    ...CLIENT,
    ...changes,
  });

  readonly createAuthenticator = (name: string, fields: object = {}): Promise<Row> =>
    this.test.make.row('authenticator', { name, configuration: this.configuration(), ...fields });

  /** Creates a map on the claim `groups`. */
  readonly map = (fields: object): Promise<Row> =>
    this.test.make.row('authenticator_map', {
      name: `map ${(this.names += 1)}`,
      authenticator: this.authenticator.id,
      trigger: 'equals',
      claim: 'groups',
      ...fields,
    });

  /** Creates an account at the provider, which logs in next. @returns its username */
  readonly account = (claims: Account = {}): string => {
    const username = `user-${(this.subjects += 1)}`;
    this.provider.account = `subject-${this.subjects}`;
    this.claim({ preferred_username: username, ...claims });
    return username;
  };

  /** Changes the claims of the account that logs in next. */
  readonly claim = (claims: Account): void => {
    this.provider.accounts[this.provider.account] = claims;
  };

  readonly start = (next = '/'): string =>
    `${this.test.url}/sso/login/idp/?next=${encodeURIComponent(next)}`;

  /** Follows a login to the URL that the provider redirects back to. */
  readonly callbackOf = async (browser: CookieBrowser): Promise<string> =>
    (await browser.follow(this.start(), '/sso/callback/')).url;

  readonly logIn = async (browser = new CookieBrowser()): Promise<Response> =>
    browser.visit(await this.callbackOf(browser));

  readonly userOf = async (username: string): Promise<Record<string, unknown>> => {
    const { body } = await this.test.as.superuser.get(`users/?username=${username}`).expect(200);
    return body.results[0];
  };

  /** Returns the roles of a user, such as `Member Home Team`. */
  readonly rolesOf = async (username: string): Promise<string[]> => {
    const { id } = await this.userOf(username);
    const { body } = await this.test.as.superuser.get(`users/${String(id)}/roles/`).expect(200);
    return body.results.map((role: { name: string; summary_fields: { resource_name?: string } }) =>
      `${role.name} ${role.summary_fields.resource_name ?? ''}`.trim(),
    );
  };
}

/** Asserts that a response refuses the login and sets no session. */
export async function expectRefused(
  response: Response,
  reason: string,
  status = 403,
): Promise<void> {
  expect(response.status).toBe(status);
  expect(response.headers.getSetCookie().join()).not.toContain('controller_session');
  expect(await response.text()).toContain(reason);
}
