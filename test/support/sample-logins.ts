import { confidentialClient, IDENTITY_PROVIDER } from './sample-bodies.js';
import type { SampleFactory } from './samples.js';

/** Factories of the objects for logins of users and applications. */
export const LOGINS: Record<string, SampleFactory> = {
  o_auth2_application: (samples) =>
    samples.row('o_auth2_application', confidentialClient(samples.name('App'))),
  authenticator: (samples) =>
    samples.row('authenticator', { name: samples.name('idp'), configuration: IDENTITY_PROVIDER }),
  authenticator_map: async (samples) => {
    const { id: authenticator_id } = await samples.of('authenticator');
    return samples.insert('authenticator_maps', { authenticator_id, name: 'M', map_type: 'deny' });
  },
  external_identity: async (samples) =>
    samples.row('external_identity', {
      authenticator: (await samples.of('authenticator')).id,
      subject: samples.name('subject'),
      user: (await samples.of('user')).id,
    }),
};
