import { isImageReference } from './image-reference.js';

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;

it.each([
  'ansible',
  'docker:dind',
  'docker.io/ansible/ansible-runner',
  'quay.io/ansible/awx-ee:24.6.1',
  'localhost/local',
  'registry.example.com:5000/team/ee_minimal:latest',
  `quay.io/ansible/awx-ee@${DIGEST}`,
  `ee:1@${DIGEST}`,
])('accepts the image reference %s', (text) => {
  expect(isImageReference(text)).toBe(true);
});

it.each([
  '',
  'Upper/case',
  'a b',
  'ee:',
  'ee:bad tag',
  '/ee',
  'ee/',
  '--privileged',
  'dir:etc',
  'docker-archive:backup.tar',
  'oci:5000/images',
  'https://quay.io/ansible/ee',
  'quay.io:port/ee',
  'ee@sha256:short',
  `ee@${DIGEST}@${DIGEST}`,
  'quay.io/../ee',
])('refuses the image reference %j', (text) => {
  expect(isImageReference(text)).toBe(false);
});

it('the check of an image reference is fast for long texts', () => {
  const startedAt = process.cpuUsage();
  for (const text of ['a-'.repeat(512), 'a.'.repeat(512), `${'a'.repeat(1000)}!`]) {
    isImageReference(`${text}/x`);
  }
  expect(process.cpuUsage(startedAt).user).toBeLessThan(1_000_000);
});
