import { hostname } from 'node:os';
import type { Settings } from '../config/settings.js';
import { BaseUrl } from './base-url.service.js';
import type { RuntimeSettings } from './runtime-settings.service.js';

describe('BaseUrl', () => {
  it.each([
    ['0.0.0.0', '', undefined, `http://${hostname()}:8080`],
    ['::', '', undefined, `http://${hostname()}:8080`],
    ['::1', '', undefined, 'http://[::1]:8080'],
    ['127.0.0.1', '', undefined, 'http://127.0.0.1:8080'],
    ['0.0.0.0', '', 'https://seen.example', 'https://seen.example'],
    ['0.0.0.0', 'https://set.example/', 'https://seen.example', 'https://set.example'],
  ])('of HOST %s, BASE_URL "%s" and origin %s is %s', async (host, set, origin, url) => {
    const settings = { HOST: host, PORT: 8080 } as Settings;
    const runtime = { get: () => Promise.resolve({ BASE_URL: set }) };
    const baseUrl = new BaseUrl(settings, runtime as unknown as RuntimeSettings);
    expect(await baseUrl.get(origin)).toBe(url);
  });
});
