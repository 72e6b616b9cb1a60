import { Settings } from './settings.js';

const load = (environment: object): Settings =>
  Settings.load({
    DATABASE_URL: 'postgres://x',
    REDIS_URL: 'redis://x',
    SECRET_KEY: 'x',
    DATA_DIR: '/srv/data',
    ...environment,
  });

it.each(['TRUSTED_PROXIES', 'OUTBOUND_ALLOW'])(
  '%s accepts networks and names an entry that is none',
  (name) => {
    const networks = '10.0.0.0/8, 192.0.2.1, 2001:db8::/32';
    expect(load({ [name]: networks })).toHaveProperty(name, networks.split(', '));
    for (const entry of ['10.0.0.0/99', 'localhost']) {
      expect(() => load({ [name]: `10.0.0.0/8,${entry}` })).toThrow(
        `${name} must contain networks in CIDR notation, not "${entry}".`,
      );
    }
  },
);

it('TRUSTED_PROXIES accepts the names of networks that Express knows', () => {
  expect(load({ TRUSTED_PROXIES: 'loopback' }).TRUSTED_PROXIES).toEqual(['loopback']);
});
