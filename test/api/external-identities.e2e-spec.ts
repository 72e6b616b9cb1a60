/** Links of users to accounts of a provider (docs/single-sign-on.md#links). */
import { SessionsService } from '../../src/auth/sessions.service.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { csrfTokenOf } from '../../src/common/http/csrf.js';
import { CookieBrowser } from '../support/fakes/identity-provider.js';
import { expectRefused, SingleSignOn } from '../support/single-sign-on.js';

const sso = new SingleSignOn();
const { account, logIn, map, rolesOf } = sso;

describe('a link by a superuser', () => {
  it('permits the account to log in as the user, and applies its maps', async () => {
    const { as, home, make } = sso.test;
    const user = await make.user();
    const { body: newest } = await as.superuser.get('activity_stream/?order_by=-id&page_size=1');
    account({ groups: ['ops'], preferred_username: 'another-name' });
    await map({ value: 'ops', map_type: 'team', team: home.team.id, role: 'member_role' });
    const url = `authenticators/${sso.authenticator.id}/identities/`;
    const body = { subject: sso.provider.account, user: user.id };
    const { body: identity } = await as.superuser.post(url, body).expect(201);
    await as.superuser.post(url, body).expect(400);
    await as.superuser.patch(`external_identities/${identity.id}/`, {}).expect(405);
    expect((await logIn()).status).toBe(302);
    expect(await rolesOf(String(user.username))).toEqual(['Member Home Team']);
    const owner = await as.asUser(user);
    const { body: own } = await owner.get('external_identities/').expect(200);
    expect(own.results).toEqual([expect.objectContaining({ id: identity.id })]);
    await owner.delete(`external_identities/${identity.id}/`).expect(403);
    await as.superuser.delete(`external_identities/${identity.id}/`).expect(204);
    expect(await rolesOf(String(user.username))).toEqual([]);
    expect((await logIn()).status).toBe(302);
    expect(await sso.userOf('another-name')).toBeDefined();
    const { body: log } = await as.superuser
      .get(`activity_stream/?object1=external_identity&order_by=id&id__gt=${newest.results[0].id}`)
      .expect(200);
    expect(log.results.map(({ operation }: { operation: string }) => operation)).toEqual([
      'create',
      'delete',
    ]);
  });

  it('prevents another issuer, whose users can have the same subjects', async () => {
    const { superuser } = sso.test.as;
    const { id: user } = await sso.test.make.user();
    const configuration = { issuer: 'https://first.example.com', client_id: 'x' };
    const { id } = await sso.test.make.row('authenticator', { name: 'Moves', configuration });
    const url = `authenticators/${id}/`;
    const changed = { configuration: { ...configuration, issuer: 'https://second.example.com' } };
    const body = { subject: '7', user };
    const identity = await superuser.post(`${url}identities/`, body).expect(201);
    const refused = await superuser.patch(url, changed).expect(400);
    expect(Object.keys(refused.body.configuration)).toEqual(['issuer']);
    await superuser.patch(url, { configuration: { ...configuration, client_id: 'y' } }).expect(200);
    await superuser.delete(`external_identities/${identity.body.id}/`).expect(204);
    await superuser.patch(url, changed).expect(200);
  });

  it('is permitted to superusers only', async () => {
    const { as } = sso.test;
    const body = { subject: 'x', user: 1, authenticator: sso.authenticator.id };
    await as.orgAdmin.post('external_identities/', body).expect(403);
    await as.orgAdmin.post(`authenticators/${sso.authenticator.id}/identities/`, body).expect(403);
  });
});

/** Browser with a session of a user. */
class UserBrowser extends CookieBrowser {
  private constructor(
    readonly user: Row,
    private readonly session: string,
  ) {
    super();
    this.jarOf(sso.test.url)
      .set('controller_session', session)
      .set('csrftoken', csrfTokenOf(session));
  }

  static async of(user: Row): Promise<UserBrowser> {
    const sessions = sso.test.app.get(SessionsService, { strict: false });
    return new UserBrowser(user, await sessions.start(user.id));
  }

  /** Sends the form of the page of the user. */
  begin(fields: Record<string, string> = { csrfmiddlewaretoken: csrfTokenOf(this.session) }) {
    return fetch(`${sso.test.url}/sso/link/idp/`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        cookie: [...this.jarOf(sso.test.url)].map((pair) => pair.join('=')).join('; '),
        accept: 'text/html',
        origin: sso.test.url,
      },
      body: new URLSearchParams(fields),
    });
  }

  /** Follows the link of the page up to the callback. */
  async callback(): Promise<string> {
    const response = await this.begin();
    expect(response.status).toBe(200);
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.jarOf(sso.test.url).set(name, value);
    }
    const [, href = ''] = /class="button primary" href="([^"]+)"/.exec(await response.text()) ?? [];
    return (await this.follow(href.replaceAll('&amp;', '&'), '/sso/callback/')).url;
  }
}

const countOf = async ({ id }: Row): Promise<number> =>
  (await sso.test.as.superuser.get(`external_identities/?user=${id}`).expect(200)).body.count;

describe('a link by the user', () => {
  it('starts on the page of the user, and permits the account to log in as the user', async () => {
    const user = await sso.test.make.user();
    const browser = await UserBrowser.of(user);
    const path = `${sso.test.url}/api/v2/users/${user.id}/`;
    expect(await (await browser.visit(path)).text()).toContain('action="/sso/link/idp/"');
    const username = account();
    const linked = await browser.visit(await browser.callback());
    expect(linked.headers.get('location')).toBe(`/api/v2/users/${user.id}/`);
    expect(await (await browser.visit(path)).text()).not.toContain('action="/sso/link/idp/"');
    const other = new CookieBrowser();
    await logIn(other);
    const me = await other.visit(`${sso.test.url}/api/v2/me/`, { accept: 'application/json' });
    expect(((await me.json()) as { results: unknown[] }).results[0]).toMatchObject({ id: user.id });
    expect(await sso.userOf(username)).toBeUndefined();
    const { body } = await sso.test.as.superuser
      .get(`users/${user.id}/activity_stream/?object1=external_identity`)
      .expect(200);
    expect(body.results[0].summary_fields.actor.id).toBe(user.id);
  });

  it('requires the form of the session', async () => {
    const user = await sso.test.make.user();
    const browser = await UserBrowser.of(user);
    expect((await browser.begin({})).status).toBe(403);
    expect((await browser.begin({ csrfmiddlewaretoken: 'other' })).status).toBe(403);
    expect((await browser.visit(`${sso.test.url}/sso/link/idp/`)).status).toBe(405);
    await (await sso.test.as.asUser(user)).post('/sso/link/idp/').expect(403);
    await sso.test.as.anonymous.post('/sso/link/idp/').expect(401);
  });

  it('is not created by a login that another site starts', async () => {
    const user = await sso.test.make.user();
    const username = account();
    expect((await logIn(await UserBrowser.of(user))).status).toBe(302);
    expect(await countOf(user)).toBe(0);
    expect(await sso.userOf(username)).toBeDefined();
  });

  it('is refused if another user has logged in meanwhile', async () => {
    const { make } = sso.test;
    const [browser, other] = [
      await UserBrowser.of(await make.user()),
      await UserBrowser.of(await make.user()),
    ];
    account();
    const url = await browser.callback();
    const session = other.jarOf(url).get('controller_session') ?? '';
    browser.jarOf(url).set('controller_session', session);
    await expectRefused(await browser.visit(url), 'no longer logged in');
    expect([await countOf(browser.user), await countOf(other.user)]).toEqual([0, 0]);
  });

  it('is refused for the account of another user, and by deny maps', async () => {
    const username = account();
    await logIn();
    const browser = await UserBrowser.of(await sso.test.make.user());
    await expectRefused(await browser.visit(await browser.callback()), 'is linked to another user');
    expect(await sso.userOf(username)).toBeDefined();
    account({ groups: ['banned'] });
    await map({ value: 'banned', map_type: 'deny' });
    const again = await UserBrowser.of(browser.user);
    await expectRefused(await again.visit(await again.callback()), 'denies the login');
    expect(await countOf(browser.user)).toBe(0);
  });
});
