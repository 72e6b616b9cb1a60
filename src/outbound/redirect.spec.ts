import { redirectTarget } from './redirect.js';

const from = new URL('http://a.test/one');

describe('redirectTarget', () => {
  it.each([
    [301, '/two', 'http://a.test/two'],
    [307, 'http://a.test/two', 'http://a.test/two'],
    [308, 'three?x=1', 'http://a.test/three?x=1'],
    [308, 'https://a.test/two', 'https://a.test/two'],
    [307, 'http://user:pw@a.test/two', 'http://a.test/two'],
  ])('follows %i to %s', (status, location, target) => {
    expect(redirectTarget(status, location, from, 'POST')?.href).toBe(target);
  });

  it.each([200, 204, 300, 304, 400, 500])('treats %i as a final response', (status) => {
    expect(redirectTarget(status, '/two', from, 'POST')).toBeNull();
  });

  it.each([302, 303])('refuses %i for a POST, and follows it for a GET', (status) => {
    expect(() => redirectTarget(status, '/two', from, 'POST')).toThrow('drop the body');
    expect(redirectTarget(status, '/two', from, 'GET')?.pathname).toBe('/two');
  });

  it.each([
    'http://b.test/',
    '//b.test/',
    'http://a.test:8080/',
    'https://a.test:8443/',
    'ftp://a.test/',
    'javascript:alert(1)',
  ])('does not follow to %s', (location) => {
    expect(() => redirectTarget(307, location, from, 'POST')).toThrow('another host');
  });

  it('does not redirect from https to http', () => {
    const secure = new URL('https://a.test/');
    expect(() => redirectTarget(307, 'http://a.test/', secure, 'POST')).toThrow('another host');
  });

  it.each([undefined, 'http://'])('reports the missing location %p', (location) => {
    expect(() => redirectTarget(301, location, from, 'POST')).toThrow('no usable location');
  });
});
